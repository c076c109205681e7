package strtab

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"

	"symbolon/internal/symcache/set"
)

// Marks in the text of an entry of names; other bytes below 0x80 are
// themselves. They are not part of the format: see appendString.
const (
	markRef    = 0xfe // followed by the number of another entry in four bytes
	markByte   = 0xff // followed by one byte of 0x80 or more
	refLen     = 5
	arenaShift = 17 // of the limit of the size of a piece of the arena
)

// A Builder stores texts and shares their common parts. Entries are numbered in
// the order of their creation, so an entry only refers to lower numbers.
//
// Texts and contents of brackets are identified
// by hashes of 128 bits. Most contents of brackets are already known, and are
// not parsed again.
type Builder struct {
	arena   [][]byte // pieces; a longer text has its own piece
	bytes   int64    // in arena
	entries []entry
	index   set.Index
	seed    [2]maphash.Seed

	roots []uint32     // entry of each text
	parts set.Set[Sum] // contents of brackets
	known []part       // entries of parts

	out     []byte  // the current text, marked
	pairs   []pair  // its brackets, in the order in which they open
	open    []int   // indexes in pairs of open brackets, in findPairs
	scanner scanner // of mangled names
	stack   []bracket
	over    int // number of open brackets that exceed the stack
}

// part is the entry of the content of a bracket, and the highest level in it. A
// part without a level has no entry.
type part struct {
	id    uint32
	level uint8
}

// pair is a bracket of a text: its end, and the index of the first pair after
// it. If it is not closed, end is zero.
type pair struct{ end, next int }

type entry struct {
	at, len uint32 // in the arena: piece << arenaShift | offset
	uses    uint32 // by other entries
	level   uint8  // height of the tree of references
	root    bool   // it is a name, not only a part of one
}

// bracket is an open bracket of the current text.
type bracket struct {
	close  byte
	start  int   // offset in out of the content
	piece  int   // offset in out of the current argument
	prefix int   // offset in out after the last scope separator of the argument; zero: none
	level  uint8 // highest level of the entries it refers to
	part   int   // index in known; -1: none
}

// NewBuilder returns an empty Builder. Its random seeds prevent that an input
// makes all hashes collide.
func NewBuilder() *Builder {
	return &Builder{seed: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}}
}

// A Sum is the hash of a text, which identifies it.
type Sum [2]uint64

// Hash implements set.Key. A Sum has seeds already.
func (s Sum) Hash(uint64) uint64 { return s[0] }

// IsFull reports whether n has more texts than its numbers can count.
func (n *Builder) IsFull() bool {
	return len(n.arena) >= 1<<(32-arenaShift) || uint64(len(n.entries)) >= 1<<31
}

// DropIndexes releases the memory that only Add needs.
func (n *Builder) DropIndexes() { n.index, n.parts, n.known = set.Index{}, set.Set[Sum]{}, nil }

// Held returns the bytes that n holds, including those that Write needs.
func (n *Builder) Held() int64 {
	return n.bytes + int64(cap(n.entries))*(16+12) + n.index.Held() +
		int64(cap(n.roots))*4 + n.parts.Held(16) + int64(cap(n.known))*8
}

// Sum returns the hash of a text.
func (n *Builder) Sum(text []byte) Sum {
	return Sum{maphash.Bytes(n.seed[0], text), maphash.Bytes(n.seed[1], text)}
}

// Add adds a text. Texts are numbered from zero on.
func (n *Builder) Add(text []byte) { n.roots = append(set.Grow(n.roots, 1), n.root(text)) }

// root returns the entry of a text, which it creates if needed.
//
// It reads the text once and copies it to out. Where a bracket closes, the end
// of out is its content, in which arguments and scopes are references already;
// it becomes an entry, and in out a reference to it. So equal contents become
// the same few bytes, wherever they are, and out stays short. The content of a
// bracket that is known, which is most of them, is not read at all: findPairs
// has found its end.
func (n *Builder) root(text []byte) uint32 {
	n.out = n.out[:0]
	n.stack, n.over = append(n.stack[:0], bracket{part: -1}), 0
	if isMangled(text) {
		return n.asRoot(n.mangled(text))
	}
	n.findPairs(text)
	pairs := 0
	for i := 0; i < len(text); i++ {
		if i += n.plain(text[i:]); i == len(text) {
			break
		}
		switch c := text[i]; c {
		case '<', '(', '[', '{':
			n.out = append(n.out, c)
			var p pair
			if pairs < len(n.pairs) {
				p = n.pairs[pairs]
				pairs++
			}
			k := -1
			if p.end-i > worthEntry {
				if k = n.part(text[i+1 : p.end]); n.known[k].level > 0 {
					n.refer(n.known[k])
					i, pairs = p.end, p.next
					n.out = append(n.out, text[i])
					continue
				}
			}
			n.openBracket(closers[c], k)
		default:
			n.special(text, i)
		}
	}
	// A bracket that was never closed is plain text.
	top := n.stack[0]
	for _, b := range n.stack[1:] {
		top.level = max(top.level, b.level)
	}
	if len(n.stack) == 1 {
		n.fold(&top, top.piece)
	}
	return n.asRoot(n.whole(top.level))
}

// mangled is like root, but for a mangled name, whose brackets are letters.
func (n *Builder) mangled(text []byte) uint32 {
	n.scanner.scan(text)
	from := 0
	for m := 0; m < len(n.scanner.marks); m++ {
		k := n.scanner.marks[m]
		n.out = append(n.out, text[from:k.at]...)
		from = k.at
		switch k.sort {
		case markScope:
			n.stack[len(n.stack)-1].prefix = len(n.out)
		case markClose:
			n.closeAt(len(n.stack) - 1)
		case markOpen:
			from++
			n.out = append(n.out, text[k.at])
			end, part := n.scanner.marks[k.end].at, -1
			if end-k.at > worthEntry {
				if part = n.part(text[from:end]); n.known[part].level > 0 {
					n.refer(n.known[part])
					from, m = end, k.end
					continue
				}
			}
			n.openBracket('E', part)
		}
	}
	n.out = append(n.out, text[from:]...)
	return n.whole(n.stack[0].level)
}

func (n *Builder) asRoot(id uint32) uint32 {
	n.entries[id].root = true
	return id
}

// findPairs finds the ends of the brackets of a text. If more are open than the
// stack can hold, pairs is empty.
func (n *Builder) findPairs(text []byte) {
	n.pairs, n.open = n.pairs[:0], n.open[:0]
	for i, c := range text {
		switch closer := closers[c]; {
		case closer == 0:
		case closer != c:
			if len(n.open) == maxOpen-1 {
				n.pairs = n.pairs[:0]
				return
			}
			n.open = append(n.open, len(n.pairs))
			n.pairs = append(n.pairs, pair{end: -int(closer)})
		case c == '>' && i > 0 && text[i-1] == '-':
		default:
			for k := len(n.open) - 1; k >= 0; k-- {
				if p := &n.pairs[n.open[k]]; p.end == -int(c) {
					*p = pair{i, len(n.pairs)}
					n.open = n.open[:k]
					break
				}
			}
		}
	}
}

// part returns the index in known of the content of a bracket.
func (n *Builder) part(text []byte) int {
	k, fresh := n.parts.Number(n.Sum(text))
	if fresh {
		n.known = append(set.Grow(n.known, 1), part{})
	}
	return int(k)
}

// refer writes a reference to a part.
func (n *Builder) refer(p part) {
	n.out = binary.LittleEndian.AppendUint32(append(n.out, markRef), p.id)
	top := &n.stack[len(n.stack)-1]
	top.level = max(top.level, p.level)
}

// whole returns the entry of the text in out, which it creates if needed.
func (n *Builder) whole(level uint8) uint32 {
	if len(n.out) == refLen && n.out[0] == markRef {
		return binary.LittleEndian.Uint32(n.out[1:])
	}
	return n.number(n.out, level+1)
}

// plain copies the bytes before the next special byte and returns their number.
func (n *Builder) plain(text []byte) int {
	i := 0
	for i < len(text) && !isSpecial[text[i]] {
		i++
	}
	n.out = append(n.out, text[:i]...)
	return i
}

// isSpecial is the set of bytes that special handles.
var isSpecial = func() (is [256]bool) {
	for _, c := range []byte("<>()[]{},:/\\") {
		is[c] = true
	}
	for c := 0x80; c < 256; c++ {
		is[c] = true
	}
	return is
}()

// special handles the byte at i of text, which does not open a bracket.
func (n *Builder) special(text []byte, i int) {
	c := text[i]
	top := &n.stack[len(n.stack)-1]
	switch c {
	case '>', ')', ']', '}':
		n.closeBracket(c, i > 0 && text[i-1] == '-')
		n.out = append(n.out, c)
	case ',':
		if len(n.stack) > 1 && n.over == 0 {
			n.fold(top, top.piece)
		}
		n.out = append(n.out, c)
		if i+1 < len(text) && text[i+1] == ' ' {
			// The blank after the comma is written with the next argument, and
			// would make it differ from the first.
			top.piece = len(n.out) + 1
		} else {
			top.piece = len(n.out)
		}
		top.prefix = 0
	case ':':
		n.out = append(n.out, c)
		if i > 0 && text[i-1] == ':' {
			top.prefix = len(n.out)
		}
	case '/', '\\':
		n.out = append(n.out, c)
		top.prefix = len(n.out)
	default:
		n.out = append(n.out, markByte, c)
	}
}

// openBracket opens a bracket whose content is a part, or -1 if it is too short
// for one.
func (n *Builder) openBracket(closer byte, part int) {
	if len(n.stack) < maxOpen {
		n.stack = append(n.stack, bracket{close: closer, start: len(n.out), piece: len(n.out), part: part})
	} else {
		n.over++
	}
}

// closers maps each bracket to the one that closes it.
var closers = [256]byte{'<': '>', '(': ')', '[': ']', '{': '}', '>': '>', ')': ')', ']': ']', '}': '}'}

// closeBracket closes the innermost bracket that c closes, and makes entries of
// its content. Brackets in it that are not closed become plain text. The > of
// an arrow closes nothing.
func (n *Builder) closeBracket(c byte, arrow bool) {
	if c == '>' && arrow {
		return
	}
	if n.over > 0 {
		n.over--
		return
	}
	k := len(n.stack) - 1
	for k > 0 && n.stack[k].close != c {
		k--
	}
	if k > 0 {
		n.closeAt(k)
	}
}

// closeAt makes entries of the content of bracket k of the stack. If brackets in
// it are not closed, its last argument and its scopes are not known, and only
// the whole content becomes an entry. A content that is now one reference is
// remembered in known, for the next text that has it.
func (n *Builder) closeAt(k int) {
	b := n.stack[k]
	for _, inner := range n.stack[k+1:] {
		b.level = max(b.level, inner.level)
	}
	if k == len(n.stack)-1 {
		n.fold(&b, b.piece)
	}
	n.stack = n.stack[:k]
	b.prefix = 0
	n.fold(&b, b.start)
	if b.part >= 0 && len(n.out) == b.start+refLen && n.out[b.start] == markRef {
		n.known[b.part] = part{binary.LittleEndian.Uint32(n.out[b.start+1:]), b.level}
	}
	below := &n.stack[k-1]
	below.level = max(below.level, b.level)
}

// fold replaces the end of out, from start, by a reference to an entry, after it
// has done so with the scopes at its start: a::b::c becomes an entry of a::b::
// and one of that and c. Names of a class share the former.
func (n *Builder) fold(b *bracket, start int) {
	start = min(start, len(n.out))
	if b.prefix > start {
		tail := len(n.out) - b.prefix
		n.out = append(n.out, n.out[b.prefix:]...) // the prefix only gets shorter
		all := len(n.out)
		n.out = n.out[:b.prefix]
		n.replace(b, start)
		n.out = append(n.out, n.out[:all][all-tail:all]...)
	}
	if b.close != 0 {
		n.replace(b, start)
	}
}

// replace replaces the end of out, from start, by a reference to its entry, if
// that is worth one and levels are left.
func (n *Builder) replace(b *bracket, start int) {
	part := n.out[start:]
	if len(part) < worthEntry || b.level >= maxLevel {
		return
	}
	id := n.number(part, b.level+1)
	b.level = max(b.level, n.entries[id].level)
	n.out = binary.LittleEndian.AppendUint32(append(n.out[:start], markRef), id)
}

// number returns the number of the entry with this text, which it creates if
// needed.
func (n *Builder) number(text []byte, level uint8) uint32 {
	h := uint32(maphash.Bytes(n.seed[0], text))
	id, isNew := n.index.Number(h, func(id uint32) bool { return bytes.Equal(n.text(id), text) })
	if isNew {
		n.entries = append(set.Grow(n.entries, 1), entry{at: n.store(text), len: uint32(len(text)), level: level})
		for t := range tokens(text) {
			if t.ref {
				n.entries[t.id].uses++
			}
		}
	}
	return id
}

// store copies a text to the arena.
func (n *Builder) store(text []byte) uint32 {
	last := len(n.arena) - 1
	if last < 0 || cap(n.arena[last])-len(n.arena[last]) <= len(text) {
		last++
		n.arena = append(n.arena, make([]byte, 0, max(1<<min(arenaShift, 12+last), len(text)))) // the first pieces are small
		n.bytes += int64(cap(n.arena[last]))
	}
	at := last<<arenaShift | len(n.arena[last])
	n.arena[last] = append(n.arena[last], text...)
	return uint32(at)
}

// text returns the marked text of an entry.
func (n *Builder) text(id uint32) []byte {
	e := &n.entries[id]
	return n.arena[e.at>>arenaShift][e.at%(1<<arenaShift):][:e.len]
}

// token is a part of a marked text: plain bytes, a byte of 0x80 or more, or a
// reference.
type token struct {
	plain []byte // the bytes, or the byte of 0x80 or more
	id    uint32
	ref   bool
	high  bool
}

func tokens(text []byte) func(yield func(token) bool) {
	return func(yield func(token) bool) {
		for len(text) > 0 {
			var t token
			size := 0
			switch text[0] {
			case markRef:
				t, size = token{ref: true, id: binary.LittleEndian.Uint32(text[1:])}, refLen
			case markByte:
				t, size = token{high: true, plain: text[1:2]}, 2
			default:
				for size < len(text) && text[size] < 0x80 {
					size++
				}
				t.plain = text[:size]
			}
			if !yield(t) {
				return
			}
			text = text[size:]
		}
	}
}
