package pe

import (
	"math"

	"symbolon/internal/bin"
	"symbolon/internal/ident"
)

// Headers of objects. The one of large objects begins with a machine of 0 and
// 0xffff sections, as do others, which have another version or class.
const (
	objectHeader = 20
	bigHeader    = 56
	bigVersion   = 2
	bigClass     = "\xc7\xa1\xba\xd1\xee\xba\xa9\x4b\xaf\x20\xfa\xf6\x6a\xa4\xdc\xb8"

	characteristicExecutable = 2 // linked
)

// head is the header of an object.
type head struct {
	machine            uint16
	time               uint32
	sections           int64
	symbolsAt, symbols int64
	size               int64 // of the header
}

// readHead reads the header at the start of an object.
func readHead(b []byte) (h head, ok bool) {
	if len(b) < objectHeader {
		return h, false
	}
	c := bin.NewCursor(b, le)
	if le.Uint32(b) == 0xffff0000 {
		if len(b) < bigHeader || le.Uint16(b[4:]) < bigVersion || string(b[12:28]) != bigClass {
			return h, false
		}
		c.Skip(6)
		h = head{machine: c.U16(), time: c.U32(), size: bigHeader}
		c.Skip(32)
		h.sections, h.symbolsAt, h.symbols = int64(c.U32()), int64(c.U32()), int64(c.U32())
	} else {
		h = head{machine: c.U16(), sections: int64(c.U16()), time: c.U32(), size: objectHeader}
		h.symbolsAt, h.symbols = int64(c.U32()), int64(c.U32())
		if optional, flags := c.U16(), c.U16(); optional != 0 || flags&characteristicExecutable != 0 {
			return h, false
		}
	}
	return h, h.sections > 0 && ident.MachineArch(h.machine) != ident.ArchUnknown
}

// IsObject reports whether a file begins as an object does: with the header, and
// the header of a section whose name can be read. There are no magic bytes.
func IsObject(b []byte) bool {
	h, ok := readHead(b)
	if !ok || int64(len(b)) < h.size+sectionHeader {
		return false
	}
	first := b[h.size:][:sectionHeader]
	name := untilNUL(first[:8])
	for _, c := range name {
		if c <= ' ' || c > '~' {
			return false
		}
	}
	headers := h.size + h.sections*sectionHeader
	at := int64(le.Uint32(first[20:]))
	return len(name) > 0 && (at == 0 || at >= headers) && (h.symbolsAt == 0 || h.symbolsAt >= headers)
}

// OpenObject reads the headers and the symbol table of an object file. It fails
// only without a usable header; other damage is listed in Problems.
func OpenObject(src bin.Source) (*File, error) {
	f := &File{src: src, Object: true}
	b, err := f.bytes(0, bigHeader)
	if err != nil {
		return nil, err
	}
	h, ok := readHead(b)
	if !ok {
		return nil, malformed("invalid header of an object")
	}
	f.Machine, f.Timestamp, f.big = h.machine, h.time, h.size == bigHeader
	f.Wide = f.Arch() == ident.ArchX86_64 || f.Arch() == ident.ArchARM64
	f.readSymbols(h.symbolsAt, h.symbols)
	f.readSections(h.size, h.sections)
	f.checkSymbols(h.symbolsAt)
	return f, nil
}

// checkSymbols notes symbols of sections that do not exist, and auxiliary records
// beyond the end. Relocations refer to symbols by their numbers, so a symbol that is
// skipped may cost all debug information.
func (f *File) checkSymbols(at int64) {
	bad, n := 0, 0
	for i := uint32(0); ; n++ {
		r, ok := f.record(i)
		if !ok {
			break
		}
		i += 1 + uint32(r.aux)
		if r.section > len(f.Sections) || r.section < sectionDebug || int64(i)*int64(f.symbolSize()) > int64(len(f.symbols)) {
			bad++
		}
	}
	if bad > 0 {
		f.Problems.Add("symbol table", at, "section or number of auxiliary records of %d of %d symbols is invalid", bad, n)
	}
}

const (
	relocSize = 10
	// sectionManyRelocs marks a section whose first relocation has the number of
	// all in place of its address, if the header has the number manyRelocs.
	sectionManyRelocs = 0x01000000
	manyRelocs        = 0xffff
)

// relocOp is the operation of a type of relocation. S is the address of its
// symbol, which for sections of debug information is the offset in them; A is the
// number that is there, and P the address after that.
type relocOp uint8

const (
	opUnknown relocOp = iota
	opNothing
	opAdd4     // S + A
	opAdd8     // S + A
	opRelative // S + A - P, in 4 bytes
	opSection  // 1 for code that has an address, in 2 bytes
)

// relocSizes has the number of bytes that an operation changes.
var relocSizes = [...]uint64{opUnknown: math.MaxUint32, opNothing: 0, opAdd4: 4, opAdd8: 8, opRelative: 4, opSection: 2}

// relocOps has the types of relocations for data of each instruction set.
type relocOps [21]relocOp

var (
	opsX86 = relocOps{0: opNothing, 6: opAdd4, 7: opAdd4, 10: opSection, 11: opAdd4, 20: opRelative}
	opsX64 = relocOps{
		0: opNothing, 1: opAdd8, 2: opAdd4, 3: opAdd4, 4: opRelative, 5: opRelative, 6: opRelative,
		7: opRelative, 8: opRelative, 9: opRelative, 10: opSection, 11: opAdd4,
	}
	opsARM   = relocOps{0: opNothing, 1: opAdd4, 2: opAdd4, 10: opRelative, 14: opSection, 15: opAdd4}
	opsARM64 = relocOps{0: opNothing, 1: opAdd4, 2: opAdd4, 8: opAdd4, 13: opSection, 14: opAdd8, 17: opRelative}
)

// relocOps returns the relocations of the instruction set of the file.
func (f *File) relocOps() *relocOps {
	switch f.Arch() {
	case ident.ArchX86:
		return &opsX86
	case ident.ArchX86_64:
		return &opsX64
	case ident.ArchARM64:
		return &opsARM64
	}
	return &opsARM
}

// Relocate applies the relocations of a section of an object to its bytes. All offsets in
// sections become addresses, so every section of code with an address has the number 1,
// as if there were one section with all code.
//
// Symbols of other files have the address 0. A relocation that cannot be applied
// leaves data unchanged, and is counted in the problems.
func (f *File) Relocate(s *Section, data []byte) (problems bin.Problems) {
	place := "relocations of section " + s.Name
	at, n := int64(s.relocsAt), int64(s.relocs)
	if first, _ := f.bytes(at, relocSize); s.Flags&sectionManyRelocs != 0 && n == manyRelocs && len(first) == relocSize {
		at, n = at+relocSize, max(int64(le.Uint32(first))-1, 0)
	}
	if n > int64(len(data)) {
		problems.Add(place, at, "invalid number %d for %d bytes", n, len(data))
		return problems
	}
	table, _ := f.bytes(at, n*relocSize)
	failed, ops := n-int64(len(table)/relocSize), f.relocOps()
	for ; len(table) >= relocSize; table = table[relocSize:] {
		if !f.apply(ops, table[:relocSize], s.Addr, data) {
			failed++
		}
	}
	if failed > 0 {
		problems.Add(place, at, "%d of %d are missing, of an unsupported type or out of range", failed, n)
	}
	return problems
}

// apply applies a relocation to the bytes of a section with an address. It reports
// whether it can.
func (f *File) apply(ops *relocOps, r []byte, base uint32, data []byte) bool {
	off, kind, op := uint64(le.Uint32(r)), int(le.Uint16(r[8:])), opUnknown
	if kind < len(ops) {
		op = ops[kind]
	}
	if op == opNothing {
		return true
	}
	number := le.Uint32(r[4:])
	sym, ok := f.record(number)
	if sym.class == classWeak && sym.aux > 0 {
		sym = f.weak(sym, number+1)
	}
	if !ok || off+relocSizes[op] > uint64(len(data)) {
		return false
	}
	at, v, section := data[off:], sym.value, uint32(0)
	if sym.section > 0 && sym.section <= len(f.Sections) {
		section = f.Sections[sym.section-1].Addr
		v += section
	}
	switch op {
	case opAdd4:
		le.PutUint32(at, le.Uint32(at)+v)
	case opAdd8:
		le.PutUint64(at, le.Uint64(at)+uint64(v))
	case opRelative:
		if v -= base + uint32(off) + 4; f.Machine == machineX64 {
			v -= uint32(kind - 4) // more bytes of the instruction follow
		}
		le.PutUint32(at, le.Uint32(at)+v)
	case opSection:
		if section > 0 {
			le.PutUint16(at, 1)
		}
	}
	return true
}
