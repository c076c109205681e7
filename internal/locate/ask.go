package locate

import (
	"context"
	"time"

	"symbolon/internal/cache"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
)

// lookup is one lookup of a module.
type lookup struct {
	ident.Module
	invalidated func() time.Time // when m was invalidated
	stated      ident.BuildID    // of the first file that has one
}

// try looks a candidate up in the cache, and else asks its source. The error is
// that of ctx.
func (l *Locator) try(ctx context.Context, a target, m *lookup) (*Found, Tried, error) {
	if found, tried, known := l.known(ctx, &a, m); known {
		return found, tried, nil
	}
	return l.ask(ctx, a, m)
}

// ask asks the source of a candidate for its file.
func (l *Locator) ask(ctx context.Context, a target, m *lookup) (*Found, Tried, error) {
	if a.renewed {
		return l.renew(ctx, a, m)
	}
	c, key := a.candidate, l.key(a.candidate, m.Module)
	tried := Tried{Source: c.Source, Kind: c.Kind, Location: c.Location}
	l.retire(key, m.invalidated())
	f, used, err := l.get(ctx, a, key, m.invalidated())
	if err != nil { // of the context, or a panic
		tried.Fault = fault.Of(err)
		return nil, tried, context.Cause(ctx)
	}
	if tried.Cached, tried.Fault = f.fromOriginal || used, f.fault; !used {
		tried.Attempt, tried.Parse = f.attempt, f.parse
	}
	if tried.Fault != nil {
		tried.Expires = l.now().Add(l.life(tried.Fault, c))
		f.release()
		return nil, tried, nil
	}
	meta := f.metaFor(m.Module)
	f.markChecked(meta)
	if tried.Fault = meta.check(m.Module); tried.Fault != nil {
		l.remember(ctx, key, tried.Fault, c, f.began)
		tried.Expires = l.now().Add(l.life(tried.Fault, c))
		l.logFault(c, f.attempt, tried.Fault)
		f.release()
		return nil, tried, nil
	}
	l.learnBuildID(ctx, m.Module, meta, c.Public)
	tried.Features, tried.VCS = meta.Features, meta.VCS
	found := &Found{Meta: *meta, l: l, source: a.source, candidate: c, key: key, file: f}
	if !c.Local && !used {
		found.Record(ctx, meta.Hash)
	}
	return found, tried, nil
}

// known returns the outcome for a candidate that is in the cache, if it is fresh. A
// file that is to be renewed is set in a.
func (l *Locator) known(ctx context.Context, a *target, m *lookup) (found *Found, tried Tried, known bool) {
	c := a.candidate
	tried = Tried{Source: c.Source, Kind: c.Kind, Location: c.Location}
	key := l.key(c, m.Module)
	meta, known := l.remembered(ctx, key, &tried)
	switch {
	case !known:
		return nil, tried, false
	case meta == nil:
		f := Freshness{Seen: tried.Expires.Add(-l.life(tried.Fault, c)), Until: tried.Expires, Fault: tried.Fault}
		if f.state(l.now(), m.invalidated()) != Fresh {
			return nil, Tried{}, false
		}
		return nil, tried, true
	}
	if (Freshness{Seen: meta.Checked, Until: l.renewal(meta)}).state(l.now(), m.invalidated()) != Fresh {
		a.meta, a.renewed = meta, true
		return nil, Tried{}, false
	}
	tried.Features, tried.VCS = meta.Features, meta.VCS
	l.retire(key, m.invalidated())
	return &Found{Meta: *meta, l: l, source: a.source, candidate: c, key: key, file: l.acquire(key, meta)}, tried, true
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
		meta := f.metaFor(m.Module)
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
