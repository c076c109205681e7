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
		return fmt.Errorf("keep_originals is %q; there are %s, %s and %s", k, keepNone, keepRead, keepAll)
	}
}

// Locator finds files. It is safe for concurrent use.
type Locator struct {
	keep    string // which originals
	sources []source.Source
	tier    cache.Tier
	spool   func() (cache.Spool, error)
	space   func() bin.Space
	lives   cache.Config
	now     func() time.Time
	log     *slog.Logger
	fetches *cache.Flight[cache.Key, *fetched]

	mu   sync.Mutex
	live map[cache.Key]*fetched // files that somebody uses
}

// Deps are the parts that a locator works with.
type Deps struct {
	Sources []source.Source             // in the order in which they are asked
	Tier    cache.Tier                  // keeps verdicts and originals
	Spool   func() (cache.Spool, error) // holds a file while it is used
	Space   func() bin.Space            // holds what is unpacked of it; nil: the heap does
	Lives   cache.Config                // how long verdicts hold
	Now     func() time.Time
	Log     *slog.Logger
}

// New makes a locator.
func New(cfg Config, d Deps) *Locator {
	l := &Locator{
		keep: cfg.Defaults().KeepOriginals, sources: d.Sources, tier: d.Tier, spool: d.Spool, space: d.Space,
		lives: d.Lives.Defaults(), now: d.Now, log: d.Log,
		fetches: cache.NewFlight[cache.Key]((*fetched).retain, (*fetched).release),
		live:    map[cache.Key]*fetched{},
	}
	l.fetches.Keep = true // a verdict is worth keeping, also when nobody waits for it any more
	return l
}

// Close ends the downloads that run. What was found stays usable.
func (l *Locator) Close() { l.fetches.Close() }

// Best finds the best file for m: the first usable .sym in the order of the
// sources, and if there is none, the first usable file of another format. It returns the trail in any case. The error says what is to be told
// of the module: the worst that happened on the way, a plain miss only when
// every source said so.
func (l *Locator) Best(ctx context.Context, m ident.Module) (*Found, []Tried, error) {
	m = m.Derive()
	if err := askable(m); err != nil {
		return nil, nil, err
	}
	var trail []Tried
	var others []asked // what is not Breakpad's, for when none of that is there
	for _, s := range l.sources {
		candidates, err := s.Candidates(ctx, m)
		if err != nil {
			trail = append(trail, Tried{Fault: fault.Of(err)})
			continue
		}
		for _, c := range candidates {
			if c.Kind != source.Breakpad {
				others = append(others, asked{s, c})
				continue
			}
			found, tried, err := l.try(ctx, s, c, m)
			trail = append(trail, tried)
			if found != nil || err != nil { // found, or the caller's time is over
				return found, trail, err
			}
		}
	}
	for _, o := range others {
		found, tried, err := l.try(ctx, o.source, o.candidate, m)
		trail = append(trail, tried)
		if found != nil || err != nil {
			return found, trail, err
		}
	}
	return nil, trail, verdict(trail, len(l.sources))
}

// asked is a candidate and who is asked for it.
type asked struct {
	source    source.Source
	candidate source.Candidate
}

// askable refuses a module that no .sym can be asked for.
func askable(m ident.Module) error {
	switch {
	case m.DebugFile == "":
		return fault.New(fault.NotFound, "", "the module has no debug file name")
	case m.DebugID.IsZero() && m.DebugIDText != "":
		return fault.New(fault.NotFound, "", "%q is no debug id that a symbol file could have", m.DebugIDText)
	case m.DebugID.IsZero():
		return fault.New(fault.NotFound, "", "the module has no debug id")
	}
	return nil
}

// verdict sums a trail without a usable file up.
func verdict(trail []Tried, sources int) error {
	if sources == 0 {
		return fault.New(fault.NotFound, "", "no source is configured; name one with --source")
	}
	worst := fault.New(fault.NotFound, "", "in none of the sources")
	for _, t := range trail {
		if t.Fault != nil && rank(t.Fault.Kind) > rank(worst.Kind) {
			worst = t.Fault
		}
	}
	return worst
}

// rank orders kinds by how much they tell about a missing module.
func rank(k fault.Kind) int {
	return strings.IndexByte(string([]byte{
		byte(fault.NotFound), byte(fault.Unsupported), byte(fault.Malformed), byte(fault.Denied),
		byte(fault.Transport), byte(fault.Timeout), byte(fault.Internal)}), byte(k))
}

// try asks for one candidate: what is remembered of it first, then itself. The
// error is only that of a caller who left.
func (l *Locator) try(ctx context.Context, s source.Source, c source.Candidate, m ident.Module) (*Found, Tried, error) {
	tried := Tried{Source: c.Source, Kind: c.Kind, Location: c.Location}
	key := cache.KeyOf("candidate", c.Key)
	if meta, known := l.remembered(ctx, key, &tried); known {
		if meta == nil {
			return nil, tried, nil
		}
		if tried.Fault = meta.check(m); tried.Fault != nil {
			return nil, tried, nil
		}
		tried.Features, tried.Chosen = meta.Features, true
		return &Found{Meta: *meta, l: l, source: s, candidate: c, key: key}, tried, nil
	}
	f, used, err := l.get(ctx, s, c, key)
	if err != nil { // the caller left, or its time is over
		tried.Fault = fault.Of(err)
		return nil, tried, err
	}
	if tried.Cached, tried.Fault = f.kept || used, f.fault; !used {
		tried.Attempt, tried.Parse = f.attempt, f.parse
	}
	var meta *Meta
	if tried.Fault == nil {
		meta = f.metaFor(m)
		if tried.Fault = meta.check(m); tried.Fault != nil {
			l.remember(ctx, key, tried.Fault, c)
			l.tell(c, f.attempt, tried.Fault)
		}
	}
	if tried.Fault != nil {
		f.release()
		return nil, tried, nil
	}
	tried.Features, tried.Chosen = meta.Features, true
	if l.keep == keepAll {
		f.keep.Store(true)
	}
	return &Found{Meta: *meta, l: l, source: s, candidate: c, key: key, file: f}, tried, nil
}

// get is the file of a candidate that somebody uses already, or else one that
// is fetched for all who ask for it now. It carries a reference.
func (l *Locator) get(ctx context.Context, s source.Source, c source.Candidate, key cache.Key) (f *fetched, used bool, err error) {
	if f := l.alive(key); f != nil {
		return f, true, nil
	}
	f, err = l.fetches.Do(ctx, key, func(ctx context.Context) (*fetched, error) {
		if f := l.alive(key); f != nil { // somebody was faster
			return f, nil
		}
		f := l.fetch(ctx, s, c, key)
		if f.fault != nil {
			l.remember(ctx, key, f.fault, c)
			if ctx.Err() == nil { // else it is us who gave it up
				l.tell(c, f.attempt, f.fault)
			}
		}
		return f, nil
	})
	return f, false, err
}

// alive is the file of a candidate, if somebody uses it.
func (l *Locator) alive(key cache.Key) *fetched {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.live[key]
	if f == nil {
		return nil
	}
	return f.retain()
}

// tell logs a file that could not be had. One that just is not there is nothing
// to be told.
func (l *Locator) tell(c source.Candidate, a source.Attempt, f *fault.Error) {
	if f.Kind == fault.NotFound {
		return
	}
	l.log.Warn("a file could not be had", "source", c.Source, "location", c.Location, "kind", f.Kind.String(),
		"reason", f.Detail, "status", a.Status, "tries", 1+a.Retries, "time", a.Time.Round(time.Millisecond))
}

// remember keeps a verdict on a candidate for as long as its kind allows.
func (l *Locator) remember(ctx context.Context, key cache.Key, f *fault.Error, c source.Candidate) {
	if c.Local || f.Kind == fault.Internal {
		return
	}
	if life := l.lives.For(f, c.Public); life > 0 {
		l.tier.Remember(ctx, cache.Meta, key, f, life)
	}
}

// remembered looks up what is known of a candidate: a meta, a fault that still
// holds (then meta is nil), or nothing.
func (l *Locator) remembered(ctx context.Context, key cache.Key, tried *Tried) (meta *Meta, known bool) {
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
