package symbolicate

import (
	"bytes"
	"context"
	"time"

	"symbolon/internal/demangle"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
	"symbolon/internal/object"
	"symbolon/internal/source"
	"symbolon/internal/sym"
	"symbolon/internal/table"
)

// Frame is an address to look up: Addr in the module with this index. The
// address is absolute if the request has the base of the module, and else
// relative to the module, or as linked. A frame with a negative Module has no
// answer.
type Frame struct {
	Module int32
	Step   Step
	Addr   uint64
}

// Request is the frames of a caller. A module without frames is not looked up.
type Request struct {
	Modules []ident.Module
	Bases   []uint64 // load addresses of the modules; zero or nil: unknown
	Linked  []bool   // by module: addresses are those of the file as linked; nil: none are
	Frames  []Frame
	Purpose locate.Purpose // the purpose of the files: SymFirst or Debug
	Called  bool           // names have no types of results, as those of dump_syms and Symbolicator
	Nearest bool           // answer with the function or symbol that starts at or below the address, at any distance
	Sources bool           // also find files with source files
}

// Module is the outcome for a module of a request.
type Module struct {
	Asked        bool   // a frame refers to it, so it was looked up
	Found        bool   // it has a table
	Name         string // file name of the code, if the debug file has one other than its own
	Arch         ident.Arch
	CodeID       ident.CodeID    // as stated in the file
	Features     object.Features // of the files found for it
	LoadAddress  uint64          // as linked
	VCS          string          // version control system of the source server of its debug file
	Report       table.Report
	SourceReport table.Report // of the search for source files, if requested

	pending bool // it was not open at first; decided announces it
	handle  *table.Handle
	sources *table.Handle
	spent   time.Duration // time spent in lookups
}

// Trail returns the places that were searched for the module, now or when its
// file was opened.
func (m *Module) Trail() []locate.Tried { return trailOf(m.handle, &m.Report) }

// SourceTrail returns the trail of the search for source files.
func (m *Module) SourceTrail() []locate.Tried { return trailOf(m.sources, &m.SourceReport) }

func trailOf(h *table.Handle, r *table.Report) []locate.Tried {
	if h != nil {
		return h.Facts().Trail
	}
	return r.Tried
}

// Result answers a Request, a window of frames at a time, so that its memory
// does not grow with the request. It holds open tables: call Release, and do
// not use it afterwards. It belongs to one goroutine.
//
// A module whose lookups exceed the deadline, or panic, is dropped: it then has no
// frames, and is not Found in Modules.
type Result struct {
	Modules []Module
	Named   int // frames with names, of those that were read

	req       *Request
	cfg       Config
	now       func() time.Time
	note      func(ident.Module, *fault.Error) // of a missing module; may be nil
	ended     func(*Request, *Result)          // may be nil
	counted   int                              // the frames before it are in Named
	spent     time.Duration                    // time spent in lookups, of a limited engine
	frames    int                              // answered so far, inlined ones included
	win       *window
	names     demangle.Work
	end       int                // end of the frames that may be read
	isLimited bool               // the deadline is that of the lookups in all modules together
	started   bool               // Next has returned the modules that were open at first
	decided   chan int32         // the other modules, in the order of their completion; nil: none
	stop      context.CancelFunc // cancels the work on them
}

// Next returns the modules whose outcome has become known, and whether there are more.
// The first call returns the modules that needed no work, possibly none; later calls wait
// for one. A module must not be read before.
func (r *Result) Next() (modules []int32, more bool) {
	if !r.started {
		r.started = true
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

// Open makes the frames from one index up to another readable. Their modules
// must be decided, and they must not have been opened before.
func (r *Result) Open(from, to int) {
	r.place(from, to)
	r.end = to
}

// All waits for all modules and opens all frames. The error is that of a
// context that has ended. It replaces Next and Open.
func (r *Result) All(ctx context.Context) error {
	r.wait()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	r.Open(0, len(r.req.Frames))
	return nil
}

// wait waits until the work on all modules has ended.
func (r *Result) wait() {
	if r.decided != nil {
		for range r.decided {
		}
		r.decided = nil
	}
	if r.stop != nil {
		r.stop()
	}
}

// Frames returns the frames of frame i of the request, innermost first; none if
// nothing is known. They are valid until the next call. It is optimized for
// ascending i. The error is ErrTooManyFrames: the rest of the answer is not
// available.
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

// AppendText appends the string of a frame of module m, demangled if it is a
// mangled name. plain reports that it certainly needs no escapes in JSON. When
// the names of an answer take far more work than real ones do, the following
// ones are not demangled.
func (r *Result) AppendText(dst []byte, m int32, t sym.Text) (out []byte, plain bool) {
	from := len(dst)
	dst, plain = r.AppendRaw(dst, m, t)
	if readable, ok := r.Readable(m, dst[from:]); ok {
		return append(dst[:from], readable...), false
	}
	return dst, plain
}

// Readable returns the demangled form of a name that AppendRaw has appended. It
// returns false if the name is not mangled, or not demangled, see AppendText.
func (r *Result) Readable(m int32, raw []byte) (readable string, ok bool) {
	if !r.Modules[m].handle.Mangled() && r.req.Purpose == locate.SymFirst { // of Breakpad, whose names are already demangled
		return "", false
	}
	name, style := string(raw), demangle.Full
	if r.req.Called {
		style = demangle.Called
	}
	readable, _ = r.names.Name(name, style)
	return readable, readable != name
}

// AppendFile appends the path of a source file without segments "." and "..".
func (r *Result) AppendFile(dst []byte, m int32, t sym.Text) (out []byte, plain bool) {
	from := len(dst)
	dst, plain = r.AppendRaw(dst, m, t)
	if r.Modules[m].handle.Facts().Kind != source.Breakpad { // others have no such paths
		return dst, plain
	}
	dst = object.CleanPath(dst, from)
	return dst, plain && bytes.IndexByte(dst[from:], '\\') < 0 // which the separators of Windows may have become
}

// AppendRaw appends the string of a frame as stored in the file.
func (r *Result) AppendRaw(dst []byte, m int32, t sym.Text) (out []byte, plain bool) {
	return r.Modules[m].handle.AppendText(dst, t)
}

// Source returns the text of a source file of module m, or else the http(s) URL
// of it; neither if it is unknown.
func (r *Result) Source(m int32, path string) (text []byte, link string) {
	if h := r.Modules[m].sources; h != nil {
		return h.Source(path)
	}
	return nil, ""
}

// Addr returns the address of frame i after its step, absolute if its module
// has a base; false if it is before the start of the module.
func (r *Result) Addr(i int) (uint64, bool) {
	f := &r.req.Frames[i]
	return f.Addr + r.base(f.Module), f.Step != before
}

// Release releases the tables, and cancels the work on modules that are not
// decided. It must be called once.
func (r *Result) Release() {
	if r.stop != nil {
		r.stop()
	}
	r.wait()
	if r.ended != nil {
		r.ended(r.req, r)
	}
	if r.win != nil {
		r.win.free()
		r.win = nil
	}
	for i := range r.Modules {
		if m := &r.Modules[i]; m.Asked && !m.Found && !m.Report.Late && m.Report.Fault != nil && r.note != nil {
			r.note(r.req.Modules[i], m.Report.Fault)
		}
		for _, h := range []*table.Handle{r.Modules[i].handle, r.Modules[i].sources} {
			if h != nil {
				h.Close()
			}
		}
	}
}
