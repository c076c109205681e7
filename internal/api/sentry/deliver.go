package sentry

import (
	"context"
	"errors"
	"io"
	"net/http"

	"symbolon/internal/api"
	"symbolon/internal/api/jobs"
	"symbolon/internal/fault"
	"symbolon/internal/symbolicate"
)

// A format writes an answer: a document, or lines.
type format interface {
	begin()
	decided(modules []int32, more bool) // the outcome of these modules is known
	end()                               // of all modules
}

// deliver has the engine answer a request, and f write the answer by way of e. It
// is the only path from a request to its answer.
func (d *Door) deliver(ctx context.Context, begin engine, e *encoder, f format) (err error) {
	defer fault.Recover("", &err)
	e.known, e.res = begin(ctx, e.req)
	e.Begin(&timed{ctx, e.to})
	f.begin()
	for more := true; more; {
		var modules []int32
		modules, more = e.res.Next()
		if err := context.Cause(ctx); err != nil {
			return err // modules may be missing only because of that
		}
		if f.decided(modules, more); e.Err != nil {
			return e.Err
		}
	}
	f.end()
	return e.Err
}

// answer works on a job until it has an answer. Downloads and tables that other clients
// wait for continue after a client has disconnected.
func (d *Door) answer(j *jobs.Job, begin engine, q *request, requestID string) {
	a := d.jobs.NewAnswer()
	err := q.addStacks(j.Context())
	if err == nil {
		doc := &document{encoder: d.newEncoder(q, a), door: d, job: j}
		defer doc.release() // after the client has its answer
		err = d.deliver(j.Context(), begin, doc.encoder, doc)
	}
	if a.End(); err != nil {
		a.Free()
		a = d.failed(err, requestID)
	}
	d.jobs.Finish(j, a)
}

// document is an answer as one JSON document, written when all modules are
// decided.
type document struct {
	*encoder
	door *Door
	job  *jobs.Job
}

func (doc *document) begin()                {}
func (doc *document) decided([]int32, bool) {}

func (doc *document) end() {
	doc.res.Open(0, len(doc.req.Frames))
	doc.door.jobs.Encodes(doc.job)
	doc.door.findSources(doc.job.Context(), doc.encoder, 0, len(doc.req.Frames))
	doc.answer()
}

// failed returns the answer for a request that failed.
func (d *Door) failed(err error, requestID string) *jobs.Answer {
	status, message := d.outcome(err, requestID)
	if message == "" {
		return jobs.Brief(`{"status":"` + status + `"}`)
	}
	return jobs.Brief(`{"status":"` + status + `","message":"` + message + `"}`)
}

// outcome returns the status of an answer and a message for the client. It logs
// failures of the engine.
func (d *Door) outcome(err error, requestID string) (status, message string) {
	switch {
	case err == nil:
		return "completed", ""
	case errors.Is(err, symbolicate.ErrTooManyFrames):
		return "failed", "the answer has too many frames; ask for fewer addresses in a single request"
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout", ""
	case !errors.Is(err, context.Canceled): // by a client that left, or at the end of the server
		d.deps.Log.Error("symbolication failed", "request_id", requestID, "error", err)
	}
	return "internal_error", ""
}

// timed fails to write after ctx has ended.
type timed struct {
	ctx context.Context
	to  io.Writer
}

func (t *timed) Write(b []byte) (int, error) {
	if err := t.ctx.Err(); err != nil {
		return 0, err
	}
	return t.to.Write(b)
}

// stream answers in lines. The work ends when the client leaves, since no other
// client could get the answer.
func (d *Door) stream(w http.ResponseWriter, r *http.Request, j *jobs.Job, begin engine, q *request) {
	defer d.jobs.Drop(j)
	ctx, cancel := context.WithTimeout(r.Context(), jobs.Longest)
	defer cancel()
	w.Header().Set("Content-Type", linesType)
	err := q.addStacks(ctx)
	l := newLines(ctx, d, q, w)
	defer l.release()
	if err == nil {
		err = d.deliver(ctx, begin, l.encoder, l)
	}
	if r.Context().Err() != nil {
		return
	}
	status, message := d.outcome(err, api.RequestID(r.Context()))
	if !l.finish(status, message) {
		d.deps.Log.Warn("an answer was cut off within a line", "request_id", api.RequestID(r.Context()), "status", status)
		panic(http.ErrAbortHandler)
	}
}

// answer writes a completed answer.
func (e *encoder) answer() {
	e.Open('{')
	e.Key("status").String("completed")
	if e.HasSignal {
		e.Key("signal").Uint(uint64(e.Signal))
	}
	if e.crash != nil {
		e.crashFields()
	}
	e.Key("stacktraces").Open('[')
	first := 0
	for s := range e.Stacks {
		e.stack(&e.Stacks[s], first)
		first = e.Stacks[s].End
	}
	e.Close(']')
	e.Key("modules").Open('[')
	for m := range e.Modules {
		e.module(int32(m))
		e.Spill()
	}
	e.Close(']')
	e.Close('}')
	e.Flush()
}
