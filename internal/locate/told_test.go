package locate

import (
	"fmt"
	"testing"
	"time"

	"symbolon/internal/fault"
)

// A source that is down fails for each place of each module. The log says it now
// and then.
func TestTheLogIsToldOfASourceNowAndThen(t *testing.T) {
	var l told
	start := time.Unix(1_000_000, 0)
	lines := func(source string, kind fault.Kind, at time.Duration, times int) (n, more int) {
		for range times {
			if m, ok := l.line(source, kind, start.Add(at)); ok {
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
	told := 0
	for i := range 5 * maxTold { // ids of sources are whatever requests say
		if _, ok := l.line(fmt.Sprint(i), fault.Transport, start.Add(30*time.Second)); ok {
			told++
		}
	}
	if len(l.known) > maxTold+1 || told > maxTold+toldLines {
		t.Errorf("%d sources are known, %d lines", len(l.known), told)
	}
	if _, ok := l.line("later", fault.Transport, start.Add(time.Minute)); !ok || len(l.known) > 2 {
		t.Errorf("what was long ago is known: %d", len(l.known))
	}
}
