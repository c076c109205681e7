package standin

import (
	"errors"
	"io"
	"slices"
	"strings"
	"syscall"

	"symbolon/internal/companion"
	"symbolon/internal/console"
	"symbolon/internal/ident"
	"symbolon/internal/object"
	"symbolon/internal/sym"
)

// maxOpen is the number of files that a tool keeps open.
const maxOpen = 64

// A library opens files, and keeps those open that were used last.
type library struct {
	opt   companion.Options // but for the architecture
	files []*program        // the last one was used last
}

// A program is an open file, or the error of opening it.
type program struct {
	name, arch string
	stdin      io.Reader
	file       *companion.File
	obj        *object.Object
	info       object.Info // of obj, as it was opened
	elf        *elfSymbols
	macho      *machoSymbols
	hasRead    bool // elf and macho are known
	err        error
	isReported bool // err was printed
	frames     []sym.Frame
	buf        []byte
}

// binary returns the object of the named file.
func (p *program) binary() *object.Object {
	if b := p.file.Binary(); b != nil {
		return b
	}
	return p.obj
}

// base returns the difference between an address as LLVM counts and as the object
// does. In WebAssembly LLVM counts from the code, unless a linked file has no debug
// information: then, like the object and browsers, from the start of the file.
func (p *program) base() uint64 {
	info := &p.info
	if info.Type == "rel" || info.Features&object.HasDebug != 0 {
		return info.LoadAddress - info.CodeOffset
	}
	return info.LoadAddress
}

// relative returns an address as the object counts it, from its base on.
func (p *program) relative(addr uint64) (uint64, bool) {
	base := p.base()
	return addr - base, addr >= base || p.info.CodeOffset > 0
}

// open returns a file, and opens it unless it is open.
func (l *library) open(name, arch string) *program {
	i := slices.IndexFunc(l.files, func(p *program) bool { return p.name == name && p.arch == arch })
	if i >= 0 {
		p := l.files[i]
		l.files = append(slices.Delete(l.files, i, i+1), p)
		return p
	}
	if len(l.files) == maxOpen {
		l.files[0].close()
		l.files = slices.Delete(l.files, 0, 1)
	}
	p := &program{name: name, arch: arch, stdin: l.opt.Stdin}
	opt := l.opt
	opt.Arch, opt.Columns, opt.Written = arch, true, true
	if p.file, p.err = companion.Open(name, opt); p.err == nil {
		p.obj = p.file.Object()
		p.info = p.obj.Info()
	}
	l.files = append(l.files, p)
	return p
}

// close closes all files.
func (l *library) close() {
	for _, p := range l.files {
		p.close()
	}
}

func (p *program) close() {
	if p.file != nil {
		_ = p.file.Close() // it was only read
	}
	if p.elf != nil {
		_ = p.elf.file.Close()
	}
	if p.macho != nil {
		_ = p.macho.file.Close()
	}
}

// lookup returns the frames of an address as linked, innermost first. They are
// valid until the next call.
func (p *program) lookup(addr uint64) []sym.Frame {
	p.frames = p.frames[:0]
	if at, ok := p.relative(addr); ok {
		p.frames = p.obj.Lookup(p.frames, at)
	}
	return p.frames
}

// row returns the row of the line program for an address.
func (p *program) row(addr uint64) (row object.Line) {
	if at, ok := p.relative(addr); ok {
		row = p.obj.Line(at)
	}
	return row
}

// text returns a string of the file.
func (p *program) text(t sym.Text) string {
	p.buf = p.obj.AppendText(p.buf[:0], t)
	return console.Printable(string(p.buf))
}

// function returns the name of a function in the debug information, without the
// additions of package object: the scope of a name of DWARF that is not mangled,
// the parameters in one of CodeView, and the mark of a part or a variant.
func (p *program) function(t sym.Text) string {
	name, kind := p.text(t), p.info.Kind
	switch {
	case kind == "pdb":
		return withoutParameters(name)
	case kind == "wasm" || !p.obj.Mangled(): // linkers of WebAssembly write readable names
		return name
	}
	name = variant.ReplaceAllString(name, "")
	switch {
	case isMangled(name):
		return name
	case kind == "coff" && strings.HasSuffix(name, ")"):
		return withoutParameters(name)
	}
	return lastPart(name)
}

// isDecorated reports whether the names of its symbols have the decoration of C.
func (p *program) isDecorated() bool {
	info := &p.info
	return info.Module.Arch == ident.ArchX86 && (info.Kind == "pe" || info.Kind == "coff")
}

// digits returns the number of hexadecimal digits of an address.
func (p *program) digits() int {
	switch a := p.info.Module.Arch; a {
	case ident.ArchX86, ident.ArchARM64_32, ident.ArchARM64_32v8, ident.ArchPPC, ident.ArchMIPS, ident.ArchMIPSel,
		ident.ArchRISCV32, ident.ArchS390, ident.ArchSPARC, ident.ArchWasm32:
		return 8
	default:
		if a >= ident.ArchARM && a <= ident.ArchARMv7em {
			return 8
		}
	}
	return 16
}

// symbols returns the symbol table of the file itself, nil if it is not an ELF
// file.
func (p *program) symbols() *elfSymbols {
	p.readSymbols()
	return p.elf
}

// labels returns the symbol table of the file itself, nil if it is not a Mach-O file.
func (p *program) labels() *machoSymbols {
	p.readSymbols()
	return p.macho
}

func (p *program) readSymbols() {
	if p.hasRead {
		return
	}
	p.hasRead = true
	if p.info.Kind == "macho" {
		p.macho = openMachO(p.name, p.stdin, p.info.Module.Arch)
	} else {
		p.elf = openELF(p.name, p.stdin)
	}
}

// named returns the places of the symbols with a name, as linked. Only in ELF may
// they be data. With untag the highest byte of their addresses is ignored.
func (p *program) named(name string, untag bool) (found []object.Place) {
	s := p.symbols()
	if s == nil {
		found = p.binary().Named(name)
		for i := range found {
			found[i].Addr += p.info.LoadAddress
		}
		return found
	}
	for _, x := range s.llvm(untag) {
		if string(s.elf.SymbolName(x.Table, x.NameOff)) == name {
			found = append(found, object.Place{Addr: x.Addr, Size: x.Size})
		}
	}
	return found
}

// systemText returns the system's text of an error, empty for other errors.
func systemText(err error) string {
	var number syscall.Errno
	if !errors.As(err, &number) {
		return ""
	}
	text := number.Error()
	return strings.ToUpper(text[:1]) + text[1:]
}
