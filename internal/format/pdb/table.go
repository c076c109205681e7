package pdb

import (
	"encoding/binary"
	"sort"
	"strings"
	"sync"
	"sync/atomic"

	"symbolon/internal/bin"
)

// table is the stream of types or items: records in numeric order.
type table struct {
	s          Stream
	begin, end uint32 // numbers of the first record and after the last one
	base, size int64  // of the records in the stream

	pairs       []byte // offsets of some records, stored in the file: number and offset
	rough, fine steps
	lookups     atomic.Int32
	buckets     uint32
	loadHashes  func() []byte // bucket of each record, 4 bytes
}

// steps has the offset of every n-th record, computed on first use.
type steps struct {
	once sync.Once
	at   []uint32
}

// openTable reads the header of a stream of records.
func (f *File) openTable(what string, stream int) *table {
	const minSize = 56
	t := &table{s: f.msf.stream(stream)}
	if t.s.Size() == 0 {
		return t
	}
	head, err := t.s.Bytes(0, int(min(minSize, t.s.Size())), nil)
	if err != nil || len(head) < minSize {
		f.Problems.Add(what, 0, "truncated header")
		return t
	}
	c := bin.NewCursor(head[4:], binary.LittleEndian)
	t.base, t.begin, t.end, t.size = int64(c.U32()), c.U32(), c.U32(), int64(c.U32())
	hash := f.msf.stream(int(c.U16()))
	c.Skip(6)
	t.buckets = c.U32()
	hashes, hashSize, at, size := c.U32(), c.U32(), c.U32(), c.U32()
	if t.base < minSize || t.size > t.s.Size()-t.base || t.end < t.begin || int64(t.end-t.begin) > t.size/4 {
		f.Problems.Add(what, 4, "invalid range of numbers %#x to %#x in %d bytes at offset %d", t.begin, t.end, t.size, t.base)
		t.end = t.begin
		return t
	}
	t.loadHashes = sync.OnceValue(func() []byte {
		data, _ := hash.Bytes(int64(hashes), int(min(hashSize, 4*(t.end-t.begin))), nil) // without them the sizes of classes are unknown
		return data
	})
	t.pairs, _ = hash.Bytes(int64(at), int(size&^7), nil) // unused on error
	if !t.usable(t.pairs) {
		t.pairs = nil
	}
	return t
}

// stepSize is the size of a pair.
const stepSize = 8

// usable reports whether pairs begin at the first record and are ascending.
func (t *table) usable(steps []byte) bool {
	for i := 0; i < len(steps); i += stepSize {
		number, off := binary.LittleEndian.Uint32(steps[i:]), binary.LittleEndian.Uint32(steps[i+4:])
		switch {
		case i == 0 && (number != t.begin || off != 0), number >= t.end, int64(off) >= t.size:
			return false
		case i > 0 && (number <= binary.LittleEndian.Uint32(steps[i-8:]) || off <= binary.LittleEndian.Uint32(steps[i-4:])):
			return false
		}
	}
	return len(steps) > 0
}

// scan returns the offset of every n-th record. After each pair of the file it
// continues from the offset of the pair.
func (t *table) scan(every uint32) []uint32 {
	at := make([]uint32, 0, (t.end-t.begin)/every+1)
	var room [2]byte
	pairs, off := t.pairs, int64(0)
	for number := t.begin; number < t.end; number++ {
		if len(pairs) > 0 && binary.LittleEndian.Uint32(pairs) == number {
			off = int64(binary.LittleEndian.Uint32(pairs[4:]))
			pairs = pairs[stepSize:]
		}
		if (number-t.begin)%every == 0 {
			at = append(at, uint32(min(off, t.size)))
		}
		size := t.head(off, room[:])
		switch {
		case size != nil:
			off += 2 + int64(binary.LittleEndian.Uint16(size))
		case len(pairs) == 0:
			return at
		default:
			off = t.size
		}
	}
	return at
}

// If many records are requested, a finer index than the one in the file pays
// off.
const (
	manyLookups = 1 << 10
	everyFine   = 4
	everyRough  = 64
)

// before returns a record with a known offset at or before a number.
func (t *table) before(number uint32) (at uint32, off int64, ok bool) {
	if n := len(t.pairs) / stepSize; n > 0 {
		i := sort.Search(n, func(i int) bool { return binary.LittleEndian.Uint32(t.pairs[i*stepSize:]) > number }) - 1
		pair := t.pairs[i*stepSize:]
		at, off, ok = binary.LittleEndian.Uint32(pair), int64(binary.LittleEndian.Uint32(pair[4:])), true
	}
	s, every := &t.rough, uint32(everyRough)
	switch many := t.lookups.Load() >= manyLookups; {
	case many:
		s, every = &t.fine, everyFine
	case ok:
		t.lookups.Add(1)
		return at, off, true
	default:
		t.lookups.Add(1)
	}
	s.once.Do(func() { s.at = t.scan(every) })
	i := (number - t.begin) / every
	if step := t.begin + i*every; int(i) < len(s.at) && (!ok || step > at) {
		return step, int64(s.at[i]), true
	}
	return at, off, ok
}

// head returns the size field of the record at off, nil beyond the end.
func (t *table) head(off int64, buf []byte) []byte {
	if off >= t.size {
		return nil
	}
	return t.s.view(t.base+off, 2, buf)
}

// record returns the record of a number. Its data is valid until buf is reused.
func (t *table) record(number uint32, buf *[]byte) (r record, ok bool) {
	if number < t.begin || number >= t.end {
		return r, false
	}
	at, off, ok := t.before(number)
	if !ok {
		return r, false
	}
	var short [2]byte
	for ; ; at++ {
		b := t.head(off, short[:])
		if b == nil {
			return r, false
		}
		size := int(binary.LittleEndian.Uint16(b))
		if at < number {
			off += 2 + int64(size)
			continue
		}
		data := t.s.view(t.base+off+2, size, *buf)
		if len(data) < 2 {
			return r, false
		}
		if cap(*buf) < size && t.s.c.whole == nil {
			*buf = data
		}
		return record{0, binary.LittleEndian.Uint16(data), data[2:]}, true
	}
}

// crossModule marks a number that another module defines.
const crossModule = 1 << 31

// resolve returns the number of a type or item of another module, given the
// imports of the module that refers to it; 0 if it is unknown.
//
// Imports are, for each module, the offset of its name, the count of imported
// numbers, and those numbers. A cross-module number has an index of the module
// and an index in its list.
func (f *File) resolve(imports []byte, number uint32) uint32 {
	module, index := number>>20&0x7ff, number&0xfffff
	c := bin.NewCursor(imports, binary.LittleEndian)
	for ; c.Len() >= 8; module-- {
		name, count := c.U32(), c.U32()
		numbers := c.Bytes(4 * int(count))
		if module == 0 {
			if index >= count || numbers == nil {
				return 0
			}
			return f.exported(name, binary.LittleEndian.Uint32(numbers[4*index:]))
		}
	}
	return 0
}

// exported returns the global number for a module's own number, given the
// offset of the module's name.
func (f *File) exported(name, number uint32) uint32 {
	e := &f.exports
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.byName == nil {
		e.byName, e.byOffset, e.of = map[string]int{}, map[uint32]int{}, map[int]map[uint32]uint32{}
		for i := range f.Modules {
			e.byName[strings.ToLower(f.Modules[i].Name)] = i
		}
	}
	i, known := e.byOffset[name]
	if !known {
		if at, ok := e.byName[strings.ToLower(string(f.AppendString(nil, name)))]; ok {
			i = at + 1
		}
		e.byOffset[name] = i
	}
	if i--; i < 0 {
		return 0
	}
	if e.of[i] == nil {
		e.of[i] = f.exportsOf(i)
	}
	return e.of[i][number]
}

// importsOf returns the imports of a module.
func (f *File) importsOf(module int) []byte {
	e := &f.exports
	e.mu.Lock()
	defer e.mu.Unlock()
	imports, ok := e.imports[module]
	if !ok {
		if e.imports == nil {
			e.imports = map[int][]byte{}
		}
		imports = f.part(module, partImports)
		e.imports[module] = imports
	}
	return imports
}

// exportsOf reads the exports of a module.
func (f *File) exportsOf(module int) map[uint32]uint32 {
	own := map[uint32]uint32{}
	for p := bin.NewCursor(f.part(module, partExports), binary.LittleEndian); p.Len() >= 8; {
		number := p.U32()
		own[number] = p.U32()
	}
	return own
}

// part returns the first part of a kind in a module's line information.
func (f *File) part(module int, kind uint32) (found []byte) {
	m := &f.Modules[module]
	var room []byte
	data, _ := f.moduleData(m, &room) // damage is reported when its code is read
	_ = parts(data[min(m.symbols+m.lines, int64(len(data))):], func(k uint32, _ int, part []byte) bool {
		if k == kind {
			found = part
		}
		return k != kind
	})
	return found
}
