package macho

import (
	"bytes"

	"symbolon/internal/bin"
)

// The bits of an nlist entry.
const (
	symbolStab     = 0xe0 // of the type: an entry for debuggers
	symbolKind     = 0x0e // of the type
	symbolSection  = 0x0e // a kind: defined in a section
	symbolExternal = 0x01 // of the type
	symbolWeakDef  = 0x80 // of the description
)

// maxName bounds the search for the end of a name, as many symbols may have the
// same one.
const maxName = 1 << 16

// hidden begins a name that was replaced by a number: see SymbolMap.
const hidden = "__hidden#"

// Symbol is a function, or something like one, in the table of symbols.
type Symbol struct {
	Addr     uint64
	Name     []byte // without the underscore of C
	NameOff  uint32 // of Name, for SymbolName
	Section  uint8  // its index in File.Sections and one
	External bool
	Weak     bool
}

// nlist is an entry of the table of symbols.
type nlist struct {
	name  uint32
	kind  uint8
	sect  uint8
	desc  uint16
	value uint64
}

func (f *File) symbolSize() int {
	if f.Is64 {
		return 16
	}
	return 12
}

// entries is how many entries the table of symbols has.
func (f *File) entries() int { return len(f.symbols) / f.symbolSize() }

func (f *File) entry(i int) nlist {
	b := f.symbols[i*f.symbolSize():]
	n := nlist{name: f.Order.Uint32(b), kind: b[4], sect: b[5], desc: f.Order.Uint16(b[6:])}
	if f.Is64 {
		n.value = f.Order.Uint64(b[8:])
	} else {
		n.value = uint64(f.Order.Uint32(b[8:]))
	}
	return n
}

// Symbols gives the symbols of code in the order of the table: what debuggers
// and linkers keep there for themselves is left out. A Thumb function has its
// address without the lowest bit. Sizes are not known: a symbol reaches to the
// next one, or to the next of FunctionStarts.
func (f *File) Symbols(yield func(Symbol) bool) {
	for i := range f.entries() {
		n := f.entry(i)
		if n.kind&symbolStab != 0 || n.kind&symbolKind != symbolSection {
			continue
		}
		if n.sect == 0 || int(n.sect) > len(f.Sections) || !f.Sections[n.sect-1].code() {
			continue
		}
		raw := f.SymbolName(n.name)
		name := plain(raw)
		if len(name) == 0 || local(raw) {
			continue
		}
		s := Symbol{
			Addr: f.codeAddr(n.value), Name: name, NameOff: n.name + uint32(len(raw)-len(name)), Section: n.sect,
			External: n.kind&symbolExternal != 0, Weak: n.desc&symbolWeakDef != 0,
		}
		if !yield(s) {
			return
		}
	}
}

// codeAddr takes the Thumb bit away.
func (f *File) codeAddr(addr uint64) uint64 {
	if f.CPU == cpuARM {
		addr &^= 1
	}
	return addr
}

// SymbolName is the name at an offset in the table of strings, nil if there is
// none. It is cut where it is longer than maxName.
func (f *File) SymbolName(off uint32) []byte {
	if uint64(off) >= uint64(len(f.names)) {
		return nil
	}
	name := f.names[off:]
	name = name[:min(len(name), maxName)]
	if n := bytes.IndexByte(name, 0); n >= 0 {
		name = name[:n:n]
	}
	return name
}

// plain is a name of the table of symbols without the underscore that C puts in
// front of its own.
func plain(name []byte) []byte {
	if len(name) > 0 && name[0] == '_' && !bytes.HasPrefix(name, []byte(hidden)) {
		return name[1:]
	}
	return name
}

// local says that a name is a label of the assembler: L and anything, or ltmp
// and a number.
func local(name []byte) bool {
	if name[0] == 'L' {
		return true
	}
	digits, ok := bytes.CutPrefix(name, []byte("ltmp"))
	return ok && len(bytes.Trim(digits, "0123456789")) == 0
}

// FunctionStarts appends the addresses of LC_FUNCTION_STARTS, which rise. They
// are there even if the symbols were stripped.
func (f *File) FunctionStarts(dst []uint64) []uint64 {
	addr := f.LoadAddress()
	for c := bin.NewCursor(f.starts, f.Order); c.Len() > 0; {
		delta := c.Uleb()
		if delta == 0 || c.Err() != nil || addr+delta < addr {
			break
		}
		addr += delta
		dst = append(dst, f.codeAddr(addr))
	}
	return dst
}
