package sentry

import (
	"context"
	"errors"
	"io"
	"runtime/debug"

	"symbolon/internal/api/jobs"
	"symbolon/internal/symbolicate"
)

// answer works on a job until it has an answer, or until its client left without
// its id. Downloads and tables that others wait for go on.
func (d *Door) answer(j *jobs.Job, engine run, q *question, requestID string) {
	a, look := d.encode(j, engine, q, requestID)
	d.jobs.Finish(j, a)
	if look != nil {
		look.Release() // the answer is out
	}
}

// encode makes the answer to a question. It always has one.
func (d *Door) encode(j *jobs.Job, engine run, q *question, requestID string) (a *jobs.Answer, look lookups) {
	defer func() {
		if p := recover(); p != nil {
			d.deps.Log.Error("a request panicked", "request_id", requestID, "panic", p, "stack", string(debug.Stack()))
			if a != nil {
				a.Free()
			}
			a = jobs.Brief(`{"status":"internal_error"}`)
		}
	}()
	ctx, req := j.Context(), q.ask()
	known, modules, err := engine(ctx, req)
	if err == nil {
		if err = modules.All(ctx); err != nil {
			modules.Release()
		}
	}
	if err != nil {
		return d.failed(err, requestID), nil
	}
	look = modules
	d.jobs.Encodes(j)
	a = d.jobs.NewAnswer()
	e := &encoder{question: q, lookups: look, req: req, known: known, names: &d.names, to: &timed{ctx, a}, patience: d.deps.Patience, excerpts: newExcerpts()}
	d.gather(ctx, e, 0, len(req.Frames))
	e.answer()
	a.End()
	if e.Err != nil {
		a.Free()
		return d.failed(e.Err, requestID), look
	}
	return a, look
}

// failed is the answer when there is none.
func (d *Door) failed(err error, requestID string) *jobs.Answer {
	switch status, message := outcome(err); status {
	case "internal_error":
		if !errors.Is(err, context.Canceled) { // then the client left, or the server ends
			d.deps.Log.Error("the engine could not answer", "request_id", requestID, "error", err)
		}
		return jobs.Brief(`{"status":"internal_error"}`)
	case "failed":
		return jobs.Brief(`{"status":"failed","message":"` + message + `"}`)
	default:
		return jobs.Brief(`{"status":"` + status + `"}`)
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
