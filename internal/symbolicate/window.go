package symbolicate

import (
	"cmp"
	"errors"
	"slices"
	"sync"

	"symbolon/internal/fault"
	"symbolon/internal/metric"
	"symbolon/internal/sym"
)

// ErrTooManyFrames ends an answer with more than MaxFrames.
var ErrTooManyFrames = errors.New("the answer has too many frames")

const (
	// windowSize is the number of frames of a request that are looked up
	// together, in the order of their addresses.
	windowSize = 32 << 10
	// windowLimit limits the frames of their answers; a window that exceeds it
	// is halved.
	windowLimit = 256 << 10
	// clockInterval is the number of lookups between two checks of the
	// deadline.
	clockInterval = 64
)

// window has the answers to consecutive frames.
type window struct {
	size   int // number of frames that fit so far
	from   int
	spans  []span
	frames []sym.Frame
	order  []question
}

// span is the answer to a frame: a range of the window's frames.
type span struct{ from, to uint32 }

// question is a frame of the window.
type question struct {
	addr   uint64
	module int32
	index  uint32 // in the window
}

var windows = sync.Pool{New: func() any { return &window{size: windowSize} }}

// free returns the window to the pool.
func (w *window) free() {
	if cap(w.frames) > 2*windowLimit {
		w.frames = nil
	}
	*w = window{size: windowSize, spans: w.spans[:0], frames: w.frames[:0], order: w.order[:0]}
	windows.Put(w)
}

// load answers the frames of r from i on.
func (w *window) load(r *Result, i int) error {
	count := min(r.end-i, w.size)
	for !w.fill(r, i, count) {
		count = (count + 1) / 2
		w.size = count
	}
	named, nowhere, end := 0, 0, i+count
	for k, s := range w.spans {
		f := r.req.Frames[i+k]
		switch {
		case s.to > s.from:
			named++
			if i+k >= r.counted {
				r.Named++
			}
			r.frames += int(s.to - s.from)
		case f.Module < 0:
			count--
		case !r.Modules[f.Module].Found:
			nowhere++
		}
	}
	r.counted = max(r.counted, end)
	metric.Frames.Add(int64(named), "named")
	metric.Frames.Add(int64(nowhere), "nomodule")
	metric.Frames.Add(int64(count-named-nowhere), "unnamed")
	if r.frames > r.cfg.MaxFrames {
		return ErrTooManyFrames
	}
	return nil
}

// fill answers count frames from i on. It returns false if the answers exceed
// windowLimit.
func (w *window) fill(r *Result, i, count int) bool {
	w.from, w.frames, w.order = i, w.frames[:0], w.order[:0]
	w.spans = slices.Grow(w.spans[:0], count)[:count]
	clear(w.spans)
	for k, f := range r.req.Frames[i : i+count] {
		if f.Module >= 0 && f.Step != before && r.Modules[f.Module].Found {
			w.order = append(w.order, question{f.Addr, f.Module, uint32(k)})
		}
	}
	slices.SortFunc(w.order, func(a, b question) int {
		if a.module != b.module {
			return cmp.Compare(a.module, b.module)
		}
		return cmp.Compare(a.addr, b.addr)
	})
	for rest := w.order; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].module == rest[0].module {
			n++
		}
		r.answer(w, rest[:n])
		if len(w.frames) > windowLimit && count > 1 {
			return false
		}
		rest = rest[n:]
	}
	return true
}

// answer answers questions about a module. A panic caused by a file must not
// end the server: the module counts as missing.
func (r *Result) answer(w *window, asked []question) {
	mod := &r.Modules[asked[0].module]
	first := len(w.frames)
	defer func() {
		if p := recover(); p != nil {
			w.drop(mod, asked, first, fault.Panicked("", p))
		}
	}()
	start, most := r.now(), r.cfg.Deadline
	spent, interval := &mod.spent, clockInterval
	if r.isLimited {
		spent, interval = &r.spent, 1
	}
	defer func() { *spent += r.now().Sub(start) }()
	for n, q := range asked {
		if len(w.frames) > windowLimit && n > 0 {
			return // fill returns false
		}
		if most > 0 && n%interval == interval-1 && !mod.handle.Quick() && *spent+r.now().Sub(start) > most {
			mod.Report.Late = true
			metric.Modules.Add(1, "deadline")
			w.drop(mod, asked, first, fault.New(fault.Timeout, "", "lookups exceeded %v", most))
			return
		}
		s := &w.spans[q.index]
		if n > 0 && asked[n-1].addr == q.addr {
			*s = w.spans[asked[n-1].index]
		} else {
			s.from = uint32(len(w.frames))
			if !r.req.Nearest {
				w.frames = mod.handle.Lookup(w.frames, q.addr)
			} else if f, ok := mod.handle.Nearest(q.addr); ok {
				w.frames = append(w.frames, f)
			}
			s.to = uint32(len(w.frames))
		}
	}
}

// drop makes mod a missing module in this window and the following ones.
func (w *window) drop(mod *Module, asked []question, first int, why *fault.Error) {
	mod.Found, mod.Report.Fault = false, why
	w.frames = w.frames[:first]
	for _, q := range asked {
		w.spans[q.index] = span{}
	}
}
