package pe

import (
	"bytes"

	"symbolon/internal/bin"
)

// Sizes of a COFF symbol, the second in large objects.
const (
	symbolSize    = 18
	bigSymbolSize = 20
)

// Fields of a symbol.
const (
	classExternal = 2
	classStatic   = 3
	classWeak     = 105
	typeFunction  = 2 // in the second four bits of the type

	sectionDebug = -2 // the least number of a section: a symbol for debuggers
)

// Tables of a Symbol.
const (
	TableExport = iota
	TableCOFF
)

// Symbol is a label of code.
type Symbol struct {
	Addr     uint32
	Name     []byte // as in the file
	Table    uint8
	NameOff  uint32 // of Name, for SymbolName
	Function bool   // its type is a function
}

// exports has the tables of the export directory.
type exports struct {
	functions []byte // addresses
	names     []byte // addresses
	ordinals  []byte // for each name the index of its function
}

// readSymbols reads the COFF symbols and the strings after them.
func (f *File) readSymbols(at, count int64) {
	if at == 0 {
		return
	}
	f.symbols = f.table("symbol table", at, count*int64(f.symbolSize()))
	at += count * int64(f.symbolSize())
	if size, _ := f.bytes(at, 4); len(size) == 4 {
		f.names = f.table("string table", at, int64(le.Uint32(size)))
	}
}

func (f *File) readExports() {
	const place = "export directory"
	d := f.dirs[dirExport]
	if d.addr == 0 || d.size == 0 {
		return
	}
	c := bin.NewCursor(f.mapped(place, d.addr, 40), le)
	c.Skip(20)
	functions, names := int64(c.U32()), int64(c.U32())
	functionsAt, namesAt, ordinalsAt := c.U32(), c.U32(), c.U32()
	if c.Err() == nil && names > 0 {
		f.exports.functions = f.mapped(place, functionsAt, functions*4)
		f.exports.names = f.mapped(place, namesAt, names*4)
		f.exports.ordinals = f.mapped(place, ordinalsAt, names*2)
	}
}

// Symbols yields the symbols of code: exports, then COFF symbols. It skips
// exports without a name and those forwarded to another library. Symbols have
// no sizes: a symbol extends to the next one, or to the next of FunctionStarts.
func (f *File) Symbols(yield func(Symbol) bool) {
	if f.eachExport(yield) {
		f.eachCOFF(yield)
	}
}

func (f *File) eachExport(yield func(Symbol) bool) bool {
	d, e := f.dirs[dirExport], f.exports
	for i := range min(len(e.names)/4, len(e.ordinals)/2) {
		n := int(le.Uint16(e.ordinals[2*i:]))
		if 4*n+4 > len(e.functions) {
			continue
		}
		s := Symbol{Addr: le.Uint32(e.functions[4*n:]), NameOff: le.Uint32(e.names[4*i:]), Function: true}
		if s.Addr-d.addr < d.size || !f.inCode(s.Addr) {
			continue
		}
		if s.Name = f.SymbolName(TableExport, s.NameOff); len(s.Name) > 0 && !yield(s) {
			return false
		}
	}
	return true
}

func (f *File) inCode(addr uint32) bool {
	s := f.At(addr)
	return s != nil && s.Code()
}

// symbolSize returns the size of a COFF symbol.
func (f *File) symbolSize() int {
	if f.big {
		return bigSymbolSize
	}
	return symbolSize
}

// record is a COFF symbol as stored, without its name.
type record struct {
	value      uint32
	section    int // from 1 on; 0 and below: none
	isFunction bool
	class, aux uint8
}

// record returns the symbol with a number.
func (f *File) record(i uint32) (r record, ok bool) {
	size := f.symbolSize()
	at := uint64(i) * uint64(size)
	if at+uint64(size) > uint64(len(f.symbols)) {
		return r, false
	}
	e := f.symbols[at:][:size]
	r.value, r.section = le.Uint32(e[8:]), int(int16(le.Uint16(e[12:])))
	if f.big {
		r.section = int(int32(le.Uint32(e[12:])))
	}
	e = e[size-4:]
	r.isFunction, r.class, r.aux = e[0]>>4&3 == typeFunction, e[2], e[3]
	return r, true
}

// eachCOFF yields functions and external symbols, but not names of sections,
// labels and the like.
func (f *File) eachCOFF(yield func(Symbol) bool) {
	for i := uint32(0); ; {
		r, ok := f.record(i)
		if !ok {
			return
		}
		s := Symbol{Table: TableCOFF, NameOff: i}
		i += 1 + uint32(r.aux)
		if f.Object && r.class == classWeak && r.aux > 0 {
			r = f.weak(r, s.NameOff+1)
		}
		if r.section < 1 || r.section > len(f.Sections) || r.class != classExternal && !(r.class == classStatic && r.isFunction) {
			continue
		}
		in := &f.Sections[r.section-1]
		if !in.Code() || r.value >= in.Size || f.Object && in.Addr == 0 {
			continue
		}
		s.Addr, s.Function = in.Addr+r.value, r.isFunction
		if s.Name = f.SymbolName(TableCOFF, s.NameOff); len(s.Name) == 0 || f.Object && bytes.HasPrefix(s.Name, []byte(weakPrefix)) {
			continue
		}
		if !yield(s) {
			return
		}
	}
}

// weakPrefix begins the names of the definitions of weak symbols (.weak.f.default).
const weakPrefix = ".weak."

// weak returns the definition of a weak symbol, given the number of its auxiliary
// record: another symbol, or an undefined one.
func (f *File) weak(r record, aux uint32) record {
	at := uint64(aux) * uint64(f.symbolSize())
	if at+4 > uint64(len(f.symbols)) {
		return r
	}
	other, _ := f.record(le.Uint32(f.symbols[at:]))
	return other
}

// SymbolName returns the name of a symbol, nil for an invalid offset. It is
// truncated to maxName bytes.
func (f *File) SymbolName(table uint8, off uint32) []byte {
	if table == TableExport {
		return untilNUL(f.Mapped(off, maxName))
	}
	at := uint64(off) * uint64(f.symbolSize())
	if at+symbolSize > uint64(len(f.symbols)) {
		return nil
	}
	raw := untilNUL(f.symbols[at : at+8])
	if len(raw) == 0 {
		raw = f.text(uint64(le.Uint32(f.symbols[at+4:])))
	}
	return raw
}
