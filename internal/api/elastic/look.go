package elastic

import (
	"context"
	"slices"

	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
	"symbolon/internal/sym"
	"symbolon/internal/symbolicate"
)

// query is a decoded request: addresses of binaries. Those of one lookup are
// consecutive frames.
type query struct {
	files   []ident.Module
	frames  []symbolicate.Frame
	lookups []lookup
}

// lookup has addresses of one binary.
type lookup struct {
	file int32
	end  int // of its frames
}

// Lookup looks up addresses in the symbfiles of binaries: in return pads, and else
// in ranges. It belongs to one goroutine.
type Lookup struct {
	frames  []symbolicate.Frame
	results [2]*symbolicate.Result // of return pads, then of ranges
}

// from has the names of the results.
var from = [...]string{"returnpads", "ranges"}

// Answer has the frames at an address, innermost first. They are valid until the
// next call of At.
type Answer struct {
	Frames []sym.Frame
	Result *symbolicate.Result // has their strings
	addr   uint64              // as linked
	base   uint64              // of the addresses in Frames
	which  int                 // index of from
}

// runFunc is symbolicate.Engine.Run.
type runFunc func(context.Context, *symbolicate.Request) (*symbolicate.Result, error)

// Look opens the symbfiles of files. Release ends the use.
func Look(ctx context.Context, run runFunc, files []ident.Module, frames []symbolicate.Frame) (*Lookup, error) {
	l := &Lookup{frames: frames}
	linked := slices.Repeat([]bool{true}, len(files))
	for i, p := range [...]locate.Purpose{locate.Pads, locate.Debug} {
		res, err := run(ctx, &symbolicate.Request{Modules: files, Linked: linked, Frames: slices.Clone(frames), Purpose: p})
		if err != nil {
			l.Release()
			return nil, err
		}
		l.results[i] = res
	}
	return l, nil
}

// Release releases the open tables.
func (l *Lookup) Release() {
	for _, res := range l.results {
		if res != nil {
			res.Release()
		}
	}
}

// Missing returns the reason why a file that was looked up has no symbols, or nil. A
// symbfile that cannot be read counts before a missing one.
func (l *Lookup) Missing(file int32) *Absence {
	var why *Absence
	for i := len(from) - 1; i >= 0; i-- {
		switch mod := &l.results[i].Modules[file]; {
		case mod.Found || !mod.Asked:
			return nil
		case mod.Report.Fault != nil && (why == nil || why.Fault.Kind == fault.NotFound):
			why = &Absence{mod.Report.Fault, from[i]}
		}
	}
	if why == nil {
		why = &Absence{fault.New(fault.NotFound, "", "nothing was uploaded"), from[1]}
	}
	return why
}

// Absence is the reason why a file has no symbols.
type Absence struct {
	Fault *fault.Error
	kind  string // of the symbfile
}

// message returns the reason without the place of a file, for clients.
func (a *Absence) message() string {
	kind := a.Fault.Kind
	switch kind {
	case fault.NotFound:
		return kind.String() + ": no symbols of this file were uploaded here, or not all parts of them"
	case fault.Malformed:
		return kind.String() + ": the " + a.kind + " of this file are damaged, or unpack to far more than was sent"
	case fault.Unsupported:
		return kind.String() + ": the " + a.kind + " of this file are larger or other than what can be looked up"
	}
	return kind.String() + ": the " + a.kind + " of this file could not be read; try again"
}

// At returns the answer for an address. It is optimized for ascending addresses.
func (l *Lookup) At(i int) (a Answer, err error) {
	a.addr = l.frames[i].Addr
	for a.which, a.Result = range l.results {
		if m := l.frames[i].Module; m >= 0 {
			a.base = a.Result.Modules[m].LoadAddress
		}
		a.Frames, err = a.Result.Frames(i)
		if err != nil || len(a.Frames) > 0 {
			return a, err
		}
	}
	return a, nil
}

// Offset returns the distance of the address from the start of the function of a
// frame, and whether it is known.
func (a *Answer) Offset(f *sym.Frame) (uint64, bool) {
	start := a.base + f.Entry
	return a.addr - start, a.which == 1 && !f.Inlined && a.addr >= start
}
