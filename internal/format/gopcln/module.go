package gopcln

import "encoding/binary"

// maxCandidates limits the candidates of Find: each may take the time to read a
// whole table.
const maxCandidates = 64

// Find returns the offset of a table in a section. ok is false without
// one.
func Find(data []byte) (off int, ok bool) {
	for off, candidates := 0, 0; off+16 <= len(data) && candidates < maxCandidates; off += 4 {
		d := data[off : off+8 : off+8]
		if d[4]|d[5] != 0 || d[1]&d[2] != 0xff || d[0]&d[3]&0xf0 != 0xf0 || d[7] != 4 && d[7] != 8 {
			continue
		}
		candidates++
		if t, err := Open(data[off:]); err == nil && t.problem == nil && t.record(0) >= 0 && t.entry(t.n) > t.entry(0) {
			return off, true
		}
	}
	return 0, false
}

// Slot is an address in a section and its offset: a relocation may replace the
// address.
type Slot struct {
	Off   int
	Value uint64
}

// Module has the fields of runtime.moduledata that Table needs.
type Module struct{ Text, End, GoFunc Slot }

// Module finds runtime.moduledata in a section of data. Before Go 1.18 it is
// not needed, and not found.
func (t *Table) Module(section []byte) (m Module, ok bool) {
	// Indexes of words. Since Go 1.20 there are two more pointers.
	const names, funcs, text, end, goFunc = 1, 16, 22, 23, 38
	last := goFunc
	if t.version == go20 {
		last += 2
	}
	if t.version < go18 || t.n == 0 {
		return m, false
	}
	w := words{section, t.order, t.ptr}
	size := t.word(8+4*t.ptr) - t.word(8+3*t.ptr) // of the names, with padding
	for at := 0; at <= len(section)-(last+1)*t.ptr; at += t.ptr {
		if w.at(at, funcs+1) != uint64(t.n)+1 || w.at(at, funcs+2) != uint64(t.n)+1 {
			continue
		}
		n := w.at(at, names+1)
		if n != w.at(at, names+2) || n > size || size-n > 64 {
			continue
		}
		slot := func(n int) Slot { return Slot{at + n*t.ptr, w.at(at, n)} }
		return Module{slot(text), slot(end), slot(last)}, true
	}
	return m, false
}

// words reads a section as words of the size of an address.
type words struct {
	p     []byte
	order binary.ByteOrder
	size  int
}

// at returns word n after an offset.
func (w words) at(off, n int) uint64 {
	p := w.p[off+n*w.size:]
	if w.size == 4 {
		return uint64(w.order.Uint32(p))
	}
	return w.order.Uint64(p)
}
