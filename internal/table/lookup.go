package table

import (
	"context"
	"runtime/debug"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"symbolon/internal/cache"
	"symbolon/internal/cache/mem"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
)

// Ready returns a handle if m is open, which must be closed. Without one, known
// reports whether a lookup has failed, with the report of that.
func (t *Tables) Ready(m ident.Module, p locate.Purpose) (h *Handle, report Report, known bool) {
	r, report, known := t.ready(m, p)
	return r.names(), report, known
}

// Symbols opens m, which was not Ready. The handle must be closed. It is nil if no
// file was found, with the fault in the report.
func (t *Tables) Symbols(ctx context.Context, m ident.Module, p locate.Purpose) (*Handle, Report) {
	r, report := t.await(ctx, m, p)
	return r.names(), report
}

// Unwind opens the unwind information of m. The handle must be closed. It is nil if no
// file was found, with the fault in the report.
func (t *Tables) Unwind(ctx context.Context, m ident.Module) (*RulesHandle, Report) {
	r, report, known := t.ready(m, locate.Unwind)
	if r.ref == nil && !known {
		r, report = t.await(ctx, m, locate.Unwind)
	}
	if r.ref == nil {
		return nil, report
	}
	return &RulesHandle{r.ref.Value().rules, r}, report
}

// ready returns a reference if m is open, and else whether a lookup has failed.
func (t *Tables) ready(m ident.Module, p locate.Purpose) (r reference, report Report, known bool) {
	key := t.moduleKey(m, p)
	ref, ok := t.open.Get(key)
	if !ok {
		report, known = t.negative(key, m)
		return r, report, known
	}
	e := ref.Value()
	f := e.freshness.Load()
	switch t.loc.State(m, *f) {
	case locate.Invalid:
		ref.Release()
		return r, Report{}, false
	case locate.Stale: // of all callers that see f, one renews
		next := *f
		next.Until = time.Time{}
		if next = t.loc.Prolong(next); e.freshness.CompareAndSwap(f, &next) {
			t.renew(key, e, m, p)
		}
	}
	return reference{t.shared, key, ref}, Report{Hit: true}, true
}

// await opens m, which was not ready.
func (t *Tables) await(ctx context.Context, m ident.Module, p locate.Purpose) (r reference, report Report) {
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
			o.report.Fault = fault.New(fault.Timeout, "", "not ready within %v; the work continues, try again", t.now().Sub(start).Round(time.Millisecond))
		}
		return r, o.report
	}
	return reference{t.shared, key, o.ref}, o.report
}

// opened opens m, once for concurrent callers.
func (t *Tables) opened(ctx context.Context, key cache.Key, m ident.Module, p locate.Purpose) (opened, error) {
	return t.opens.Do(ctx, key, func(ctx context.Context) (opened, error) {
		ref, ok := t.open.Peek(key)
		if ok && t.loc.State(m, *ref.Value().freshness.Load()) != locate.Invalid { // opened in the meantime
			return opened{key: key, ref: ref, freshness: locate.Freshness{Seen: t.now()}, report: Report{Hit: true}}, nil
		}
		if report, known := t.negative(key, m); known {
			if ok { // it was withdrawn
				ref.Release()
			}
			return opened{key: key, freshness: locate.Freshness{Seen: t.now()}, report: report}, nil
		}
		if ok {
			return t.lookUpAgain(ctx, key, ref, m, p), nil
		}
		return t.find(ctx, key, m, p), nil
	})
}

// moduleKey returns the key of a module as it was requested.
func (t *Tables) moduleKey(m ident.Module, p locate.Purpose) cache.Key {
	return cache.KeyOf("module", t.view, strconv.FormatUint(t.cleared.Load(), 10), p.String(), m.Type.String(), m.CodeFile, string(m.CodeID), m.DebugFile, m.DebugID.Breakpad(), m.DebugIDText, m.DebugChecksum, m.FileID.Hex())
}

// lookUpAgain looks up a module that was invalidated. The open entry is used on if no
// file is found, unless the module was withdrawn and no source has one.
func (t *Tables) lookUpAgain(ctx context.Context, key cache.Key, ref *mem.Ref[*entry], m ident.Module, p locate.Purpose) opened {
	seen := *ref.Value().freshness.Load()
	o := t.find(ctx, key, m, p)
	isGone := o.report.Fault != nil && o.report.Fault.Kind == fault.NotFound && t.loc.IsWithdrawn(m, seen)
	if o.ref != nil || isGone || ctx.Err() != nil {
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
	facts := Facts{Module: found.Module, Kind: found.Kind, Features: found.Features, VCS: found.VCS, LoadAddress: found.LoadAddress, Trail: tried}
	k := kindFor(p)
	hasTable := p != locate.Sources
	if found.Hash != ([32]byte{}) && hasTable {
		if e := t.stored(ctx, k, found.Hash, found.Aux(), found.Module); e != nil {
			found.Close()
			o.report.Hit, o.report.Lookup = true, t.now().Sub(start)
			o.ref = t.put(key, e, facts, newFreshness(o.freshness))
			return o
		}
	}
	obj, _, err := found.File(ctx)
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
	o.freshness = t.loc.Freshness(start, found, tried, nil) // opening it may have failed for a part
	// The spool counts like memory, so that files without tables do not fill the
	// disk. Of a large file only a part counts: it must stay open too, so that it is
	// fetched once.
	e := k.direct(obj)
	e.size = obj.Footprint() + min(found.Spooled(), t.maxFileCost())
	e.found, e.build = found, &build{kind: k, done: make(chan struct{})}
	if !hasTable { // as a table has no source files
		e.build.isQueued.Store(true)
		close(e.build.done)
	}
	o.ref = t.put(key, e, facts, newFreshness(o.freshness))
	return o
}

func newFreshness(f locate.Freshness) *atomic.Pointer[locate.Freshness] {
	p := &atomic.Pointer[locate.Freshness]{}
	p.Store(&f)
	return p
}

// Prefetch builds and stores the table of m, and waits for that.
func (t *Tables) Prefetch(ctx context.Context, m ident.Module) (Report, error) {
	report := Report{Hit: true}
	h, _, _ := t.Ready(m, locate.SymFirst)
	if h == nil {
		if h, report = t.Symbols(ctx, m, locate.SymFirst); h == nil {
			return report, nil
		}
	}
	b := h.ref.Value().build
	if b == nil || !t.queue(h.key, h.ref) {
		h.ref.Release()
	}
	switch {
	case b == nil:
		return report, nil
	case !b.isQueued.Load():
		return report, fault.New(fault.Timeout, "", "%d tables are waiting to be built; try again later", maxWaiting)
	}
	select {
	case <-b.done:
		return report, b.err
	case <-ctx.Done():
		return report, context.Cause(ctx)
	}
}
