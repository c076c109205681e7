package sentry

import (
	"io"
	"strconv"
	"sync"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/sym"
	"symbolon/internal/symbolicate"
)

// pieceSize is how much of an answer is put together before it is passed on.
const pieceSize = 64 << 10

// lookups are the answers of the engine.
type lookups interface {
	Addr(i int) (addr uint64, ok bool)
	Frames(i int) ([]sym.Frame, error)
	AppendRaw(dst []byte, m int32, t sym.Text) (out []byte, plain bool)
	Source(m int32, path string) (text []byte, link string)
	Release()
}

// encoder writes an answer as JSON, in pieces. After the first error it writes
// nothing more.
type encoder struct {
	*question
	lookups
	req      *symbolicate.Request
	known    []symbolicate.Module
	names    *names
	excerpts *excerpts
	patience time.Duration // how long a download may take
	to       io.Writer
	buf      []byte
	txt      []byte // a string on its way
	sent     extras // what came with the frame
	packages []string
	err      error
}

// pieces is memory for answers on their way.
var pieces = sync.Pool{New: func() any { return new([]byte) }}

// begin takes memory, which the function that it returns gives back.
func (e *encoder) begin() (end func()) {
	piece := pieces.Get().(*[]byte)
	e.buf = (*piece)[:0]
	return func() {
		if cap(e.buf) <= 4*pieceSize {
			*piece = e.buf
			pieces.Put(piece)
		}
		e.buf = nil
	}
}

// answer writes the whole of a completed answer.
func (e *encoder) answer() {
	defer e.begin()()
	e.raw(`{"status":"completed"`)
	if e.hasSignal {
		e.raw(`,"signal":`)
		e.buf = strconv.AppendUint(e.buf, uint64(e.signal), 10)
	}
	e.raw(`,"stacktraces":[`)
	first := 0
	for s := range e.stacks {
		if s > 0 {
			e.raw(`,`)
		}
		e.stack(&e.stacks[s], first)
		first = e.stacks[s].end
	}
	e.raw(`],"modules":[`)
	for m := range e.modules {
		if m > 0 {
			e.raw(`,`)
		}
		e.module(int32(m))
		e.spill()
	}
	e.raw(`]}`)
	e.flush()
}

// stack writes a stack trace, whose frames begin at first.
func (e *encoder) stack(s *stack, first int) {
	e.raw(`{`)
	if s.hasID {
		e.raw(`"thread_id":`)
		e.buf = strconv.AppendUint(e.buf, s.threadID, 10)
		e.raw(`,`)
	}
	if s.threadName.there {
		e.raw(`"thread_name":`)
		e.buf = appendQuoted(e.buf, s.threadName.text)
		e.raw(`,`)
	}
	if s.requesting != unsaid {
		e.raw(`"is_requesting":`)
		e.buf = strconv.AppendBool(e.buf, s.requesting == yes)
		e.raw(`,`)
	}
	for i, r := range s.registers {
		if i == 0 {
			e.raw(`"registers":{`)
		} else {
			e.raw(`,`)
		}
		e.buf = appendQuoted(e.buf, r.name)
		e.raw(`:`)
		e.hex(r.value)
	}
	if len(s.registers) > 0 {
		e.raw(`},`)
	}
	e.raw(`"frames":[`)
	comma := false
	for i := first; i < s.end && e.spill(); i++ {
		comma = e.frame(s, first, i, comma) || comma
	}
	e.raw(`]}`)
}

// spill passes on what is there if it is enough for a piece. It is false when
// nobody takes it.
func (e *encoder) spill() bool {
	if len(e.buf) >= pieceSize {
		e.flush()
	}
	return e.err == nil
}

func (e *encoder) flush() {
	if e.err == nil {
		_, e.err = e.to.Write(e.buf)
	}
	e.buf = e.buf[:0]
}

// raw appends JSON as it is.
func (e *encoder) raw(text string) { e.buf = append(e.buf, text...) }

// hex appends a number as a text in hexadecimal digits.
func (e *encoder) hex(v uint64) {
	e.raw(`"0x`)
	e.buf = strconv.AppendUint(e.buf, v, 16)
	e.raw(`"`)
}

// member appends a member that is a string, behind others.
func (e *encoder) member(name, text string) {
	e.name(name)
	e.buf = appendQuoted(e.buf, text)
}

// name appends the name of a member, behind others.
func (e *encoder) name(name string) {
	e.raw(`,"`)
	e.raw(name)
	e.raw(`":`)
}

// escape appends the inside of a string.
func (e *encoder) escape(text []byte) { e.buf = api.AppendEscaped(e.buf, text) }

func (e *encoder) int(v int) { e.buf = strconv.AppendInt(e.buf, int64(v), 10) }
