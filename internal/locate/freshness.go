package locate

import (
	"time"

	"symbolon/internal/fault"
	"symbolon/internal/ident"
)

// Freshness is how long the outcome of a lookup may be used.
type Freshness struct {
	Seen  time.Time    // when the sources were asked: a later invalidation ends it
	Until time.Time    // when to look the module up again; zero: after an invalidation only
	Fault *fault.Error // why no file was found; nil if one was
	parts []string     // identifiers of the parts of the file, which are invalidated like its own
}

// State is whether an outcome may be used.
type State uint8

const (
	Fresh   State = iota
	Stale         // a file is used, and the module looked up again in the background; a failure is not used
	Invalid       // the module is looked up again first
)

func (f Freshness) state(now, invalidated time.Time) State {
	switch {
	case !invalidated.IsZero() && !invalidated.Before(f.Seen):
		return Invalid
	case f.Until.IsZero() || f.Until.After(now):
		return Fresh
	}
	return Stale
}

// State returns the state of an outcome for m. It considers the invalidations of this
// process; a build id that m lacks and that was learned since counts as one.
func (l *Locator) State(m ident.Module, f Freshness) State {
	var last time.Time
	if l.invalidations.newest.Load() >= f.Seen.UnixNano() {
		list := append(ids(m.Derive()), f.parts...)
		if m.LacksBuildID() {
			list = append(list, learnedMark(m.DebugID))
		}
		last = l.invalidations.last(list)
	}
	return f.state(l.now(), last)
}

const (
	// retryAfter is the time after which a source is asked again for a better file, after
	// a failure to ask it.
	retryAfter = 10 * time.Minute
	// maxShared is how long a failure is used where other nodes share the cache: an
	// invalidation on one of them is noticed that much later.
	maxShared = 30 * time.Second
)

// Prolong returns the freshness of a file that is used although a lookup with
// outcome f did not find it again.
func (l *Locator) Prolong(f Freshness) Freshness {
	f.Until, f.Fault = later(f.Until, l.now().Add(retryAfter)), nil
	return f
}

// renewal returns when the source of a file should be asked whether the file has
// changed, or zero if it never should.
func (l *shared) renewal(meta *Meta) time.Time {
	switch {
	case !meta.Retry.IsZero():
		return meta.Retry
	case meta.Validator == "" || l.lives.Found <= 0:
		return time.Time{}
	}
	return meta.Checked.Add(l.lives.Found)
}
