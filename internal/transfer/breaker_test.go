package transfer_test

import (
	"strings"
	"testing"
	"time"

	"symbolon/internal/transfer"
)

func TestBreakerOpensAfterFailuresInARow(t *testing.T) {
	b := transfer.Breaker{Limit: 3}
	for i, step := range []struct {
		succeed, open bool
	}{{}, {}, {succeed: true}, {}, {}, {open: true}, {}, {}, {open: true}} {
		if step.succeed {
			b.Succeed()
		} else if open := b.Fail(start.Add(time.Duration(i) * time.Hour)); open != step.open {
			t.Errorf("step %d: open is %v, want %v", i, open, step.open)
		}
	}
}

func TestBreakerCountsFailuresWithinItsWindow(t *testing.T) {
	for name, c := range map[string]struct {
		steps string // seconds of failures, and of successes after a +
		open  bool   // by the last one
	}{
		"all at once":                         {"0 0 0", true},
		"just within":                         {"0 30 59", true},
		"the first one is too old":            {"0 30 60", false},
		"a success makes up for one":          {"0 1 +2 3", false},
		"and for one only":                    {"0 1 +2 3 4", true},
		"nothing to make up for":              {"+0 1 2 3", true},
		"of one period, counted at its start": {"0 4 60", false},
	} {
		b := transfer.Breaker{Limit: 3, Window: time.Minute}
		open := false
		for step := range strings.FieldsSeq(c.steps) {
			seconds, good := strings.CutPrefix(step, "+")
			d, err := time.ParseDuration(seconds + "s")
			if err != nil {
				t.Fatal(err)
			}
			if good {
				b.Succeed()
			} else {
				open = b.Fail(start.Add(d))
			}
		}
		if open != c.open {
			t.Errorf("%s: open is %v, want %v", name, open, c.open)
		}
	}
}

func TestBreakerIsIdleAfterItsWindow(t *testing.T) {
	b := transfer.Breaker{Limit: 3, Window: time.Minute}
	if !b.IsIdle(start) {
		t.Error("a new breaker is not idle")
	}
	b.Fail(start)
	if b.IsIdle(start.Add(59 * time.Second)) {
		t.Error("a breaker is idle while a failure counts")
	}
	if !b.IsIdle(start.Add(time.Minute)) {
		t.Error("a breaker is not idle after its window")
	}
}
