package sentry

import (
	"io"
	"time"

	"symbolon/internal/api/json"
	"symbolon/internal/demangle"
	"symbolon/internal/sym"
	"symbolon/internal/symbolicate"
)

// result is what the encoder uses of a *symbolicate.Result. Tests have others.
type result interface {
	Next() (modules []int32, more bool)
	Open(from, to int)
	Addr(i int) (addr uint64, ok bool)
	Frames(i int) ([]sym.Frame, error)
	AppendRaw(dst []byte, m int32, t sym.Text) (out []byte, plain bool)
	Source(m int32, path string) (text []byte, link string)
	Release()
}

// encoder writes the answer to a question.
type encoder struct {
	*question
	json.Encoder
	res      result
	req      *symbolicate.Request
	known    []symbolicate.Module
	names    *names
	work     demangle.Work // on names of this answer
	excerpts *excerpts
	patience time.Duration // the time limit of a download
	to       io.Writer
	txt      []byte   // a string of a frame
	sent     extras   // of the frame that is being written
	packages []string // names of modules, as JSON; "": not made yet

	first, end int // the frames of the stack trace that is being written
}

// answer writes a completed answer.
func (e *encoder) answer() {
	e.Open('{')
	e.Key("status")
	e.String("completed")
	if e.hasSignal {
		e.Key("signal")
		e.Uint(uint64(e.signal))
	}
	e.Key("stacktraces")
	e.Open('[')
	first := 0
	for s := range e.stacks {
		e.stack(&e.stacks[s], first)
		first = e.stacks[s].end
	}
	e.Close(']')
	e.Key("modules")
	e.Open('[')
	for m := range e.modules {
		e.module(int32(m))
		e.Spill()
	}
	e.Close(']')
	e.Close('}')
	e.Flush()
}

// stack writes a stack trace whose frames begin at first.
func (e *encoder) stack(s *stack, first int) {
	e.first, e.end = first, s.end
	e.Open('{')
	if s.hasID {
		e.Key("thread_id")
		e.Uint(s.threadID)
	}
	if s.threadName.ok {
		e.Key("thread_name")
		e.String(s.threadName.text)
	}
	if s.requesting != unset {
		e.Key("is_requesting")
		e.Bool(s.requesting == yes)
	}
	if len(s.registers) > 0 {
		e.Key("registers")
		e.Open('{')
		for _, r := range s.registers {
			e.OpenString()
			e.Buf = json.AppendEscaped(e.Buf, r.name)
			e.CloseKey()
			e.Hex(r.value)
		}
		e.Close('}')
	}
	e.Key("frames")
	e.Open('[')
	for i := first; i < s.end && e.Spill(); i++ {
		e.frame(i)
	}
	e.Close(']')
	e.Close('}')
}

// member writes a member that is a string.
func (e *encoder) member(name, text string) {
	e.Key(name)
	e.String(text)
}
