package locate

import (
	"maps"
	"sync"
	"time"

	"symbolon/internal/fault"
)

const (
	// toldEvery is how often the log has a line about a source and a kind of
	// fault, and toldLines how many it has then: a source that fails does that for
	// each of its places.
	toldEvery = 10 * time.Second
	toldLines = 5
	// maxTold is of how many sources and kinds it is known when the last lines
	// were.
	maxTold = 1000
)

// told is what the log has been told of late.
type told struct {
	mu    sync.Mutex
	known map[toldOf]*toldLately
}

type toldOf struct {
	source string
	kind   fault.Kind
}

type toldLately struct {
	since time.Time // the first line
	lines int
	more  int // that were left out
}

// line says whether the log gets another line about a source and a kind, and how
// many were left out before it.
func (t *told) line(source string, kind fault.Kind, now time.Time) (more int, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known == nil {
		t.known = map[toldOf]*toldLately{}
	}
	of := toldOf{source, kind}
	if t.known[of] == nil && len(t.known) >= maxTold {
		maps.DeleteFunc(t.known, func(_ toldOf, l *toldLately) bool { return now.Sub(l.since) >= toldEvery })
		if len(t.known) >= maxTold {
			of = toldOf{"", kind} // that of all for whom there is no place
		}
	}
	last := t.known[of]
	if last == nil || now.Sub(last.since) >= toldEvery {
		if last != nil {
			more = last.more
		}
		t.known[of] = &toldLately{since: now, lines: 1}
		return more, true
	}
	if last.lines == toldLines {
		last.more++
		return 0, false
	}
	last.lines++
	return 0, true
}
