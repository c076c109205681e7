package sentry

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"runtime/debug"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/symbolicate"
)

// answer works on a job until it has an answer, whatever becomes of its
// client. What the request leaves behind in the caches is of use in any case.
func (d *Door) answer(j *job, engine run, q *question, requestID string) {
	ctx, cancel := context.WithTimeout(d.ctx, longestJob)
	defer cancel()
	a, look := d.encode(ctx, j, engine, q, requestID)
	switch told, left := d.jobs.finish(j, a); {
	case told:
		d.keep(j, a)
	case left:
		a.free()
	}
	if look != nil {
		look.Release() // the answer is out
	}
}

// keep keeps an answer that a client knows of, here and for the other nodes.
func (d *Door) keep(j *job, a *answer) {
	kept := a.kept()
	a.release()
	stored := false
	if d.deps.Store != nil {
		j.writes.Wait() // what is pending must not be written over the answer
		stored = d.put(j, append([]byte{isAnswer}, kept.packed...), d.cfg.Retention)
	}
	d.jobs.keep(j, kept, stored)
}

// encode makes the answer to a question. It always has one.
func (d *Door) encode(ctx context.Context, j *job, engine run, q *question, requestID string) (a *answer, look lookups) {
	defer func() {
		if p := recover(); p != nil {
			d.deps.Log.Error("a request panicked", "request_id", requestID, "panic", p, "stack", string(debug.Stack()))
			if a != nil {
				a.release()
			}
			a = brief(`{"status":"internal_error"}`)
		}
	}()
	req := q.ask()
	known, look, err := engine(ctx, req)
	if err != nil {
		return d.failed(err, requestID), nil
	}
	if !d.jobs.encodes(j) {
		return brief(`{"status":"internal_error"}`), look // which nobody reads
	}
	a = newAnswer(&d.plain)
	e := &encoder{question: q, lookups: look, req: req, known: known, names: &d.names, to: &timed{ctx, a}, patience: d.deps.Patience}
	e.excerpts = d.gather(ctx, q, req, known, look)
	e.answer()
	a.end()
	if e.Err != nil {
		a.free()
		return d.failed(e.Err, requestID), look
	}
	return a, look
}

// failed is the answer when there is none.
func (d *Door) failed(err error, requestID string) *answer {
	switch status, message := outcome(err); status {
	case "internal_error":
		d.deps.Log.Error("the engine could not answer", "request_id", requestID, "error", err)
		return brief(`{"status":"internal_error"}`)
	case "failed":
		return brief(`{"status":"failed","message":"` + message + `"}`)
	default:
		return brief(`{"status":"` + status + `"}`)
	}
}

// outcome is the status that an error leads to, and what is said about it.
func outcome(err error) (status, message string) {
	switch {
	case errors.Is(err, symbolicate.ErrTooManyFrames):
		return "failed", "the answer has too many frames; ask for fewer addresses in a single request"
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout", ""
	}
	return "internal_error", ""
}

// timed refuses to write when the time is over.
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
	lineTime  = 100 * time.Millisecond // or the last ones are so old
)

// stream answers in lines, each of which is sent as soon as it is there: one
// for each stack trace, one for each module, and the status. A client that
// leaves ends the work, as nobody else could have the answer.
func (d *Door) stream(w http.ResponseWriter, r *http.Request, j *job, engine run, q *question) {
	defer d.jobs.drop(j)
	ctx, cancel := context.WithTimeout(r.Context(), longestJob)
	defer cancel()
	w.Header().Set("Content-Type", linesType)
	e := &encoder{question: q, req: q.ask(), names: &d.names, to: &timed{ctx, w}, patience: d.deps.Patience}
	err := d.writeLines(ctx, w, engine, e)
	if r.Context().Err() != nil {
		return
	}
	status, message := "completed", ""
	if err != nil {
		status, message = outcome(err)
	}
	if status == "internal_error" {
		d.deps.Log.Error("the engine could not answer", "error", err)
	}
	_ = json.NewEncoder(w).Encode(struct {
		Type    string `json:"type"`
		Status  string `json:"status"`
		Message string `json:"message,omitempty"`
		Signal  any    `json:"signal,omitempty"`
	}{"status", status, message, e.signalOf()}) // a client that left has no use for the error
}

// signalOf is the signal as it was sent; nil: there was none.
func (q *question) signalOf() any {
	if !q.hasSignal {
		return nil
	}
	return q.signal
}

func (d *Door) writeLines(ctx context.Context, w http.ResponseWriter, engine run, e *encoder) error {
	known, look, err := engine(ctx, e.req)
	if err != nil {
		return err
	}
	defer look.Release()
	e.known, e.lookups = known, look
	e.Begin(e.to)
	defer e.Free()
	e.excerpts = d.gather(ctx, e.question, e.req, known, look)
	last := d.deps.Now()
	flush := func() {
		e.Flush()
		if f, ok := w.(http.Flusher); ok {
			f.Flush()
		}
		last = d.deps.Now()
	}
	line := func(kind string, index int, write func()) {
		e.Raw(`{"type":"` + kind + `","index":`)
		e.Int(index)
		e.Raw(`,"` + kind + `":`)
		write()
		e.Raw("}\n")
		if len(e.Buf) >= lineBytes || d.deps.Now().Sub(last) >= lineTime {
			flush()
		}
	}
	first := 0
	for i := range e.stacks {
		line("stacktrace", i, func() { e.stack(&e.stacks[i], first) })
		if e.Err != nil {
			return e.Err
		}
		first = e.stacks[i].end
	}
	for m := range e.modules {
		line("module", m, func() { e.module(int32(m)) })
	}
	flush()
	return e.Err
}
