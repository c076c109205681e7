package elf

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// Values of the fields of a Symbol.
const (
	SymbolNoType, SymbolFunc, SymbolIFunc  = 0, 2, 10 // Type: STT_*
	symbolObject, symbolFile, symbolCommon = 1, 4, 5
	BindLocal, BindGlobal, BindWeak        = 0, 1, 2 // Bind: STB_*

	SectionAbs   = -1 // Section: an absolute address
	SectionOther = -2 // Section: a reserved or invalid number
)

const (
	maxSymbolName = 64 << 10
	maxSegments   = 256 // searched for one symbol
)

// Symbol is a symbol of code or data.
type Symbol struct {
	Addr    uint64 // in a relocatable file, the offset in Section
	Size    uint64
	NameOff uint32 // for SymbolName(Table, NameOff)
	Section int32  // index of the section, or SectionAbs, SectionOther
	Index   uint32 // in its table
	Table   uint8  // 0: .symtab, 1: .dynsym
	Bind    uint8
	Type    uint8
	// IsOld reports whether programs are no longer linked with this version of the name,
	// according to .dynsym. In .symtab, its name ends with @VERSION instead.
	IsOld bool
}

// Rank orders the symbols of one address: the one with the lowest rank is
// shown, and of several the first. Symbols with a size precede those without,
// which may only mark the start of something; then come functions before
// symbols without a type, global before weak before local ones, and fewer
// leading underscores or dots before more.
func (s *Symbol) Rank(name []byte) (rank uint8) {
	for i, worse := range [...]bool{s.Bind == BindWeak, s.Bind == BindLocal, s.Type == SymbolNoType, s.Size == 0} {
		if worse {
			rank |= 16 << i
		}
	}
	front := len(name) - len(bytes.TrimLeft(name, "_."))
	return rank | uint8(min(front, 15))
}

// table is a symbol table with its strings, in place.
type table struct {
	syms    []byte
	strs    []byte
	indices []byte // section numbers beyond 16 bits
	// versions has the numbers of the versions of names, in 15 bits; the highest bit
	// is set for those that the linker does not use by default.
	versions []byte
}

// findTables sets the symbol tables: those in sections or, without section headers, the
// one of the loader.
func (f *File) findTables() {
	if len(f.Sections) < 2 {
		f.tables[1] = f.dynamicTable()
		return
	}
	for i, kind := range [...]uint32{SectionSymTab, SectionDynSym} {
		if n := slices.IndexFunc(f.Sections, func(s Section) bool { return s.Type == kind && s.Size > 0 }); n >= 0 {
			f.tables[i] = f.sectionTable(&f.Sections[n])
		}
	}
}

func (f *File) sectionTable(s *Section) (t table) {
	place := "section " + s.Label()
	if size := f.pick(16, 24); s.Entsize != 0 && s.Entsize != size {
		f.problem(place, s.Off, "invalid symbol size %d: must be %d", s.Entsize, size)
	}
	t.syms, _ = f.Raw(s)
	if int64(s.Link) < int64(len(f.Sections)) {
		t.strs, _ = f.Raw(&f.Sections[s.Link])
	}
	if t.strs == nil {
		f.problem(place, s.Off, "section %d has no names", s.Link)
	}
	t.indices, t.versions = f.beside(s, sectionIndices), f.beside(s, sectionVersions)
	return t
}

// beside returns the section of a type that extends a symbol table.
func (f *File) beside(s *Section, kind uint32) (raw []byte) {
	x := slices.IndexFunc(f.Sections, func(x Section) bool { return x.Type == kind && int64(x.Link) == int64(s.Index) })
	if x >= 0 {
		raw, _ = f.Raw(&f.Sections[x])
	}
	return raw
}

// rawSymbol is a symbol as stored.
type rawSymbol struct {
	name        uint32
	info        uint8
	section     uint16
	value, size uint64
}

// symbol reads a symbol of b, which is long enough.
func (f *File) symbol(b []byte) rawSymbol {
	if f.Class == 64 {
		b = b[:24]
		return rawSymbol{f.Order.Uint32(b), b[4], f.Order.Uint16(b[6:]), f.Order.Uint64(b[8:]), f.Order.Uint64(b[16:])}
	}
	b = b[:16]
	return rawSymbol{f.Order.Uint32(b), b[12], f.Order.Uint16(b[14:]), uint64(f.Order.Uint32(b[4:])), uint64(f.Order.Uint32(b[8:]))}
}

// sectionOf returns the section of symbol number i of the table, 0 if the
// symbol is defined in another file.
func (f *File) sectionOf(t *table, s rawSymbol, i int) int32 {
	n := uint32(s.section)
	switch {
	case n == 0:
		return 0
	case s.section == 0xffff && (i+1)*4 <= len(t.indices): // SHN_XINDEX
		n = f.Order.Uint32(t.indices[i*4:])
	case s.section == 0xfff1:
		return SectionAbs
	case s.section >= 0xff00:
		return SectionOther
	}
	if int64(n) >= int64(len(f.Sections)) {
		return SectionOther
	}
	return int32(n)
}

// Symbols yields the symbols of code, those of .symtab first, then those of
// .dynsym, each in their order, until yield returns false.
//
// These are all functions defined in the file, and the symbols without a type in
// sections of code, as of assembly, except mapping symbols, local labels and
// those without a name.
func (f *File) Symbols(yield func(Symbol) bool) { f.symbols(codeTypes, nil, yield) }

// SymbolsAt yields the symbols with an address, and possibly others.
func (f *File) SymbolsAt(addr uint64, yield func(Symbol) bool) { f.symbols(codeTypes, &addr, yield) }

// DataSymbols yields the symbols of data and those without a type, in the same
// order.
func (f *File) DataSymbols(yield func(Symbol) bool) { f.symbols(dataTypes, nil, yield) }

// FileSymbols yields the names of source files. The local symbols of a file follow
// its name in the table.
func (f *File) FileSymbols(yield func(Symbol) bool) { f.symbols(fileTypes, nil, yield) }

// Sets of symbol types, a bit for each.
const (
	codeTypes = 1<<SymbolNoType | 1<<SymbolFunc | 1<<SymbolIFunc
	dataTypes = 1<<SymbolNoType | 1<<symbolObject | 1<<symbolCommon
	fileTypes = 1 << symbolFile
)

func (f *File) symbols(types uint16, at *uint64, yield func(Symbol) bool) {
	opd := f.readDescriptors()
	if opd.section != 0 {
		at = nil // the table has the addresses of descriptors
	}
	for i := range f.tables {
		if !f.symbolsOf(uint8(i), types, &opd, at, yield) {
			return
		}
	}
}

// value returns the address of a symbol of b, which is long enough.
func (f *File) value(b []byte) uint64 {
	switch {
	case f.Class == 32:
		return uint64(f.Order.Uint32(b[4:]))
	case f.big:
		return binary.BigEndian.Uint64(b[8:])
	}
	return binary.LittleEndian.Uint64(b[8:])
}

func (f *File) symbolsOf(number uint8, types uint16, opd *descriptors, at *uint64, yield func(Symbol) bool) bool {
	t := &f.tables[number]
	size, infoAt := int(f.pick(16, 24)), f.pick(12, 4)
	isaBit := uint64(0) // the bit of an address that selects the instruction set
	if f.Machine == machineARM || f.Machine == machineMIPS || f.Machine == machineMIPSLE {
		isaBit = 1
	}
	stripped := len(f.Sections) < 2
	for i := 1; (i+1)*size <= len(t.syms); i++ {
		b := t.syms[i*size : (i+1)*size]
		kind := b[infoAt] & 15
		if types>>kind&1 == 0 {
			continue
		}
		if at != nil && (f.value(b)^*at)&^isaBit != 0 {
			continue
		}
		raw := f.symbol(b)
		section := f.sectionOf(t, raw, i)
		if section == 0 {
			continue
		}
		s := Symbol{Addr: raw.value, Size: raw.size, NameOff: raw.name, Section: section, Index: uint32(i), Table: number, Bind: raw.info >> 4, Type: kind}
		if 2*i+2 <= len(t.versions) {
			s.IsOld = f.Order.Uint16(t.versions[2*i:])>>15 != 0
		}
		switch {
		case types != codeTypes:
		case kind == SymbolNoType:
			code := stripped && f.executable(raw.value) ||
				section > 0 && f.Sections[section].Flags&FlagExec != 0
			if !code || !isName(t.strs, raw.name) {
				continue
			}
		default:
			s.Addr &^= isaBit
			if !opd.resolve(&s) {
				continue
			}
		}
		if !yield(s) {
			return false
		}
	}
	return true
}

// SymbolName returns the string at an offset of the strings of a symbol table,
// without a copy.
func (f *File) SymbolName(table uint8, off uint32) []byte {
	return stringAt(f.tables[table&1].strs, off)
}

// stringAt returns the string at an offset, nil beyond the end.
func stringAt(strs []byte, off uint32) []byte {
	if int64(off) >= int64(len(strs)) {
		return nil
	}
	b := strs[off:]
	b = b[:min(len(b), maxSymbolName)]
	if n := bytes.IndexByte(b, 0); n >= 0 {
		b = b[:n]
	}
	return b[:len(b):len(b)]
}

// isName reports whether a symbol without a type has the name of code: not the
// empty one, that of a mapping symbol or of a local label.
func isName(strs []byte, off uint32) bool {
	if int64(off) >= int64(len(strs)) {
		return false
	}
	b := strs[off:]
	b = b[:min(len(b), 5)]
	switch {
	case b[0] == 0:
		return false
	case len(b) < 3:
		return true
	case b[0] == '.':
		return b[1] != 'L'
	case b[0] == '$' && (b[1] == 'a' || b[1] == 'd' || b[1] == 't' || b[1] == 'x'):
		isa := b[1] == 'x' && bytes.HasPrefix(b[2:], []byte("rv"))
		return b[2] != 0 && b[2] != '.' && !isa
	}
	return true
}

// executable reports whether an address is in a segment of code.
func (f *File) executable(addr uint64) bool {
	for i := range min(len(f.Segments), maxSegments) {
		s := &f.Segments[i]
		if s.Type == SegmentLoad && s.Flags&segmentExec != 0 && addr-s.Vaddr < s.Memsz {
			return true
		}
	}
	return false
}
