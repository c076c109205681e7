package locate_test

import (
	"context"
	"io"
	"testing"

	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
	"symbolon/internal/source"
	"symbolon/internal/trial/rig"
)

// thrower is a source that panics in one of its methods.
type thrower struct {
	source.Source
	places, fetch bool
}

func (s *thrower) Candidates(ctx context.Context, m ident.Module, kinds []string) ([]source.Candidate, error) {
	if s.places {
		panic("places")
	}
	return s.Source.Candidates(ctx, m, kinds)
}

func (s *thrower) Fetch(ctx context.Context, c source.Candidate, w io.Writer) (source.Attempt, error) {
	if s.fetch {
		panic("fetch")
	}
	return s.Source.Fetch(ctx, c, w)
}

func TestPanickingSourceDoesNotEndTheLookup(t *testing.T) {
	good := func() *server { return serve(t, text(symbols(id, "good"))) } // each at a place of its own
	var c rig.Clock
	list := over(t, good(), good(), good())
	sources := []source.Source{&thrower{Source: list[0], places: true}, &thrower{Source: list[1], fetch: true}}
	for _, p := range []locate.Purpose{locate.Debug, locate.SymFirst} {
		if p == locate.SymFirst {
			sources = sources[1:]
		}
		l := locateIn(t, locate.Config{}, &c, append(sources[:len(sources):len(sources)], list[2]))
		found, trail, err := l.Best(t.Context(), rig.Module("a.so"), p)
		if err != nil {
			t.Errorf("%v: %v, %+v", p, err, trail)
			continue
		}
		found.Close()
		alone := locateIn(t, locate.Config{}, &c, sources)
		if _, _, err := alone.Best(t.Context(), rig.Module("a.so"), p); fault.KindOf(err) != fault.Internal {
			t.Errorf("%v without another source: %v", p, err)
		}
	}
}
