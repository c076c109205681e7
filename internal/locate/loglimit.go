package locate

import (
	"maps"
	"sync"
	"time"

	"symbolon/internal/fault"
)

const (
	// For a source and a kind of fault there are logLines lines every logEvery: a
	// source that fails does so for each of its places.
	logEvery = 10 * time.Second
	logLines = 5
	// maxLimits bounds the sources and kinds that are counted separately.
	maxLimits = 1000
)

// logLimit counts the latest lines of the log.
type logLimit struct {
	mu    sync.Mutex
	known map[limitKey]*limitState
}

type limitKey struct {
	source string
	kind   fault.Kind
}

type limitState struct {
	since time.Time // the first line
	lines int
	more  int // lines that were omitted
}

// allow reports whether another line about a source and a kind may be logged, and how
// many were omitted before it.
func (t *logLimit) allow(source string, kind fault.Kind, now time.Time) (more int, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known == nil {
		t.known = map[limitKey]*limitState{}
	}
	of := limitKey{source, kind}
	if t.known[of] == nil && len(t.known) >= maxLimits {
		maps.DeleteFunc(t.known, func(_ limitKey, l *limitState) bool { return now.Sub(l.since) >= logEvery })
		if len(t.known) >= maxLimits {
			of = limitKey{"", kind} // shared by all others
		}
	}
	last := t.known[of]
	if last == nil || now.Sub(last.since) >= logEvery {
		if last != nil {
			more = last.more
		}
		t.known[of] = &limitState{since: now, lines: 1}
		return more, true
	}
	if last.lines == logLines {
		last.more++
		return 0, false
	}
	last.lines++
	return 0, true
}
