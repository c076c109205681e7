package maps

import (
	"context"
	"slices"

	"symbolon/internal/demangle"
	"symbolon/internal/filter"
	"symbolon/internal/ident"
)

// Names has the names of the modules in Maps, and of all others those of Next.
type Names struct {
	Next filter.Names
	Maps map[string]*Map // by path or file name of the module
}

// find returns the Map of a module, nil if it has none.
func (n *Names) find(name string) *Map {
	if m := n.Maps[name]; m != nil {
		return m
	}
	return n.Maps[ident.FileName(name)]
}

// Look implements filter.Names.
func (n *Names) Look(ctx context.Context, q *filter.Query) (filter.Answer, error) {
	maps := make([]*Map, len(q.Modules))
	hasMap := false
	for i, m := range q.Modules {
		maps[i] = n.find(m.CodeFile)
		hasMap = hasMap || maps[i] != nil
	}
	if !hasMap {
		return n.Next.Look(ctx, q)
	}
	rest := &filter.Query{Modules: q.Modules, Addresses: slices.Clone(q.Addresses), Symbols: q.Symbols, Called: q.Called}
	for i := range rest.Addresses {
		if a := &rest.Addresses[i]; a.Module >= 0 && maps[a.Module] != nil {
			a.Module = -1
		}
	}
	next, err := n.Next.Look(ctx, rest)
	if err != nil {
		return nil, err
	}
	return &answer{Answer: next, maps: maps, query: q}, nil
}

// answer has the names of maps, and of other modules those of the embedded Answer.
type answer struct {
	filter.Answer
	maps  []*Map // by module
	query *filter.Query
	frame [1]filter.Frame
	name  []byte
}

func (a *answer) Missing(module int32) error {
	if a.maps[module] != nil {
		return nil
	}
	return a.Answer.Missing(module)
}

func (a *answer) Frames(i int) []filter.Frame {
	x := a.query.Addresses[i]
	if x.Module < 0 || a.maps[x.Module] == nil {
		return a.Answer.Frames(i)
	}
	m := a.maps[x.Module]
	if x.IsReturn {
		x.Addr--
	}
	switch x.Space {
	case filter.Offset, filter.Named, filter.Mapped:
		return nil
	case filter.Relative:
		x.Addr += m.base
	}
	s := m.find(x.Addr)
	if s == nil {
		return nil
	}
	style := demangle.Full
	if a.query.Called {
		style = demangle.Called
	}
	a.name = demangle.Append(a.name[:0], m.name(s), style)
	a.frame[0] = filter.Frame{Function: a.name, Raw: m.name(s), Entry: s.start - m.base, Size: s.size}
	return a.frame[:]
}
