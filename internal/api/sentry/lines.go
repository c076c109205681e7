package sentry

import (
	"bytes"
	"cmp"
	"context"
	"hash/maphash"
	"io"
	"net/http"
	"slices"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/api/json"
)

// linesType is the content type of an answer in lines.
const linesType = "application/x-ndjson"

// wantsLines reports whether a client accepts lines and does not prefer JSON.
func wantsLines(r *http.Request) bool {
	accepted := r.Header.Values("Accept")
	weight := api.Weight(accepted, linesType)
	return weight > 0 && weight >= api.Weight(accepted, "application/json")
}

// Lines are sent when they have this many bytes, when the oldest waits this long,
// and before the encoder waits for something.
const (
	lineBytes = 16 << 10
	lineDelay = 100 * time.Millisecond
)

// lines writes an answer in lines: one for a crash, one for each stack trace as soon
// as all of its modules are decided, one for each module, and the status.
type lines struct {
	*encoder
	door *Door
	ctx  context.Context
	w    http.ResponseWriter
	out  *lineWriter
	sent time.Time // the time of the last flush

	ready   []int32   // stack traces that wait for no module and are not written
	waiting []int32   // for each stack trace, the number of its modules that are not decided
	users   [][]int32 // for each module, the stack traces that it is in
	early   []early   // modules that were written before one of their stack traces
	seed    maphash.Seed
}

// early is a module that may still change, and a hash of its line.
type early struct {
	module int32
	hash   uint64
}

func newLines(ctx context.Context, d *Door, q *request, w http.ResponseWriter) *lines {
	out := &lineWriter{to: w}
	l := &lines{encoder: d.newEncoder(q, out), door: d, ctx: ctx, w: w, out: out, sent: d.deps.Now(), seed: maphash.MakeSeed()}
	l.excerpts.waits = l.flush
	l.waiting, l.users = make([]int32, len(l.Stacks)), make([][]int32, len(l.Modules))
	for s := range l.Stacks {
		for i := l.firstFrame(s); i < l.Stacks[s].End; i++ {
			m := l.req.Frames[i].Module
			if m < 0 {
				continue
			}
			if n := len(l.users[m]); n == 0 || l.users[m][n-1] != int32(s) {
				l.users[m] = append(l.users[m], int32(s))
				l.waiting[s]++
			}
		}
		if l.waiting[s] == 0 {
			l.ready = append(l.ready, int32(s))
		}
	}
	return l
}

// firstFrame returns the index of the first frame of a stack trace.
func (l *lines) firstFrame(s int) int {
	if s == 0 {
		return 0
	}
	return l.Stacks[s-1].End
}

// begin writes the line of a crash.
func (l *lines) begin() {
	if l.crash == nil {
		return
	}
	l.Open('{')
	l.Key("type").String("crash")
	l.Key("crash").Open('{')
	l.crashFields()
	l.Close('}')
	l.Close('}')
	l.EndLine()
}

// decided writes the stack traces that wait for no other modules, and then the
// modules.
func (l *lines) decided(modules []int32, more bool) {
	for _, m := range modules {
		for _, s := range l.users[m] {
			if l.waiting[s]--; l.waiting[s] == 0 {
				l.ready = append(l.ready, s)
			}
		}
	}
	slices.Sort(l.ready)
	l.writeStacks(l.ready)
	l.ready = l.ready[:0]
	slices.Sort(modules)
	for _, m := range modules {
		if l.Err != nil {
			return
		}
		from := l.writeModule(m)
		if slices.ContainsFunc(l.users[m], func(s int32) bool { return l.waiting[s] > 0 }) {
			l.early = append(l.early, early{m, maphash.Bytes(l.seed, l.Buf[from:])})
		}
		l.flushOld()
	}
	if more && len(l.Buf) > 0 {
		l.flush()
	}
}

// end writes again the modules that have changed since: lookups in them failed,
// or source files of theirs were fetched.
func (l *lines) end() {
	slices.SortFunc(l.early, func(a, b early) int { return cmp.Compare(a.module, b.module) })
	for _, was := range l.early {
		from := l.writeModule(was.module)
		if maphash.Bytes(l.seed, l.Buf[from:]) == was.hash {
			l.Buf = l.Buf[:from]
		}
		l.flushOld()
	}
	l.flush()
}

// writeStacks writes stack traces, in ascending order. Consecutive ones are
// looked up together.
func (l *lines) writeStacks(ready []int32) {
	for len(ready) > 0 && l.Err == nil {
		n := 1
		for n < len(ready) && ready[n] == ready[n-1]+1 {
			n++
		}
		from, to := l.firstFrame(int(ready[0])), l.Stacks[ready[n-1]].End
		l.res.Open(from, to)
		l.door.findSources(l.ctx, l.encoder, from, to)
		for _, s := range ready[:n] {
			l.beginLine("stacktrace", int(s))
			l.stack(&l.Stacks[s], l.firstFrame(int(s)))
			if l.Err != nil {
				return
			}
			l.endLine()
			l.flushOld()
		}
		ready = ready[n:]
	}
}

// writeModule writes the line of a module, and returns its offset in Buf.
func (l *lines) writeModule(m int32) (from int) {
	l.Spill()
	from = len(l.Buf)
	l.beginLine("module", int(m))
	l.module(m)
	l.endLine()
	return from
}

func (l *lines) beginLine(kind string, index int) {
	l.Open('{')
	l.Key("type").String(kind)
	l.Key("index").Int(index)
	l.Key(kind)
}

func (l *lines) endLine() {
	l.Close('}')
	l.EndLine()
}

// flushOld flushes lines that are large or old.
func (l *lines) flushOld() {
	if len(l.Buf) >= lineBytes || l.door.deps.Now().Sub(l.sent) >= lineDelay {
		l.flush()
	}
}

func (l *lines) flush() {
	l.Flush()
	if f, ok := l.w.(http.Flusher); ok {
		f.Flush()
	}
	l.sent = l.door.deps.Now()
}

// finish sends the remaining complete lines and the line of the status. It returns false
// if a part of an incomplete line is sent already.
func (l *lines) finish(status, message string) bool {
	rest := l.Buf
	_, _ = l.out.Write(rest[:bytes.LastIndexByte(rest, '\n')+1]) // the client may have left
	if l.out.partial {
		return false
	}
	var last json.Encoder
	last.Begin(l.w)
	defer last.Release()
	last.Open('{')
	last.Key("type").String("status")
	last.Key("status").String(status)
	if message != "" {
		last.Key("message").String(message)
	}
	if l.HasSignal {
		last.Key("signal").Uint(uint64(l.Signal))
	}
	last.Close('}')
	last.EndLine()
	last.Flush()
	return true
}

// lineWriter records whether it ends within a line.
type lineWriter struct {
	to      io.Writer
	partial bool
}

func (w *lineWriter) Write(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	w.partial = b[len(b)-1] != '\n'
	return w.to.Write(b)
}
