package locate

import (
	"context"
	"time"

	"symbolon/internal/cache"
	"symbolon/internal/fault"
)

// renewLater is after which time a source is asked again that could not say
// whether a file is still the same.
const renewLater = 10 * time.Minute

// vouch notes what the source has said of this state of the file, and when it was
// asked: what is told later is not known yet.
func (f *fetched) vouch(meta *Meta) {
	meta.Validator, meta.Checked, meta.Retry = f.attempt.Validator, f.born, time.Time{}
}

// renewal returns when the source of a file should be asked whether the file has
// changed, or zero if it never should.
func (l *desk) renewal(meta *Meta) time.Time {
	switch {
	case !meta.Retry.IsZero():
		return meta.Retry
	case meta.Validator == "" || l.lives.Found <= 0:
		return time.Time{}
	}
	return meta.Checked.Add(l.lives.Found)
}

// stale reports whether a file may have changed since its source was asked.
func (l *desk) stale(meta *Meta) bool {
	end := l.renewal(meta)
	return !end.IsZero() && !end.After(l.now())
}

// Until returns when a source should be asked whether the file and its mapping are
// still the same, or whether there is a mapping by now; zero if neither can be told.
func (f *Found) Until() time.Time {
	end := f.l.renewal(&f.Meta)
	if end.IsZero() || !f.again.IsZero() && f.again.Before(end) {
		return f.again
	}
	return end
}

// renew asks whether the file that was known is still the same. What was known
// holds on if the source does not answer.
func (l *Locator) renew(ctx context.Context, a asked, m *wish) (*Found, Tried, error) {
	c, key := a.candidate, l.key(a.candidate, m.Module)
	tried := Tried{Source: c.Source, Kind: c.Kind, Location: c.Location, Features: a.old.Features, VCS: a.old.VCS}
	f, err := l.fetches.Do(ctx, cache.KeyOf("renew", string(key[:]), m.forgotten().String()), func(ctx context.Context) (*fetched, error) {
		return l.fetch(ctx, a, key), nil
	})
	if err != nil { // the caller left, or its time is over, or it is a mistake of ours
		tried.Fault = fault.Of(err)
		return nil, tried, context.Cause(ctx)
	}
	tried.Attempt = f.attempt
	found := &Found{Meta: *a.old, l: l, source: a.source, candidate: a.candidate, key: key}
	switch {
	case f.same:
		found.Checked, found.Retry = f.born, time.Time{}
	case f.fault != nil:
		l.tell(c, f.attempt, f.fault)
		found.Checked, found.Retry = f.born, l.now().Add(renewLater)
	default:
		meta := l.metaFor(ctx, f, m.Module, c.Public)
		if why := meta.check(m.Module); why != nil { // not what it was, and not what is wanted
			l.tell(c, f.attempt, why)
			f.release()
			found.Checked, found.Retry = f.born, l.now().Add(renewLater)
			break
		}
		l.tier.Forget(ctx, cache.Objects, key)
		f.vouch(meta)
		found.Meta, found.file = *meta, f
		tried.Features, tried.VCS, tried.Parse = meta.Features, meta.VCS, f.parse
	}
	if found.file == nil {
		found.file, tried.Cached = l.alive(key), true
	}
	if err := found.Record(context.WithoutCancel(ctx), found.Hash); err != nil {
		l.log.Warn("the meta of a file could not be kept", "error", err)
	}
	return found, tried, nil
}
