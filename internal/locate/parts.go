package locate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/object"
	"symbolon/internal/source"
)

// A part is another file with debug information of a file. It belongs to the lookup
// of the file, as lookups over other sources may find another one, or none.
type part struct {
	need       need
	file       *Found
	isSupplied bool // to the object of the file
}

// maxTold is the largest number of attempts for parts in a trail.
const maxTold = 32

// folder is a source whose files are named by others.
type folder interface {
	Named(ctx context.Context, m ident.Module, kind, from string, names []string) []source.Candidate
}

// A partSearch looks for the parts of a found file.
type partSearch struct {
	*Locator
	file  *Found
	m     *lookup
	trail []Tried // of the file
	told  []Tried
}

// findParts finds the files that a found file needs. A shared file is looked up by
// its build id in all sources that respond, first in that of the found file. Units in
// separate files only have names, which are looked up in the folder of the found file:
// first a package of them, then single files. The needs of parts are ignored. The error
// is that of ctx.
func (l *Locator) findParts(ctx context.Context, f *Found, m *lookup, trail []Tried) error {
	s := partSearch{Locator: l, file: f, m: m, trail: trail}
	units := slices.IndexFunc(f.Needs, func(n need) bool { return n.Kind == object.NeedSplit })
	if units < 0 {
		units = len(f.Needs)
	}
	for _, n := range f.Needs[:units] {
		var err error
		switch n.Kind {
		case object.NeedAlt:
			err = s.findShared(ctx, n)
		case object.NeedMap:
			err = s.findNames(ctx, n)
		}
		if err != nil {
			return err
		}
	}
	if units < len(f.Needs) {
		if err := s.findUnits(ctx, f.Needs[units:]); err != nil {
			return err
		}
	}
	s.finish()
	return nil
}

// finish adds the time of the next search for parts to the found file, and the attempts
// to the trail.
func (s *partSearch) finish() {
	f := s.file
	if f.HasMore {
		s.tell(fault.New(fault.Unsupported, "", "the file needs more than %d files: put its units into a .dwp", len(f.Needs)))
	}
	for _, p := range f.parts {
		f.lookAgain(p.file.until())
	}
	failed := slices.DeleteFunc(slices.Clone(s.told), func(t Tried) bool { return t.Chosen })
	used := slices.DeleteFunc(s.told, func(t Tried) bool { return !t.Chosen })
	f.tell(append(failed, used...))
}

// tell adds the reason why units are not looked up.
func (s *partSearch) tell(why *fault.Error) {
	s.told = slices.Insert(s.told, 0, Tried{Source: s.file.candidate.Source, Kind: source.DWO, Fault: why})
}

// findShared finds the file that several files share.
func (s *partSearch) findShared(ctx context.Context, n need) error {
	return s.find(ctx, n, s.lookup(ctx, n.module()), source.DWZ)
}

// findNames finds the names that Apple's store has hidden. A property list may map the
// UUID of the file to the one before it was uploaded.
func (s *partSearch) findNames(ctx context.Context, n need) error {
	at := func(uuid []byte) *lookup {
		return s.lookup(ctx, ident.Module{Type: ident.TypeMachO, DebugID: ident.NewDebugID([16]byte(uuid), 0)}.Derive())
	}
	m := at(n.ID)
	list, told, err := s.first(ctx, n, m, s.places(ctx, n, m.Module, source.UUIDMap))
	s.told = append(s.told, told...)
	if err != nil {
		return err
	}
	if list != nil {
		for _, original := range list.file.Needs {
			m = at(original.ID)
		}
		list.file.Close()
	}
	return s.find(ctx, n, m, source.BCSymbolMap)
}

// lookup returns a lookup of a part by its own identifiers. It is invalidated with
// the file.
func (s *partSearch) lookup(ctx context.Context, part ident.Module) *lookup {
	part.Arch, part.CodeFile, part.DebugFile = s.file.Module.Arch, s.m.CodeFile, s.m.DebugFile
	m := s.newLookup(ctx, part)
	own := m.invalidated
	m.invalidated = func() time.Time { return later(own(), s.m.invalidated()) }
	return m
}

// find adds the first file of a kind that the found file accepts to its parts.
func (s *partSearch) find(ctx context.Context, n need, m *lookup, kind string) error {
	p, told, err := s.first(ctx, n, m, s.places(ctx, n, m.Module, kind))
	s.told = append(s.told, told...)
	if p != nil {
		s.file.parts = append(s.file.parts, p)
	}
	return err
}

// places returns the places of a part in all sources that respond, that of the found
// file first, and in each folder its name before its id.
func (s *partSearch) places(ctx context.Context, n need, m ident.Module, kind string) (places []target) {
	sources := []source.Source{s.file.source}
	for _, other := range s.sources {
		if other != s.file.source && !isDown(s.trail, other.ID()) {
			sources = append(sources, other)
		}
	}
	asked := kind
	if kind == source.DWZ {
		asked = source.ELFDebug
	}
	base := path.Base(string(n.Name))
	for i, src := range sources {
		var list []source.Candidate
		if dir, ok := src.(folder); ok && len(n.Name) > 0 {
			from := ""
			if i == 0 {
				from = s.file.candidate.Path
			}
			list = dir.Named(ctx, m, kind, from, []string{string(n.Name), base, "/.dwz/" + base, "/" + base})
		}
		more, err := src.Candidates(ctx, m, []string{asked})
		if err != nil && !errors.Is(err, source.ErrNothing) {
			s.told = append(s.told, Tried{Source: src.ID(), Kind: kind, Fault: fault.Of(err)})
		}
		for _, c := range append(list, more...) {
			places = append(places, newTarget(src, c, kind, n))
		}
	}
	return places
}

// newTarget returns the target for a candidate that is a part of another file. Its key
// differs from that of the same file as a module, as parts are opened differently.
func newTarget(s source.Source, c source.Candidate, kind string, n need) target {
	c.Kind, c.Key = kind, fmt.Sprintf("%s as %s %x", c.Key, kind, n.ID)
	return target{source: s, candidate: c}
}

// first returns the first file of these places that the found file accepts.
func (s *partSearch) first(ctx context.Context, n need, m *lookup, places []target) (*part, []Tried, error) {
	var told []Tried
	for _, a := range places {
		found, tried, err := s.try(ctx, a, m)
		if found != nil {
			p := &part{need: n, file: found}
			if tried.Fault = s.file.accept(ctx, p); tried.Fault == nil {
				tried.Chosen = true
				return p, append(told, tried), nil
			}
			tried.Expires = s.now().Add(s.life(tried.Fault, a.candidate))
			found.Close()
		}
		told = append(told, tried)
		if err = cmp.Or(err, context.Cause(ctx)); err != nil {
			return nil, told, err
		}
	}
	return nil, told, nil
}

// findUnits finds the package of the units of a file in a folder, and the file of each
// unit that is not in it.
func (s *partSearch) findUnits(ctx context.Context, units []need) error {
	dir, _ := s.file.source.(folder)
	from := s.file.candidate.Path
	at := func(kind string, n need, names ...string) (places []target) {
		if dir == nil {
			return nil
		}
		for _, c := range dir.Named(ctx, s.m.Module, kind, from, names) {
			places = append(places, newTarget(s.file.source, c, kind, n))
		}
		return places
	}
	base := path.Base(from)
	places := at(source.DWP, units[0], base+".dwp", strings.TrimSuffix(base, path.Ext(base))+".dwp")
	if len(places) == 0 {
		s.tell(fault.New(fault.NotFound, "", "units in .dwo and .dwp files are looked for in folders of this machine only"))
		return nil
	}
	p, told, err := s.first(ctx, units[0], s.m, places)
	s.told = append(s.told, told...)
	if p != nil {
		s.file.parts = append(s.file.parts, p)
		units = p.file.Needs // that are not in the package
	}
	if err != nil {
		return err
	}
	found, tried, errs := make([]*part, len(units)), make([][]Tried, len(units)), make([]error, len(units))
	slots := make(chan struct{}, maxParallel)
	var wg sync.WaitGroup
	for i, n := range units {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			defer fault.Recover("", &errs[i])
			name := string(n.Name)
			found[i], tried[i], errs[i] = s.first(ctx, n, s.m, at(source.DWO, n, path.Join(string(n.Dir), name), name, path.Base(name)))
		})
	}
	wg.Wait()
	s.told = append(s.told, slices.Concat(tried...)...)
	s.file.parts = append(s.file.parts, slices.DeleteFunc(found, func(p *part) bool { return p == nil })...)
	return cmp.Or(errs...)
}
