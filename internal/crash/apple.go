package crash

import (
	"context"

	"symbolon/internal/format/applecrash"
	"symbolon/internal/ident"
	"symbolon/internal/symbolicate"
)

// SymbolicateApple looks up the functions of the frames of r that have none. The error
// is that of ctx.
func (p *Processor) SymbolicateApple(ctx context.Context, r *applecrash.Report, opt Options) error {
	req := &symbolicate.Request{Purpose: opt.Purpose, Called: true}
	for _, x := range r.Images {
		m := ident.Module{Type: ident.TypeMachO, CodeFile: x.File(), DebugFile: x.File(), CodeID: ident.ParseCodeID(x.UUID), Arch: ident.ParseArch(x.Arch)}
		req.Modules = append(req.Modules, m.Derive())
		req.Bases = append(req.Bases, uint64(x.Addr))
	}
	stacks := []*[]applecrash.Frame{&r.Exception}
	for i := range r.Threads {
		stacks = append(stacks, &r.Threads[i].Frames)
	}
	for s, stack := range stacks {
		for k, f := range *stack {
			step := symbolicate.Before
			if k == 0 && s > 0 {
				step = symbolicate.Exact
			}
			req.Frames = append(req.Frames, symbolicate.Frame{Module: imageOf(r, &f), Step: step, Addr: uint64(f.Addr)})
		}
	}
	res, err := p.Engine.Run(ctx, req)
	if err != nil {
		return err
	}
	defer res.Release()
	n := 0
	for _, stack := range stacks {
		var out []applecrash.Frame
		for _, f := range *stack {
			m := req.Frames[n].Module
			calls, err := functions(res, n, m)
			if err != nil {
				return err
			}
			for k, c := range calls {
				out = append(out, applecrash.Frame{
					Module: f.Module, Addr: f.Addr, Symbol: c.Name, File: c.File, Line: c.Line, Inline: k < len(calls)-1,
				})
			}
			if len(calls) == 0 {
				out = append(out, f)
			}
			n++
		}
		if out != nil {
			*stack = out
		}
	}
	return nil
}

// imageOf returns the image to look up a frame in, -1 if its function is known. Frames of
// stripped programs may have the name of the image or of its header instead of a function.
func imageOf(r *applecrash.Report, f *applecrash.Frame) int32 {
	if f.Symbol == "" || f.Symbol == f.Module || f.Symbol == "_mh_execute_header" {
		for i, x := range r.Images {
			if f.Addr >= x.Addr && uint64(f.Addr-x.Addr) <= x.Size {
				return int32(i)
			}
		}
	}
	return -1
}
