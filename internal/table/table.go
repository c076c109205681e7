// Package table opens the table of the best file of a module: a table of names or of
// unwind rules. While there is no table it opens the file itself, and builds the table in
// the background after the first answer.
//
// Open tables are bounded by bytes. The key of a stored table consists of the hash of its
// file and the version of the format, so all sources of the same file share one table,
// and it is never stale.
package table

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/cache"
	"symbolon/internal/cache/mem"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
	"symbolon/internal/object"
)

// Config configures Tables. The zero value is the default.
type Config struct {
	MaxBytes    bin.Size `yaml:"max_bytes" help:"Bytes of open tables and of their names kept in memory; none: half of the memory for all."`
	Builds      int      `yaml:"builds" least:"1" help:"Tables that are built at the same time, if memory allows."`
	BuildMemory bin.Size `yaml:"build_memory" help:"Memory of one build; what does not fit is spilled to disk. None: a quarter of the memory for all."`
	OnlyReused  bool     `yaml:"-"` // tables are built of files that answer often, for a cache that ends with the process
	ManyNames   bool     `yaml:"-"` // more names are kept, for a process that looks many addresses up
}

// Defaults returns c with its zero fields filled in, except those that depend on the
// memory of the machine, which the caller of New sets.
func (c Config) Defaults() Config {
	c.Builds = cmp.Or(c.Builds, 1)
	return c
}

// manyNames limits the memory for names beyond half of the size of a table: more open
// tables save more time than more names of a large one.
const manyNames = 32 << 20

// names returns the memory for the names of an open table of this size. Half of it is
// enough for the functions that most requests have. A batch of crash pings in programs
// of C++ spends 14 % of its time with decoding names then, and 3 % with 1.5 times the
// size.
func (c *Config) names(size int64) int64 {
	if c.ManyNames {
		return max(size/2, min(size+size/2, manyNames))
	}
	return size / 2
}

// Tables opens the tables of the files that a locator finds. It is safe for
// concurrent use.
type Tables struct {
	*shared
	loc  *locate.Locator
	view string // the identity of the locator
}

// shared has the parts that all Tables over one cache share.
type shared struct {
	cfg     Config
	memory  *bin.Budget
	lease   cache.Lease
	tier    cache.Tier
	scratch bin.Scratch
	now     func() time.Time
	log     *slog.Logger

	open      *mem.Cache[*entry]
	negatives *mem.Cache[*negative]
	opens     *cache.Flight[cache.Key, opened]
	slots     chan struct{} // one for each build that may run
	ctx       context.Context
	cancel    context.CancelFunc
	builds    sync.WaitGroup // and renewals

	waiting atomic.Int64  // builds that wait or run
	cleared atomic.Uint64 // times; part of the keys, so that work from before is not used after it
}

// Deps are the parts that Tables use.
type Deps struct {
	Locator *locate.Locator
	Tier    cache.Tier  // stores tables
	Scratch bin.Scratch // for builds that exceed their memory
	Memory  *bin.Budget // for builds
	Lease   cache.Lease // lets one of several nodes build a table; nil: there is one node
	Now     func() time.Time
	Log     *slog.Logger
}

// New returns Tables, which must be closed.
func New(cfg Config, d Deps) *Tables {
	cfg = cfg.Defaults()
	cfg.MaxBytes, cfg.BuildMemory = cmp.Or(cfg.MaxBytes, 256<<20), cmp.Or(cfg.BuildMemory, 256<<20)
	t := &shared{
		cfg: cfg, memory: d.Memory, lease: d.Lease, tier: d.Tier, scratch: d.Scratch, now: d.Now, log: d.Log,
		open: mem.New[*entry]("open", int64(cfg.MaxBytes)), negatives: mem.New[*negative]("missing", negativeBytes),
		slots: make(chan struct{}, cfg.Builds),
	}
	t.opens = cache.NewFlight[cache.Key](opened.retain, t.drop)
	t.opens.Keep = true // work for an answer that did not wait serves the next one
	t.ctx, t.cancel = context.WithCancel(context.Background())
	return &Tables{shared: t, loc: d.Locator, view: viewOf(d.Locator)}
}

// With returns Tables over another locator.
func (t *Tables) With(loc *locate.Locator) *Tables {
	return &Tables{shared: t.shared, loc: loc, view: viewOf(loc)}
}

// viewOf returns the part of keys that depends on the locator.
func viewOf(l *locate.Locator) string {
	key := cache.KeyOf(l.Identity())
	return string(key[:])
}

// Wait waits for the builds that were queued, or ends them with ctx.
func (t *Tables) Wait(ctx context.Context) {
	defer context.AfterFunc(ctx, t.cancel)()
	t.builds.Wait()
}

// Close ends the builds and closes the tables of all Tables over this cache. All
// handles must have been closed.
func (t *Tables) Close() {
	t.cancel()
	t.opens.Close()
	t.builds.Wait()
	t.open.Close()
	t.negatives.Close()
}

// Clear drops all modules that are open or are being opened: they are looked up
// again.
func (t *Tables) Clear() {
	t.cleared.Add(1)
	t.open.Clear()
}

// ClearNegatives makes all modules without a file be looked up again.
func (t *Tables) ClearNegatives() { t.negatives.Clear() }

// entry is the open table of a module, or its file.
type entry struct {
	names answerer // nil: it is for unwinding
	rules Rules    // nil: it is for names
	Facts
	mangled bool          // names are mangled
	size    int64         // in memory
	found   *locate.Found // the file; nil for a table
	build   *build        // of its table; nil for a table
	blob    cache.Blob    // the table; nil for a file

	freshness *atomic.Pointer[locate.Freshness] // of a file, and then of its table
}

// Facts describe the file of an open module.
type Facts struct {
	Module      ident.Module // as stated in the file
	Kind        string       // format of the file
	Features    object.Features
	VCS         string         // of its source server
	LoadAddress uint64         // as in object.Info
	Trail       []locate.Tried // how the file was found
}

// opened is an entry and how it was opened, or the outcome of a lookup without one.
type opened struct {
	key       cache.Key
	ref       *mem.Ref[*entry]
	report    Report
	freshness locate.Freshness // without Until, if something is open
}

func (o opened) retain() opened {
	if o.ref != nil {
		o.ref = o.ref.Retain()
	}
	return o
}

// drop releases an entry that nothing waits for. There will be no answer, so its
// table is queued now.
func (t *shared) drop(o opened) {
	if o.ref != nil {
		t.endAnswer(o.key, o.ref)
	}
}

// put opens an entry for all later lookups of key.
func (t *shared) put(key cache.Key, e *entry, facts Facts, f *atomic.Pointer[locate.Freshness]) *mem.Ref[*entry] {
	facts.Trail = remembered(facts.Trail)
	e.Facts, e.freshness = facts, f
	return t.open.Put(key, e, e.size, e.close)
}

// maxFileCost returns how much a file in a spool counts at most.
func (t *shared) maxFileCost() int64 {
	return max(int64(t.cfg.MaxBytes)/4, 0)
}

// stored opens the stored table of an object of the file with this hash, or returns
// nil. It removes a damaged one.
func (t *shared) stored(ctx context.Context, k *kind, hash, aux [32]byte, m ident.Module) *entry {
	key := k.key(hash, aux, m)
	blob, err := t.tier.Get(ctx, k.name, key)
	if err != nil || blob == nil {
		return nil
	}
	e, err := k.open(t, blob, hash, m)
	if err != nil {
		t.log.Warn("a stored table is damaged and will be built again", "error", err)
		t.tier.Forget(ctx, k.name, key)
		return nil
	}
	return e
}

// close closes the file or table. It runs after the last release.
func (e *entry) close() {
	if e.found != nil {
		e.found.Close()
	} else {
		_ = e.blob.Close() // it was only read
	}
}

// build is the building of the table of a file that answers for itself.
type build struct {
	kind     *kind
	answers  atomic.Int32
	isQueued atomic.Bool // or has ended, or there is nothing to build
	done     chan struct{}
	err      error    // of the build; read when done is closed
	hash     [32]byte // of the file, once it is known
}

// negativeBytes is the limit of the bytes of all negative entries.
const negativeBytes = 8 << 20

// negative is the outcome of a lookup that found no file.
type negative struct {
	freshness locate.Freshness
	trail     []locate.Tried
}
