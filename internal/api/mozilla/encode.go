package mozilla

import (
	"net/http"
	"strconv"
	"sync"

	"symbolon/internal/api"
	"symbolon/internal/sym"
)

// pieceSize is how much of an answer is put together before it is sent.
const pieceSize = 64 << 10

// encoder writes an answer as JSON, in pieces. After the first error it writes
// nothing more.
type encoder struct {
	*answer
	to    http.ResponseWriter
	buf   []byte
	piece *[]byte
	txt   []byte // a string on its way
	err   error
	sent  bool // some of it
	comma bool // the next element needs one in front
}

// pieces is memory for answers.
var pieces = sync.Pool{New: func() any { return new([]byte) }}

// begin takes memory for the answer a, which goes to w.
func (e *encoder) begin(a *answer, w http.ResponseWriter) {
	e.answer, e.to = a, w
	e.piece = pieces.Get().(*[]byte)
	e.buf = (*e.piece)[:0]
}

// end sends what is left and gives the memory back.
func (e *encoder) end() {
	if !e.sent { // this is all of it
		e.to.Header().Set("Content-Length", strconv.Itoa(len(e.buf)))
	}
	e.flush()
	if cap(e.buf) <= 4*pieceSize {
		*e.piece = e.buf
		pieces.Put(e.piece)
	}
	e.buf, e.piece = nil, nil
}

// spill sends what is there if it is enough for a piece. It is false when
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
	e.buf, e.sent = e.buf[:0], true
}

// raw appends JSON as it is.
func (e *encoder) raw(text string) { e.buf = append(e.buf, text...) }

// element begins the next element of the array that is open.
func (e *encoder) element() {
	if e.comma {
		e.buf = append(e.buf, ',')
	}
	e.comma = true
}

// open and shut begin and end an array or object.
func (e *encoder) open(bracket byte) {
	e.buf = append(e.buf, bracket)
	e.comma = false
}

func (e *encoder) shut(bracket byte) {
	e.buf = append(e.buf, bracket)
	e.comma = true
}

// key begins the next member of the object that is open. The name needs no
// escapes.
func (e *encoder) key(name string) {
	e.element()
	e.buf = append(e.buf, '"')
	e.buf = append(e.buf, name...)
	e.buf = append(e.buf, '"', ':')
}

// keyOf is key for a name from outside.
func (e *encoder) keyOf(name string) {
	e.element()
	e.text(name)
	e.buf = append(e.buf, ':')
}

// keyOfModule is key for a module as it was sent.
func (e *encoder) keyOfModule(m module) {
	e.element()
	e.buf = append(e.buf, '"')
	e.buf = api.AppendEscaped(e.buf, m.file)
	e.buf = append(e.buf, '/')
	e.buf = api.AppendEscaped(e.buf, m.id)
	e.buf = append(e.buf, '"', ':')
}

// text appends a string.
func (e *encoder) text(s string) {
	e.buf = append(e.buf, '"')
	e.buf = api.AppendEscaped(e.buf, s)
	e.buf = append(e.buf, '"')
}

// string appends what a handle of module m stands for, and says whether that
// is anything.
func (e *encoder) string(m int32, t sym.Text) bool {
	e.buf = append(e.buf, '"')
	from := len(e.buf)
	e.inside(m, t)
	some := len(e.buf) > from
	e.buf = append(e.buf, '"')
	return some
}

// inside is string without its quotes.
func (e *encoder) inside(m int32, t sym.Text) {
	from := len(e.buf)
	out, plain := e.AppendText(e.buf, m, t)
	if !plain {
		e.txt = append(e.txt[:0], out[from:]...)
		out = api.AppendEscaped(out[:from], e.txt)
	}
	e.buf = out
}

// hex appends the digits of a number with 0x.
func (e *encoder) hex(v uint64) {
	e.raw("0x")
	e.buf = strconv.AppendUint(e.buf, v, 16)
}

func (e *encoder) int(v int64) { e.buf = strconv.AppendInt(e.buf, v, 10) }

// float appends a number that is neither infinite nor none.
func (e *encoder) float(v float64) { e.buf = strconv.AppendFloat(e.buf, v, 'f', -1, 64) }

func (e *encoder) bool(v bool) { e.buf = strconv.AppendBool(e.buf, v) }
