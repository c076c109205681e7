package strtab

import (
	"cmp"
	"encoding/binary"
	"io"
	"slices"

	"symbolon/internal/fault"
)

// A Plan assigns strings to the entries of a Builder.
type Plan struct {
	Count uint64 // of strings

	roots []uint32 // entry of each text
	id    []uint32 // number of the string, for entries that become strings
	uses  []uint32
	order []uint32 // entries that become strings, by number
}

// String returns the number of the string of a text.
func (p *Plan) String(text uint32) uint32 { return p.id[p.roots[text]] }

// plan selects the entries that become strings: names, and entries whose sharing saves
// more bytes than it costs. The others are copied to the texts that refer to them. The
// most used strings come first, since their references are shortest; names that only
// frames refer to come last, in the order in which they were added.
func (n *Builder) plan() *Plan {
	const (
		cost = 3 // typical size of a reference
		gone = ^uint32(0)
	)
	// Entries refer only to lower numbers: upwards, the lengths of the entries in
	// an entry are known, and downwards, its uses are complete.
	p := &Plan{roots: n.roots, id: make([]uint32, len(n.entries)), uses: make([]uint32, len(n.entries))}
	size := p.uses // until uses are counted: the length of an entry that is copied, else cost
	for i := range n.entries {
		e := &n.entries[i]
		long := uint64(0)
		for t := range tokens(n.text(uint32(i))) {
			switch {
			case t.ref:
				long += uint64(size[t.id])
			case t.high:
				long += 2
			default:
				long += uint64(len(t.plain))
			}
		}
		saved := uint64(e.uses) * (max(long, cost) - cost)
		if e.root || saved > long+16 {
			size[i] = cost
		} else {
			size[i], p.id[i] = uint32(min(long, uint64(gone))), gone
		}
	}
	clear(p.uses)
	for i := len(n.entries) - 1; i >= 0; i-- {
		times := uint32(1)
		if p.id[i] == gone {
			times = p.uses[i]
		} else {
			p.order = append(p.order, uint32(i))
		}
		for t := range tokens(n.text(uint32(i))) {
			if t.ref {
				p.uses[t.id] += min(times, gone-p.uses[t.id])
			}
		}
	}
	slices.SortFunc(p.order, func(a, b uint32) int {
		if c := cmp.Compare(p.uses[b], p.uses[a]); c != 0 {
			return c
		}
		return cmp.Compare(a, b)
	})
	for id, i := range p.order {
		p.id[i] = uint32(id)
	}
	return p
}

// appendString appends the encoded text of an entry.
func (n *Builder) appendString(b []byte, i uint32, p *Plan) []byte {
	for t := range tokens(n.text(i)) {
		switch {
		case !t.ref && t.high:
			b = append(b, Escape, t.plain[0])
		case !t.ref:
			b = append(b, t.plain...)
		case p.id[t.id] == ^uint32(0):
			b = n.appendString(b, t.id, p)
		default:
			b = appendRef(b, p.id[t.id])
		}
	}
	return b
}

// writer writes the strings and their index. Its destinations keep their first
// error.
type writer struct {
	index, text io.Writer
	size        uint64 // bytes of text
	next        uint32 // number of the next piece of a long string
	starts      uint64 // offsets of groups
	count       uint64
	sizes       [Group]byte
	group       []byte
}

// add writes the next string.
func (w *writer) add(s []byte) {
	w.sizes[w.count%Group] = byte(len(s))
	w.group = append(w.group, s...)
	if w.count++; w.count%Group == 0 {
		w.flush()
	}
}

// flush ends the current group, if there is one.
func (w *writer) flush() {
	if w.count == w.starts*Group {
		return
	}
	w.starts++
	w.index.Write(binary.LittleEndian.AppendUint32(nil, uint32(w.size)))
	w.text.Write(w.sizes[:])
	w.text.Write(w.group)
	w.size += uint64(len(w.sizes) + len(w.group))
	w.group, w.sizes = w.group[:0], [Group]byte{}
}

// cut replaces a string that is too long by references to its pieces, which it
// passes to emit. The references may be too long again, and are cut as well.
func (w *writer) cut(s []byte, emit func(piece []byte)) []byte {
	for len(s) > MaxString {
		var refs []byte
		for len(s) > 0 {
			size := 0
			for size < len(s) && size+TokenSize(s[size]) <= MaxString {
				size += TokenSize(s[size])
			}
			emit(s[:size])
			refs = appendRef(refs, w.next)
			w.next++
			s = s[size:]
		}
		s = refs
	}
	return s
}

// Write writes all strings to text, and the offset of each group of them to
// index. It returns the numbers of the strings. The pieces of long strings come
// after the others. Few strings are long: they are encoded a second time, which
// needs no memory.
func (n *Builder) Write(index, text io.Writer) (*Plan, error) {
	p, w := n.plan(), &writer{index: index, text: text}
	var buf []byte
	var long []uint32
	w.next = uint32(len(p.order))
	for _, i := range p.order {
		if buf = n.appendString(buf[:0], i, p); len(buf) > MaxString {
			long = append(long, i)
		}
		w.add(w.cut(buf, func([]byte) {}))
	}
	w.next = uint32(len(p.order)) // the same references again
	for _, i := range long {
		buf = n.appendString(buf[:0], i, p)
		w.cut(buf, w.add)
	}
	w.flush()
	if w.size > 1<<32 || w.count > 1<<32 {
		return nil, fault.New(fault.Unsupported, "symcache, build", "%d bytes of names exceed 32 bits", w.size)
	}
	p.Count = w.count
	return p, nil
}
