package object

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

// maxBeside is how many calls side by side in one caller are looked at where
// they overlap.
const maxBeside = 1024

// sort makes the rows of a piece of a function whose calls lie anyhow: at each
// border it looks which calls are active, and goes from the function to the
// first active call inside of it, and so on.
func (m *merger) sort(calls []dwarf.Call, r dwarf.Range) {
	m.events = m.events[:0]
	for _, s := range m.spans {
		if s.end > r.Start && s.start < r.End {
			m.events = append(m.events, callEvent{max(s.start, r.Start), s.call, false}, callEvent{min(s.end, r.End), s.call, true})
		}
	}
	slices.SortFunc(m.events, func(a, b callEvent) int {
		return cmp.Or(cmp.Compare(a.addr, b.addr), cmp.Compare(a.call, b.call))
	})
	m.kids = slices.Grow(m.kids[:0], len(calls)+1)[:len(calls)+1]
	m.next = slices.Grow(m.next[:0], len(calls))[:len(calls)]
	m.active = slices.Grow(m.active[:0], len(calls))[:len(calls)]
	clear(m.active)
	for i := range m.kids {
		m.kids[i] = -1
	}
	pos, i := r.Start, 0
	for pos < r.End {
		for ; i < len(m.events) && m.events[i].addr <= pos; i++ {
			m.apply(calls, m.events[i])
		}
		until := r.End
		if i < len(m.events) {
			until = min(until, m.events[i].addr)
		}
		m.emit(calls, m.innermost(), pos, until)
		pos = until
	}
}

// apply makes a call active, or ends that.
func (m *merger) apply(calls []dwarf.Call, e callEvent) {
	n := &m.active[e.call]
	if e.end {
		if *n--; *n == 0 {
			m.unlink(calls, e.call)
		}
		return
	}
	if *n++; *n != 1 {
		return
	}
	at := &m.kids[calls[e.call].Parent+1]
	for k := 0; *at >= 0 && *at < e.call && k < maxBeside; k++ {
		at = &m.next[*at]
	}
	m.next[e.call], *at = *at, e.call
}

func (m *merger) unlink(calls []dwarf.Call, call int32) {
	at := &m.kids[calls[call].Parent+1]
	for *at >= 0 && *at != call {
		at = &m.next[*at]
	}
	if *at == call {
		*at = m.next[call]
	}
}

// innermost is the call that the code belongs to, -1: the function itself.
func (m *merger) innermost() int32 {
	call := int32(-1)
	for range maxDepth {
		kid := m.kids[call+1]
		if kid < 0 {
			break
		}
		call = kid
	}
	return call
}
