// Package symbolicate is the engine: questions about addresses in, frames out.
// It looks every module up once, its addresses in rising order, several
// modules side by side; a module that takes too long is left behind and its
// work goes on into the cache.
//
// What is not known is data, not an error: a Module without Found says why in
// its Report. Doors turn all of it into their own words.
package symbolicate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"symbolon/internal/fault"
	"symbolon/internal/metric"
	"symbolon/internal/sym"
	"symbolon/internal/table"
)

// Config of the engine. The zero value is the default.
type Config struct {
	Parallel  int           `yaml:"parallel" help:"Modules of one request that are looked up at the same time."`
	MaxFrames int           `yaml:"max_frames" help:"Frames of one answer, inlined ones counted; a request whose answer has more is refused."`
	Deadline  time.Duration `yaml:"module_deadline" help:"How long an answer waits for its modules; one that is not ready then counts as missing in this answer, and its work goes on into the cache. -1: as long as it takes."`
}

// Defaults returns c with its zero fields filled in.
func (c Config) Defaults() Config {
	if c.Parallel == 0 {
		c.Parallel = 8
	}
	if c.MaxFrames == 0 {
		c.MaxFrames = 8_000_000
	}
	if c.Deadline == 0 {
		c.Deadline = time.Minute
	}
	return c
}

// Validate says what is wrong with c.
func (c Config) Validate() error {
	c = c.Defaults()
	switch {
	case c.Parallel < 1:
		return fmt.Errorf("parallel is %d; wanted is at least 1", c.Parallel)
	case c.MaxFrames < 1:
		return fmt.Errorf("max_frames is %d; wanted is at least 1", c.MaxFrames)
	}
	return nil
}

// ErrTooManyFrames is the error of a request whose answer would be too large.
var ErrTooManyFrames = errors.New("the answer has too many frames")

// Engine answers requests. It is safe for concurrent use.
type Engine struct {
	cfg    Config
	tables *table.Tables
}

// New makes an engine over tables.
func New(cfg Config, tables *table.Tables) *Engine {
	return &Engine{cfg: cfg.Defaults(), tables: tables}
}

// Run answers req. The error is that of a context that ended, or
// ErrTooManyFrames; everything else that goes wrong is told in the result.
func (e *Engine) Run(ctx context.Context, req *Request) (*Result, error) {
	res := &Result{req: req, Modules: make([]Module, len(req.Modules)), spans: make([]span, len(req.Frames))}
	order, starts := byModule(req)
	work := ctx
	if e.cfg.Deadline > 0 {
		var cancel context.CancelFunc
		work, cancel = context.WithTimeout(ctx, e.cfg.Deadline)
		defer cancel()
	}
	slots := make(chan struct{}, e.cfg.Parallel)
	var wg sync.WaitGroup
	for m := range req.Modules {
		mine := order[starts[m]:starts[m+1]]
		if len(mine) == 0 {
			continue
		}
		select {
		case slots <- struct{}{}:
		case <-work.Done():
		}
		if ctx.Err() != nil {
			break
		}
		if work.Err() != nil {
			res.late(m, mine, fault.New(fault.Timeout, "", "not begun within %v, as other modules of the request took so long", e.cfg.Deadline))
			continue
		}
		wg.Go(func() {
			defer func() { <-slots }()
			defer res.survive(m, mine)
			e.module(work, res, m, mine)
		})
	}
	wg.Wait()
	err := context.Cause(ctx)
	if err == nil && res.frames.Load() > int64(e.cfg.MaxFrames) {
		err = ErrTooManyFrames
	}
	if err != nil {
		res.Release()
		return nil, err
	}
	return res, nil
}

// survive takes what was thrown while module m was worked on: a file that we
// trip over must not end the server. The module counts as missing.
func (r *Result) survive(m int, order []uint32) {
	p := recover()
	if p == nil {
		return
	}
	r.lose(m, order, fault.New(fault.Internal, "", "panic: %v\n%s", p, debug.Stack()))
}

// lose makes module m a missing one.
func (r *Result) lose(m int, order []uint32, why *fault.Error) {
	mod := &r.Modules[m]
	mod.Found, mod.frames, mod.Report.Fault = false, nil, why
	for _, i := range order {
		r.spans[i] = span{}
	}
}

// module looks module m up and answers its frames, whose indexes are in order.
func (e *Engine) module(ctx context.Context, res *Result, m int, order []uint32) {
	mod := &res.Modules[m]
	mod.Asked = true
	mod.handle, mod.Report = e.tables.Symbols(ctx, res.req.Modules[m])
	if mod.handle == nil {
		outcome := "missing"
		if mod.Report.Late {
			outcome = "deadline"
		}
		metric.Modules.Add(1, outcome)
		metric.Frames.Add(int64(len(order)), "nomodule")
		return
	}
	metric.Modules.Add(1, "found")
	mod.Found = true
	mod.Name = mod.handle.Module().CodeFile
	frames := res.req.Frames
	slices.SortFunc(order, func(a, b uint32) int { return cmp.Compare(frames[a].Addr, frames[b].Addr) })
	err := mod.answer(ctx, res, order, int64(e.cfg.MaxFrames))
	if err != nil {
		res.late(m, order, fault.New(fault.KindOf(err), "", "its addresses were not looked up within %v", e.cfg.Deadline))
	}
}

// late makes module m one that was not ready in time.
func (r *Result) late(m int, order []uint32, why *fault.Error) {
	r.Modules[m].Asked, r.Modules[m].Report.Late = true, true
	r.lose(m, order, why)
	metric.Modules.Add(1, "deadline")
	metric.Frames.Add(int64(len(order)), "nomodule")
}

// patience is how many addresses are looked up between two looks at the time.
const patience = 64

// answer looks up the frames in order, which is sorted by address, until the
// time is over or the whole answer has more frames than it may have.
func (mod *Module) answer(ctx context.Context, res *Result, order []uint32, most int64) error {
	out := make([]sym.Frame, 0, len(order)*2)
	named, counted := 0, 0
	for n, i := range order {
		if n%patience == patience-1 {
			if err := ctx.Err(); err != nil {
				return err
			}
			if res.frames.Add(int64(len(out)-counted)) > most {
				break // Run refuses the request
			}
			counted = len(out)
		}
		addr := res.req.Frames[i].Addr
		if n > 0 && res.req.Frames[order[n-1]].Addr == addr {
			res.spans[i] = res.spans[order[n-1]]
		} else {
			from := len(out)
			if !res.req.Nearest {
				out = mod.handle.Lookup(out, addr)
			} else if f, ok := mod.handle.Nearest(addr); ok {
				out = append(out, f)
			}
			res.spans[i] = span{uint32(from), uint32(len(out))}
		}
		if res.spans[i].to > res.spans[i].from {
			named++
		}
	}
	res.frames.Add(int64(len(out) - counted))
	mod.frames = out
	metric.Frames.Add(int64(named), "named")
	metric.Frames.Add(int64(len(order)-named), "unnamed")
	return nil
}

// byModule groups the indexes of the frames by module: those of module m are
// order[starts[m]:starts[m+1]]. Frames of no module are left out.
func byModule(req *Request) (order []uint32, starts []int) {
	starts = make([]int, len(req.Modules)+1)
	for _, f := range req.Frames {
		if f.Module >= 0 {
			starts[f.Module+1]++
		}
	}
	for m := range req.Modules {
		starts[m+1] += starts[m]
	}
	order = make([]uint32, starts[len(req.Modules)])
	next := slices.Clone(starts)
	for i, f := range req.Frames {
		if f.Module >= 0 {
			order[next[f.Module]] = uint32(i)
			next[f.Module]++
		}
	}
	return order, starts
}
