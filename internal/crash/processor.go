package crash

import (
	"cmp"
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"symbolon/internal/fault"
	"symbolon/internal/format/minidump"
	"symbolon/internal/locate"
	"symbolon/internal/object"
	"symbolon/internal/symbolicate"
	"symbolon/internal/table"
	"symbolon/internal/unwind"
)

// Deps are the parts that a Processor uses.
type Deps struct {
	Engine *symbolicate.Engine // names of functions
	Tables *table.Tables       // of the same sources
}

// A Processor turns dumps into reports. It is safe for concurrent use.
type Processor struct{ Deps }

// New returns a Processor.
func New(d Deps) *Processor { return &Processor{d} }

// Options select the work on a dump.
type Options struct {
	OnlyRequesting bool           // only the stack of the requesting thread is walked
	Explain        bool           // frames have their Why
	Purpose        locate.Purpose // of the files with names: SymFirst or Debug
	Frames         int            // most frames of a stack; 0: 4,096
}

// Process walks the stacks of d and looks up the functions of their frames. The
// error is that of ctx. The report must be released.
func (p *Processor) Process(ctx context.Context, d *Dump, opt Options) (*Report, error) {
	r, err := p.Walk(ctx, d, opt)
	if err == nil {
		err = p.Symbolicate(ctx, r)
	}
	if err != nil && r != nil {
		r.Release()
		return nil, err
	}
	return r, err
}

// Walk walks the stacks of d. Modules are looked up when a stack touches them. The
// error is that of ctx. The report must be released.
func (p *Processor) Walk(ctx context.Context, d *Dump, opt Options) (*Report, error) {
	r := &Report{Dump: d, Stacks: make([]Stack, len(d.Threads)), opt: opt, modules: newModules(ctx, p.Deps, d, opt.Purpose)}
	r.findHints()
	process := r.process()
	var next, frames atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(d.Threads)) {
		wg.Go(func() {
			for i := next.Add(1) - 1; int(i) < len(d.Threads) && ctx.Err() == nil; i = next.Add(1) - 1 {
				if !opt.OnlyRequesting || int(i) == d.Requesting {
					frames.Add(int64(r.walk(process, int(i), MaxFrames-int(frames.Load()))))
				}
			}
		})
	}
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		r.Release()
		return nil, err
	}
	r.Symbols = make([]Symbols, len(d.Modules))
	for i := range r.Symbols {
		r.Symbols[i] = r.modules.opened[i].symbols
	}
	return r, nil
}

// process returns the process for walks.
func (r *Report) process() *unwind.Process {
	p := &unwind.Process{
		CPU: r.System.CPU, BigEndian: r.System.BigEndian, IsWindows: r.System.OS == minidump.Windows,
		IsApple: r.System.OS == minidump.MacOS || r.System.OS == minidump.IOS,
		Memory:  r.Memory, Stack: r.Memory.Region, Module: r.modules.at, IsCode: r.isCode,
	}
	for i := range r.Modules {
		p.Top = max(p.Top, r.Modules[i].Base+r.Modules[i].Size)
	}
	for _, x := range r.Memory.Ranges() {
		p.Top = max(p.Top, (x.Addr+x.Size)&(1<<56-1)) // ARM ignores the highest byte, where Android has tags of the heap
	}
	return p
}

// MaxFrames limits the frames of a report, which take 1 KB each with their JSON. The
// threads of a small file may share one long stack.
const MaxFrames = 1 << 17

// walk fills the stack of a thread, of at most some frames, and returns their number.
func (r *Report) walk(p *unwind.Process, i, most int) (count int) {
	t := &r.Threads[i]
	s := &r.Stacks[i]
	if s.Absent = t.Absent; s.Absent == "" && most <= 0 {
		s.Absent = "the other stacks have too many frames"
	}
	if s.Absent != "" {
		return 0
	}
	var err error
	defer func() {
		if err != nil {
			s.Absent = err.Error()
		}
	}()
	defer fault.Recover("stack walk", &err)
	defer object.RecoverFault(&err)()
	for _, f := range p.Walk(t.Registers, unwind.Options{Explain: r.opt.Explain, Frames: min(most, cmp.Or(r.opt.Frames, maxDepth))}) {
		m := r.modules.find(f.Lookup)
		out := Frame{Addr: f.Lookup, Resume: f.PC, Trust: f.Trust, Registers: f.Registers, Module: m, Why: f.Why}
		if m < 0 {
			out.Unloaded = r.unloadedAt(f.Lookup)
		}
		s.Frames = append(s.Frames, out)
	}
	return len(s.Frames)
}

// maxDepth limits the frames of a stack.
const maxDepth = 4096

// Request returns the request for the functions of all frames, in the order of the
// stacks.
func (r *Report) Request() *symbolicate.Request {
	req := &symbolicate.Request{Purpose: r.opt.Purpose, Called: true}
	for i := range r.Modules {
		m := &r.Modules[i]
		req.Modules = append(req.Modules, lookedUp(m))
		req.Bases = append(req.Bases, m.Base)
	}
	for i := range r.Stacks {
		for _, f := range r.Stacks[i].Frames {
			req.Frames = append(req.Frames, symbolicate.Frame{Module: int32(f.Module), Addr: f.Addr})
		}
	}
	return req
}

// Symbolicate looks up the functions of the frames of r. The error is that of ctx.
func (p *Processor) Symbolicate(ctx context.Context, r *Report) error {
	res, err := p.Engine.Run(ctx, r.Request())
	if err != nil {
		return err
	}
	defer res.Release()
	n := 0
	for i := range r.Stacks {
		for k := range r.Stacks[i].Frames {
			f := &r.Stacks[i].Frames[k]
			var err error
			if f.Functions, err = functions(res, n, int32(f.Module)); err != nil {
				return err
			}
			for c := range f.Functions {
				f.Functions[c].Entry += r.Modules[f.Module].Base
			}
			n++
		}
	}
	for i := range res.Modules {
		m := &res.Modules[i]
		if m.Asked {
			r.Symbols[i].Debug = Lookup{Asked: true, Found: m.Found, Features: m.Features, Trail: m.Trail(), Report: m.Report}
		}
	}
	return nil
}

// functions returns the functions of frame i of a request, which is in module m.
func functions(res *symbolicate.Result, i int, m int32) ([]Function, error) {
	found, err := res.Frames(i)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	list := make([]Function, len(found))
	for k, x := range found {
		name, _ := res.AppendText(nil, m, x.Func)
		file, _ := res.AppendRaw(nil, m, x.File)
		list[k] = Function{string(name), string(file), x.Line, x.Entry}
	}
	return list, nil
}
