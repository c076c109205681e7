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
	"symbolon/internal/ident"
	"symbolon/internal/source"
)

// Config configures a Locator. The zero value is the default.
type Config struct {
	Columns       bool   `yaml:"-"` // frames have columns too
	KeepOriginals string `yaml:"keep_originals" oneof:"none read all" help:"Fetched files to keep, compressed with zstd in the disk cache, once their table is built: none; read, those that clients have downloaded; or all."`
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
	columns bool
	tier    cache.Tier
	spool   func() (cache.Spool, error)
	space   func(context.Context) bin.Space
	lives   cache.Config
	now     func() time.Time
	log     *slog.Logger
	memory  *bin.Budget
	fetches *cache.Flight[cache.Key, *fetched]

	invalidations invalidations
	withdrawals   invalidations
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
		keep: cfg.Defaults().KeepOriginals, columns: cfg.Columns, tier: d.Tier, spool: d.Spool, space: d.Space,
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
