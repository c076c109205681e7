package locate_test

import (
	"context"
	"testing"

	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
	"symbolon/internal/source"
	"symbolon/internal/trial/rig"
)

// partly is a source that knows of a part of its files only.
type partly struct{ source.Source }

func (s partly) Candidates(ctx context.Context, m ident.Module, kinds []string) ([]source.Candidate, error) {
	list, err := s.Source.Candidates(ctx, m, kinds)
	if err == nil {
		err = fault.New(fault.Timeout, "", "ask again")
	}
	return list, err
}

// TestCandidatesWithErrorAreAskedAndErrorIsReported has a source that
// returns candidates and an error.
func TestCandidatesWithErrorAreAskedAndErrorIsReported(t *testing.T) {
	for _, c := range []struct {
		name  string
		p     locate.Purpose
		files map[string][]byte
		want  fault.Kind // 0 is NotFound, so a file that is found has no kind
		found bool
	}{
		{"a .sym", locate.SymFirst, map[string][]byte{"kiln/3DABEECA56AC7938C0A40E7BBC2A2AD90/kiln.sym": []byte(symbols("3DABEECA56AC7938C0A40E7BBC2A2AD90", "f"))}, 0, true},
		{"another file", locate.SymFirst, map[string][]byte{"kiln/3DABEECA56AC7938C0A40E7BBC2A2AD90/kiln": corpus(t, unstripped)}, 0, true},
		{"by rank", locate.Debug, map[string][]byte{"ca/" + caeeab[2:]: corpus(t, unstripped)}, 0, true},
		{"no file", locate.SymFirst, nil, fault.Timeout, false},
		{"no file by rank", locate.Debug, nil, fault.Timeout, false},
	} {
		var clk rig.Clock
		s := partly{folder(t, "f", c.files)}
		found, trail, err := locateIn(t, locate.Config{}, &clk, []source.Source{s}).Best(t.Context(), kiln(t), c.p)
		if (found != nil) != c.found || err != nil && fault.KindOf(err) != c.want {
			t.Errorf("%s: found is %v, error %v", c.name, found != nil, err)
		}
		reported := 0
		for _, x := range trail {
			if x.Location == "" && x.Fault.Kind == fault.Timeout {
				reported++
			}
		}
		if reported != 1 {
			t.Errorf("%s: the error is in the trail %d times, want 1", c.name, reported)
		}
		if found != nil {
			found.Close()
		}
	}
}
