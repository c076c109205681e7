package symbfile

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
)

// batch holds records until it is known which of their strings are in the table.
//
// A record is its type, its VA, and numbers of variable length: of a range its
// length, func, file, callLine, callFile, depth, the bytes of the columns of its
// rows, and these; of a pad how many frames, and of each func, file and line. A
// string is the number of its entry; in a range one is added, and 0 is none.
type batch struct {
	seed    maphash.Seed
	strings []byte
	entries []entry
	slots   []uint32 // by hash: an entry and one, or 0
	cost    int      // the size of a table with all strings, at most
	records []byte
	count   int
}

// entry is a string of a batch.
type entry struct {
	at, size uint32
	hash     uint32
	uses     uint32 // 2 or more: it is in the table; by index: else none
	ref      uint32 // by index
}

func newBatch() batch { return batch{seed: maphash.MakeSeed(), slots: make([]uint32, 1<<10)} }

func (b *batch) reset() {
	b.strings, b.entries, b.records = b.strings[:0], b.entries[:0], b.records[:0]
	b.cost, b.count = 0, 0
	clear(b.slots)
}

func (b *batch) get(e *entry) []byte { return b.strings[e.at : e.at+e.size] }

// intern is the number of the entry of s, which is used so many times more.
func (b *batch) intern(s []byte, uses uint32) uint64 {
	hash := uint32(maphash.Bytes(b.seed, s))
	mask := uint32(len(b.slots) - 1)
	i := hash & mask
	for ; b.slots[i] != 0; i = (i + 1) & mask {
		id := b.slots[i] - 1
		if e := &b.entries[id]; e.hash == hash && bytes.Equal(b.get(e), s) {
			e.uses += uses
			return uint64(id)
		}
	}
	id := len(b.entries)
	b.slots[i] = uint32(id) + 1
	b.entries = append(b.entries, entry{at: uint32(len(b.strings)), size: uint32(len(s)), hash: hash, uses: uses})
	b.strings = append(b.strings, s...)
	b.cost += len(s) + stringHead
	if 2*len(b.entries) > len(b.slots) {
		b.rehash()
	}
	return uint64(id)
}

func (b *batch) rehash() {
	b.slots = make([]uint32, 2*len(b.slots))
	mask := uint32(len(b.slots) - 1)
	for id := range b.entries {
		i := b.entries[id].hash & mask
		for b.slots[i] != 0 {
			i = (i + 1) & mask
		}
		b.slots[i] = uint32(id) + 1
	}
}

// index settles which strings are in the table, and tells its size.
func (b *batch) index() (size int) {
	ref := uint32(0)
	for i := range b.entries {
		e := &b.entries[i]
		if e.uses < 2 {
			e.uses = 0
			continue
		}
		e.ref = ref
		ref++
		size += 1 + uvarintSize(uint64(e.size)) + int(e.size)
	}
	return size
}

func (b *batch) begin(kind byte, va uint64) {
	b.count++
	b.records = binary.LittleEndian.AppendUint64(append(b.records, kind), va)
}

func (b *batch) number(v uint64) { b.records = binary.AppendUvarint(b.records, v) }

// optional adds a string that may not be there.
func (b *batch) optional(s []byte) {
	if s == nil {
		b.number(0)
		return
	}
	b.number(b.intern(s, 1) + 1)
}

func (b *batch) addRange(x *Range) {
	b.begin(typeRange, x.VA)
	b.number(x.Length)
	b.number(b.intern(x.Func, 1) + 1)
	b.optional(x.File)
	b.number(uint64(x.CallLine))
	b.optional(x.CallFile)
	b.number(uint64(x.Depth))
	var last uint64
	var offs, lines int
	for i := range x.Lines {
		l := &x.Lines[i]
		offs += uvarintSize(l.Offset - last)
		lines += uvarintSize(uint64(l.Line))
		last = l.Offset
	}
	b.number(uint64(offs))
	if offs == 0 {
		return
	}
	b.number(uint64(lines))
	last = 0
	for i := range x.Lines {
		b.number(x.Lines[i].Offset - last)
		last = x.Lines[i].Offset
	}
	for i := range x.Lines {
		b.number(uint64(x.Lines[i].Line))
	}
}

// addPad adds a pad, each string of which counts as used twice, so that it is in
// the table.
func (b *batch) addPad(x *Pad) {
	b.begin(typePad, x.VA)
	b.number(uint64(len(x.Frames)))
	for i := range x.Frames {
		f := &x.Frames[i]
		b.number(b.intern(f.Func, 2))
		b.number(b.intern(f.File, 2))
		b.number(uint64(f.Line))
	}
}
