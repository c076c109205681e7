package sentry

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"hash/maphash"
	"io"
	"net/http"
	"slices"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/api/jobs"
)

// linesType is the content type of an answer in lines.
const linesType = "application/x-ndjson"

// wantsLines says that a client names lines and does not like JSON better.
func wantsLines(r *http.Request) bool {
	accepted := r.Header.Values("Accept")
	weight := api.Weight(accepted, linesType)
	return weight > 0 && weight >= api.Weight(accepted, "application/json")
}

const (
	lineBytes = 16 << 10               // lines are sent when they have so many bytes
	lineTime  = 100 * time.Millisecond // or the last ones are so old, or nothing follows yet
)

// stream answers in lines: one for each stack trace as soon as all of its modules
// are decided, one for each module, and the status. A client that leaves ends
// the work, as nobody else could have the answer.
func (d *Door) stream(w http.ResponseWriter, r *http.Request, j *jobs.Job, engine run, q *question) {
	defer d.jobs.Drop(j)
	ctx, cancel := context.WithTimeout(r.Context(), jobs.Longest)
	defer cancel()
	w.Header().Set("Content-Type", linesType)
	out := &lineOut{to: w}
	e := &encoder{question: q, req: q.ask(), names: &d.names, to: &timed{ctx, out}, patience: d.deps.Patience, excerpts: newExcerpts()}
	err := d.writeLines(ctx, w, engine, e)
	if r.Context().Err() != nil {
		return
	}
	if err != nil {
		out.end(e.Buf)
	}
	e.Encoder.Release()
	status, message := "completed", ""
	if err != nil {
		status, message = outcome(err)
	}
	if status == "internal_error" {
		d.deps.Log.Error("the engine could not answer", "error", err)
	}
	if out.open {
		d.deps.Log.Warn("an answer ends in the middle of a line", "request_id", api.RequestID(r.Context()), "status", status)
		panic(http.ErrAbortHandler)
	}
	_ = json.NewEncoder(w).Encode(struct {
		Type    string `json:"type"`
		Status  string `json:"status"`
		Message string `json:"message,omitempty"`
		Signal  any    `json:"signal,omitempty"`
	}{"status", status, message, e.signalOf()}) // a client that left has no use for the error
}

// lineOut is where lines go to. It knows whether a part of one is out.
type lineOut struct {
	to   io.Writer
	open bool
}

func (w *lineOut) Write(b []byte) (int, error) {
	if len(b) > 0 {
		w.open = b[len(b)-1] != '\n'
	}
	return w.to.Write(b)
}

// end passes on of what could not be completed the lines that are.
func (w *lineOut) end(rest []byte) {
	if n := bytes.LastIndexByte(rest, '\n') + 1; n > 0 {
		_, _ = w.Write(rest[:n]) // a client that left has no use for the error
	}
}

// signalOf is the signal as it was sent; nil: there was none.
func (q *question) signalOf() any {
	if !q.hasSignal {
		return nil
	}
	return q.signal
}

// lines is an answer in lines on its way.
type lines struct {
	*encoder
	door *Door
	ctx  context.Context
	w    http.ResponseWriter
	look begun
	last time.Time // when something was sent

	waiting []int32   // for each stack trace, of how many modules it waits
	in      [][]int32 // for each module, the stack traces that it is in
	early   []early   // modules that were written before one of these
	seed    maphash.Seed
}

// early is a module that may still be lost, and a hash of what was said of it.
type early struct {
	module int32
	hash   uint64
}

func (d *Door) writeLines(ctx context.Context, w http.ResponseWriter, engine run, e *encoder) error {
	e.Begin(e.to)
	known, look, err := engine(ctx, e.req)
	if err != nil {
		return err
	}
	defer look.Release()
	e.known, e.lookups = known, look
	l := &lines{encoder: e, door: d, ctx: ctx, w: w, look: look, last: d.deps.Now(), seed: maphash.MakeSeed()}
	e.excerpts.waits = l.flush
	ready := l.link()
	for more := true; more; ready = nil {
		var modules []int32
		modules, more = look.Next()
		if err := context.Cause(ctx); err != nil {
			return err // what is decided now is not the truth
		}
		l.decided(ready, modules)
		if more && len(l.Buf) > 0 {
			l.flush()
		}
		if e.Err != nil {
			return e.Err
		}
	}
	l.correct()
	l.flush()
	return e.Err
}

// link finds out which stack traces wait for which modules, and which for none.
func (l *lines) link() (ready []int32) {
	l.waiting, l.in = make([]int32, len(l.stacks)), make([][]int32, len(l.modules))
	for s := range l.stacks {
		for i := l.first(s); i < l.stacks[s].end; i++ {
			m := l.req.Frames[i].Module
			if m < 0 {
				continue
			}
			if n := len(l.in[m]); n == 0 || l.in[m][n-1] != int32(s) {
				l.in[m] = append(l.in[m], int32(s))
				l.waiting[s]++
			}
		}
		if l.waiting[s] == 0 {
			ready = append(ready, int32(s))
		}
	}
	return ready
}

// first is where the frames of a stack trace begin.
func (l *lines) first(s int) int {
	if s == 0 {
		return 0
	}
	return l.stacks[s-1].end
}

// decided writes the stack traces that wait for nothing, with those that waited for
// nothing but these modules, and then what became of the modules.
func (l *lines) decided(ready, modules []int32) {
	for _, m := range modules {
		for _, s := range l.in[m] {
			if l.waiting[s]--; l.waiting[s] == 0 {
				ready = append(ready, s)
			}
		}
	}
	slices.Sort(ready)
	l.write(ready)
	slices.Sort(modules)
	for _, m := range modules {
		if l.Err != nil {
			return
		}
		from := l.module(m)
		if slices.ContainsFunc(l.in[m], func(s int32) bool { return l.waiting[s] > 0 }) {
			l.early = append(l.early, early{m, maphash.Bytes(l.seed, l.Buf[from:])})
		}
		l.spill()
	}
}

// write writes stack traces, in rising order. Those that follow one another are
// looked up together.
func (l *lines) write(ready []int32) {
	for len(ready) > 0 && l.Err == nil {
		n := 1
		for n < len(ready) && ready[n] == ready[n-1]+1 {
			n++
		}
		from, to := l.first(int(ready[0])), l.stacks[ready[n-1]].end
		l.look.Open(from, to)
		l.door.gather(l.ctx, l.encoder, from, to)
		for _, s := range ready[:n] {
			l.begin("stacktrace", int(s))
			l.stack(&l.stacks[s], l.first(int(s)))
			if l.Err != nil {
				return
			}
			l.endLine()
			l.spill()
		}
		ready = ready[n:]
	}
}

// module writes the line of a module, and tells where it begins.
func (l *lines) module(m int32) (from int) {
	l.Spill()
	from = len(l.Buf)
	l.begin("module", int(m))
	l.encoder.module(m)
	l.endLine()
	return from
}

// correct writes the modules once more of which something else is to be said by
// now: their addresses could not be looked up, or sources of theirs were fetched.
func (l *lines) correct() {
	slices.SortFunc(l.early, func(a, b early) int { return cmp.Compare(a.module, b.module) })
	for _, was := range l.early {
		from := l.module(was.module)
		if maphash.Bytes(l.seed, l.Buf[from:]) == was.hash {
			l.Buf = l.Buf[:from]
		}
		l.spill()
	}
}

// begin begins the line of a stack trace or a module.
func (l *lines) begin(kind string, index int) {
	l.Open('{')
	l.member("type", kind)
	l.Key("index")
	l.Int(index)
	l.Key(kind)
}

func (l *lines) endLine() {
	l.Close('}')
	l.EndLine()
}

// spill sends what is there if it is much, or old.
func (l *lines) spill() {
	if len(l.Buf) >= lineBytes || l.door.deps.Now().Sub(l.last) >= lineTime {
		l.flush()
	}
}

// flush sends what is there.
func (l *lines) flush() {
	l.Flush()
	if f, ok := l.w.(http.Flusher); ok {
		f.Flush()
	}
	l.last = l.door.deps.Now()
}
