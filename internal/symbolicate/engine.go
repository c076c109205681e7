// Package symbolicate is the engine that turns requests for addresses into
// frames. It opens each module once, several concurrently; a module that
// exceeds the deadline is missing from the answer, but its work continues into
// the cache. Addresses are looked up while the answer is read, some thousands
// at a time, in ascending order. Callers that do not wait for the slowest
// module use Begin, Next and Open.
//
// An unknown module or address is data, not an error: the Report of a Module
// that is not Found has the reason. The api packages translate it into their
// formats. An Engine is safe for concurrent use; a Result belongs to one
// goroutine.
package symbolicate

import (
	"cmp"
	"context"
	"sync"
	"time"

	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
	"symbolon/internal/metric"
	"symbolon/internal/object"
	"symbolon/internal/table"
)

// Config configures the engine. The zero value is the default.
type Config struct {
	Parallel  int           `yaml:"parallel" least:"1" help:"Modules of one request that are looked up at the same time."`
	MaxFrames int           `yaml:"max_frames" least:"1" help:"Frames of one answer, including inlined ones. A larger answer is refused, or cut off if a part of it was already sent."`
	Deadline  time.Duration `yaml:"module_deadline" help:"How long an answer waits for its modules. A module that is not ready in time is missing in this answer, and its work continues for the cache. Answers of the Sentry interface wait as long as downloads may take instead. Also limits lookups in a file without a table, in any answer. -1: unlimited."`
}

// Defaults returns c with default values for its zero fields.
func (c Config) Defaults() Config {
	c.Parallel = cmp.Or(c.Parallel, 8)
	c.MaxFrames = cmp.Or(c.MaxFrames, 20_000_000)
	c.Deadline = cmp.Or(c.Deadline, time.Minute)
	return c
}

// Engine answers requests. It is safe for concurrent use.
type Engine struct {
	cfg       Config
	tables    *table.Tables
	now       func() time.Time
	unlimited bool
	limited   bool
	note      func(m ident.Module, why *fault.Error) // nil: missing modules are not counted
	ended     func(*Request, *Result)                // may be nil
}

// New returns an engine that uses tables.
func New(cfg Config, tables *table.Tables, now func() time.Time) *Engine {
	return &Engine{cfg: cfg.Defaults(), tables: tables, now: now}
}

// With returns a copy of e that uses other tables.
func (e *Engine) With(t *table.Tables) *Engine {
	with := *e
	with.tables = t
	return &with
}

// Unlimited returns a copy of e without a deadline for modules.
// The deadline for lookups in a file without a table still applies.
func (e *Engine) Unlimited() *Engine {
	with := *e
	with.unlimited = true
	return &with
}

// Limited returns a copy of e whose deadline is d: for modules, and once more for all
// lookups in files without a table together.
func (e *Engine) Limited(d time.Duration) *Engine {
	with := *e
	with.unlimited, with.limited, with.cfg.Deadline = false, true, d
	return &with
}

// Noting returns a copy of e that calls note for each module of a request that was
// not found, when the result is released.
func (e *Engine) Noting(note func(m ident.Module, why *fault.Error)) *Engine {
	with := *e
	with.note = note
	return &with
}

// Ending returns a copy of e that calls ended with each request and its result, before
// the result is released.
func (e *Engine) Ending(ended func(*Request, *Result)) *Engine {
	with := *e
	with.ended = ended
	return &with
}

// Run opens the modules of req, and changes the addresses of its frames to the ones to
// look up. It returns the error of a context that has ended; all other failures are in
// the result.
func (e *Engine) Run(ctx context.Context, req *Request) (*Result, error) {
	res := e.Begin(ctx, req)
	if err := res.All(ctx); err != nil {
		res.Release()
		return nil, err
	}
	return res, nil
}

// Begin starts to open the modules of req. Frames of the result are available
// after All, or after Open for some of them.
func (e *Engine) Begin(ctx context.Context, req *Request) *Result {
	res := &Result{req: req, cfg: e.cfg, now: e.now, note: e.note, ended: e.ended, isLimited: e.limited, Modules: make([]Module, len(req.Modules)), win: windows.Get().(*window)}
	for _, f := range req.Frames {
		if f.Module >= 0 {
			res.Modules[f.Module].Asked = true
		}
	}
	if rest := e.ready(res); len(rest) > 0 {
		work, stop := e.Within(ctx)
		res.stop, res.decided = stop, make(chan int32, len(rest))
		go func() {
			defer close(res.decided)
			e.open(work, res, rest)
		}()
	}
	return res
}

// Within returns the context of the work on modules.
func (e *Engine) Within(ctx context.Context) (context.Context, context.CancelFunc) {
	if e.cfg.Deadline > 0 && !e.unlimited {
		return context.WithTimeout(ctx, e.cfg.Deadline)
	}
	return context.WithCancel(ctx)
}

// ready takes the modules that are already open, and returns the others.
func (e *Engine) ready(res *Result) (rest []int) {
	for m := range res.Modules {
		mod := &res.Modules[m]
		if !mod.Asked {
			continue
		}
		asked := res.req.Modules[m]
		h, report, known := e.tables.Ready(asked, res.req.Purpose)
		mod.handle = h
		if known && res.req.Sources {
			mod.sources, mod.SourceReport, known = e.tables.Ready(asked, locate.Sources)
		}
		if known {
			mod.opened(h, report)
		} else {
			mod.pending = true
			rest = append(rest, m)
		}
	}
	return rest
}

// open opens modules concurrently, and sends each to res.decided.
func (e *Engine) open(ctx context.Context, res *Result, modules []int) {
	slots := make(chan struct{}, e.cfg.Parallel)
	var wg sync.WaitGroup
	defer wg.Wait()
	for _, m := range modules {
		mod := &res.Modules[m]
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			mod.missing(table.Report{Late: true, Fault: fault.New(fault.Timeout, "",
				"not started within %v because of other modules of the request", e.cfg.Deadline)})
			res.decided <- int32(m)
			continue
		}
		wg.Go(func() {
			defer func() { <-slots }()
			defer func() { res.decided <- int32(m) }()
			defer func() {
				if p := recover(); p != nil {
					mod.missing(table.Report{Fault: fault.Panicked("", p)})
				}
			}()
			e.find(ctx, mod, res.req, res.req.Modules[m])
		})
	}
}

// find opens the tables of a module.
func (e *Engine) find(ctx context.Context, mod *Module, req *Request, m ident.Module) {
	report := table.Report{Hit: true}
	if mod.handle == nil {
		mod.handle, report = e.tables.Symbols(ctx, m, req.Purpose)
	}
	if req.Sources && mod.sources == nil {
		mod.sources, mod.SourceReport = e.tables.Symbols(ctx, m, locate.Sources)
	}
	mod.opened(mod.handle, report)
}

// opened sets the handle and the report of a module; h is nil if the module is
// missing.
func (mod *Module) opened(h *table.Handle, report table.Report) {
	if mod.sources != nil {
		mod.Features |= object.HasSources
	}
	if h == nil {
		mod.missing(report)
		return
	}
	mod.Found, mod.handle, mod.Report = true, h, report
	facts := h.Facts()
	mod.Name, mod.Arch, mod.VCS, mod.LoadAddress = facts.Module.CodeFile, facts.Module.Arch, facts.VCS, facts.LoadAddress
	mod.CodeID = facts.Module.CodeID
	mod.Features |= facts.Features
	metric.Modules.Add(1, "found")
}

func (mod *Module) missing(report table.Report) {
	mod.Report = report
	for i := range report.Tried {
		if report.Tried[i].Chosen { // but rejected later
			mod.Features |= report.Tried[i].Features
		}
	}
	if report.Late {
		metric.Modules.Add(1, "deadline")
	} else {
		metric.Modules.Add(1, "missing")
	}
}
