// Package locate answers one question: which file is the best one for a
// module? It asks the sources, keeps every verdict for as long as it holds,
// checks that a file is the one that was asked for, and leaves a trail that
// says what happened at each place.
//
// A file that was fetched lives in a spool while somebody uses it. What is
// kept of it afterwards is its Meta, as long as the tables made of it, and, if
// configured, the file itself as zstd. Concurrent callers share one download.
package locate

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/cache"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/source"
)

// Config of the locator. The zero value is the default.
type Config struct {
	KeepOriginals string `yaml:"keep_originals" help:"Which fetched files are kept, compressed with zstd in the disk cache, once their table is built: none; read, those that a client asked for as they are; or all."`
}

// What KeepOriginals may be.
const (
	keepNone = "none"
	keepRead = "read"
	keepAll  = "all"
)

// Defaults returns c with its zero fields filled in.
func (c Config) Defaults() Config {
	if c.KeepOriginals == "" {
		c.KeepOriginals = keepRead
	}
	return c
}

// Validate says what is wrong with c.
func (c Config) Validate() error {
	switch k := c.Defaults().KeepOriginals; k {
	case keepNone, keepRead, keepAll:
		return nil
	default:
		return fmt.Errorf("keep_originals is %q: must be %s, %s or %s", k, keepNone, keepRead, keepAll)
	}
}

// Locator finds files in certain sources, for a scope. It is safe for
// concurrent use.
type Locator struct {
	*desk
	sources []source.Source
	scope   string
	guests  bool // a request named the sources
}

// desk is what all locators over one cache have in common.
type desk struct {
	keep    string // which originals
	tier    cache.Tier
	spool   func() (cache.Spool, error)
	space   func(context.Context) bin.Space
	lives   cache.Config
	now     func() time.Time
	log     *slog.Logger
	memory  *bin.Budget
	fetches *cache.Flight[cache.Key, *fetched]

	invalidations invalidations
	told          told

	mu   sync.Mutex
	live map[cache.Key]*fetched // files that somebody uses
}

// Deps are the parts that a locator works with.
type Deps struct {
	Sources []source.Source             // in the order in which they are asked
	Tier    cache.Tier                  // keeps verdicts and originals
	Spool   func() (cache.Spool, error) // holds a file while it is used
	// Space holds what is unpacked of a file; taking it may wait until the context ends. nil: the heap does.
	Space  func(context.Context) bin.Space
	Memory *bin.Budget  // for reading mappings
	Lives  cache.Config // how long verdicts hold
	Now    func() time.Time
	Log    *slog.Logger
}

// New makes a locator.
func New(cfg Config, d Deps) *Locator {
	k := &desk{
		keep: cfg.Defaults().KeepOriginals, tier: d.Tier, spool: d.Spool, space: d.Space,
		lives: d.Lives.Defaults(), now: d.Now, log: d.Log, memory: d.Memory,
		fetches: cache.NewFlight[cache.Key]((*fetched).retain, (*fetched).release),
		live:    map[cache.Key]*fetched{},
	}
	k.fetches.Keep = true // a verdict is worth keeping, also when nobody waits for it any more
	return &Locator{desk: k, sources: d.Sources}
}

// With is a locator that asks other sources, for a scope. What is found in
// sources that are not public is known to their scope only.
func (l *Locator) With(scope string, sources []source.Source) *Locator {
	return &Locator{desk: l.desk, sources: sources, scope: scope}
}

// WithGuests is With for sources that a request names. What files of theirs state
// is believed for that request only, and they learn nothing from other files.
func (l *Locator) WithGuests(scope string, sources []source.Source) *Locator {
	return &Locator{desk: l.desk, sources: sources, scope: scope, guests: true}
}

// Identity tells locators apart that may find different files.
func (l *Locator) Identity() string {
	var b strings.Builder
	b.WriteString(l.scope)
	for _, s := range l.sources {
		b.WriteString("\n" + s.Identity())
	}
	return b.String()
}

// Close ends the downloads that run, of all locators over this cache. What was
// found stays usable.
func (l *Locator) Close() {
	l.fetches.Close()
}

// wish is the module that a lookup is for.
type wish struct {
	ident.Module
	invalidated func() time.Time // what was found out before is not used
	stated      ident.BuildID    // by a file that was found; empty: none did
}

// try asks for one candidate: what is remembered of it first, then itself. The
// error is only that of a caller who left.
func (l *Locator) try(ctx context.Context, a asked, m *wish) (*Found, Tried, error) {
	if found, tried, known := l.known(ctx, &a, m); known {
		return found, tried, nil
	}
	return l.ask(ctx, a, m)
}

// ask asks for a candidate of which nothing is known.
func (l *Locator) ask(ctx context.Context, a asked, m *wish) (*Found, Tried, error) {
	if a.renewed {
		return l.renew(ctx, a, m)
	}
	c, key := a.candidate, l.key(a.candidate, m.Module)
	tried := Tried{Source: c.Source, Kind: c.Kind, Location: c.Location}
	l.outdate(key, m.invalidated())
	f, used, err := l.get(ctx, a, key, m.invalidated())
	if err != nil { // the caller left, or its time is over, or it is a mistake of ours
		tried.Fault = fault.Of(err)
		return nil, tried, context.Cause(ctx)
	}
	if tried.Cached, tried.Fault = f.kept || used, f.fault; !used {
		tried.Attempt, tried.Parse = f.attempt, f.parse
	}
	if tried.Fault != nil {
		tried.Expires = l.now().Add(l.life(tried.Fault, c))
		f.release()
		return nil, tried, nil
	}
	meta := l.metaFor(ctx, f, m.Module, c.Public)
	f.vouch(meta)
	if tried.Fault = meta.check(m.Module); tried.Fault != nil {
		l.remember(ctx, key, tried.Fault, c, f.born)
		tried.Expires = l.now().Add(l.life(tried.Fault, c))
		l.tell(c, f.attempt, tried.Fault)
		f.release()
		return nil, tried, nil
	}
	l.learn(ctx, m.Module, meta, c.Public)
	tried.Features, tried.VCS = meta.Features, meta.VCS
	found := &Found{Meta: *meta, l: l, source: a.source, candidate: c, key: key, file: f}
	if !c.Local && !used {
		if err := found.Record(context.WithoutCancel(ctx), meta.Hash); err != nil {
			l.log.Warn("the meta of a file could not be kept", "error", err)
		}
	}
	return found, tried, nil
}

// known is what is remembered of a candidate, if anything is: then it needs not
// be asked for. A file that may have changed meanwhile is noted in a.
func (l *Locator) known(ctx context.Context, a *asked, m *wish) (found *Found, tried Tried, known bool) {
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
	if meta.Hidden && meta.Names == ([32]byte{}) && l.names(ctx, meta.Module.DebugID.UUID(), c.Public) != nil {
		a.meta = meta // and the names are there by now
		return nil, Tried{}, false
	}
	if (Freshness{Seen: meta.Checked, Until: l.renewal(meta)}).state(l.now(), m.invalidated()) != Fresh {
		a.meta, a.renewed = meta, true
		return nil, Tried{}, false
	}
	tried.Features, tried.VCS = meta.Features, meta.VCS
	l.outdate(key, m.invalidated())
	return &Found{Meta: *meta, l: l, source: a.source, candidate: c, key: key, file: l.alive(key, meta)}, tried, true
}

// asked is a candidate and who is asked for it.
type asked struct {
	source    source.Source
	candidate source.Candidate
	meta      *Meta // of its file, which may be kept; nil: it is not known
	renewed   bool  // its source is asked whether the file has changed
}

// key names a candidate as it was asked for: by whom, where, and as what.
func (l *Locator) key(c source.Candidate, m ident.Module) cache.Key {
	scope, id := l.scope, m.DebugID.String()
	if c.Public {
		scope = ""
	}
	if m.DebugID.IsZero() {
		id = m.CodeID.String()
	}
	return cache.KeyOf("candidate", scope, c.Key, id)
}

// get returns the file of a candidate that is in use, or else one that is fetched
// for all who need it now. It carries a reference. A file that was on its way
// before since may be of an earlier state; it is fetched again, within reason.
func (l *desk) get(ctx context.Context, a asked, key cache.Key, since time.Time) (f *fetched, used bool, err error) {
	for try := 0; ; try++ {
		f, used, err = l.getShared(ctx, a, key)
		same := a.meta != nil && a.meta.Validator != "" && err == nil && f.attempt.Validator == a.meta.Validator
		if err != nil || used || same || try == 3 || !f.born.Before(since) {
			return f, used, err
		}
		f.release()
		l.outdate(key, since)
	}
}

// getShared is get for a file of any time. A fault is remembered, unless a meta of
// the candidate is.
func (l *desk) getShared(ctx context.Context, a asked, key cache.Key) (f *fetched, used bool, err error) {
	if f := l.alive(key, a.meta); f != nil {
		return f, true, nil
	}
	f, err = l.fetches.Do(ctx, key, func(ctx context.Context) (*fetched, error) {
		if f := l.alive(key, a.meta); f != nil { // somebody was faster
			return f, nil
		}
		f := l.fetch(ctx, a, key)
		if f.fault != nil {
			if a.meta == nil {
				l.remember(ctx, key, f.fault, a.candidate, f.born)
			}
			if ctx.Err() == nil { // else it is us who gave it up
				l.tell(a.candidate, f.attempt, f.fault)
			}
		}
		return f, nil
	})
	return f, false, err
}

// alive returns the file of a candidate if it is in use. If its meta is known, it
// must be of the same state: an older one may have taken longer to arrive.
func (l *desk) alive(key cache.Key, meta *Meta) *fetched {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.live[key]
	if f == nil || meta != nil && f.attempt.Validator != meta.Validator {
		return nil
	}
	return f.retain()
}

// outdate has a candidate fetched anew whose file came before this time. Those
// who use the file keep it.
func (l *desk) outdate(key cache.Key, since time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f := l.live[key]; f != nil && !f.born.After(since) {
		delete(l.live, key)
	}
}

// tell logs a file that could not be had. One that just is not there is nothing
// to be told.
func (l *desk) tell(c source.Candidate, a source.Attempt, f *fault.Error) {
	if f.Kind == fault.NotFound {
		return
	}
	more, ok := l.told.line(c.Source, f.Kind, l.now())
	if !ok {
		return
	}
	l.log.Warn("a file could not be had", "source", c.Source, "location", c.Location, "kind", f.Kind.String(),
		"reason", f.Detail, "status", a.Status, "tries", 1+a.Retries, "time", a.Time.Round(time.Millisecond), "more", more)
}

// life is for how long a verdict on a candidate holds.
func (l *desk) life(f *fault.Error, c source.Candidate) time.Duration {
	if c.Local || f.Kind == fault.Internal {
		return 0
	}
	return l.lives.For(f, c.Public)
}

// remember keeps a verdict on a candidate for as long as its kind allows.
func (l *desk) remember(ctx context.Context, key cache.Key, f *fault.Error, c source.Candidate, asked time.Time) {
	if life := l.life(f, c) - l.now().Sub(asked); life > 0 {
		l.tier.Remember(ctx, cache.Meta, key, f, life)
	}
}

// remembered looks up what is known of a candidate: a meta, a fault that still
// holds (then meta is nil), or nothing.
func (l *desk) remembered(ctx context.Context, key cache.Key, tried *Tried) (meta *Meta, known bool) {
	blob, err := l.tier.Get(ctx, cache.Meta, key)
	if err != nil {
		tried.Cached, tried.Fault = true, fault.Of(err)
		tried.Expires = cache.Expires(err)
		return nil, true
	}
	if blob == nil {
		return nil, false
	}
	defer blob.Close()
	meta, err = readMeta(blob, key)
	if err != nil {
		l.log.Warn("a remembered meta is unreadable and is made anew", "error", err)
		l.tier.Forget(ctx, cache.Meta, key)
		return nil, false
	}
	tried.Cached = true
	return meta, true
}
