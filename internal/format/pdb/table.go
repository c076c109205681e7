package pdb

import (
	"encoding/binary"
	"sort"
	"strings"
	"sync"
	"sync/atomic"

	"symbolon/internal/bin"
)

// table is the stream of types or of items: records with rising numbers.
type table struct {
	s          Stream
	begin, end uint32 // numbers
	base, size int64  // of the records in the stream

	pairs       []byte // where some records begin, as the file says: a number and a place each
	rough, fine steps
	asked       atomic.Int32
	buckets     uint32
	loadHashes  func() []byte // the bucket of each record: 4 bytes
}

// steps are where every so manieth record begins, found when first needed.
type steps struct {
	once sync.Once
	at   []uint32
}

// openTable reads the header of a stream of records.
func (f *File) openTable(what string, stream int) *table {
	const least = 56
	t := &table{s: f.msf.stream(stream)}
	if t.s.Size() == 0 {
		return t
	}
	head, err := t.s.Bytes(0, int(min(least, t.s.Size())), nil)
	if err != nil || len(head) < least {
		f.problem(what, 0, "its header is cut")
		return t
	}
	c := bin.NewCursor(head[4:], binary.LittleEndian)
	t.base, t.begin, t.end, t.size = int64(c.U32()), c.U32(), c.U32(), int64(c.U32())
	hash := f.msf.stream(int(c.U16()))
	c.Skip(6)
	t.buckets = c.U32()
	hashes, hashSize, at, size := c.U32(), c.U32(), c.U32(), c.U32()
	if t.base < least || t.size > t.s.Size()-t.base || t.end < t.begin || int64(t.end-t.begin) > t.size/4 {
		f.problem(what, 4, "numbers %#x to %#x in %d bytes from %d on", t.begin, t.end, t.size, t.base)
		t.end = t.begin
		return t
	}
	t.loadHashes = sync.OnceValue(func() []byte {
		data, _ := hash.Bytes(int64(hashes), int(min(hashSize, 4*(t.end-t.begin))), nil) // without them no size is known
		return data
	})
	t.pairs, _ = hash.Bytes(int64(at), int(size&^7), nil) // those that cannot be read are not usable
	if !t.usable(t.pairs) {
		t.pairs = nil
	}
	return t
}

// stepSize is the size of a step.
const stepSize = 8

// usable says whether steps begin at the first record and rise.
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

// scan finds where every so manieth record begins: what the file says of some
// counts for those behind them.
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

// Where every record is asked for it is worth while to know more places than
// the file tells.
const (
	manyAsked  = 1 << 10
	everyFine  = 4
	everyRough = 64
)

// before is a record that is known to begin at or before a number, and where.
func (t *table) before(number uint32) (at uint32, off int64, ok bool) {
	if n := len(t.pairs) / stepSize; n > 0 {
		i := sort.Search(n, func(i int) bool { return binary.LittleEndian.Uint32(t.pairs[i*stepSize:]) > number }) - 1
		pair := t.pairs[i*stepSize:]
		at, off, ok = binary.LittleEndian.Uint32(pair), int64(binary.LittleEndian.Uint32(pair[4:])), true
	}
	s, every := &t.rough, uint32(everyRough)
	switch many := t.asked.Load() >= manyAsked; {
	case many:
		s, every = &t.fine, everyFine
	case ok:
		t.asked.Add(1)
		return at, off, true
	default:
		t.asked.Add(1)
	}
	s.once.Do(func() { s.at = t.scan(every) })
	i := (number - t.begin) / every
	if step := t.begin + i*every; int(i) < len(s.at) && (!ok || step > at) {
		return step, int64(s.at[i]), true
	}
	return at, off, ok
}

// head is the size of the record at off, in two bytes; nil if none is there.
func (t *table) head(off int64, room []byte) []byte {
	if off >= t.size {
		return nil
	}
	return t.s.view(t.base+off, 2, room)
}

// record is the record of a number. Its data is valid until room is used again.
func (t *table) record(number uint32, room *[]byte) (r record, ok bool) {
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
		data := t.s.view(t.base+off+2, size, *room)
		if len(data) < 2 {
			return r, false
		}
		if cap(*room) < size && t.s.c.whole == nil {
			*room = data
		}
		return record{0, binary.LittleEndian.Uint16(data), data[2:]}, true
	}
}

// crossModule is set in a number that another module gave.
const crossModule = 1 << 31

// resolve finds the number of a type or an item of another module, given the
// imports of the module that speaks of it; 0 if it is not found.
//
// Imports are, for each module, the place of its name, how many it lends, and
// their numbers there. The number says which module and which of these.
func (f *File) resolve(imports []byte, number uint32) uint32 {
	module, index := number>>20&0x7ff, number&0xfffff
	c := bin.NewCursor(imports, binary.LittleEndian)
	for ; c.Len() >= 8; module-- {
		name, count := c.U32(), c.U32()
		lent := c.Bytes(4 * int(count))
		if module == 0 {
			if index >= count || lent == nil {
				return 0
			}
			return f.exported(name, binary.LittleEndian.Uint32(lent[4*index:]))
		}
	}
	return 0
}

// exported is the number by which a module is known to all for one of its own,
// given where the name of the module is.
func (f *File) exported(name, number uint32) uint32 {
	e := &f.exports
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.byName == nil {
		e.byName, e.byPlace, e.of = map[string]int{}, map[uint32]int{}, map[int]map[uint32]uint32{}
		for i := range f.Modules {
			e.byName[strings.ToLower(f.Modules[i].Name)] = i
		}
	}
	i, known := e.byPlace[name]
	if !known {
		if at, ok := e.byName[strings.ToLower(string(f.AppendString(nil, name)))]; ok {
			i = at + 1
		}
		e.byPlace[name] = i
	}
	if i--; i < 0 {
		return 0
	}
	if e.of[i] == nil {
		e.of[i] = f.exportsOf(i)
	}
	return e.of[i][number]
}

// importsOf are the imports of a module.
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

// exportsOf reads what a module gives to others.
func (f *File) exportsOf(module int) map[uint32]uint32 {
	own := map[uint32]uint32{}
	for p := bin.NewCursor(f.part(module, partExports), binary.LittleEndian); p.Len() >= 8; {
		number := p.U32()
		own[number] = p.U32()
	}
	return own
}

// part is the first part of a kind of a module's line information.
func (f *File) part(module int, kind uint32) (found []byte) {
	m := &f.Modules[module]
	var room []byte
	data, _ := f.moduleData(m, &room) // what is damaged is told when its code is read
	_ = parts(data[min(m.symbols+m.lines, int64(len(data))):], func(k uint32, _ int, part []byte) bool {
		if k == kind {
			found = part
		}
		return k != kind
	})
	return found
}
