package filter

import (
	"context"
	"fmt"
	"slices"

	"symbolon/internal/ident"
	"symbolon/internal/locate"
	"symbolon/internal/object"
)

// maxPlaces limits the symbols whose places are remembered.
const maxPlaces = 1 << 16

// placeKey identifies a symbol of a module.
type placeKey struct {
	module ident.Module
	name   string
	size   uint64
}

// place is the outcome of the search for a symbol in a file.
type place struct {
	object.Place
	err error
}

// finder finds the symbols of a query.
type finder struct {
	*Local
	ctx  context.Context
	open map[int32]*locate.Found
}

func (f *finder) close() {
	for _, found := range f.open {
		found.Close()
	}
}

// find returns the place of an address that is counted from a symbol.
func (f *finder) find(q *Query, at Address) (object.Place, error) {
	s := &q.Symbols[at.Addr]
	key := placeKey{q.Modules[at.Module], s.Name, s.Size}
	f.mu.Lock()
	p, ok := f.places[key]
	f.mu.Unlock()
	if !ok {
		obj, err := f.file(key.module, at.Module)
		if err != nil {
			return p.Place, err
		}
		p.Place, p.err = choose(obj.Named(s.Name), s)
		f.mu.Lock()
		if f.places == nil || len(f.places) == maxPlaces {
			f.places = map[placeKey]place{}
		}
		f.places[key] = p
		f.mu.Unlock()
	}
	offset := s.Offset
	if at.IsReturn && offset > 0 { // a function does not begin after a call
		offset--
	}
	if p.err == nil && offset >= p.Size {
		return p.Place, fmt.Errorf("%s has only %d bytes: the file is from another build", s.Name, p.Size)
	}
	p.Addr += offset
	return p.Place, p.err
}

// file returns the file of a module of the query.
func (f *finder) file(m ident.Module, index int32) (*object.Object, error) {
	found := f.open[index]
	if found == nil {
		var err error
		if found, _, err = f.Locator.Best(f.ctx, m, locate.SymFirst); err != nil {
			return nil, err
		}
		f.open[index] = found
	}
	obj, _, err := found.File(f.ctx)
	return obj, err
}

// choose returns the place of a symbol among those with its name. The size decides,
// which is rounded up to the alignment of the next symbol.
func choose(list []object.Place, s *Symbol) (p object.Place, err error) {
	const maxAlign = 64
	if len(list) > 1 {
		list = slices.DeleteFunc(list, func(p object.Place) bool { return p.Size > s.Size || s.Size-p.Size >= maxAlign })
		if len(list) != 1 {
			return p, fmt.Errorf("several functions have the name %s", s.Name)
		}
	}
	if len(list) == 0 {
		return p, fmt.Errorf("the file has no symbol %s", s.Name)
	}
	return list[0], nil
}
