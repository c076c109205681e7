package locate

import (
	"cmp"
	"context"
	"errors"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/source"
)

// maxParallel is how many candidates of one lookup are asked for at one time.
const maxParallel = 32

// Best finds the best file for a module. It returns the trail in any case. The error
// says what is to be told of the module; a plain miss only if that is all that
// is known.
func (l *Locator) Best(ctx context.Context, module ident.Module, p Purpose) (*Found, []Tried, error) {
	m := l.wish(ctx, module)
	if p == SymFirst {
		return l.symFirst(ctx, m)
	}
	found, trail, err := l.ranked(ctx, m, p)
	if found == nil && err == nil {
		err = verdict(trail, first(trail))
	}
	if found != nil && p == Debug {
		if err = l.findMapping(ctx, found, m, trail); err != nil {
			found.Close()
			found = nil
		}
	}
	return found, trail, err
}

// Any finds the first file of one of these kinds, whatever it has.
func (l *Locator) Any(ctx context.Context, module ident.Module, kinds ...string) (*Found, []Tried, error) {
	found, trail, err := l.choose(ctx, l.wish(ctx, module), kinds, func(*Meta) (int, bool) { return 0, true })
	if found == nil && err == nil {
		err = verdict(trail, first(trail))
	}
	return found, trail, err
}

func (l *Locator) wish(ctx context.Context, m ident.Module) *wish {
	m = m.Derive()
	return &wish{Module: m, invalidated: sync.OnceValue(func() time.Time { return l.invalidated(ctx, m) })}
}

// symFirst asks for .sym files one after the other, and for others only if
// there is none.
func (l *Locator) symFirst(ctx context.Context, m *wish) (*Found, []Tried, error) {
	if err := askable(m.Module); err != nil {
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
			found, tried, err := l.try(ctx, asked{source: s, candidate: c}, m)
			if found != nil && found.Kind != source.Breakpad && found.Features == 0 {
				tried.Fault = fault.New(fault.Malformed, "", "it is a file of kind %s with nothing in it", found.Kind)
				found.Close()
				found = nil
			}
			tried.Chosen = found != nil
			trail = append(trail, tried)
			if found != nil || err != nil { // found, or the caller's time is over
				return found, trail, err
			}
		}
	}
	rest := *l
	rest.sources = slices.DeleteFunc(slices.Clone(l.sources), func(s source.Source) bool { return down(trail, s.ID()) })
	found, others, err := rest.ranked(ctx, m, SymFirst)
	for _, t := range others {
		told := func(o Tried) bool { // of this source, when it was asked for .sym
			return o.Source == t.Source && (t.Fault.Kind == fault.NotFound || o.Location == "" && o.Fault.Kind == t.Fault.Kind)
		}
		if t.Location != "" || !slices.ContainsFunc(trail, told) {
			trail = append(trail, t)
		}
	}
	if slices.ContainsFunc(trail, placed) { // then sources without a place explain nothing
		trail = slices.DeleteFunc(trail, func(t Tried) bool { return t.Fault != nil && errors.Is(t.Fault, errNoPlace) })
	}
	if found == nil && err == nil {
		err = verdict(trail, worst(trail))
	}
	return found, trail, err
}

// errNoPlace is why a source was not asked for a module.
var errNoPlace = errors.New("the source has no place for it")

// placed reports whether a source was asked.
func placed(t Tried) bool { return t.Location != "" }

// down says that a source does not answer at the moment.
func down(trail []Tried, id string) bool {
	return slices.ContainsFunc(trail, func(t Tried) bool {
		return t.Source == id && t.Location != "" && t.Fault != nil && (t.Fault.Kind == fault.Transport || t.Fault.Kind == fault.Timeout)
	})
}

// askable refuses a module whose .sym file cannot be asked for.
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

// ranked chooses the best file for a purpose. If m lacks its build id, that of
// files that were seen counts. If only a file that is found now states it, all
// sources are asked again, so that the result is the same the next time.
func (l *Locator) ranked(ctx context.Context, m *wish, p Purpose) (*Found, []Tried, error) {
	if !m.LacksBuildID() {
		return l.chooseFor(ctx, m, p)
	}
	full := *m
	if full.CodeID = l.learned(ctx, m.DebugID).CodeID(); !full.CodeID.IsZero() {
		return l.chooseFor(ctx, &full, p)
	}
	found, trail, err := l.chooseFor(ctx, m, p)
	if m.stated.IsZero() || ctx.Err() != nil {
		return found, trail, err
	}
	full.CodeID = m.stated.CodeID()
	better, again, err := l.chooseFor(ctx, &full, p)
	if found != nil {
		found.Close() // not before: it is not fetched a second time
	}
	return better, merged(trail, again), err
}

func (l *Locator) chooseFor(ctx context.Context, m *wish, p Purpose) (*Found, []Tried, error) {
	return l.choose(ctx, m, kinds(m.Module, p), func(meta *Meta) (int, bool) { return meta.rank(p, m.Module) })
}

// choose asks for all candidates of all sources side by side, and takes the one
// of the lowest rank of those that are there: among equals the first in the
// order of the sources. There may be none, and then found is nil.
func (l *Locator) choose(ctx context.Context, m *wish, kinds []string, rank func(*Meta) (int, bool)) (*Found, []Tried, error) {
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
				if p := recover(); p != nil { // a file that we trip over is nobody else's trouble
					trail[i] = Tried{Source: a.candidate.Source, Kind: a.candidate.Kind, Location: a.candidate.Location, Fault: panicked(p)}
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
	if why := finds[best].unsuited(m.Module); why != nil {
		finds[best].Close()
		return nil, trail, why
	}
	return finds[best], trail, nil
}

// candidates are those of all sources, and the beginning of a trail beside
// them. A source that names no place, or perhaps not all, has one without a
// source, which says so.
func (l *Locator) candidates(ctx context.Context, m ident.Module, kinds []string) ([]asked, []Tried) {
	lists, errs := make([][]source.Candidate, len(l.sources)), make([]error, len(l.sources))
	var wg sync.WaitGroup
	for i, s := range l.sources {
		wg.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					errs[i] = panicked(p)
				}
			}()
			lists[i], errs[i] = s.Candidates(ctx, m, kinds)
		})
	}
	wg.Wait()
	var all []asked
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
			all, trail = append(all, asked{}), append(trail, Tried{Source: s.ID(), Fault: why})
		}
		for at, c := range lists[i] {
			if slices.ContainsFunc(lists[i][:at], func(o source.Candidate) bool { return o.Key == c.Key }) {
				continue // several kinds lie in one place
			}
			all, trail = append(all, asked{source: s, candidate: c}), append(trail, Tried{})
		}
	}
	return all, trail
}

// panicked is a mistake of ours as a fault.
func panicked(p any) *fault.Error {
	return fault.New(fault.Internal, "", "panic: %v\n%s", p, debug.Stack())
}

// verdict is what is told of a module without a usable file.
func verdict(trail []Tried, why *fault.Error) error {
	switch {
	case why != nil:
		return why
	case len(trail) == 0:
		return fault.New(fault.NotFound, "", "no source is configured; name one with --source")
	case !slices.ContainsFunc(trail, placed): // no source could be asked
		return trail[0].Fault
	}
	return fault.New(fault.NotFound, "", "in none of the sources")
}

// first is the first fault of a trail that says more than that something is not
// there.
func first(trail []Tried) *fault.Error {
	for _, t := range trail {
		if t.Fault != nil && t.Fault.Kind != fault.NotFound {
			return t.Fault
		}
	}
	return nil
}

// worst is the fault of a trail that tells most, if one tells more than that
// something is not there.
func worst(trail []Tried) *fault.Error {
	var out *fault.Error
	for _, t := range trail {
		if t.Fault != nil && t.Fault.Kind != fault.NotFound && (out == nil || tells(t.Fault.Kind) > tells(out.Kind)) {
			out = t.Fault
		}
	}
	return out
}

// tells orders kinds by how much they tell about a missing module.
func tells(k fault.Kind) int {
	return strings.IndexByte(string([]byte{
		byte(fault.NotFound), byte(fault.Unsupported), byte(fault.Malformed), byte(fault.Denied),
		byte(fault.Transport), byte(fault.Timeout), byte(fault.Internal)}), byte(k))
}
