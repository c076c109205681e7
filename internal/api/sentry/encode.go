package sentry

import (
	"context"
	"io"
	"strconv"
	"time"

	"symbolon/internal/api/json"
	"symbolon/internal/demangle"
	"symbolon/internal/sym"
	"symbolon/internal/symbolicate"
)

// lookups are the answers of the engine.
type lookups interface {
	Addr(i int) (addr uint64, ok bool)
	Frames(i int) ([]sym.Frame, error)
	AppendRaw(dst []byte, m int32, t sym.Text) (out []byte, plain bool)
	Source(m int32, path string) (text []byte, link string)
	Release()
}

// begun are those of which the modules are still being opened: see
// symbolicate.Result.
type begun interface {
	lookups
	Next() (modules []int32, more bool)
	Open(from, to int)
	All(ctx context.Context) error
}

// encoder writes an answer as JSON, in pieces. After the first error it writes
// nothing more.
type encoder struct {
	*question
	lookups
	json.Pieces
	req      *symbolicate.Request
	known    []symbolicate.Module
	names    *names
	work     demangle.Work // on names of this answer
	excerpts *excerpts
	patience time.Duration // how long a download may take
	to       io.Writer
	txt      []byte // a string on its way
	sent     extras // what came with the frame
	packages []string
}

// answer writes the whole of a completed answer.
func (e *encoder) answer() {
	e.Begin(e.to)
	defer e.Free()
	e.Raw(`{"status":"completed"`)
	if e.hasSignal {
		e.Raw(`,"signal":`)
		e.Buf = strconv.AppendUint(e.Buf, uint64(e.signal), 10)
	}
	e.Raw(`,"stacktraces":[`)
	first := 0
	for s := range e.stacks {
		if s > 0 {
			e.Raw(`,`)
		}
		e.stack(&e.stacks[s], first)
		first = e.stacks[s].end
	}
	e.Raw(`],"modules":[`)
	for m := range e.modules {
		if m > 0 {
			e.Raw(`,`)
		}
		e.module(int32(m))
		e.Spill()
	}
	e.Raw(`]}`)
	e.Flush()
}

// stack writes a stack trace, whose frames begin at first.
func (e *encoder) stack(s *stack, first int) {
	e.Raw(`{`)
	if s.hasID {
		e.Raw(`"thread_id":`)
		e.Buf = strconv.AppendUint(e.Buf, s.threadID, 10)
		e.Raw(`,`)
	}
	if s.threadName.there {
		e.Raw(`"thread_name":`)
		e.Buf = json.AppendQuoted(e.Buf, s.threadName.text)
		e.Raw(`,`)
	}
	if s.requesting != unset {
		e.Raw(`"is_requesting":`)
		e.Buf = strconv.AppendBool(e.Buf, s.requesting == yes)
		e.Raw(`,`)
	}
	for i, r := range s.registers {
		if i == 0 {
			e.Raw(`"registers":{`)
		} else {
			e.Raw(`,`)
		}
		e.Buf = json.AppendQuoted(e.Buf, r.name)
		e.Raw(`:`)
		e.hex(r.value)
	}
	if len(s.registers) > 0 {
		e.Raw(`},`)
	}
	e.Raw(`"frames":[`)
	comma := false
	for i := first; i < s.end && e.Spill(); i++ {
		comma = e.frame(s, first, i, comma) || comma
	}
	e.Raw(`]}`)
}

// hex appends a number as a text in hexadecimal digits.
func (e *encoder) hex(v uint64) {
	e.Raw(`"`)
	e.Hex(v)
	e.Raw(`"`)
}

// member appends a member that is a string, behind others.
func (e *encoder) member(name, text string) {
	e.name(name)
	e.Buf = json.AppendQuoted(e.Buf, text)
}

// name appends the name of a member, behind others.
func (e *encoder) name(name string) {
	e.Raw(`,"`)
	e.Raw(name)
	e.Raw(`":`)
}

// escape appends the inside of a string.
func (e *encoder) escape(text []byte) { e.Buf = json.AppendEscaped(e.Buf, text) }
