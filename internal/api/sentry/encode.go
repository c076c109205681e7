package sentry

import (
	"io"

	"symbolon/internal/api/json"
	"symbolon/internal/api/wire"
	"symbolon/internal/demangle"
	"symbolon/internal/symbolicate"
)

// encoder writes the answer to a request.
type encoder struct {
	*request
	json.Encoder
	res      result
	req      *symbolicate.Request
	known    []symbolicate.Module
	names    *names
	work     demangle.Work // on names of this answer
	excerpts *excerpts
	to       io.Writer
	txt      []byte      // a string of a frame
	sent     wire.Extras // of the frame that is being written
	packages []string    // names of modules, as JSON; "": not made yet

	first, end int // the frames of the stack trace that is being written
}

// newEncoder returns an encoder that writes to w.
func (d *Door) newEncoder(q *request, w io.Writer) *encoder {
	return &encoder{request: q, req: q.query(), names: &d.names, to: w, excerpts: newExcerpts()}
}

// release releases the result and the memory of the encoder.
func (e *encoder) release() {
	if e.res != nil {
		e.res.Release()
	}
	e.Encoder.Release()
}
