package symbfile

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"

	"google.golang.org/protobuf/encoding/protowire"
)

// batch holds records until it is decided which of their strings are stored in the table.
//
// A record is its type, its VA, and numbers of variable length. The numbers of a range
// are: length, func, file, callLine, callFile, depth, the bytes of each column of its
// rows, and the columns. The numbers of a pad are: the number of frames, and func, file
// and line of each. A string is the number of its entry; in a range, that number plus
// one, and 0 means that there is no string.
type batch struct {
	seed    maphash.Seed
	strings []byte
	entries []entry
	slots   []uint32 // hash table: an entry plus one, or 0
	order   []uint32 // the entries of the table by index
	cost    int      // largest size of a table with all strings
	records []byte
	count   int
}

// entry is a string of a batch.
type entry struct {
	at, size uint32 // range in strings
	hash     uint32
	uses     uint32
	ref      uint32 // index in the table
	byPad    bool
}

// inTable reports whether a string goes to the table.
func (e *entry) inTable() bool { return e.byPad || e.uses > 1 }

func newBatch() batch { return batch{seed: maphash.MakeSeed(), slots: make([]uint32, 1<<10)} }

func (b *batch) reset() {
	b.strings, b.entries, b.records = b.strings[:0], b.entries[:0], b.records[:0]
	b.cost, b.count = 0, 0
	clear(b.slots)
}

func (b *batch) bytes(e *entry) []byte { return b.strings[e.at : e.at+e.size] }

// fresh returns the bytes of text that s adds to the batch: 0 if it is already
// there, so that a record only refers to it.
func (b *batch) fresh(s []byte) int {
	hash := uint32(maphash.Bytes(b.seed, s))
	mask := uint32(len(b.slots) - 1)
	for i := hash & mask; b.slots[i] != 0; i = (i + 1) & mask {
		if e := &b.entries[b.slots[i]-1]; e.hash == hash && bytes.Equal(b.bytes(e), s) {
			return 0
		}
	}
	return len(s) + stringHead
}

// intern returns the number of the entry of s, and counts a use of it.
func (b *batch) intern(s []byte, byPad bool) uint64 {
	hash := uint32(maphash.Bytes(b.seed, s))
	mask := uint32(len(b.slots) - 1)
	i := hash & mask
	for ; b.slots[i] != 0; i = (i + 1) & mask {
		id := b.slots[i] - 1
		if e := &b.entries[id]; e.hash == hash && bytes.Equal(b.bytes(e), s) {
			e.uses++
			e.byPad = e.byPad || byPad
			return uint64(id)
		}
	}
	id := len(b.entries)
	b.slots[i] = uint32(id) + 1
	b.entries = append(b.entries, entry{at: uint32(len(b.strings)), size: uint32(len(s)), hash: hash, uses: 1, byPad: byPad})
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

// index selects and orders the strings of the table, and returns its size.
func (b *batch) index() (size int) {
	var hist [maxCounted + 1]int
	total := 0
	for i := range b.entries {
		if e := &b.entries[i]; e.inTable() {
			hist[min(e.uses, maxCounted)]++
			total++
			size += 1 + protowire.SizeVarint(uint64(e.size)) + int(e.size)
		}
	}
	b.order = grown(b.order, total)
	one, two := most(&hist, refsOfOne), most(&hist, refsOfTwo)
	next := [3]int{0, min(refsOfOne, total), min(refsOfTwo, total)}
	for i := range b.entries {
		e := &b.entries[i]
		if !e.inTable() {
			continue
		}
		uses := min(e.uses, maxCounted)
		class := 2
		if two.has(uses) {
			class = 1
		}
		if one.has(uses) {
			class = 0
		}
		e.ref = uint32(next[class])
		b.order[next[class]] = uint32(i)
		next[class]++
	}
	return size
}

// Strings with many uses get short refs: refsOfOne refs take one byte,
// refsOfTwo at most two. Strings with refs of the same size are in the order of
// first use. Uses are counted up to maxCounted.
const (
	refsOfOne  = 1 << 7
	refsOfTwo  = 1 << 14
	maxCounted = 1 << 12
)

// top selects the most used strings: all with more than the given uses, and
// left of those with exactly that many.
type top struct {
	uses uint32
	left int
}

// most returns the top that selects n strings of a histogram of uses.
func most(hist *[maxCounted + 1]int, n int) top {
	for uses := len(hist) - 1; uses > 0; uses-- {
		if hist[uses] >= n {
			return top{uses: uint32(uses), left: n}
		}
		n -= hist[uses]
	}
	return top{}
}

// has reports whether the next string, with the given uses, is selected.
func (t *top) has(uses uint32) bool {
	if uses != t.uses {
		return uses > t.uses
	}
	t.left--
	return t.left >= 0
}

func (b *batch) begin(kind byte, va uint64) {
	b.count++
	b.records = binary.LittleEndian.AppendUint64(append(b.records, kind), va)
}

func (b *batch) number(v uint64) { b.records = binary.AppendUvarint(b.records, v) }

// optional adds a string that may be nil.
func (b *batch) optional(s []byte) {
	if s == nil {
		b.number(0)
		return
	}
	b.number(b.intern(s, false) + 1)
}

func (b *batch) addRange(x *Range) {
	b.begin(typeRange, x.VA)
	b.number(x.Length)
	b.number(b.intern(x.Func, false) + 1)
	b.optional(x.File)
	b.number(uint64(x.CallLine))
	b.optional(x.CallFile)
	b.number(uint64(x.Depth))
	var last uint64
	var offs, lines int
	for i := range x.Lines {
		l := &x.Lines[i]
		offs += protowire.SizeVarint(l.Offset - last)
		lines += protowire.SizeVarint(uint64(l.Line))
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

// addPad adds a pad, whose strings go to the table.
func (b *batch) addPad(x *Pad) {
	b.begin(typePad, x.VA)
	b.number(uint64(len(x.Frames)))
	for i := range x.Frames {
		f := &x.Frames[i]
		b.number(b.intern(f.Func, true))
		b.number(b.intern(f.File, true))
		b.number(uint64(f.Line))
	}
}
