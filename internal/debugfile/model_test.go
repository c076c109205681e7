package debugfile_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"symbolon/internal/fixture"
)

// The model answers the same questions as the package with one flat map over
// all keys of a file: no clusters, no pieces, no memory that is used again. It
// restates the rules; what it shares with the package is the order of equal
// INLINE ranges, which is that of the peers' heap.

type modelFile struct {
	paths   map[int]string
	origins map[int]string
	funcs   []modelFunc
	publics []modelPublic
	order   []int // how records are mixed: index of a func, or -1-index of a public
}

type modelFunc struct {
	addr, size uint64
	name       string
	inlines    []modelInline
	lines      []modelLine
}

type modelInline struct {
	depth, line, file, origin int
	ranges                    []uint64
}

type modelLine struct {
	addr, size uint64
	line, file int
}

type modelPublic struct {
	addr uint64
	name string
}

// randomFile makes a file in a small address space. FUNC records may overlap if
// overlap is set.
func randomFile(r *rand.Rand, overlap bool) *modelFile {
	m := &modelFile{paths: map[int]string{}, origins: map[int]string{}}
	for i := range r.IntN(4) {
		m.paths[i] = fmt.Sprintf("/src/%d.c", i)
	}
	for i := range r.IntN(5) {
		m.origins[i] = fmt.Sprintf("inlined%d", i)
	}
	span := 64 + r.IntN(200)
	next := modelBase
	for i := range r.IntN(7) {
		addr, size := modelBase+r.IntN(span), r.IntN(span/2)
		if !overlap {
			addr, size = next+r.IntN(3)*r.IntN(20), 1+r.IntN(60)
			next = addr + size
		}
		f := modelFunc{addr: uint64(addr), size: uint64(size), name: fmt.Sprintf("func%d", i)}
		f.fill(r)
		m.order = append(m.order, len(m.funcs))
		m.funcs = append(m.funcs, f)
	}
	for i := range r.IntN(6) {
		m.order = append(m.order, -1-len(m.publics))
		m.publics = append(m.publics, modelPublic{uint64(modelBase + r.IntN(span+40)), fmt.Sprintf("public%d", i)})
	}
	r.Shuffle(len(m.order), func(i, j int) { m.order[i], m.order[j] = m.order[j], m.order[i] })
	return m
}

// crowdedFile makes a file of many small functions with large ones around them.
func crowdedFile(r *rand.Rand) *modelFile {
	m := &modelFile{paths: map[int]string{0: "/src/0.c", 1: "/src/1.c"}, origins: map[int]string{0: "inlined0"}}
	for i := range 250 {
		size := 1 + r.IntN(10)
		if r.IntN(25) == 0 {
			size = 1 + r.IntN(0x200)
		}
		f := modelFunc{addr: uint64(modelBase + r.IntN(0x2f0)), size: uint64(size), name: fmt.Sprintf("func%d", i)}
		if r.IntN(3) == 0 {
			f.fill(r)
		}
		m.order = append(m.order, i)
		m.funcs = append(m.funcs, f)
	}
	for i := range r.IntN(40) {
		m.order = append(m.order, -1-i)
		m.publics = append(m.publics, modelPublic{uint64(modelBase + r.IntN(0x300)), fmt.Sprintf("public%d", i)})
	}
	return m
}

const (
	modelBase = 0x100
	modelEnd  = 0x400
)

func (f *modelFunc) fill(r *rand.Rand) {
	size := int(f.size)
	for range r.IntN(3) * r.IntN(4) {
		in := modelInline{depth: r.IntN(4), line: 100 + r.IntN(5), file: r.IntN(4), origin: r.IntN(5)}
		for range 1 + r.IntN(3) {
			addr, n := f.addr+uint64(r.IntN(size+2)), uint64(r.IntN(size/2+2))
			if r.IntN(10) == 0 {
				addr -= 3
			}
			in.ranges = append(in.ranges, addr, n)
		}
		f.inlines = append(f.inlines, in)
	}
	at := f.addr
	for i := range r.IntN(7) {
		l := modelLine{at, uint64(1 + r.IntN(size/2+2)), r.IntN(4)*10 + i, r.IntN(4)}
		if r.IntN(4) == 0 {
			l.addr, l.size = f.addr+uint64(r.IntN(size+4))-1, uint64(r.IntN(size/2+2))
		}
		if at = l.addr + l.size; r.IntN(5) == 0 {
			at += uint64(r.IntN(5))
		}
		f.lines = append(f.lines, l)
	}
}

// text writes the file.
func (m *modelFile) text() *fixture.Sym {
	s := fixture.NewSym("random.so")
	for id := range len(m.paths) {
		s.File(id, m.paths[id])
	}
	for id := range len(m.origins) {
		s.Origin(id, m.origins[id])
	}
	for _, i := range m.order {
		if i < 0 {
			s.Public(m.publics[-1-i].addr, m.publics[-1-i].name)
			continue
		}
		f := &m.funcs[i]
		s.Func(f.addr, f.size, f.name)
		for _, in := range f.inlines {
			s.Inline(in.depth, in.line, in.file, in.origin, in.ranges...)
		}
		for _, l := range f.lines {
			s.Line(l.addr, l.size, l.line, l.file)
		}
	}
	return s
}

// inOrder returns the funcs and publics in the order of the file.
func (m *modelFile) inOrder() (funcs []*modelFunc, publics []*modelPublic) {
	for _, i := range m.order {
		if i < 0 {
			publics = append(publics, &m.publics[-1-i])
		} else {
			funcs = append(funcs, &m.funcs[i])
		}
	}
	return funcs, publics
}

// location is a place in a source file, in a function that may be inlined into
// another location.
type location struct {
	path  string
	line  int
	name  string
	into  *location
	entry uint64
	size  uint64
}

func (l *location) String() string {
	var b strings.Builder
	for ; l != nil; l = l.into {
		fmt.Fprintf(&b, "%s %s:%d", l.name, l.path, l.line)
		if l.into == nil {
			fmt.Fprintf(&b, " [%x+%x]", l.entry, l.size)
		} else {
			b.WriteString(" < ")
		}
	}
	return b.String()
}

// keys are locations by address; nil is a hole.
type keys map[uint64]*location

// modelTree is a call with what is in it.
type modelTree struct {
	addr, end uint64
	name      string
	lines     []*modelSpan
	kids      []*modelTree
}

type modelSpan struct {
	addr, end uint64
	path      string
	line      int
}

// allKeys computes the keys of the file.
func (m *modelFile) allKeys() keys {
	all := keys{}
	funcs, publics := m.inOrder()
	for _, f := range funcs {
		if f.size == 0 {
			continue
		}
		tree := m.tree(f)
		root := &location{name: f.name, entry: f.addr, size: f.size}
		tree.enter(all, nil, root, f.addr+f.size)
	}
	for _, p := range publics {
		if all[p.addr] == nil {
			all[p.addr] = &location{name: p.name, entry: p.addr}
		}
	}
	return all
}

// enter puts the keys of a call and of those in it into all. Sites are the
// locations that it is called from, by address; the FUNC has none.
func (t *modelTree) enter(all keys, sites []modelSite, root *location, end uint64) {
	if t.addr == t.end {
		return
	}
	var covered []*modelSpan
	for _, k := range t.kids {
		covered = append(covered, k.lines...)
	}
	slices.SortStableFunc(covered, func(a, b *modelSpan) int { return int(a.addr) - int(b.addr) })
	var calls []modelSite
	at := uint64(0)
	for _, l := range t.lines {
		if l.addr < at {
			continue
		}
		here := *root
		here.path, here.line = l.path, l.line
		if sites != nil {
			here = location{path: l.path, line: l.line, name: t.name, into: siteOf(sites, l.addr)}
		}
		at = l.addr
		for at < l.end {
			if len(covered) == 0 || covered[0].addr > at {
				all[at] = &here
			}
			if len(covered) == 0 || covered[0].addr >= l.end {
				break
			}
			calls = append(calls, modelSite{covered[0].addr, &here})
			at, covered = covered[0].end, covered[1:]
		}
		at = max(at, l.end)
	}
	if sites == nil && all[t.addr] == nil {
		all[t.addr] = root
	}
	if calls != nil {
		for _, k := range t.kids {
			k.enter(all, calls, root, end)
		}
	}
	if _, ok := all[t.end]; !ok && t.end <= end {
		all[t.end] = nil
	}
}

type modelSite struct {
	addr uint64
	from *location
}

func siteOf(sites []modelSite, addr uint64) *location {
	found := sites[0].from
	for _, s := range sites {
		if s.addr <= addr {
			found = s.from
		}
	}
	return found
}

// tree nests the INLINE records of a FUNC and puts its lines on their level.
func (m *modelFile) tree(f *modelFunc) *modelTree {
	end := f.addr + f.size
	var lines []*modelSpan
	for _, l := range f.lines {
		if l.size > 0 && l.addr >= f.addr {
			lines = append(lines, &modelSpan{l.addr, l.addr + l.size, m.paths[l.file], l.line})
		}
	}
	slices.SortStableFunc(lines, func(a, b *modelSpan) int { return int(a.addr) - int(b.addr) })
	root := &modelTree{addr: f.addr, end: end}
	open := []*modelTree{root}
	upTo := func(addr uint64) {
		for len(open) > 1 && open[len(open)-1].end <= addr {
			open = open[:len(open)-1]
		}
	}
	spans := nestModel(f, end)
	for len(lines) > 0 || len(spans) > 0 {
		if len(spans) > 0 && (len(lines) == 0 || spans[0].addr <= lines[0].addr) {
			s := spans[0]
			spans = spans[1:]
			if upTo(s.addr); s.addr >= end {
				break
			}
			open = open[:min(len(open), s.in.depth+1)]
			top := open[len(open)-1]
			top.lines = append(top.lines, &modelSpan{s.addr, s.end, m.paths[s.in.file], s.in.line})
			kid := &modelTree{addr: s.addr, end: s.end, name: m.origins[s.in.origin]}
			top.kids = append(top.kids, kid)
			open = append(open, kid)
			continue
		}
		l := lines[0]
		if upTo(l.addr); l.addr >= end {
			break
		}
		top := open[len(open)-1]
		cut := top.end
		if len(spans) > 0 {
			cut = min(cut, spans[0].addr)
		}
		if cut >= l.end {
			top.lines, lines = append(top.lines, l), lines[1:]
			continue
		}
		top.lines = append(top.lines, &modelSpan{l.addr, cut, l.path, l.line})
		lines[0] = &modelSpan{cut, l.end, l.path, l.line}
	}
	return root
}

type nested struct {
	addr, end uint64
	in        *modelInline
}

// nestModel cuts the ranges of INLINE records so that they nest.
func nestModel(f *modelFunc, limit uint64) (out []nested) {
	var h peerHeap
	for i := range f.inlines {
		in := &f.inlines[i]
		for k := 0; k < len(in.ranges); k += 2 {
			addr, end := in.ranges[k], in.ranges[k]+in.ranges[k+1]
			if addr < limit {
				end = min(end, limit)
			}
			if addr >= f.addr {
				h.push(nested{addr, end, in})
			}
		}
	}
	ends := []uint64{math.MaxUint64} // of the FUNC, as far as nesting goes, and of the open ones by depth
	for len(h) > 0 {
		n := h.pop()
		level := n.in.depth + 1
		switch {
		case level > len(ends):
			continue
		case level < len(ends) && n.end <= ends[level]:
			continue
		case level < len(ends) && n.addr < ends[level]:
			n.addr = ends[level]
			h.push(n)
			continue
		}
		ends = ends[:level]
		parent := ends[level-1]
		if n.addr >= parent {
			continue
		}
		if n.end > parent {
			h.push(nested{parent, n.end, n.in})
			n.end = parent
		}
		ends = append(ends, n.end)
		out = append(out, n)
	}
	return out
}

// peerHeap is the heap of the peers: which one of equal elements it gives
// first can be seen in answers.
type peerHeap []nested

func (h peerHeap) less(i, j int) bool {
	if h[i].addr != h[j].addr {
		return h[i].addr < h[j].addr
	}
	return h[i].in.depth < h[j].in.depth
}

func (h peerHeap) up(i int) {
	for ; i > 0 && h.less(i, (i-1)/2); i = (i - 1) / 2 {
		h[i], h[(i-1)/2] = h[(i-1)/2], h[i]
	}
}

func (h *peerHeap) push(n nested) {
	*h = append(*h, n)
	h.up(len(*h) - 1)
}

func (h *peerHeap) pop() nested {
	old := *h
	n := len(old) - 1
	top := old[0]
	old[0], *h = old[n], old[:n]
	i := 0
	for 2*i+1 < n {
		kid := 2*i + 1
		if kid+1 < n && !h.less(kid, kid+1) {
			kid++
		}
		old[i], old[kid] = old[kid], old[i]
		i = kid
	}
	h.up(i)
	return top
}

// answers are the answers to all addresses of the model's space.
func (m *modelFile) answers() []string {
	all := m.allKeys()
	out := make([]string, modelEnd)
	var now *location
	for a := range out {
		if l, ok := all[uint64(a)]; ok {
			now = l
		}
		out[a] = now.String()
	}
	return out
}

// nearest is the name of the function or symbol next below an address.
func (m *modelFile) nearest(addr uint64) (name string) {
	best := int64(-1)
	funcs, publics := m.inOrder()
	for _, empty := range []bool{false, true} {
		for _, f := range funcs {
			if empty == (f.size == 0) && f.addr <= addr && int64(f.addr) > best {
				best, name = int64(f.addr), f.name
			}
		}
	}
	for _, p := range publics {
		if p.addr <= addr && int64(p.addr) > best {
			best, name = int64(p.addr), p.name
		}
	}
	return name
}
