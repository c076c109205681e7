package locate

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/object"
	"symbolon/internal/source"
)

// maxParallel is the largest number of concurrent requests of one lookup.
const maxParallel = 32

// Best finds the best file for a module. It always returns the trail. Without a
// usable file the error is NotFound only if no source failed.
func (l *Locator) Best(ctx context.Context, module ident.Module, p Purpose) (*Found, []Tried, error) {
	m := l.newLookup(ctx, module)
	var found *Found
	var trail []Tried
	var err error
	if p == SymFirst {
		found, trail, err = l.symFirst(ctx, m)
	} else {
		found, trail, err = l.ranked(ctx, m, p)
	}
	if found != nil && err == nil && usesParts(p) {
		found, trail, err = l.followLink(ctx, found, m, p, trail)
	}
	switch {
	case err != nil:
	case found == nil && p == SymFirst:
		err = missing(trail, worstFault(trail))
	case found == nil:
		err = missing(trail, firstFault(trail))
	case usesParts(p):
		err = l.findParts(ctx, found, m, trail)
	}
	if err == nil && p == Debug {
		err = l.findMapping(ctx, found, m, trail)
	}
	if err != nil && found != nil {
		found.Close()
		found = nil
	}
	return found, trail, err
}

// Requested finds the first file that a client requests.
func (l *Locator) Requested(ctx context.Context, asked source.FileRequest) (*Found, []Tried, error) {
	found, trail, err := l.choose(ctx, l.newLookup(ctx, asked.Module), asked.Kinds,
		func(meta *Meta) (int, bool) { return 0, HasPart(asked.Part, meta.Type, meta.Features) })
	if found == nil && err == nil {
		err = missing(trail, firstFault(trail))
	}
	return found, trail, err
}

func (l *Locator) newLookup(ctx context.Context, m ident.Module) *lookup {
	m = m.Derive()
	return &lookup{Module: m, invalidated: sync.OnceValue(func() time.Time { return l.invalidated(ctx, m) })}
}

// symFirst asks for .sym files, source by source, and for other files only if no
// source has one.
func (l *Locator) symFirst(ctx context.Context, m *lookup) (*Found, []Tried, error) {
	switch err := askable(m.Module); {
	case err != nil && !m.FileID.IsZero():
		return l.ranked(ctx, m, SymFirst)
	case err != nil:
		return nil, nil, err
	}
	var trail []Tried
	for _, s := range l.sources {
		candidates, err := s.Candidates(ctx, m.Module, []string{source.Breakpad})
		if errors.Is(err, source.ErrNothing) {
			continue
		}
		if err != nil {
			trail = append(trail, Tried{Source: s.ID(), Fault: fault.Of(err)})
		}
		for _, c := range candidates {
			found, tried, err := l.try(ctx, target{source: s, candidate: c}, m)
			if found != nil && found.Kind != source.Breakpad && found.Features == 0 {
				tried.Fault = fault.New(fault.Malformed, "", "unusable file of kind %s: no symbols", found.Kind)
				found.Close()
				found = nil
			}
			tried.Chosen = found != nil
			trail = append(trail, tried)
			if found != nil || err != nil { // found, or ctx has ended
				return found, trail, err
			}
		}
	}
	rest := *l
	rest.sources = slices.DeleteFunc(slices.Clone(l.sources), func(s source.Source) bool { return isDown(trail, s.ID()) })
	found, others, err := rest.ranked(ctx, m, SymFirst)
	for _, t := range others {
		reported := func(o Tried) bool { // when the source was asked for .sym
			return o.Source == t.Source && (t.Fault.Kind == fault.NotFound || o.Location == "" && o.Fault.Kind == t.Fault.Kind)
		}
		if t.Location != "" || !slices.ContainsFunc(trail, reported) {
			trail = append(trail, t)
		}
	}
	if slices.ContainsFunc(trail, wasAsked) { // then sources without a place are not the reason
		trail = slices.DeleteFunc(trail, func(t Tried) bool { return t.Fault != nil && errors.Is(t.Fault, errNoPlace) })
	}
	if found == nil && err == nil {
		err = missing(trail, worstFault(trail))
	}
	return found, trail, err
}

// errNoPlace is the reason why a source was not asked for a module.
var errNoPlace = errors.New("the source has no place for it")

// wasAsked reports whether the source of an attempt was asked.
func wasAsked(t Tried) bool { return t.Location != "" }

// isDown reports whether a source does not respond.
func isDown(trail []Tried, id string) bool {
	return slices.ContainsFunc(trail, func(t Tried) bool {
		return t.Source == id && t.Location != "" && t.Fault != nil && (t.Fault.Kind == fault.Transport || t.Fault.Kind == fault.Timeout)
	})
}

// askable returns a fault if the place of the .sym file of m is not known.
func askable(m ident.Module) error {
	if m.DebugFile == "" {
		return fault.New(fault.NotFound, "", "the module has no debug file name")
	}
	if err := ident.CheckFileName(m.DebugFile); err != nil {
		return fault.New(fault.NotFound, "", "%w", err)
	}
	switch {
	case m.DebugID.IsZero() && m.DebugIDText != "":
		return fault.New(fault.NotFound, "", "invalid debug id %.64q: must be 32 hexadecimal digits, not all zero, and an age", m.DebugIDText)
	case m.DebugID.IsZero():
		return fault.New(fault.NotFound, "", "the module has no debug id")
	}
	return nil
}

// ranked chooses the best file for a purpose. If m lacks its build id, the learned one
// is used. If a file of this lookup is the first to have it, all sources are asked
// again, so that the result is the same the next time.
func (l *Locator) ranked(ctx context.Context, m *lookup, p Purpose) (*Found, []Tried, error) {
	if !m.LacksBuildID() {
		return l.chooseFor(ctx, m, p)
	}
	full := *m
	if full.CodeID = l.learnedBuildID(ctx, m.DebugID).CodeID(); !full.CodeID.IsZero() {
		return l.chooseFor(ctx, &full, p)
	}
	found, trail, err := l.chooseFor(ctx, m, p)
	if m.stated.IsZero() || ctx.Err() != nil {
		return found, trail, err
	}
	full.CodeID = m.stated.CodeID()
	better, again, err := l.chooseFor(ctx, &full, p)
	if found != nil {
		found.Close() // not earlier, so that it is not fetched twice
	}
	return better, mergeTrails(trail, again), err
}

func (l *Locator) chooseFor(ctx context.Context, m *lookup, p Purpose) (*Found, []Tried, error) {
	return l.choose(ctx, m, kinds(m.Module, p), func(meta *Meta) (int, bool) { return meta.rank(p) })
}

// choose asks for all candidates of all sources concurrently, and returns the file of
// the lowest rank, of equal ones the first in the order of the sources. It returns
// nil if no file is usable.
func (l *Locator) choose(ctx context.Context, m *lookup, kinds []string, rank func(*Meta) (int, bool)) (*Found, []Tried, error) {
	all, trail := l.candidates(ctx, m.Module, kinds)
	finds, errs := make([]*Found, len(all)), make([]error, len(all))
	var wg sync.WaitGroup
	slots := make(chan struct{}, maxParallel)
	for i, a := range all {
		if a.source == nil {
			continue
		}
		if found, tried, known := l.known(ctx, &a, m); known {
			finds[i], trail[i] = found, tried
			continue
		}
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			defer func() {
				if p := recover(); p != nil { // the other candidates may be usable
					trail[i] = Tried{Source: a.candidate.Source, Kind: a.candidate.Kind, Location: a.candidate.Location, Fault: fault.Panicked("", p)}
				}
			}()
			finds[i], trail[i], errs[i] = l.ask(ctx, a, m)
		})
	}
	wg.Wait()
	best, bestRank := -1, 0
	for i, found := range finds {
		if found == nil {
			continue
		}
		if id := found.buildID(); m.stated.IsZero() && id.Fits(m.DebugID) {
			m.stated = id
		}
		if n, ok := rank(&found.Meta); ok && (best < 0 || n < bestRank) {
			best, bestRank = i, n
		}
	}
	err := cmp.Or(errs...)
	for i, found := range finds {
		if found != nil && (i != best || err != nil) {
			found.Close()
		}
	}
	if err != nil || best < 0 {
		return nil, trail, err
	}
	trail[best].Chosen = true
	if why := finds[best].unsuitable(m.Module); why != nil {
		finds[best].Close()
		return nil, trail, why
	}
	return finds[best], trail, nil
}

// candidates returns the candidates of all sources, and the trail with an element
// for each. If a source has no place, or failed, it has a target without a source,
// and the fault is in the trail.
func (l *Locator) candidates(ctx context.Context, m ident.Module, kinds []string) ([]target, []Tried) {
	lists, errs := make([][]source.Candidate, len(l.sources)), make([]error, len(l.sources))
	var wg sync.WaitGroup
	for i, s := range l.sources {
		wg.Go(func() {
			defer fault.Recover("", &errs[i])
			lists[i], errs[i] = s.Candidates(ctx, m, kinds)
		})
	}
	wg.Wait()
	var all []target
	var trail []Tried
	for i, s := range l.sources {
		if errors.Is(errs[i], source.ErrNothing) {
			continue
		}
		why := fault.Of(errs[i])
		if why == nil && len(lists[i]) == 0 {
			why = fault.New(fault.NotFound, "", "%w", errNoPlace)
		}
		if why != nil {
			all, trail = append(all, target{}), append(trail, Tried{Source: s.ID(), Fault: why})
		}
		for at, c := range lists[i] {
			if slices.ContainsFunc(lists[i][:at], func(o source.Candidate) bool { return o.Key == c.Key }) {
				continue // the same place for several kinds
			}
			all, trail = append(all, target{source: s, candidate: c}), append(trail, Tried{})
		}
	}
	return all, trail
}

// missing returns the fault of a module without a usable file: why, if it is not nil.
func missing(trail []Tried, why *fault.Error) error {
	switch {
	case why != nil:
		return why
	case len(trail) == 0:
		return fault.New(fault.NotFound, "", "no upload has the file, and no source is configured")
	case !slices.ContainsFunc(trail, wasAsked):
		return trail[0].Fault
	}
	return fault.New(fault.NotFound, "", "no source has the file")
}

// firstFault returns the first fault of a trail that is not NotFound.
func firstFault(trail []Tried) *fault.Error {
	for _, t := range trail {
		if t.Fault != nil && t.Fault.Kind != fault.NotFound {
			return t.Fault
		}
	}
	return nil
}

// worstFault returns the most severe fault of a trail that is not NotFound.
func worstFault(trail []Tried) *fault.Error {
	var out *fault.Error
	for _, t := range trail {
		if t.Fault != nil && t.Fault.Kind != fault.NotFound && (out == nil || severity(t.Fault.Kind) > severity(out.Kind)) {
			out = t.Fault
		}
	}
	return out
}

// severity orders kinds by how well they explain a missing module.
func severity(k fault.Kind) int {
	return slices.Index([]fault.Kind{
		fault.NotFound, fault.Unsupported, fault.Malformed, fault.Denied, fault.Transport, fault.Timeout, fault.Internal}, k)
}

// findMapping looks up the mapping of a found file in all sources that respond. That
// costs one request to each source with a place for it, unless the source has a list. The
// error is that of ctx.
func (l *Locator) findMapping(ctx context.Context, f *Found, m *lookup, trail []Tried) error {
	if f.Features&object.HasDebug == 0 || f.Kind == source.PortablePDB {
		return nil
	}
	rest := *l
	rest.sources = nil
	for _, s := range l.sources {
		if !isDown(trail, s.ID()) {
			rest.sources = append(rest.sources, otherPlaces{s, trail})
		}
	}
	lines, asked, err := rest.choose(ctx, m, []string{source.IL2CPP}, func(meta *Meta) (int, bool) { return 0, meta.Kind == source.IL2CPP })
	if err != nil {
		return err
	}
	f.mapping = lines
	asked = slices.DeleteFunc(asked, func(t Tried) bool { return t.Location == "" })
	if lines != nil {
		f.others = append(f.others, asked...)
		f.lookAgain(lines.until())
		return nil
	}
	f.tell(asked)
	return nil
}

// otherPlaces is a source without the candidates that were tried for the file: some
// layouts have one place for all files of a binary.
type otherPlaces struct {
	source.Source
	asked []Tried
}

func (s otherPlaces) Candidates(ctx context.Context, m ident.Module, kinds []string) ([]source.Candidate, error) {
	all, err := s.Source.Candidates(ctx, m, kinds)
	return slices.DeleteFunc(slices.Clone(all), func(c source.Candidate) bool {
		return slices.ContainsFunc(s.asked, func(t Tried) bool { return t.Source == c.Source && t.Location == c.Location })
	}), err
}
