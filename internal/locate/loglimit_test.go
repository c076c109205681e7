package locate

import (
	"fmt"
	"testing"
	"time"

	"symbolon/internal/fault"
)

func TestLogLimitsLinesPerSource(t *testing.T) {
	var l logLimit
	start := time.Unix(1_000_000, 0)
	lines := func(source string, kind fault.Kind, at time.Duration, times int) (n, more int) {
		for range times {
			if m, ok := l.allow(source, kind, start.Add(at)); ok {
				n, more = n+1, more+m
			}
		}
		return n, more
	}
	for _, c := range []struct {
		source      string
		kind        fault.Kind
		at          time.Duration
		times       int
		lines, more int
	}{
		{"a", fault.Transport, 0, 1000, 5, 0},
		{"a", fault.Timeout, 0, 3, 3, 0}, // another kind
		{"b", fault.Transport, time.Second, 7, 5, 0},
		{"a", fault.Transport, 9 * time.Second, 5, 0, 0},
		{"a", fault.Transport, 10 * time.Second, 2, 2, 1000},
		{"a", fault.Transport, 30 * time.Second, 1, 1, 0},
	} {
		if n, more := lines(c.source, c.kind, c.at, c.times); n != c.lines || more != c.more {
			t.Errorf("%+v: %d lines, %d more", c, n, more)
		}
	}
	logged := 0
	for i := range 5 * maxLimits { // requests choose the ids of sources
		if _, ok := l.allow(fmt.Sprint(i), fault.Transport, start.Add(30*time.Second)); ok {
			logged++
		}
	}
	if len(l.known) > maxLimits+1 || logged > maxLimits+logLines {
		t.Errorf("%d sources are known, %d lines", len(l.known), logged)
	}
	if _, ok := l.allow("later", fault.Transport, start.Add(time.Minute)); !ok || len(l.known) > 2 {
		t.Errorf("got %d sources after their time, want at most 2", len(l.known))
	}
}
