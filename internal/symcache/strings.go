package symcache

import (
	"cmp"
	"encoding/binary"
	"slices"

	"symbolon/internal/fault"
)

// References in the strings section: the first lead byte of each length, and
// the first number.
const (
	lead1  = 0x80 // one byte
	lead2  = 0xc0
	lead3  = 0xe0
	lead4  = 0xf8
	lead5  = 0xfc // the number follows in four bytes
	escape = 0xff // a literal byte follows

	first2 = lead2 - lead1
	first3 = first2 + (lead3-lead2)<<8
	first4 = first3 + (lead4-lead3)<<16
	first5 = first4 + (lead5-lead4)<<24

	stringGroup = 16  // strings of a record of the index
	maxString   = 255 // limit of bytes of a string in the section

	// maxDecode is the limit of nested strings. Entries are nested up to
	// maxLevel+1, and each of them may be split into pieces up to three times.
	maxDecode = 4 * (maxLevel + 1)
)

// appendRef appends a reference to a string.
func appendRef(b []byte, id uint32) []byte {
	switch {
	case id < first2:
		return append(b, byte(lead1+id))
	case id < first3:
		id -= first2
		return append(b, byte(lead2+id>>8), byte(id))
	case id < first4:
		id -= first3
		return append(b, byte(lead3+id>>16), byte(id>>8), byte(id))
	case id < first5:
		id -= first4
		return append(b, byte(lead4+id>>24), byte(id>>16), byte(id>>8), byte(id))
	}
	return binary.BigEndian.AppendUint32(append(b, lead5), id)
}

// tokenSize returns the size of the token that starts with lead.
func tokenSize(lead byte) int {
	switch {
	case lead < lead2:
		return 1
	case lead < lead3 || lead == escape:
		return 2
	case lead < lead4:
		return 3
	case lead < lead5:
		return 4
	}
	return 5
}

// plan assigns strings to the entries of names.
type plan struct {
	id    []uint32 // number of the string, for entries that become strings
	uses  []uint32
	order []uint32 // entries that become strings, by number
}

// plan selects the entries that become strings: names, and those that save more
// by being shared than they cost. The others are copied to the texts that refer
// to them. The most used strings come first, since their references are
// shortest; names that only frames refer to come last, in the order in which
// they were added.
func (n *names) plan() *plan {
	const (
		cost = 3 // typical size of a reference
		gone = ^uint32(0)
	)
	p := &plan{id: make([]uint32, len(n.entries)), uses: make([]uint32, len(n.entries))}
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
func (n *names) appendString(b []byte, i uint32, p *plan) []byte {
	for t := range tokens(n.text(i)) {
		switch {
		case !t.ref && t.high:
			b = append(b, escape, t.plain[0])
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

// stringWriter writes the strings and their index.
type stringWriter struct {
	index, text *spool
	next        uint32 // number of the next piece of a long string
	starts      uint64 // offsets of groups
	count       uint64
	sizes       [stringGroup]byte
	group       []byte
}

// add writes the next string.
func (w *stringWriter) add(s []byte) {
	w.sizes[w.count%stringGroup] = byte(len(s))
	w.group = append(w.group, s...)
	if w.count++; w.count%stringGroup == 0 {
		w.flush()
	}
}

// flush ends the current group, if there is one.
func (w *stringWriter) flush() {
	if w.count == w.starts*stringGroup {
		return
	}
	w.starts++
	w.index.Write(binary.LittleEndian.AppendUint32(nil, uint32(w.text.size)))
	w.text.Write(w.sizes[:])
	w.text.Write(w.group)
	w.group, w.sizes = w.group[:0], [stringGroup]byte{}
}

// cut replaces a string that is too long by references to its pieces, which it
// passes to emit. The references may be too long again, and are cut as well.
func (w *stringWriter) cut(s []byte, emit func(piece []byte)) []byte {
	for len(s) > maxString {
		var refs []byte
		for len(s) > 0 {
			size := 0
			for size < len(s) && size+tokenSize(s[size]) <= maxString {
				size += tokenSize(s[size])
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

// write writes all strings and returns their number. The pieces of long strings
// come after the strings. Few strings are long: they are encoded a second time,
// which needs no memory.
func (n *names) write(p *plan, w *stringWriter) (uint64, error) {
	var buf []byte
	var long []uint32
	w.next = uint32(len(p.order))
	for _, i := range p.order {
		if buf = n.appendString(buf[:0], i, p); len(buf) > maxString {
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
	if w.text.size > 1<<32 || w.count > 1<<32 {
		return 0, fault.New(fault.Unsupported, "symcache, build", "%d bytes of names exceed 32 bits", w.text.size)
	}
	return w.count, nil
}
