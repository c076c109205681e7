package units

import (
	"cmp"
	"slices"

	"symbolon/internal/format/dwarf"
	"symbolon/internal/sym"
)

// merger makes the chunks of one function: it lays its calls, which are a tree
// of ranges, and the rows of the line program over each other.
type merger struct {
	layout  *Layout
	number  int    // see Image
	odd     uint64 // see DWARF
	code    Encoder
	lines   lineCursor
	ranges  []dwarf.Range
	spans   []callSpan // of all calls, by start, the outer first
	order   byStart[callSpan]
	stack   []callSpan // those that are open
	nodes   []callNode // by call
	stamp   uint32     // of the chunk at work, in nodes
	noZero  bool       // file 0 is not a file, as before DWARF 5
	noFiles bool       // the unit has no line program that could name them
	columns bool
	version uint8 // of the unit
	events  []callEvent
	kids    []int32      // by call plus 1: the first of those inside that are active, -1
	beside  []neighbours // by call
	event   int          // of events: the next one
}

// callSpan is one range of a call.
type callSpan struct {
	start, end uint64
	call       int32 // -1: the function itself
}

type callNode struct {
	stamp uint32
	node  int32
}

// function appends the chunks of f to d, one for each of its ranges.
func (m *merger) function(d *Digest, t *dwarf.Tree, f *dwarf.Func, limit []dwarf.Range) {
	m.ranges = append(m.ranges[:0], t.Ranges[f.First:f.First+f.N]...)
	for i := range m.ranges {
		m.ranges[i].Start &^= m.odd
		m.ranges[i].End &^= m.odd
	}
	m.ranges = JoinRanges(m.ranges)
	if len(limit) > 0 {
		m.ranges = Intersect(m.ranges, limit)
	}
	if len(m.ranges) == 0 {
		return
	}
	calls := t.Calls[f.Calls : f.Calls+f.NumCalls]
	odd := !m.collect(t, calls)
	if odd {
		m.sort(calls)
	}
	for _, r := range m.ranges {
		_, part, ok := m.layout.Place(r.Start)
		if !ok {
			continue
		}
		r.End = m.layout.cut(r.End, part)
		entry := r.Start
		if at := f.Entry &^ m.odd; at >= r.Start && at < r.End {
			entry = at
		}
		begin := func() {
			m.code.Begin(r.Start)
			m.stamp++
			m.code.Root(nameText(m.number, f.Name), dwarfLang(f.Lang), entry, r.End-r.Start)
		}
		begin()
		if !odd && !m.sweep(calls, r) {
			odd = true
			m.sort(calls)
			begin()
		}
		if odd {
			m.piece(calls, r)
		}
		d.AddFunc(m.layout, r, &m.code)
	}
}

// few is how many things are sorted best one by one.
const few = 24

// collect takes the ranges of the calls in the order in which they open. It is
// false if one of them is not inside of one piece of the function.
func (m *merger) collect(t *dwarf.Tree, calls []dwarf.Call) (inside bool) {
	m.spans, inside = m.spans[:0], true
	lent := false // a call has ranges of those inside of it
	piece := m.ranges[0]
	for i := range calls {
		c := &calls[i]
		for _, r := range t.Ranges[c.First : c.First+c.N] {
			s := callSpan{r.Start, r.End, int32(i)}
			if s.start < piece.Start || s.end > piece.End {
				k := max(rangeAt(m.ranges, s.start), 0)
				piece = m.ranges[k]
				inside = inside && s.start >= piece.Start && s.end <= piece.End
			}
			m.spans = append(m.spans, s)
			for q := c.Parent; q >= 0 && (calls[q].N == 0 || m.version == 2 && !holds(t, &calls[q], r)); q = calls[q].Parent {
				m.spans = append(m.spans, callSpan{r.Start, r.End, q})
				lent = true
			}
		}
	}
	if lent || len(m.spans) < few {
		slices.SortFunc(m.spans, callSpan.compare)
	} else {
		m.order.sort(m.spans, func(s *callSpan) uint64 { return s.start })
	}
	for len(m.nodes) < len(calls) {
		m.nodes = append(m.nodes, callNode{})
	}
	return inside
}

// holds reports whether a range is inside of one of a call. In strict DWARF 2 a
// call can name only one of its ranges: it has those of the calls inside of it
// as well.
func holds(t *dwarf.Tree, c *dwarf.Call, r dwarf.Range) bool {
	for _, own := range t.Ranges[c.First : c.First+c.N] {
		if r.Start >= own.Start && r.End <= own.End {
			return true
		}
	}
	return false
}

// compare orders by start; of calls that start together the outer one, which
// comes before the inner one in the tree, opens first.
func (s callSpan) compare(o callSpan) int {
	if s.start != o.start {
		return cmp.Compare(s.start, o.start)
	}
	return int(s.call) - int(o.call)
}

// sweep makes the rows of one piece of the function. It gives up where the
// ranges do not nest as the calls do, which producers get right nearly always.
func (m *merger) sweep(calls []dwarf.Call, r dwarf.Range) bool {
	m.stack = append(m.stack[:0], callSpan{r.Start, r.End, -1})
	next := 0
	if r.Start != m.ranges[0].Start {
		next, _ = slices.BinarySearchFunc(m.spans, r.Start, func(s callSpan, addr uint64) int { return cmp.Compare(s.start, addr) })
	}
	for pos := r.Start; pos < r.End; {
		for m.stack[len(m.stack)-1].end <= pos {
			m.stack = m.stack[:len(m.stack)-1]
		}
		for next < len(m.spans) && m.spans[next].start <= pos {
			s := m.spans[next]
			top := m.stack[len(m.stack)-1]
			if calls[s.call].Parent != top.call || s.end > top.end || len(m.stack) > maxCalls {
				return false
			}
			m.stack = append(m.stack, s)
			next++
		}
		top := m.stack[len(m.stack)-1]
		until := top.end
		if next < len(m.spans) {
			until = min(until, m.spans[next].start)
		}
		m.emit(calls, top.call, pos, until)
		pos = until
	}
	return true
}

// emit writes the rows of addresses that belong to call.
func (m *merger) emit(calls []dwarf.Call, call int32, pos, until uint64) {
	m.lay(m.node(calls, call), pos, until)
}

// lay writes the rows of addresses that belong to a node.
func (m *merger) lay(node int32, pos, until uint64) {
	for pos < until {
		rows, end := m.lines.from(pos)
		if len(rows) == 0 {
			m.code.Row(pos, Row{Node: node})
		}
		end = min(end, until)
		n := 0
		for ; n < len(rows) && (n == 0 || rows[n].Addr < end); n++ {
			m.code.Row(max(pos, rows[n].Addr), m.coded(node, &rows[n]))
		}
		m.lines.row += max(n-1, 0)
		pos = end
	}
}

// coded is a row of the line program as it is kept.
func (m *merger) coded(node int32, row *dwarf.LineRow) Row {
	c := Row{Node: node, File: m.file(row.File), Line: row.Line}
	if m.columns {
		c.Column = row.Column
	}
	return c
}

// file is a file number plus 1, or 0.
func (m *merger) file(n uint32) uint32 {
	if n == 0 && m.noZero || m.noFiles || n == dwarf.NoFile {
		return 0
	}
	return n + 1
}

// node is the number of the node of a call, made when it is first needed.
func (m *merger) node(calls []dwarf.Call, call int32) int32 {
	if call < 0 {
		return 0
	}
	n := &m.nodes[call]
	if n.stamp != m.stamp {
		c := &calls[call]
		at := Row{File: m.file(c.File), Line: c.Line}
		if m.columns {
			at.Column = c.Column
		}
		node := m.code.Call(m.node(calls, c.Parent), nameText(m.number, c.Name), dwarfLang(c.Lang), at)
		n.stamp, n.node = m.stamp, node
	}
	return n.node
}

// symbol makes the code of the part of a symbol that has lines.
func (m *merger) symbol(s *Symbol, pos, until uint64) {
	m.code.Begin(pos)
	m.code.Root(s.text(), sym.LangNone, s.Addr, s.Size)
	m.lay(0, pos, until)
}
