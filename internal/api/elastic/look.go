package elastic

import (
	"context"

	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
	"symbolon/internal/sym"
	"symbolon/internal/symbolicate"
)

// A Lookup looks up addresses in the uploaded files of binaries: in return pads, and
// in ranges for addresses without a pad. It is used by one goroutine.
type Lookup struct {
	frames  []symbolicate.Frame
	results [2]*symbolicate.Result // of return pads, then of ranges
}

// from are the names of the results.
var from = [...]string{"returnpads", "ranges"}

// An Answer is the frames of an address, innermost first. They are valid until the
// next call of At.
type Answer struct {
	Frames []sym.Frame
	Result *symbolicate.Result // has their texts
	addr   uint64
	which  int
}

// Look opens the uploaded files of binaries. The result must be released.
func Look(ctx context.Context, run func(context.Context, *symbolicate.Request) (*symbolicate.Result, error), files []ident.Module, frames []symbolicate.Frame) (*Lookup, error) {
	l := &Lookup{frames: frames}
	for i, p := range [...]locate.Purpose{locate.Pads, locate.Debug} {
		res, err := run(ctx, &symbolicate.Request{Modules: files, Frames: frames, Purpose: p})
		if err != nil {
			l.Release()
			return nil, err
		}
		l.results[i] = res
	}
	return l, nil
}

// Release closes the files.
func (l *Lookup) Release() {
	for _, res := range l.results {
		if res != nil {
			res.Release()
		}
	}
}

// Missing returns why a requested file has no symbols, nil if it has some. A file
// that cannot be read comes before one that is missing.
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

// An Absence is the reason why a file has no symbols.
type Absence struct {
	Fault *fault.Error
	what  string // of the file
}

// outside returns the text for clients, without the place of the failure.
func (a *Absence) outside() string {
	kind := a.Fault.Kind
	switch kind {
	case fault.NotFound:
		return kind.String() + ": no symbols of this file were uploaded here, or not all parts of them"
	case fault.Malformed:
		return kind.String() + ": the " + a.what + " of this file are damaged, or unpack to far more than was sent"
	case fault.Unsupported:
		return kind.String() + ": the " + a.what + " of this file are too large, or of an unknown form"
	}
	return kind.String() + ": the " + a.what + " of this file cannot be read; try again"
}

// At looks up the frame i. Rising order is fast.
func (l *Lookup) At(i int) (a Answer, err error) {
	a.addr = l.frames[i].Addr
	for a.which, a.Result = range l.results {
		a.Frames, err = a.Result.Frames(i)
		if err != nil || len(a.Frames) > 0 {
			return a, err
		}
	}
	return a, nil
}

// Offset returns the distance of the address from the start of a frame's function,
// if that is known.
func (a *Answer) Offset(f *sym.Frame) (uint64, bool) {
	return a.addr - f.Entry, a.which == 1 && !f.Inlined && a.addr >= f.Entry
}
