// Package table opens the table of the best file of a module. Before its
// table is built it opens the file itself, and builds the table in the background
// after the first answer.
//
// Open tables are bounded by bytes. Stored tables have a key of the content of their
// file and of the version of the format: so all sources of the same file share one,
// and it is never stale.
package table

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/cache"
	"symbolon/internal/cache/mem"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
	"symbolon/internal/object"
	"symbolon/internal/symcache"
)

// Config configures Tables. The zero value is the default.
type Config struct {
	MaxBytes    bin.Size `yaml:"max_bytes" help:"Bytes of open tables and of their names kept in memory; none: half of the memory for all."`
	Builds      int      `yaml:"builds" least:"1" help:"Tables that are built at the same time, if memory allows."`
	BuildMemory bin.Size `yaml:"build_memory" help:"Memory of one build; what does not fit is spilled to disk. None: a quarter of the memory for all."`
}

// Defaults returns c with its zero fields filled in, but for those that depend on the
// memory of the machine, which the caller of New knows.
func (c Config) Defaults() Config {
	c.Builds = cmp.Or(c.Builds, 1)
	return c
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
	answerer
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
	Module   ident.Module // as stated in the file
	Kind     string       // format of the file
	Features object.Features
	VCS      string         // of its source server
	Trail    []locate.Tried // how the file was found
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

// Ready returns a handle if m is open, which must be closed. Without one, known
// reports whether a lookup has failed, with the report of that.
func (t *Tables) Ready(m ident.Module, p locate.Purpose) (h *Handle, report Report, known bool) {
	key := t.moduleKey(m, p)
	ref, ok := t.open.Get(key)
	if !ok {
		report, known = t.negative(key, m)
		return nil, report, known
	}
	e := ref.Value()
	f := e.freshness.Load()
	switch t.loc.State(m, *f) {
	case locate.Invalid:
		ref.Release()
		return nil, Report{}, false
	case locate.Stale: // of all who see f, one renews
		if next := t.loc.Prolong(locate.Freshness{Seen: f.Seen}); e.freshness.CompareAndSwap(f, &next) {
			t.renew(key, e, m, p)
		}
	}
	return t.handle(key, ref), Report{Hit: true}, true
}

// Symbols opens m, which was not Ready. The handle must be closed. It is nil if no
// file was found, with the fault in the report.
func (t *Tables) Symbols(ctx context.Context, m ident.Module, p locate.Purpose) (*Handle, Report) {
	key := t.moduleKey(m, p)
	start := t.now()
	o, err := t.opened(ctx, key, m, p)
	if err == nil && t.loc.State(m, locate.Freshness{Seen: o.freshness.Seen}) == locate.Invalid { // while it was opened
		if o.ref != nil {
			o.ref.Release()
		}
		o, err = t.opened(ctx, key, m, p)
	}
	if err != nil {
		late := fault.KindOf(err) == fault.Timeout
		o.report.Fault, o.report.Late = fault.Of(err), late
		if late {
			o.report.Fault = fault.New(fault.Timeout, "", "not ready within %v; the work goes on, ask again", t.now().Sub(start).Round(time.Millisecond))
		}
		return nil, o.report
	}
	if o.ref == nil {
		return nil, o.report
	}
	return t.handle(key, o.ref), o.report
}

// opened opens m, once for concurrent callers.
func (t *Tables) opened(ctx context.Context, key cache.Key, m ident.Module, p locate.Purpose) (opened, error) {
	return t.opens.Do(ctx, key, func(ctx context.Context) (opened, error) {
		ref, ok := t.open.Peek(key)
		if ok && t.loc.State(m, *ref.Value().freshness.Load()) != locate.Invalid { // opened in the meantime
			return opened{key: key, ref: ref, freshness: locate.Freshness{Seen: t.now()}, report: Report{Hit: true}}, nil
		}
		if ok {
			return t.lookUpAgain(ctx, key, ref, m, p), nil
		}
		if report, known := t.negative(key, m); known {
			return opened{key: key, freshness: locate.Freshness{Seen: t.now()}, report: report}, nil
		}
		return t.find(ctx, key, m, p), nil
	})
}

// moduleKey returns the key of a module as it was requested.
func (t *Tables) moduleKey(m ident.Module, p locate.Purpose) cache.Key {
	return cache.KeyOf("module", t.view, strconv.FormatUint(t.cleared.Load(), 10), p.String(), m.Type.String(), m.CodeFile, string(m.CodeID), m.DebugFile, m.DebugID.Breakpad(), m.DebugIDText, m.DebugChecksum, m.FileID.Hex())
}

// lookUpAgain looks up a module that was invalidated. The open entry is used on if no
// file is found.
func (t *Tables) lookUpAgain(ctx context.Context, key cache.Key, ref *mem.Ref[*entry], m ident.Module, p locate.Purpose) opened {
	o := t.find(ctx, key, m, p)
	if o.ref != nil || ctx.Err() != nil {
		ref.Release()
		return o
	}
	next := t.loc.Prolong(o.freshness)
	ref.Value().freshness.Store(&next)
	o.ref, o.report = ref, Report{Hit: true, Tried: o.report.Tried}
	return o
}

// renew looks a module up again in the background. The open entry is used until the
// new one is open.
func (t *Tables) renew(key cache.Key, e *entry, m ident.Module, p locate.Purpose) {
	t.builds.Go(func() {
		defer func() {
			if p := recover(); p != nil {
				t.log.Error("cannot look a module up again", "module", m.DebugFile, "panic", p, "stack", string(debug.Stack()))
			}
		}()
		o := t.find(t.ctx, key, m, p)
		if o.ref == nil {
			next := t.loc.Prolong(o.freshness)
			e.freshness.Store(&next)
			return
		}
		o.ref.Release() // its table is built after the next answer
	})
}

// find looks up the file of m and opens its table, or else the file.
func (t *Tables) find(ctx context.Context, key cache.Key, m ident.Module, p locate.Purpose) opened {
	start := t.now()
	found, tried, err := t.loc.Best(ctx, m, p)
	o := opened{key: key, freshness: locate.Freshness{Seen: start}, report: Report{Tried: tried, Lookup: t.now().Sub(start)}}
	for i := range tried {
		o.report.Lookup -= tried[i].Attempt.Time
		if tried[i].Fault != nil {
			o.report.ParseBad += tried[i].Parse
		}
	}
	o.report.Lookup = max(o.report.Lookup, 0) // the attempts were concurrent
	if err != nil {
		o.report.Fault = fault.Of(err)
		isInTrail := slices.ContainsFunc(tried, func(t locate.Tried) bool { return t.Fault == o.report.Fault })
		if o.report.Fault.Kind == fault.Internal && !isInTrail { // the locator logs those
			t.log.Error("cannot look a module up", "module", m.DebugFile, "error", err)
		}
		o.freshness = t.loc.Freshness(start, nil, tried, err)
		t.addNegative(key, m, o.freshness, tried)
		return o
	}
	o.freshness = t.loc.Freshness(start, found, tried, nil)
	facts := Facts{Module: found.Module, Kind: found.Kind, Features: found.Features, VCS: found.VCS, Trail: tried}
	if found.Hash != ([32]byte{}) && p != locate.Sources {
		if e := t.stored(ctx, found.Hash, found.Aux(), found.Module); e != nil {
			found.Close()
			o.report.Hit, o.report.Lookup = true, t.now().Sub(start)
			o.ref = t.put(key, e, facts, newFreshness(o.freshness))
			return o
		}
	}
	obj, src, err := found.File(ctx)
	if err != nil {
		o.report.Fault = fault.Of(err)
		for i := range tried {
			if t := &tried[i]; t.Chosen {
				t.Chosen, t.Fault, t.Expires = false, o.report.Fault, found.Expires(o.report.Fault)
			}
		}
		found.Close()
		o.freshness = t.loc.Freshness(start, nil, tried, err)
		t.addNegative(key, m, o.freshness, tried)
		return o
	}
	o.report.Parse = found.Parse()
	// The spool counts like memory, so that files without tables do not fill the
	// disk. Of a large file only a part counts: it must stay open too, so that it is
	// fetched once.
	e := &entry{
		answerer: direct{obj}, mangled: obj.Mangled(), size: obj.Footprint() + min(src.Size(), t.maxFileCost()),
		found: found, build: &build{done: make(chan struct{})},
	}
	if p == locate.Sources { // a table has no source files
		e.build.isQueued.Store(true)
		close(e.build.done)
	}
	o.ref = t.put(key, e, facts, newFreshness(o.freshness))
	return o
}

// put opens an entry for all who ask for key from now on.
func (t *shared) put(key cache.Key, e *entry, facts Facts, f *atomic.Pointer[locate.Freshness]) *mem.Ref[*entry] {
	facts.Trail = remembered(facts.Trail)
	e.Facts, e.freshness = facts, f
	return t.open.Put(key, e, e.size, e.close)
}

func newFreshness(f locate.Freshness) *atomic.Pointer[locate.Freshness] {
	p := &atomic.Pointer[locate.Freshness]{}
	p.Store(&f)
	return p
}

// maxFileCost returns how much a file in a spool counts at most.
func (t *shared) maxFileCost() int64 {
	return max(int64(t.cfg.MaxBytes)/4, 0)
}

// stored opens the stored table of an object of the file with this hash, or returns
// nil. It removes a damaged one.
func (t *shared) stored(ctx context.Context, hash, aux [32]byte, m ident.Module) *entry {
	key := tableKey(hash, aux, m)
	blob, err := t.tier.Get(ctx, cache.Symcache, key)
	if err != nil || blob == nil {
		return nil
	}
	e, err := newEntry(blob, hash, m)
	if err != nil {
		t.log.Warn("a stored table is damaged and will be built again", "error", err)
		t.tier.Forget(ctx, cache.Symcache, key)
		return nil
	}
	return e
}

// tableKey returns the key of the table of an object: the content of its file and of
// the other inputs, and its id, as a file may have several objects.
func tableKey(hash, aux [32]byte, m ident.Module) cache.Key {
	parts := []string{"symcache", fmt.Sprint(symcache.Version), string(hash[:]), m.DebugID.String()}
	if aux != ([32]byte{}) {
		parts = append(parts, string(aux[:]))
	}
	return cache.KeyOf(parts...)
}
