package mozilla

import (
	"net/http"
	"strconv"
	"unicode/utf8"

	"symbolon/internal/api/json"
	"symbolon/internal/sym"
)

// encoder writes an answer.
type encoder struct {
	*answer
	json.Encoder
	to http.ResponseWriter
}

// begin starts to write the answer a to w.
func (e *encoder) begin(a *answer, w http.ResponseWriter) {
	e.answer, e.to = a, w
	e.Begin(w)
}

// end sends the rest of the answer.
func (e *encoder) end() {
	if !e.Sent { // the rest is all of it
		e.to.Header().Set("Content-Length", strconv.Itoa(len(e.Buf)))
	}
	e.Flush()
	e.Encoder.Release()
}

// moduleKey writes the name and the id of a module as the name of a member. A
// long one is sent in pieces.
func (e *encoder) moduleKey(m int32) {
	e.OpenString()
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
	e.CloseKey()
}

// text writes the name of a function of module m.
func (e *encoder) text(m int32, t sym.Text) {
	e.OpenString()
	e.appendText(m, t)
	e.CloseString()
}

// file writes the path of a source file of module m, and reports whether it is not
// empty.
func (e *encoder) file(m int32, t sym.Text) bool {
	e.OpenString()
	from := len(e.Buf)
	out, plain := e.AppendFile(e.Buf, m, t)
	e.Escape(out, from, plain)
	isPath := len(e.Buf) > from
	e.CloseString()
	return isPath
}

// appendText appends a string of module m within quotes.
func (e *encoder) appendText(m int32, t sym.Text) {
	from := len(e.Buf)
	out, plain := e.AppendText(e.Buf, m, t)
	e.Escape(out, from, plain)
}

// hasSymbols writes whether a module has symbols, or null if it was not looked up.
func (e *encoder) hasSymbols(m int32) {
	if !e.isLookedUp(m) {
		e.Raw("null")
		return
	}
	e.Bool(e.found[m].Found)
}
