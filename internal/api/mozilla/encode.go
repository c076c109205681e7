package mozilla

import (
	"net/http"
	"strconv"
	"unicode/utf8"

	"symbolon/internal/api/json"
	"symbolon/internal/sym"
)

// encoder writes an answer as JSON, in pieces. After the first error it writes
// nothing more.
type encoder struct {
	*answer
	json.Pieces
	to    http.ResponseWriter
	txt   []byte // a string on its way
	comma bool   // the next element needs one in front
}

// begin takes memory for the answer a, which goes to w.
func (e *encoder) begin(a *answer, w http.ResponseWriter) {
	e.answer, e.to = a, w
	e.Begin(w)
}

// end sends what is left and gives the memory back.
func (e *encoder) end() {
	if !e.Sent { // this is all of it
		e.to.Header().Set("Content-Length", strconv.Itoa(len(e.Buf)))
	}
	e.Flush()
	e.Free()
}

// element begins the next element of the array that is open.
func (e *encoder) element() {
	if e.comma {
		e.Buf = append(e.Buf, ',')
	}
	e.comma = true
}

// open and shut begin and end an array or object.
func (e *encoder) open(bracket byte) {
	e.Buf = append(e.Buf, bracket)
	e.comma = false
}

func (e *encoder) shut(bracket byte) {
	e.Buf = append(e.Buf, bracket)
	e.comma = true
}

// key begins the next member of the object that is open. The name needs no
// escapes.
func (e *encoder) key(name string) {
	e.element()
	e.Buf = append(e.Buf, '"')
	e.Buf = append(e.Buf, name...)
	e.Buf = append(e.Buf, '"', ':')
}

// keyOfModule is key for a module as it was sent. A long name goes out in pieces.
func (e *encoder) keyOfModule(m int32) {
	e.element()
	e.Buf = append(e.Buf, '"')
	for _, text := range [...]string{e.modules[m].file, "/", e.modules[m].id} {
		for len(text) > maxText {
			n := maxText
			for n > 0 && !utf8.RuneStart(text[n]) {
				n--
			}
			e.Buf = json.AppendEscaped(e.Buf, text[:n])
			e.Spill()
			text = text[n:]
		}
		e.Buf = json.AppendEscaped(e.Buf, text)
	}
	e.Buf = append(e.Buf, '"', ':')
}

// text appends a string.
func (e *encoder) text(s string) {
	e.Buf = append(e.Buf, '"')
	e.Buf = json.AppendEscaped(e.Buf, s)
	e.Buf = append(e.Buf, '"')
}

// string appends what a handle of module m stands for, and says whether that
// is anything.
func (e *encoder) string(m int32, t sym.Text) bool {
	e.Buf = append(e.Buf, '"')
	from := len(e.Buf)
	e.inside(m, t)
	some := len(e.Buf) > from
	e.Buf = append(e.Buf, '"')
	return some
}

// inside is string without its quotes.
func (e *encoder) inside(m int32, t sym.Text) {
	from := len(e.Buf)
	out, plain := e.AppendText(e.Buf, m, t)
	if !plain {
		e.txt = append(e.txt[:0], out[from:]...)
		out = json.AppendEscaped(out[:from], e.txt)
	}
	e.Buf = out
}

// float appends a number that is neither infinite nor none.
func (e *encoder) float(v float64) { e.Buf = strconv.AppendFloat(e.Buf, v, 'f', -1, 64) }

func (e *encoder) bool(v bool) { e.Buf = strconv.AppendBool(e.Buf, v) }
