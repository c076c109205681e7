package gopcln

import (
	"bytes"
	"encoding/binary"
	"math"
	"sort"

	"symbolon/internal/fault"
)

// version is the Go release that introduced a layout.
type version uint8

const (
	go2  version = 2
	go16 version = 16
	go18 version = 18
	go20 version = 20
)

const (
	maxName = 1 << 16

	// None is the file of a row or call without one.
	None = math.MaxUint32
)

// Table is a pclntab.
type Table struct {
	// Text is the address of runtime.text, which addresses are relative to
	// since Go 1.18. Open sets the value of the header, which may be zero.
	Text uint64
	// End is an address after all code, or the highest address if unknown.
	End uint64
	// GoFunc is the address of go:func.*, which inline trees are relative to
	// since Go 1.18; zero if unknown.
	GoFunc uint64
	// ReadAt returns n bytes at an address of the program, or nil. Without it
	// inline trees are not read.
	ReadAt func(addr uint64, n int) []byte

	data    []byte
	order   binary.ByteOrder
	version version
	old     bool // up to Go 1.11
	ptr     int
	quantum uint64
	n       int // functions
	problem error

	names, units, files, runs []byte
	funcs                     int // base of the offsets of records
	index                     int // offset of the sorted list of functions
}

// bad returns an error in a part of the table.
func bad(what string, format string, args ...any) error {
	return fault.New(fault.Malformed, "go pclntab, "+what, format, args...)
}

// Open reads the header of the table at the start of data; bytes after the
// table are ignored.
func Open(data []byte) (*Table, error) {
	t := &Table{data: data, End: math.MaxUint64}
	if !t.readMagic() {
		return nil, bad("header", "invalid magic")
	}
	parts, skip := 5, 2 // offsets in the header, and words before them
	switch t.version {
	case go2:
		parts, skip = 0, 1
	case go18, go20:
		skip = 3
	}
	words := make([]uint64, skip+parts)
	for i := range words {
		words[i] = t.word(8 + i*t.ptr)
	}
	if len(data) < 8+len(words)*t.ptr {
		return nil, bad("header", "data ends early at offset %#x", len(data))
	}
	for _, off := range words[skip:] {
		if off > uint64(len(data)) {
			return nil, bad("header", "offset %#x exceeds %#x bytes", off, len(data))
		}
	}
	if t.version == go2 {
		t.names, t.runs, t.index = data, data, 8+t.ptr
	} else {
		off := words[skip:]
		t.names, t.units, t.files, t.runs = data[off[0]:], data[off[1]:], data[off[2]:], data[off[3]:]
		t.funcs, t.index = int(off[4]), int(off[4])
	}
	if t.version >= go18 {
		t.Text = words[2]
	}
	if most := uint64(len(data)-t.index) / uint64(2*t.fieldSize()); words[0] > most {
		t.problem = bad("functions", "the table at offset %#x has %d of %d functions", t.index, most, words[0])
		words[0] = most
	}
	t.n = int(words[0])
	if t.version == go2 {
		t.readOldFiles()
	}
	t.truncateUnsorted()
	return t, nil
}

// readMagic reads the first eight bytes.
func (t *Table) readMagic() bool {
	d := t.data
	if len(d) < 8 || d[4] != 0 || d[5] != 0 || d[6] != 1 && d[6] != 2 && d[6] != 4 || d[7] != 4 && d[7] != 8 {
		return false
	}
	t.quantum, t.ptr = uint64(d[6]), int(d[7])
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		t.order = order
		switch order.Uint32(d) {
		case 0xfffffffb:
			t.version = go2
		case 0xfffffffa:
			t.version = go16
		case 0xfffffff0:
			t.version = go18
		case 0xfffffff1:
			t.version = go20
		default:
			continue
		}
		return true
	}
	return false
}

// readOldFiles finds the list of files of the first version, which follows the list of
// functions, and determines which of its two kinds of records the table has: Go 1.12 sets
// a byte that was part of the number of tables, or unused, before.
func (t *Table) readOldFiles() {
	if at := uint64(t.u32(t.index + (2*t.n+1)*t.ptr)); at < uint64(len(t.data)) {
		t.files = t.data[at:]
		t.files = t.files[:min(uint64(len(t.files)), 4*uint64(t.u32(int(at))))]
	}
	at := t.ptr + 31
	if t.order == binary.BigEndian {
		at = t.ptr + 28
	}
	t.old = true
	for i := 0; i < t.n && t.old; i++ {
		t.old = t.u32(t.record(i)+at)&t.firstByte() == 0
	}
}

// firstByte returns a mask of the first of four bytes.
func (t *Table) firstByte() uint32 { return t.order.Uint32([]byte{255, 0, 0, 0}) }

// truncateUnsorted truncates the list of functions before the first unsorted
// one.
func (t *Table) truncateUnsorted() {
	before := uint64(0)
	for i := range t.n {
		entry := t.entry(i)
		if entry < before {
			if t.n = i; t.problem == nil {
				t.problem = bad("functions", "address %#x of function %d is below %#x", entry, i, before)
			}
			return
		}
		before = entry
	}
}

// Problem returns the damage of the list of functions, or nil. The functions
// before it can be used.
func (t *Table) Problem() error { return t.problem }

// NumFuncs returns the number of functions.
func (t *Table) NumFuncs() int { return t.n }

// Func is a function.
type Func struct {
	Entry, End uint64 // End is the Entry of the next one
	Name       uint32 // for Table.Name
}

// Func returns function i, in the order of addresses. A function without a
// valid record has no bytes.
func (t *Table) Func(i int) Func {
	entry := t.entry(i)
	at := t.record(i)
	if at < 0 {
		return Func{Entry: entry, End: entry}
	}
	end := min(t.entry(i+1), t.End)
	return Func{entry, max(entry, end), t.u32(at + t.nameOffset())}
}

// Index returns the number of the function that contains an address.
func (t *Table) Index(addr uint64) (i int, ok bool) {
	i = sort.Search(t.n, func(i int) bool { return t.entry(i) > addr }) - 1
	return i, i >= 0 && addr < t.Func(i).End
}

// Name returns the name at an offset, without a copy.
func (t *Table) Name(off uint32) []byte { return text(t.names, off) }

// File returns the path of a file, without a copy; nil for None.
func (t *Table) File(off uint32) []byte {
	if t.version == go2 {
		return text(t.data, off)
	}
	return text(t.files, off)
}

// text returns the bytes at off up to a NUL.
func text(p []byte, off uint32) []byte {
	if uint64(off) >= uint64(len(p)) {
		return nil
	}
	p = p[off:]
	p = p[:min(len(p), maxName)]
	if n := bytes.IndexByte(p, 0); n >= 0 {
		p = p[:n]
	}
	return p[:len(p):len(p)]
}

// fieldSize returns the size of the two fields of the list of functions.
func (t *Table) fieldSize() int {
	if t.version >= go18 {
		return 4
	}
	return t.ptr
}

// entry returns the start of function i; the entry after the last is its end.
func (t *Table) entry(i int) uint64 {
	at := t.index + 2*i*t.fieldSize()
	if t.version >= go18 {
		return t.Text + uint64(t.u32(at))
	}
	return t.word(at)
}

// record returns the offset of the record of function i, negative if it is
// invalid.
func (t *Table) record(i int) int {
	at := t.index + (2*i+1)*t.fieldSize()
	off := uint64(t.u32(at))
	if t.version < go18 {
		off = t.word(at)
	}
	size := len(t.data) - t.funcs - t.recordSize()
	if size <= 0 || off >= uint64(size) {
		return -1
	}
	return t.funcs + int(off)
}

// nameOffset returns the offset of the name in a record, after the address.
func (t *Table) nameOffset() int {
	if t.version >= go18 {
		return 4
	}
	return t.ptr
}

// recordSize returns the size of the fixed part of a record.
func (t *Table) recordSize() int {
	switch t.version {
	case go2:
		return t.ptr + 32
	case go20:
		return t.nameOffset() + 40
	}
	return t.nameOffset() + 36
}

// u32 returns the number at an offset, 0 beyond the end.
func (t *Table) u32(at int) uint32 {
	if at < 0 || at > len(t.data)-4 {
		return 0
	}
	return t.order.Uint32(t.data[at:])
}

// word returns the address-sized number at an offset.
func (t *Table) word(at int) uint64 {
	if t.ptr == 4 {
		return uint64(t.u32(at))
	}
	if at < 0 || at > len(t.data)-8 {
		return 0
	}
	return t.order.Uint64(t.data[at:])
}
