package macho

import (
	"bytes"

	"symbolon/internal/bin"
)

// Bits of an nlist entry.
const (
	symbolStab     = 0xe0 // of the type: an entry for debuggers
	symbolKind     = 0x0e // of the type
	symbolSection  = 0x0e // a kind: defined in a section
	symbolExternal = 0x01 // of the type
	symbolWeakDef  = 0x80 // of the description
)

// maxName limits the search for the end of a name, since many symbols may share
// one.
const maxName = 1 << 16

// hidden is the prefix of a name that was replaced by a number: see SymbolMap.
const hidden = "__hidden#"

// Symbol is a function or another label of code in the symbol table.
type Symbol struct {
	Addr     uint64
	Name     []byte // without the underscore of C
	NameOff  uint32 // of Name, for SymbolName
	Section  uint8  // the index in File.Sections plus one
	External bool
	Weak     bool
}

// nlist is an entry of the symbol table.
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

// entries returns the number of entries of the symbol table.
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

// Symbols yields the symbols of code in the order of the table, without those
// for debuggers and linkers. The lowest bit of the address of a Thumb function
// is cleared. Symbols have no sizes: a symbol extends to the next one, or to
// the next of FunctionStarts.
func (f *File) Symbols(yield func(Symbol) bool) {
	for i := range f.entries() {
		n := f.entry(i)
		if n.kind&symbolStab != 0 || n.kind&symbolKind != symbolSection {
			continue
		}
		if n.sect == 0 || int(n.sect) > len(f.Sections) || !f.Sections[n.sect-1].isCode() {
			continue
		}
		raw := f.SymbolName(n.name)
		name := trimUnderscore(raw)
		if len(name) == 0 || isLocalLabel(raw) {
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

// codeAddr clears the Thumb bit.
func (f *File) codeAddr(addr uint64) uint64 {
	if f.CPU == cpuARM {
		addr &^= 1
	}
	return addr
}

// SymbolName returns the name at an offset of the string table, nil beyond its
// end. It is truncated to maxName bytes.
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

// trimUnderscore returns a name of the symbol table without the underscore that
// C compilers prepend.
func trimUnderscore(name []byte) []byte {
	if len(name) > 0 && name[0] == '_' && !bytes.HasPrefix(name, []byte(hidden)) {
		return name[1:]
	}
	return name
}

// isLocalLabel reports whether a name is a label of the assembler: L and any
// text, or ltmp and a number.
func isLocalLabel(name []byte) bool {
	if name[0] == 'L' {
		return true
	}
	digits, ok := bytes.CutPrefix(name, []byte("ltmp"))
	return ok && len(bytes.Trim(digits, "0123456789")) == 0
}

// FunctionStarts appends the addresses of LC_FUNCTION_STARTS in ascending
// order. They remain when the symbols are stripped.
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
