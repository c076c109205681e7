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
	nodes   []callNode // by call
	stamp   uint32     // of the chunk at work, in nodes
	noZero  bool       // file 0 is not a file, as before DWARF 5
	noFiles bool       // the unit has no line program that could name them
	columns bool
	version uint8 // of the unit

	events []callEvent // of all calls, by address
	order  byStart[callEvent]
	event  int          // index of the next event
	kids   []int32      // by call plus 1: the first active call inside of it, -1: none
	beside []neighbours // by call
}

// callEvent is the start or the end of a range of a call.
type callEvent struct {
	addr  uint64
	call  int32
	isEnd bool
}

// neighbours are the active calls before and after one in the same caller, in
// the order of the tree; -1: none.
type neighbours struct {
	before, after int32
	active        int32 // number of active ranges of the call
}

// maxCalls limits the nesting of calls.
const maxCalls = 256

// maxBeside limits the overlapping calls of one caller that are compared.
const maxBeside = 1024

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
	m.collect(t, calls)
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
		m.code.Begin(r.Start)
		m.stamp++
		m.code.Root(nameText(m.number, f.Name), dwarfLang(f.Lang), entry, r.End-r.Start)
		m.piece(calls, r)
		d.AddFunc(m.layout, r, &m.code)
	}
}

// few is the number of events up to which sorting them by comparison is faster
// than by keys.
const few = 24

// collect takes the events of all calls, in the order of their addresses.
func (m *merger) collect(t *dwarf.Tree, calls []dwarf.Call) {
	m.events, m.event = m.events[:0], 0
	for i := range calls {
		c := &calls[i]
		for _, r := range t.Ranges[c.First : c.First+c.N] {
			m.addEvents(r, int32(i))
			for q := c.Parent; q >= 0 && (calls[q].N == 0 || m.version == 2 && !holds(t, &calls[q], r)); q = calls[q].Parent {
				m.addEvents(r, q)
			}
		}
	}
	if len(m.events) < few {
		slices.SortFunc(m.events, func(a, b callEvent) int { return cmp.Compare(a.addr, b.addr) })
	} else {
		m.order.sort(m.events, func(e *callEvent) uint64 { return e.addr })
	}
	for len(m.nodes) < len(calls) {
		m.nodes = append(m.nodes, callNode{})
	}
	m.beside = slices.Grow(m.beside[:0], len(calls))[:len(calls)]
	clear(m.beside)
	m.kids = slices.Grow(m.kids[:0], len(calls)+1)[:len(calls)+1]
	for i := range m.kids {
		m.kids[i] = -1
	}
}

func (m *merger) addEvents(r dwarf.Range, call int32) {
	m.events = append(m.events, callEvent{r.Start, call, false}, callEvent{r.End, call, true})
}

// holds reports whether a range is inside a range of a call. In strict DWARF 2 a call can
// have only one range, so it also has the ranges of the calls inside it.
func holds(t *dwarf.Tree, c *dwarf.Call, r dwarf.Range) bool {
	for _, own := range t.Ranges[c.First : c.First+c.N] {
		if r.Start >= own.Start && r.End <= own.End {
			return true
		}
	}
	return false
}

// piece writes the rows of a piece of the function. Pieces come in ascending
// order.
//
// Ranges of calls need not nest as the calls do, nor be inside of a piece:
// optimizers leave all kinds. So an address belongs to the call that is reached
// from the function by going to the first active call, in the order of the tree,
// as long as there is one. Where ranges nest, that is the innermost call.
func (m *merger) piece(calls []dwarf.Call, r dwarf.Range) {
	for pos := r.Start; pos < r.End; {
		for ; m.event < len(m.events) && m.events[m.event].addr <= pos; m.event++ {
			m.apply(calls, m.events[m.event])
		}
		until := r.End
		if m.event < len(m.events) {
			until = min(until, m.events[m.event].addr)
		}
		m.lay(m.node(calls, m.innermost()), pos, until)
		pos = until
	}
}

// apply starts or ends a range of a call. A call is active in any of its ranges.
func (m *merger) apply(calls []dwarf.Call, e callEvent) {
	own := &m.beside[e.call]
	head := &m.kids[calls[e.call].Parent+1]
	switch {
	case e.isEnd:
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

// innermost returns the call that the code belongs to, -1 for the function
// itself.
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

// coded returns a row of the line program in its stored form.
func (m *merger) coded(node int32, row *dwarf.LineRow) Row {
	c := Row{Node: node, File: m.file(row.File), Line: row.Line}
	if m.columns {
		c.Column = row.Column
	}
	return c
}

// file returns a file number plus 1, or 0.
func (m *merger) file(n uint32) uint32 {
	if n == 0 && m.noZero || m.noFiles || n == dwarf.NoFile {
		return 0
	}
	return n + 1
}

// node returns the number of the node of a call, made when it is first needed.
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
