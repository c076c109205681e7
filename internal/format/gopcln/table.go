package gopcln

import (
	"bytes"
	"encoding/binary"
	"math"
	"sort"

	"symbolon/internal/fault"
)

// version is the Go release that brought a layout.
type version uint8

const (
	go2  version = 2
	go16 version = 16
	go18 version = 18
	go20 version = 20
)

const (
	maxName = 1 << 16

	// None is the file of a place that has none.
	None = math.MaxUint32
)

// Table is a pclntab.
type Table struct {
	// Text is the address of runtime.text, which addresses are relative to
	// since Go 1.18. Open sets what the header says, which may be zero.
	Text uint64
	// End is an address behind all code, or the highest if it is not known.
	End uint64
	// GoFunc is the address of go:func.*, which inline trees are relative to
	// since Go 1.18; zero: not known.
	GoFunc uint64
	// ReadAt gives n bytes at an address of the program, or none. Without it
	// there are no inline trees.
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
	funcs                     int // where offsets of records count from
	index                     int // where the sorted list of functions is
}

// bad is an error about a place in the table.
func bad(what string, format string, args ...any) error {
	return fault.New(fault.Malformed, "go pclntab, "+what, format, args...)
}

// Open reads the header of the table at the start of data; what is behind the
// table does not matter.
func Open(data []byte) (*Table, error) {
	t := &Table{data: data, End: math.MaxUint64}
	if !t.magic() {
		return nil, bad("header", "no magic at offset 0x0")
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
			return nil, bad("header", "offset %#x of %#x bytes", off, len(data))
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
	if most := uint64(len(data)-t.index) / uint64(2*t.field()); words[0] > most {
		t.problem = bad("functions", "%d of them, but bytes for %d at offset %#x", words[0], most, t.index)
		words[0] = most
	}
	t.n = int(words[0])
	if t.version == go2 {
		t.oldFiles()
	}
	t.sorted()
	return t, nil
}

// magic reads the first eight bytes.
func (t *Table) magic() bool {
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

// oldFiles finds the list of files of the first version, behind the list of
// functions, and which of its two kinds of records there are: in those of Go
// 1.12 a byte is set that was part of the number of tables, or of no use,
// before.
func (t *Table) oldFiles() {
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

// firstByte masks the first of four bytes.
func (t *Table) firstByte() uint32 { return t.order.Uint32([]byte{255, 0, 0, 0}) }

// sorted cuts the list of functions where it is not sorted any more.
func (t *Table) sorted() {
	before := uint64(0)
	for i := range t.n {
		entry := t.entry(i)
		if entry < before {
			if t.n = i; t.problem == nil {
				t.problem = bad("functions", "address %#x after %#x, number %d", entry, before, i)
			}
			return
		}
		before = entry
	}
}

// Problem is what is wrong with the list of functions, or nil. What is before
// it can be used.
func (t *Table) Problem() error { return t.problem }

// NumFuncs is how many functions there are.
func (t *Table) NumFuncs() int { return t.n }

// Func is a function.
type Func struct {
	Entry, End uint64 // where the next one starts
	Name       uint32 // for Table.Name
}

// Func is the function of a number. They are in the order of their addresses.
// One whose record cannot be read has no bytes.
func (t *Table) Func(i int) Func {
	entry := t.entry(i)
	at := t.record(i)
	if at < 0 {
		return Func{Entry: entry, End: entry}
	}
	end := min(t.entry(i+1), t.End)
	return Func{entry, max(entry, end), t.u32(at + t.base())}
}

// Index is the number of the function that has an address.
func (t *Table) Index(addr uint64) (i int, ok bool) {
	i = sort.Search(t.n, func(i int) bool { return t.entry(i) > addr }) - 1
	return i, i >= 0 && addr < t.Func(i).End
}

// Name is the name at an offset, in place.
func (t *Table) Name(off uint32) []byte { return text(t.names, off) }

// File is the path of a file, in place; nil for None.
func (t *Table) File(off uint32) []byte {
	if t.version == go2 {
		return text(t.data, off)
	}
	return text(t.files, off)
}

// text is what stands at off, up to a NUL.
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

// field is the size of the two fields of the list of functions.
func (t *Table) field() int {
	if t.version >= go18 {
		return 4
	}
	return t.ptr
}

// entry is where function i starts; the last one is followed by its end.
func (t *Table) entry(i int) uint64 {
	at := t.index + 2*i*t.field()
	if t.version >= go18 {
		return t.Text + uint64(t.u32(at))
	}
	return t.word(at)
}

// record is where the record of function i stands, or negative if it stands
// nowhere.
func (t *Table) record(i int) int {
	at := t.index + (2*i+1)*t.field()
	off := uint64(t.u32(at))
	if t.version < go18 {
		off = t.word(at)
	}
	room := len(t.data) - t.funcs - t.tail()
	if room <= 0 || off >= uint64(room) {
		return -1
	}
	return t.funcs + int(off)
}

// base is where the name stands in a record, behind the address.
func (t *Table) base() int {
	if t.version >= go18 {
		return 4
	}
	return t.ptr
}

// tail is the size of the fixed part of a record.
func (t *Table) tail() int {
	switch t.version {
	case go2:
		return t.ptr + 32
	case go20:
		return t.base() + 40
	}
	return t.base() + 36
}

// u32 is the number at an offset; zero if there is none.
func (t *Table) u32(at int) uint32 {
	if at < 0 || at > len(t.data)-4 {
		return 0
	}
	return t.order.Uint32(t.data[at:])
}

// word is the number of the size of an address at an offset.
func (t *Table) word(at int) uint64 {
	if t.ptr == 4 {
		return uint64(t.u32(at))
	}
	if at < 0 || at > len(t.data)-8 {
		return 0
	}
	return t.order.Uint64(t.data[at:])
}
