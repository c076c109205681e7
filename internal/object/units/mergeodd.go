package units

import (
	"cmp"
	"slices"

	"symbolon/internal/format/dwarf"
)

// callEvent is the start or the end of a range of a call.
type callEvent struct {
	addr uint64
	call int32
	end  bool
}

// maxCalls is how deep calls may nest.
const maxCalls = 256

// maxBeside is how many calls side by side in one caller are looked at where
// they overlap.
const maxBeside = 1024

// sort makes ready for a function whose calls lie anyhow: piece then looks at
// each border which calls are active, and goes from the function to the first
// active call inside of it, and so on.
func (m *merger) sort(calls []dwarf.Call) {
	m.events, m.event = m.events[:0], 0
	for _, s := range m.spans {
		m.events = append(m.events, callEvent{s.start, s.call, false}, callEvent{s.end, s.call, true})
	}
	slices.SortFunc(m.events, func(a, b callEvent) int {
		return cmp.Or(cmp.Compare(a.addr, b.addr), cmp.Compare(a.call, b.call))
	})
	m.kids = slices.Grow(m.kids[:0], len(calls)+1)[:len(calls)+1]
	m.beside = slices.Grow(m.beside[:0], len(calls))[:len(calls)]
	clear(m.beside)
	for i := range m.kids {
		m.kids[i] = -1
	}
}

// piece makes the rows of a piece of the function; they come in rising order.
func (m *merger) piece(calls []dwarf.Call, r dwarf.Range) {
	for pos := r.Start; pos < r.End; {
		for ; m.event < len(m.events) && m.events[m.event].addr <= pos; m.event++ {
			m.apply(calls, m.events[m.event])
		}
		until := r.End
		if m.event < len(m.events) {
			until = min(until, m.events[m.event].addr)
		}
		m.emit(calls, m.innermost(), pos, until)
		pos = until
	}
}

// neighbours are the active calls before and after one in the same caller, in
// the order of the tree; -1: none.
type neighbours struct {
	before, after int32
	active        int32 // how many ranges of the call are
}

// apply makes a call active, or ends that.
func (m *merger) apply(calls []dwarf.Call, e callEvent) {
	own := &m.beside[e.call]
	head := &m.kids[calls[e.call].Parent+1]
	switch {
	case e.end:
		if own.active--; own.active > 0 {
			return
		}
		if own.before < 0 {
			*head = own.after
		} else {
			m.beside[own.before].after = own.after
		}
		if own.after >= 0 {
			m.beside[own.after].before = own.before
		}
		return
	case own.active > 0:
		own.active++
		return
	}
	own.active, own.before, own.after = 1, -1, *head
	for k := 0; own.after >= 0 && own.after < e.call && k < maxBeside; k++ {
		own.before, own.after = own.after, m.beside[own.after].after
	}
	if own.before < 0 {
		*head = e.call
	} else {
		m.beside[own.before].after = e.call
	}
	if own.after >= 0 {
		m.beside[own.after].before = e.call
	}
}

// innermost is the call that the code belongs to, -1: the function itself.
func (m *merger) innermost() int32 {
	call := int32(-1)
	for range maxCalls {
		kid := m.kids[call+1]
		if kid < 0 {
			break
		}
		call = kid
	}
	return call
}
