package breakpad

import (
	"cmp"
	"math"
	"slices"

	"symbolon/internal/format/breakpad"
	"symbolon/internal/object"
	"symbolon/internal/sym"
)

// maxDepth is how deep INLINE records may nest.
const maxDepth = 256

// nest makes a tree of calls of one FUNC, with its lines on the right levels.
type nest struct {
	fn    *breakpad.Func
	end   uint64    // of the FUNC
	queue []inlinee // heap
	ends  []uint64  // of the latest one taken at each depth
	spans []inlinee // properly nested
	rows  []leaf    // line records by address
	calls []call
	lines []leaf  // of calls
	open  []int32 // calls, the innermost last

	ranges []stretch // lines of the calls that one call makes
	sites  []site
	made   []int32 // the latest Node of each INLINE record, -1: none
	older  []int32 // the one made before of the same record, by Node
}

// inlinee is one range of an INLINE record.
type inlinee struct {
	addr, end uint64
	depth     uint32
	rec       int32 // index of the record
}

func (a inlinee) less(b inlinee) bool {
	return a.addr < b.addr || a.addr == b.addr && a.depth < b.depth
}

// call is the FUNC itself, at index 0, or a call that was inlined. Calls come
// after their parents, siblings in the order of their addresses.
type call struct {
	addr, end       uint64
	rec             int32 // index of the INLINE record, -1: the FUNC
	parent          int32
	first, last     int32 // its lines, -1: none
	child, lastKid  int32 // its calls, -1: none
	next            int32 // its sibling, -1: none
	sites, numSites int32 // where it calls others
	cursor          int32 // the last requested site
	site, node      int32 // the Node made last, and the site of the parent that it was made for
}

// leaf is a line of a call, or the line where it calls another.
type leaf struct {
	addr, end uint64
	file      sym.Text
	line      uint32
	next      int32 // next line of the same call, -1: none
}

func (n *nest) reset(fn *breakpad.Func, end uint64) {
	n.fn, n.end = fn, end
	n.queue, n.ends, n.spans = n.queue[:0], n.ends[:0], n.spans[:0]
	n.rows, n.calls, n.lines, n.open = n.rows[:0], n.calls[:0], n.lines[:0], n.open[:0]
	n.sites, n.made, n.older = n.sites[:0], n.made[:0], n.older[:0]
	for range fn.Inlines {
		n.made = append(n.made, -1)
	}
}

// takeInlines makes spans of the INLINE records such that none reaches beyond
// its parent or begins within its elder sibling, ordered by address and depth.
func (n *nest) takeInlines(bad *breakpad.Report, line uint32) {
	for i, in := range n.fn.Inlines {
		if in.Depth >= maxDepth {
			if bad != nil {
				bad.Add(breakpad.TooDeep, line)
			}
			continue
		}
		for _, r := range n.fn.Ranges[in.First : in.First+in.N] {
			if r.Addr < n.fn.Addr {
				continue
			}
			end := r.Addr + r.Size
			if r.Addr < n.end {
				end = min(end, n.end)
			}
			n.queue = object.Push(n.queue, inlinee{r.Addr, end, in.Depth, int32(i)}, inlinee.less)
		}
	}
	// Records that all reach over everything could be continued without end.
	budget := len(n.queue) + 4096
	for len(n.queue) > 0 {
		var in inlinee
		in, n.queue = object.Pop(n.queue, inlinee.less)
		if in.end < in.addr {
			continue // beyond the end of all addresses
		}
		if rest, ok := n.take(in); ok && budget > 0 {
			budget--
			n.queue = object.Push(n.queue, rest, inlinee.less)
		}
	}
}

// take puts an inlinee into spans, as far as there is place for it. The rest,
// if there is one, is to be taken where it begins.
func (n *nest) take(in inlinee) (rest inlinee, ok bool) {
	depth := int(in.depth)
	if depth > len(n.ends) {
		return rest, false // it has no parent
	}
	if depth < len(n.ends) {
		elder := n.ends[depth]
		if in.end <= elder {
			return rest, false
		}
		if in.addr < elder {
			in.addr = elder
			return in, true
		}
	}
	n.ends = n.ends[:depth]
	if depth > 0 {
		parent := n.ends[depth-1]
		if in.addr >= parent {
			return rest, false
		}
		if in.end > parent {
			rest, ok = in, true
			rest.addr = parent
			in.end = parent
		}
	}
	n.spans = append(n.spans, in)
	n.ends = append(n.ends, in.end)
	return rest, ok
}

// takeLines puts the spans and the line records into the tree. In an old file
// calls have no file.
func (n *nest) takeLines(old bool, file func(id uint64) sym.Text) {
	n.sortRows(file)
	n.push(call{addr: n.fn.Addr, end: n.end, rec: -1, parent: -1})
	spans, rows := n.spans, n.rows
	for len(spans) > 0 || len(rows) > 0 {
		if len(spans) > 0 && (len(rows) == 0 || spans[0].addr <= rows[0].addr) {
			in := spans[0]
			spans = spans[1:]
			n.flush(in.addr, int(in.depth)+1)
			if in.addr >= n.end {
				return
			}
			rec := &n.fn.Inlines[in.rec]
			l := leaf{addr: in.addr, end: in.end, line: rec.CallLine}
			if !old {
				l.file = file(rec.CallFile)
			}
			n.add(l)
			n.push(call{addr: in.addr, end: in.end, rec: in.rec, parent: n.open[len(n.open)-1]})
			continue
		}
		l := &rows[0]
		n.flush(l.addr, math.MaxInt)
		if l.addr >= n.end {
			return
		}
		cut := n.calls[n.open[len(n.open)-1]].end
		if len(spans) > 0 {
			cut = min(cut, spans[0].addr)
		}
		if cut < l.end {
			head := *l
			head.end, l.addr = cut, cut
			n.add(head)
			continue
		}
		n.add(*l)
		rows = rows[1:]
	}
}

// sortRows collects the line records that count.
func (n *nest) sortRows(file func(id uint64) sym.Text) {
	sorted := true
	for _, l := range n.fn.Lines {
		if l.Size == 0 || l.Addr < n.fn.Addr {
			continue
		}
		if k := len(n.rows); k > 0 && n.rows[k-1].addr > l.Addr {
			sorted = false
		}
		end := l.Addr + l.Size
		if end < l.Addr {
			end = math.MaxUint64
		}
		n.rows = append(n.rows, leaf{addr: l.Addr, end: end, file: file(l.File), line: l.Line})
	}
	if !sorted {
		slices.SortStableFunc(n.rows, func(a, b leaf) int { return cmp.Compare(a.addr, b.addr) })
	}
}

// flush closes calls that end at or before addr, then those beyond a depth.
func (n *nest) flush(addr uint64, depth int) {
	k := len(n.open)
	for k > 1 && n.calls[n.open[k-1]].end <= addr {
		k--
	}
	n.open = n.open[:max(1, min(k, depth))]
}

// push opens a call.
func (n *nest) push(c call) {
	i := int32(len(n.calls))
	c.first, c.last, c.child, c.lastKid, c.next, c.site = -1, -1, -1, -1, -1, -1
	n.calls = append(n.calls, c)
	n.open = append(n.open, i)
	if c.parent < 0 {
		return
	}
	p := &n.calls[c.parent]
	if p.lastKid >= 0 {
		n.calls[p.lastKid].next = i
	} else {
		p.child = i
	}
	p.lastKid = i
}

// add appends a line to the innermost open call.
func (n *nest) add(l leaf) {
	i := int32(len(n.lines))
	l.next = -1
	n.lines = append(n.lines, l)
	c := &n.calls[n.open[len(n.open)-1]]
	if c.last >= 0 {
		n.lines[c.last].next = i
	} else {
		c.first = i
	}
	c.last = i
}

// stretch is a stretch of addresses.
type stretch struct{ start, end uint64 }

// site is a place from which calls are made, from addr on.
type site struct {
	addr uint64
	file sym.Text
	line uint32
	node int32 // Node of the caller
}
