package standin

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"symbolon/internal/companion"
	"symbolon/internal/console"
	"symbolon/internal/format/macho"
	"symbolon/internal/ident"
)

// machoSymbols is the symbol table of an image of a Mach-O file.
type machoSymbols struct {
	file   *companion.Source
	image  *macho.File
	labels []macho.Label
}

// openMachO opens the symbols of the image for a processor, and returns nil for other
// formats.
func openMachO(name string, stdin io.Reader, arch ident.Arch) *machoSymbols {
	src, err := companion.OpenSource(name, stdin)
	if err != nil {
		return nil
	}
	images, _ := macho.Slices(src.Source) // none of other formats
	for _, image := range images {
		if f, err := macho.Open(src.Source, image); err == nil && f.Arch() == arch {
			return &machoSymbols{src, f, f.Labels()}
		}
	}
	_ = src.Close() // it was only read
	return nil
}

// llvm returns the symbol that LLVM chooses: of those that begin last the last one, unless
// addr is after its end, or its name was replaced by a number.
func (s *machoSymbols) llvm(addr uint64) (d llvmDatum, ok bool) {
	i, _ := slices.BinarySearchFunc(s.labels, addr, func(l macho.Label, addr uint64) int { return cmp.Or(cmp.Compare(l.Addr, addr), -1) })
	if i == 0 {
		return d, false
	}
	l := &s.labels[i-1]
	name := strings.TrimPrefix(string(s.image.SymbolName(l.NameOff)), "_")
	d = llvmDatum{name: console.Printable(name), start: l.Addr, size: l.Size}
	return d, (l.Size == 0 || addr-l.Addr < l.Size) && !strings.HasPrefix(name, "_hidden#")
}
