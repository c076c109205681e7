package units

import (
	"slices"

	"symbolon/internal/object"
	"symbolon/internal/sym"
)

// sweep goes through all chunks in the order of their addresses, and assigns each stretch
// to the chunk that hides the others.
type sweep struct {
	image  *Image
	store  *store
	chunks []chunk // by start; equals in the order of their units
	open   []int32 // heap: the one that hides the others first
	parts  map[int32]*partly
	block  sym.Block
	name   namer
	end    uint64 // of the last stretch
	begun  bool
	yield  func(*sym.Block) error
}

// partly is a chunk that was interrupted.
type partly struct {
	d     decoder
	nodes []sym.Node
	as    []numbered // by node
	stamp int32      // of the block at work
	ahead bool       // d.row starts after the rows that were written
	row   sym.Row    // the state at the end of the last stretch
	any   bool
	done  bool
}

// numbered is the number of a node in the block with that stamp.
type numbered struct{ stamp, number int32 }

// hides reports whether chunk i hides chunk j.
func (s *sweep) hides(i, j int32) bool { return s.chunks[i].beats(&s.chunks[j]) }

func (s *sweep) sort() {
	var order byStart[chunk]
	order.sort(s.chunks, func(c *chunk) uint64 { return c.start })
}

func (s *sweep) run() error {
	s.sort()
	next, hides := 0, s.hides
	for pos := uint64(0); next < len(s.chunks) || len(s.open) > 0; {
		for len(s.open) > 0 && s.chunks[s.open[0]].end <= pos {
			delete(s.parts, s.open[0])
			_, s.open = object.Pop(s.open, hides)
		}
		if len(s.open) == 0 {
			if next == len(s.chunks) {
				break
			}
			pos = max(pos, s.chunks[next].start)
		}
		for next < len(s.chunks) && s.chunks[next].start <= pos {
			s.open = object.Push(s.open, int32(next), hides)
			next++
		}
		top := s.open[0]
		until := s.chunks[top].end
		if until <= pos {
			continue
		}
		for next < len(s.chunks) && s.chunks[next].start < until {
			if s.hides(int32(next), top) {
				until = s.chunks[next].start
				break
			}
			s.open = object.Push(s.open, int32(next), hides)
			next++
		}
		if err := s.emit(top, pos, until); err != nil {
			return err
		}
		pos = until
	}
	return s.finish()
}

// emit hands on a stretch of chunk i.
func (s *sweep) emit(i int32, from, until uint64) error {
	if s.begun && s.end < from {
		s.block.Rows = append(s.block.Rows, sym.Row{Addr: s.end, Node: sym.Hole})
	}
	if err := s.flush(); err != nil {
		return err
	}
	s.begun, s.end = true, until
	c := &s.chunks[i]
	if c.len == 0 {
		s.image.symbolBlock(&s.block, c, from)
		return nil
	}
	code, err := s.store.code(c)
	if err != nil {
		return err
	}
	p := s.parts[i]
	if p == nil && from == c.start && until == c.end {
		decode(&s.block, c, code)
		s.name.root(s.image, &s.block, c)
		return nil
	}
	if p == nil {
		p = &partly{}
		p.d, p.nodes = decoderOf(c, slices.Clone(code), nil)
		p.as = make([]numbered, len(p.nodes))
		s.name.root(s.image, &sym.Block{Nodes: p.nodes}, c)
		if s.parts == nil {
			s.parts = map[int32]*partly{}
		}
		s.parts[i] = p
	}
	p.cut(&s.block, from, until)
	return nil
}

// flush yields the block that waits for the rows after it.
func (s *sweep) flush() error {
	if !s.begun {
		return nil
	}
	err := s.yield(&s.block)
	s.block.Reset()
	return err
}

func (s *sweep) finish() error {
	if s.begun {
		s.block.Rows = append(s.block.Rows, sym.Row{Addr: s.end, Node: sym.Hole})
	}
	return s.flush()
}

// cut writes the rows of a stretch, with the nodes that they need.
func (p *partly) cut(b *sym.Block, from, until uint64) {
	b.Reset()
	p.stamp++
	for {
		if !p.ahead && !p.done {
			p.done = !p.d.next()
			p.ahead = !p.done
		}
		if p.done || p.d.row.Addr > from {
			break
		}
		p.row, p.any, p.ahead = p.d.row, true, false
	}
	if p.any {
		r := p.row
		r.Addr = from
		p.write(b, r)
	}
	for !p.done && p.d.row.Addr < until {
		p.row, p.any = p.d.row, true
		p.write(b, p.row)
		p.done = !p.d.next()
		p.ahead = !p.done
	}
}

func (p *partly) write(b *sym.Block, r sym.Row) {
	r.Node = p.node(b, r.Node)
	b.Rows = append(b.Rows, r)
}

// node returns the number of a node in the block at work.
func (p *partly) node(b *sym.Block, n int32) int32 {
	if p.as[n].stamp != p.stamp {
		node := p.nodes[n]
		if node.Parent >= 0 {
			node.Parent = p.node(b, node.Parent)
		}
		b.Nodes = append(b.Nodes, node)
		p.as[n] = numbered{p.stamp, int32(len(b.Nodes) - 1)}
	}
	return p.as[n].number
}
