package elastic

import (
	"context"

	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
	"symbolon/internal/sym"
	"symbolon/internal/symbolicate"
)

// Lookup is what was uploaded for some binaries, to be asked for addresses: as
// return pads, and as ranges where there is no pad. It belongs to one goroutine.
type Lookup struct {
	frames  []symbolicate.Frame
	results [2]*symbolicate.Result // of return pads, then of ranges
}

// from says where an answer comes from.
var from = [...]string{"returnpads", "ranges"}

// Answer is the frames of an address, innermost first. They are valid until
// another address is asked for.
type Answer struct {
	Frames []sym.Frame
	Result *symbolicate.Result // which has their texts
	addr   uint64
	which  int
}

// Look opens what was uploaded for files. Release it.
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

// Release lets go of what is open.
func (l *Lookup) Release() {
	for _, res := range l.results {
		if res != nil {
			res.Release()
		}
	}
}

// Missing is why there is nothing for a file of which something was asked. If some of
// it is there and cannot be read, that is why.
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

// Absence is why there is nothing for a file.
type Absence struct {
	Fault *fault.Error
	what  string // of the file
}

// outside is what strangers are told: what failed, and not where.
func (a *Absence) outside() string {
	kind := a.Fault.Kind
	switch kind {
	case fault.NotFound:
		return kind.String() + ": no symbols of this file were uploaded here, or not all parts of them"
	case fault.Malformed:
		return kind.String() + ": the " + a.what + " of this file are damaged, or unpack to far more than was sent"
	case fault.Unsupported:
		return kind.String() + ": the " + a.what + " of this file are larger or other than what can be looked up"
	}
	return kind.String() + ": the " + a.what + " of this file could not be read; try again"
}

// At answers an address. Asking in rising order is what it is made for.
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

// Offset is how far the address is from the start of a frame's function, where
// that is known.
func (a *Answer) Offset(f *sym.Frame) (uint64, bool) {
	return a.addr - f.Entry, a.which == 1 && !f.Inlined && a.addr >= f.Entry
}
