package object

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/format/dwarf"
	"symbolon/internal/format/gopcln"
	"symbolon/internal/format/pe"
	"symbolon/internal/ident"
	"symbolon/internal/unpack"
)

// peBinary is a PE file on its way to an image.
type peBinary struct {
	f     *pe.File
	image *image
	room  *unpack.Budget
}

// OpenPE joins what a PE file has. Its DWARF tells addresses as they are when
// nothing moves the image, all else tells them relative to that.
func OpenPE(src bin.Source, in Input) ([]*Object, error) {
	f, err := pe.Open(src)
	if err != nil {
		return nil, err
	}
	g := &image{in: in, bases: []uint64{f.ImageBase}}
	g.codeAt = func(vaddr, size uint64) []byte { return f.Code(vaddr-f.ImageBase, size) }
	b := peBinary{f, g, in.Room}
	g.stretches = b.stretches
	x86 := f.Arch() == ident.ArchX86
	s := dwarf.Sections{Order: binary.LittleEndian, Info: b.data(".debug_info")}
	s.Decorated = func(linkage []byte) bool { return isDecoratedC(linkage, x86) }
	g.openDWARF(&s, func(name string) []byte { return b.data(".debug_" + name) })
	b.openGo()
	b.addSymbols()
	b.setCFI()
	b.findNeeds()
	for _, p := range f.Problems {
		g.found.At("damaged headers", p.Place, p.Off, p.Reason)
	}
	inner := b.embedded()
	if b.room.Failed != nil {
		return nil, b.room.Failed
	}
	g.footing = b.room.Heap
	return append([]*Object{g.object(b.info())}, inner...), nil
}

// embedded is the portable PDB that a .NET assembly has in it, if there is one.
func (b *peBinary) embedded() []*Object {
	packed, size, ok := b.f.EmbeddedPDB()
	if !ok {
		return nil
	}
	data, err := b.room.Inflate(packed, size)
	if err == nil {
		var file *File
		if file, err = b.image.in.Open(bin.Bytes(data), Role{}); err == nil && file.Kind() == "portablepdb" {
			return file.Objects()
		}
		if err == nil {
			err = fault.New(fault.Malformed, "portable PDB", "it is a file of the kind %q", file.Kind())
		}
	}
	b.image.found.Add("damaged sections", "embedded portable PDB: "+err.Error())
	return nil
}

// data is the bytes of a section, unpacked; nil if there is none or it cannot be
// read, which is a problem.
func (b *peBinary) data(name string) []byte {
	s := b.f.Section(name)
	if s == nil {
		return nil
	}
	packed, size, data, err := b.f.Packed(s)
	if err == nil && packed {
		data, err = b.room.Section(false, data, size)
	}
	if err != nil {
		b.image.found.Add("damaged sections", name+": "+err.Error())
		return nil
	}
	return data
}

// findNeeds tells where more is known: in a PDB, or in the file that MinGW's
// debug information was moved to.
func (b *peBinary) findNeeds() {
	g, f := b.image, b.f
	if name := f.PDB.Name(); f.HasPDB && name != "" {
		g.needs = append(g.needs, Need{Kind: NeedPDB, Name: name, Dir: strings.TrimSuffix(f.PDB.Path, name), DebugID: f.PDB.ID})
	}
	if name, crc, ok := f.DebugLink(); ok && g.dwarf == nil {
		g.needs = append(g.needs, Need{Kind: NeedDebug, Name: name, CRC: crc})
	}
}

func (b *peBinary) addSymbols() {
	g, f := b.image, b.f
	x86 := f.Arch() == ident.ArchX86
	g.names = func(table uint8, off uint32) []byte {
		return plainC(f.SymbolName(table, off), x86, table == pe.TableExport)
	}
	g.plain = func(name []byte) []byte { return plainCPP(name, x86) }
	g.eachSymbol = func(yield func(symbol)) {
		f.Symbols(func(s pe.Symbol) bool {
			x := symbol{addr: f.ImageBase + uint64(s.Addr), name: s.NameOff, table: s.Table}
			if !s.Function {
				x.kind = 1
			}
			yield(x)
			return true
		})
	}
	f.Symbols(func(pe.Symbol) bool { g.hasSymbols = true; return false })
	starts := sync.OnceValue(func() []uint32 {
		all := f.FunctionStarts(nil)
		slices.Sort(all)
		return all
	})
	g.limit = func(addr uint64) uint64 {
		s := f.At(uint32(addr - f.ImageBase))
		if s == nil {
			return addr
		}
		end := s.Addr + s.Size
		// A function without a symbol is none of the one in front of it.
		if i, found := slices.BinarySearch(starts(), uint32(addr-f.ImageBase)); found && i+1 < len(starts()) {
			end = min(end, starts()[i+1])
		} else if !found && i < len(starts()) {
			end = min(end, starts()[i])
		}
		return f.ImageBase + uint64(end)
	}
	// An export comes before a symbol of COFF, and that of a function before others.
	// MinGW exports names of C with their size but without the first underscore,
	// and others with it, so there a symbol of COFF knows better.
	g.rank = func(s *symbol) uint8 {
		const border = 4 // of the code of a Go program
		if string(g.names(s.table, s.name)) == "runtime.text" {
			return border
		}
		if x86 && s.table == pe.TableExport {
			if _, at := withoutSize(f.SymbolName(s.table, s.name)); at > 0 {
				return (pe.TableCOFF+1)<<1 | s.kind
			}
		}
		return s.table<<1 | s.kind
	}
}

// setCFI has the unwind information written when it is wanted: that of the
// system, or, where it needs none, that of DWARF.
func (b *peBinary) setCFI() {
	b.image.cfi = func(yield func([]byte) error) error {
		w := &cfiWriter{image: b.image, yield: yield}
		problems := b.f.UnwindRecords(func(records []byte) bool {
			w.buf = append(w.buf, records...)
			return w.flush(cfiPiece)
		})
		for _, p := range problems {
			b.image.found.At("damaged unwind entries", p.Place, p.Off, p.Reason)
		}
		w.text.Registers = dwarf.RegistersOf(b.f.Arch())
		for _, name := range [...]string{".debug_frame", ".eh_frame"} {
			s := b.frameSection(name)
			if b.f.HasUnwind() || s.Data == nil {
				continue
			}
			if err := w.frames(&s, nil); err != nil {
				return err
			}
		}
		w.flush(0)
		return w.err
	}
}

// frameSection is a section of FDEs.
func (b *peBinary) frameSection(name string) dwarf.FrameSection {
	s := dwarf.FrameSection{EH: name == ".eh_frame", Order: binary.LittleEndian, AddrSize: 4, Data: b.data(name)}
	if b.f.Wide {
		s.AddrSize = 8
	}
	if section := b.f.Section(name); section != nil {
		s.Addr = b.f.ImageBase + uint64(section.Addr)
	}
	return s
}

// goMark begins the code of a Go program, and goSection is the name of a
// section that each one has.
const (
	goMark    = "\xff Go build ID: "
	goSection = ".symtab"
)

// openGo looks for the function table of a Go program without other debug
// information.
func (b *peBinary) openGo() {
	text := b.f.Section(".text")
	if b.image.dwarf != nil || text == nil {
		return
	}
	code, _ := b.f.Data(text)
	if b.f.Section(goSection) == nil && !bytes.HasPrefix(code, []byte(goMark)) {
		return
	}
	for _, name := range [...]string{".rdata", ".text"} {
		data := b.data(name)
		off, ok := gopcln.Find(data)
		if !ok {
			continue
		}
		t, err := gopcln.Open(data[off:])
		if err != nil {
			b.image.found.Add("damaged sections", fmt.Sprintf("%s: %v", name, err))
			return
		}
		t.ReadAt = func(addr uint64, n int) []byte {
			if at := addr - b.f.ImageBase; addr >= b.f.ImageBase && at <= math.MaxUint32 {
				if p := b.f.Mapped(uint32(at), int64(n)); len(p) == n {
					return p
				}
			}
			return nil
		}
		if m, ok := t.Module(b.data(".data")); ok {
			t.Text, t.End, t.GoFunc = m.Text.Value, m.End.Value, m.GoFunc.Value
		} else {
			t.Text = b.f.ImageBase + uint64(text.Addr)
			t.End = t.Text + uint64(text.Size)
		}
		b.image.golang = &golang{t}
		return
	}
}

func (b *peBinary) info() Info {
	f, g := b.f, b.image
	info := Info{
		Kind: "pe", Type: f.Kind(), LoadAddress: f.ImageBase,
		Module: peModule(f),
	}
	if g.hasSymbols {
		info.Features |= HasSymbols
	}
	unwinds := f.HasUnwind()
	for _, name := range [...]string{".eh_frame", ".debug_frame"} {
		frames := b.frameSection(name)
		unwinds = unwinds || frames.HasFDE(func(addr uint64) bool { return g.limit(addr) > addr })
	}
	if unwinds {
		info.Features |= HasUnwind
	}
	return info
}

// stretches are those of a PE file: Windows knows Thumb only, in what it calls
// ARMNT.
func (b *peBinary) stretches() (list []Stretch, whole bool, err error) {
	if arch := b.f.Arch(); arch != ident.ArchARMv7 {
		return nil, false, fault.New(fault.Unsupported, "pe", "where its code for %s is Thumb is not known", arch)
	}
	return []Stretch{{ISA: ISAT32}}, true, nil
}

func peModule(f *pe.File) ident.Module {
	m := ident.Module{Type: ident.TypePE, Arch: f.Arch(), CodeID: f.CodeID()}
	if f.HasPDB {
		m.DebugID, m.DebugFile = f.PDB.ID, f.PDB.Name()
	}
	return m
}

// IdentifyPE returns the identifiers of a file.
func IdentifyPE(src bin.Source) ([]ident.Module, error) {
	f, err := pe.Open(src)
	if err != nil {
		return nil, err
	}
	return []ident.Module{peModule(f)}, nil
}
