package locate

import (
	"context"
	"time"

	"symbolon/internal/cache"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
)

// Freshness is how long the outcome of a lookup may be used.
type Freshness struct {
	Seen  time.Time    // when the sources were asked: a later invalidation ends it
	Until time.Time    // when to look the module up again; zero: after an invalidation only
	Fault *fault.Error // why no file was found; nil if one was
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

// State returns the state of an outcome for m. It knows the invalidations of this
// process, and takes a build id that m lacks and that was learned since for one.
func (l *Locator) State(m ident.Module, f Freshness) State {
	var last time.Time
	if l.invalidations.newest.Load() >= f.Seen.UnixNano() {
		list := ids(m.Derive())
		if m.LacksBuildID() {
			list = append(list, learnedMark(m.DebugID))
		}
		last = l.invalidations.last(list)
	}
	return f.state(l.now(), last)
}

const (
	// retryAfter is when a source is asked again that could not be asked whether
	// there is a better file.
	retryAfter = 10 * time.Minute
	// maxShared is how long a failure is used where other nodes share the cache: an
	// invalidation on one of them is noticed that much later.
	maxShared = 30 * time.Second
)

// Freshness returns the freshness of the outcome of a lookup that began at seen.
// Without a file it is that of err, until the first failure of the trail expires.
func (l *Locator) Freshness(seen time.Time, found *Found, trail []Tried, err error) Freshness {
	first, hasFaults := firstExpiry(trail)
	if found != nil {
		until := found.until()
		if hasFaults {
			if until.IsZero() || first.Before(until) {
				until = first
			}
			until = later(until, l.now().Add(retryAfter))
		}
		return Freshness{Seen: seen, Until: until}
	}
	f := Freshness{Seen: seen, Until: first, Fault: fault.Of(err)}
	if _, shared := l.tier.(*cache.Layer); shared && f.Until.After(l.now().Add(maxShared)) {
		f.Until = l.now().Add(maxShared)
	}
	if f.Until.IsZero() || f.Fault.Kind == fault.Internal {
		f.Until = seen // it is not used a second time
	}
	return f
}

// Prolong returns the freshness of a file that is used although a lookup with
// outcome f did not find it again.
func (l *Locator) Prolong(f Freshness) Freshness {
	return Freshness{Seen: f.Seen, Until: later(f.Until, l.now().Add(retryAfter))}
}

// firstExpiry returns when the first failure of a trail expires, which is zero if
// one is not remembered, and whether there are any faults.
func firstExpiry(trail []Tried) (first time.Time, hasFaults bool) {
	asked := false
	for i := range trail {
		t := &trail[i]
		if t.Fault == nil {
			continue
		}
		hasFaults = true
		if t.Location != "" && (!asked || t.Expires.Before(first)) {
			first, asked = t.Expires, true
		}
	}
	return first, hasFaults
}

// markChecked records the validator of the file, and that its source was asked when
// the fetch began: later changes may be missing.
func (f *fetched) markChecked(meta *Meta) {
	meta.Validator, meta.Checked, meta.Retry = f.attempt.Validator, f.began, time.Time{}
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

// until returns when the sources should be asked whether the file and its mapping
// have changed, or whether there is a mapping by now; zero if they never should.
func (f *Found) until() time.Time {
	end := f.l.renewal(&f.Meta)
	if end.IsZero() || !f.mappingUntil.IsZero() && f.mappingUntil.Before(end) {
		return f.mappingUntil
	}
	return end
}

// renew asks the source of a known file whether it has changed. If the source fails,
// the meta is used on.
func (l *Locator) renew(ctx context.Context, a target, m *lookup) (*Found, Tried, error) {
	c, key := a.candidate, l.key(a.candidate, m.Module)
	tried := Tried{Source: c.Source, Kind: c.Kind, Location: c.Location, Features: a.meta.Features, VCS: a.meta.VCS}
	f, err := l.fetches.Do(ctx, cache.KeyOf("renew", string(key[:]), m.invalidated().String()), func(ctx context.Context) (*fetched, error) {
		return l.fetch(ctx, a, key), nil
	})
	if err != nil { // of the context, or a panic
		tried.Fault = fault.Of(err)
		return nil, tried, context.Cause(ctx)
	}
	tried.Attempt = f.attempt
	found := &Found{Meta: *a.meta, l: l, source: a.source, candidate: a.candidate, key: key}
	switch {
	case f.unchanged:
		found.Checked, found.Retry = f.began, time.Time{}
	case f.fault != nil:
		l.logFault(c, f.attempt, f.fault)
		found.Checked, found.Retry = f.began, l.now().Add(retryAfter)
	default:
		meta := l.metaFor(ctx, f, m.Module, c.Public)
		if why := meta.check(m.Module); why != nil { // another file
			l.logFault(c, f.attempt, why)
			f.release()
			found.Checked, found.Retry = f.began, l.now().Add(retryAfter)
			break
		}
		f.markChecked(meta)
		found.Meta, found.file = *meta, f
		tried.Features, tried.VCS, tried.Parse = meta.Features, meta.VCS, f.parse
	}
	if found.file == nil {
		found.file, tried.Cached = l.acquire(key, &found.Meta), true
		if found.file != nil {
			found.file.renewed.Store(&Freshness{Seen: found.Checked, Until: found.Retry})
		}
	}
	found.Record(ctx, found.Hash)
	return found, tried, nil
}
