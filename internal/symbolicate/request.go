package symbolicate

import (
	"context"
	"time"

	"symbolon/internal/demangle"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
	"symbolon/internal/object"
	"symbolon/internal/sym"
	"symbolon/internal/table"
)

// Frame is a question: which function is at Addr of the module with this
// index. The address is absolute if the request says where the module is
// loaded, and else relative to the module. A negative Module asks nothing.
type Frame struct {
	Module int32
	Step   Step
	Addr   uint64
}

// Request is the questions of one caller. A module that no frame names is not
// looked up.
type Request struct {
	Modules []ident.Module
	Bases   []uint64 // where the modules are loaded, zero or nil: nowhere
	Frames  []Frame
	Purpose locate.Purpose // which file answers: SymFirst or Debug
	Nearest bool           // answer with the function or symbol that starts at or next below the address, however far
	Sources bool           // find files with source files too
}

// Module is what became of one module of a request.
type Module struct {
	Asked        bool   // a frame named it, so it was looked up
	Found        bool   // there is something to look addresses up in
	Name         string // file name of the code, if the debug file tells another than its own
	Arch         ident.Arch
	Features     object.Features // of the files that were found for it
	VCS          string          // of the source server of its debug file
	Report       table.Report
	SourceReport table.Report // of the search for source files, if they were asked for

	pending bool // it was not open at first: decided tells when it is known what becomes of it
	handle  *table.Handle
	sources *table.Handle
	spent   time.Duration // looking addresses up
}

// Trail is every place that was looked at for the module, now or when its file
// was opened.
func (m *Module) Trail() []locate.Tried { return trailOf(m.handle, &m.Report) }

// SourceTrail is the same of the search for source files.
func (m *Module) SourceTrail() []locate.Tried { return trailOf(m.sources, &m.SourceReport) }

func trailOf(h *table.Handle, r *table.Report) []locate.Tried {
	if h != nil {
		return h.Facts().Trail
	}
	return r.Tried
}

// Result answers a Request, a window of frames at a time, so that its memory
// does not grow with the request. It keeps tables open: Release it, and use
// nothing of it afterwards. It belongs to one goroutine.
//
// A module that is not done when the time of the answer is over, or that we
// trip over, is lost on the way: from then on it has no frames, and Modules
// says so.
type Result struct {
	Modules []Module

	req     *Request
	cfg     Config
	now     func() time.Time
	frames  int // answered so far, inlined ones counted
	win     *window
	names   demangle.Work
	end     int                // of the frames that can be had
	told    bool               // the modules that were open at first
	decided chan int32         // the others, one after the other; nil: there are none
	stop    context.CancelFunc // of the work on them
}

// Next are modules of which it has become known what they have, and whether there
// are more. At first they are those that need no work, maybe none; after that
// it waits for one. Nothing may be read of a module before.
func (r *Result) Next() (modules []int32, more bool) {
	if !r.told {
		r.told = true
		for m := range r.Modules {
			if !r.Modules[m].pending {
				modules = append(modules, int32(m))
			}
		}
		return modules, r.decided != nil
	}
	if r.decided == nil {
		return nil, false
	}
	m, more := <-r.decided
	for more {
		modules = append(modules, m)
		select {
		case m, more = <-r.decided:
		default:
			return modules, true
		}
	}
	r.decided = nil
	return modules, false
}

// Open has the frames from one up to another answered next. Their modules are
// decided, and they were not opened before.
func (r *Result) Open(from, to int) {
	r.place(from, to)
	r.end = to
}

// All waits for all modules and opens all frames. The error is that of a context
// that ended. It takes the place of Next and Open.
func (r *Result) All(ctx context.Context) error {
	r.settle()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	r.Open(0, len(r.req.Frames))
	return nil
}

// settle waits until nobody works on modules any more.
func (r *Result) settle() {
	if r.decided != nil {
		for range r.decided {
		}
		r.decided = nil
	}
	if r.stop != nil {
		r.stop()
	}
}

// Frames is the answer to frame i of the request, innermost first; empty when
// nothing is known. It is valid until another frame is asked for. Asking in
// rising order is what it is made for. The error is ErrTooManyFrames: the rest
// of the answer cannot be had.
func (r *Result) Frames(i int) ([]sym.Frame, error) {
	w := r.win
	if r.frames > r.cfg.MaxFrames {
		return nil, ErrTooManyFrames
	}
	if i < w.from || i >= w.from+len(w.spans) {
		if err := w.load(r, i); err != nil {
			return nil, err
		}
	}
	s := w.spans[i-w.from]
	return w.frames[s.from:s.to:s.to], nil
}

// AppendText appends the string behind a handle that a frame of module m
// carries, readable if it is a mangled name. It is plain if it needs no escapes
// in JSON, as far as is known. When the names of an answer cost far more work
// than real ones do, those that follow stay mangled.
func (r *Result) AppendText(dst []byte, m int32, t sym.Text) (out []byte, plain bool) {
	h := r.Modules[m].handle
	from := len(dst)
	dst, plain = h.AppendText(dst, t)
	if !h.Mangled() && r.req.Purpose == locate.SymFirst { // of Breakpad, whose names are for people
		return dst, plain
	}
	name := string(dst[from:])
	if readable, _ := r.names.Name(name, demangle.Full); readable != name {
		return append(dst[:from], readable...), false
	}
	return dst, plain
}

// AppendRaw appends the string behind a handle as it is in the file.
func (r *Result) AppendRaw(dst []byte, m int32, t sym.Text) (out []byte, plain bool) {
	return r.Modules[m].handle.AppendText(dst, t)
}

// Source is the text of a source file of module m, or else the http(s) address
// where it is; neither if it is not known.
func (r *Result) Source(m int32, path string) (text []byte, link string) {
	if h := r.Modules[m].sources; h != nil {
		return h.Source(path)
	}
	return nil, ""
}

// Addr is the address of frame i after its step, absolute if its module is
// loaded somewhere; false if it is before the start of the module.
func (r *Result) Addr(i int) (uint64, bool) {
	f := &r.req.Frames[i]
	return f.Addr + r.base(f.Module), f.Step != before
}

// Release lets go of the tables, and of modules that are not decided yet. It may
// be called once.
func (r *Result) Release() {
	if r.stop != nil {
		r.stop()
	}
	r.settle()
	if r.win != nil {
		r.win.free()
		r.win = nil
	}
	for i := range r.Modules {
		for _, h := range []*table.Handle{r.Modules[i].handle, r.Modules[i].sources} {
			if h != nil {
				h.Release()
			}
		}
	}
}
