// Package locate finds the best file for a module. It asks the sources, remembers
// their answers for as long as they may be used (Freshness), compares the identity
// of each file with the requested one, and returns a trail of all attempts.
//
// A fetched file is in a spool while it is in use. Its Meta is stored for later
// lookups, like the tables built of the file, and, if configured, the file itself
// as zstd. Concurrent callers share one download.
package locate

import (
	"cmp"
	"context"
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

// Config configures a Locator. The zero value is the default.
type Config struct {
	KeepOriginals string `yaml:"keep_originals" oneof:"none read all" help:"Which fetched files are kept, compressed with zstd in the disk cache, once their table is built: none; read, those that a client asked for as they are; or all."`
}

// The values of KeepOriginals.
const (
	keepNone = "none"
	keepRead = "read"
	keepAll  = "all"
)

// Defaults returns c with its zero fields filled in.
func (c Config) Defaults() Config {
	c.KeepOriginals = cmp.Or(c.KeepOriginals, keepRead)
	return c
}

// Locator finds files in certain sources, for a scope. It is safe for
// concurrent use.
type Locator struct {
	*shared
	sources   []source.Source
	scope     string
	untrusted bool // the sources are those of a request
}

// shared has the parts that all locators over one cache share.
type shared struct {
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
	logLimit      logLimit

	mu   sync.Mutex
	live map[cache.Key]*fetched // files in use
}

// Deps are the parts that a Locator uses.
type Deps struct {
	Sources []source.Source             // in the order in which they are asked
	Tier    cache.Tier                  // stores metas, faults and originals
	Spool   func() (cache.Spool, error) // holds a file while it is used
	// Space is for unpacked sections. Taking it may wait until the context ends. nil: the heap is used.
	Space  func(context.Context) bin.Space
	Memory *bin.Budget  // for reading mappings
	Lives  cache.Config // of files and faults
	Now    func() time.Time
	Log    *slog.Logger
}

// New returns a Locator.
func New(cfg Config, d Deps) *Locator {
	k := &shared{
		keep: cfg.Defaults().KeepOriginals, tier: d.Tier, spool: d.Spool, space: d.Space,
		lives: d.Lives.Defaults(), now: d.Now, log: d.Log, memory: d.Memory,
		fetches: cache.NewFlight[cache.Key]((*fetched).retain, (*fetched).release),
		live:    map[cache.Key]*fetched{},
	}
	k.fetches.Keep = true // the result is remembered
	return &Locator{shared: k, sources: d.Sources}
}

// With returns a Locator over other sources, for a scope. Scopes do not share the
// files of sources that are not public.
func (l *Locator) With(scope string, sources []source.Source) *Locator {
	return &Locator{shared: l.shared, sources: sources, scope: scope}
}

// WithRequestSources is With for the sources of a request. Build ids in their files
// are not used for other requests, and those of other files not for this one.
func (l *Locator) WithRequestSources(scope string, sources []source.Source) *Locator {
	return &Locator{shared: l.shared, sources: sources, scope: scope, untrusted: true}
}

// Identity differs for locators that may find different files.
func (l *Locator) Identity() string {
	var b strings.Builder
	b.WriteString(l.scope)
	for _, s := range l.sources {
		b.WriteString("\n" + s.Identity())
	}
	return b.String()
}

// Close ends the downloads of all locators over this cache. Files that were found
// stay usable.
func (l *Locator) Close() {
	l.fetches.Close()
}

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
	meta := l.metaFor(ctx, f, m.Module, c.Public)
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
	if meta.Hidden && meta.Names == ([32]byte{}) && l.hiddenNames(ctx, meta.Module.DebugID.UUID(), c.Public) != nil {
		a.meta = meta // the names have appeared
		return nil, Tried{}, false
	}
	if (Freshness{Seen: meta.Checked, Until: l.renewal(meta)}).state(l.now(), m.invalidated()) != Fresh {
		a.meta, a.renewed = meta, true
		return nil, Tried{}, false
	}
	tried.Features, tried.VCS = meta.Features, meta.VCS
	l.retire(key, m.invalidated())
	return &Found{Meta: *meta, l: l, source: a.source, candidate: c, key: key, file: l.acquire(key, meta)}, tried, true
}

// target is a candidate, its source, and its file if that is known.
type target struct {
	source    source.Source
	candidate source.Candidate
	meta      *Meta // of its file; nil: not known
	renewed   bool  // the source is asked whether the file has changed
}

// key returns the key of a candidate: its scope, its place, and the requested id.
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

// get returns the file of a candidate that is in use, or else fetches it, once for
// all callers. It has one reference. A download that began before since may be of an
// earlier state, and is repeated up to three times.
func (l *shared) get(ctx context.Context, a target, key cache.Key, since time.Time) (f *fetched, used bool, err error) {
	for try := 0; ; try++ {
		f, used, err = l.getShared(ctx, a, key)
		same := a.meta != nil && a.meta.Validator != "" && err == nil && f.attempt.Validator == a.meta.Validator
		if err != nil || used || same || try == 3 || !f.began.Before(since) {
			return f, used, err
		}
		f.release()
		l.retire(key, since)
	}
}

// getShared is get without since. A fault is remembered, unless the file is known.
func (l *shared) getShared(ctx context.Context, a target, key cache.Key) (f *fetched, used bool, err error) {
	if f := l.acquire(key, a.meta); f != nil {
		return f, true, nil
	}
	f, err = l.fetches.Do(ctx, key, func(ctx context.Context) (*fetched, error) {
		if f := l.acquire(key, a.meta); f != nil { // fetched in the meantime
			return f, nil
		}
		f := l.fetch(ctx, a, key)
		if f.fault != nil {
			if a.meta == nil {
				l.remember(ctx, key, f.fault, a.candidate, f.began)
			}
			if ctx.Err() == nil { // else the process is ending
				l.logFault(a.candidate, f.attempt, f.fault)
			}
		}
		return f, nil
	})
	return f, false, err
}

// acquire returns the file of a candidate if it is in use. If its meta is known, it
// must be of the same state: an earlier one may have taken longer to download.
func (l *shared) acquire(key cache.Key, meta *Meta) *fetched {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.live[key]
	if f == nil || meta != nil && f.attempt.Validator != meta.Validator {
		return nil
	}
	return f.retain()
}

// isReplaced reports whether another state of f is in use.
func (l *shared) isReplaced(key cache.Key, f *fetched) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.live[key] != nil && l.live[key] != f
}

// retire makes a candidate be fetched again if its file in use was fetched before
// since. Its users keep it.
func (l *shared) retire(key cache.Key, since time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f := l.live[key]; f != nil && !f.began.After(since) {
		delete(l.live, key)
	}
}

// logFault logs the fault of a file. Missing files are not logged.
func (l *shared) logFault(c source.Candidate, a source.Attempt, f *fault.Error) {
	if f.Kind == fault.NotFound {
		return
	}
	more, ok := l.logLimit.allow(c.Source, f.Kind, l.now())
	if !ok {
		return
	}
	l.log.Warn("cannot use a file", "source", c.Source, "location", c.Location, "kind", f.Kind.String(),
		"reason", f.Detail, "status", a.Status, "tries", 1+a.Retries, "time", a.Time.Round(time.Millisecond), "more", more)
}

// life returns how long a fault of a candidate is remembered.
func (l *shared) life(f *fault.Error, c source.Candidate) time.Duration {
	if c.Local || f.Kind == fault.Internal {
		return 0
	}
	return l.lives.For(f, c.Public)
}

// remember remembers a fault of a candidate, from when its source was asked.
func (l *shared) remember(ctx context.Context, key cache.Key, f *fault.Error, c source.Candidate, asked time.Time) {
	if life := l.life(f, c) - l.now().Sub(asked); life > 0 {
		l.tier.Remember(ctx, cache.Meta, key, f, life)
	}
}

// remembered returns the meta that is stored for a candidate, or nil for a
// remembered fault, which is set in tried, and whether there is either.
func (l *shared) remembered(ctx context.Context, key cache.Key, tried *Tried) (meta *Meta, known bool) {
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
		l.log.Warn("a stored description of a file is damaged and will be made again", "error", err)
		l.tier.Forget(ctx, cache.Meta, key)
		return nil, false
	}
	tried.Cached = true
	return meta, true
}
