package json

import (
	"io"
	"strconv"
	"sync"
)

// pieceSize is the number of bytes that Spill writes together.
const pieceSize = 64 << 10

// An Encoder writes one document, or one on each line. Callers may append to
// Buf themselves where they know that no comma is needed.
type Encoder struct {
	Buf  []byte // not written yet
	Err  error  // the first error of the writer, or one that the caller sets
	Sent bool   // a part of the document is written

	w       io.Writer
	pooled  *[]byte // owns the memory of Buf
	scratch []byte
	comma   bool // the next key or value needs a comma before it
}

// buffers has memory for encoders.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// Begin starts a document that is written to w. Call Release.
func (e *Encoder) Begin(w io.Writer) {
	e.w, e.pooled = w, buffers.Get().(*[]byte)
	e.Buf = (*e.pooled)[:0]
}

// Release returns the memory of Buf, if Begin was called.
func (e *Encoder) Release() {
	if e.pooled == nil {
		return
	}
	if cap(e.Buf) <= 4*pieceSize {
		*e.pooled = e.Buf
		buffers.Put(e.pooled)
	}
	e.Buf, e.pooled = nil, nil
}

// Spill calls Flush if Buf is large. It returns false after an error.
func (e *Encoder) Spill() bool {
	if len(e.Buf) >= pieceSize {
		e.Flush()
	}
	return e.Err == nil
}

// Flush writes Buf and empties it.
func (e *Encoder) Flush() {
	if e.Err == nil {
		_, e.Err = e.w.Write(e.Buf)
		e.Sent = true
	}
	e.Buf = e.Buf[:0]
}

// value prepares for a value. Here and below, Buf is appended to in place: the
// compiler then stores a new pointer only when the memory grows, which saves a
// tenth of the time of an answer.
func (e *Encoder) value() {
	if e.comma {
		e.Buf = append(e.Buf, ',')
	}
	e.comma = true
}

// Open begins an array or an object with its bracket.
func (e *Encoder) Open(bracket byte) {
	e.value()
	e.Buf = append(e.Buf, bracket)
	e.comma = false
}

// Close ends an array or an object.
func (e *Encoder) Close(bracket byte) {
	e.Buf = append(e.Buf, bracket)
	e.comma = true
}

// EndLine ends a line. The next value begins another document.
func (e *Encoder) EndLine() {
	e.Buf = append(e.Buf, '\n')
	e.comma = false
}

// Key begins a member of an object and returns e, for its value. The name must not
// need escapes.
func (e *Encoder) Key(name string) *Encoder {
	if e.comma {
		e.Buf = append(e.Buf, ',', '"')
	} else {
		e.Buf = append(e.Buf, '"')
	}
	e.Buf = append(e.Buf, name...)
	e.Buf = append(e.Buf, '"', ':')
	e.comma = false
	return e
}

// Raw writes a value that is JSON already.
func (e *Encoder) Raw(text string) {
	e.value()
	e.Buf = append(e.Buf, text...)
}

// RawBytes writes a value that is JSON already.
func (e *Encoder) RawBytes(text []byte) {
	e.value()
	e.Buf = append(e.Buf, text...)
}

// String writes a string.
func (e *Encoder) String(s string) {
	e.value()
	e.Buf = AppendQuoted(e.Buf, s)
}

// Bytes writes a string.
func (e *Encoder) Bytes(s []byte) {
	e.value()
	e.Buf = AppendQuoted(e.Buf, s)
}

// OpenString begins a string. The caller appends its escaped inside to Buf, and
// ends it with CloseString or CloseKey.
func (e *Encoder) OpenString() {
	e.value()
	e.Buf = append(e.Buf, '"')
}

// CloseString ends a string.
func (e *Encoder) CloseString() { e.Buf = append(e.Buf, '"') }

// CloseKey ends a string that is the name of a member.
func (e *Encoder) CloseKey() {
	e.Buf = append(e.Buf, '"', ':')
	e.comma = false
}

// Escape sets Buf to buf, after escaping its end from an offset on as the inside of
// a string; isPlain states that it needs no escapes.
func (e *Encoder) Escape(buf []byte, from int, isPlain bool) {
	if e.Buf = buf; !isPlain {
		e.escape(from)
	}
}

func (e *Encoder) escape(from int) {
	e.scratch = append(e.scratch[:0], e.Buf[from:]...)
	e.Buf = AppendEscaped(e.Buf[:from], e.scratch)
}

// Hex writes a string with a number in hexadecimal digits after 0x. It appends in
// place, which takes less time than strconv.
func (e *Encoder) Hex(v uint64) {
	var text [19]byte // 0x, 16 digits and a quote
	i := len(text) - 1
	text[i] = '"'
	for {
		i--
		text[i] = hexDigits[v&15]
		if v >>= 4; v == 0 {
			break
		}
	}
	e.value()
	e.Buf = append(e.Buf, `"0x`...)
	e.Buf = append(e.Buf, text[i:]...)
}

// Int writes a number.
func (e *Encoder) Int(v int) {
	e.value()
	e.Buf = strconv.AppendInt(e.Buf, int64(v), 10)
}

// Uint writes a number.
func (e *Encoder) Uint(v uint64) {
	e.value()
	e.Buf = strconv.AppendUint(e.Buf, v, 10)
}

// Float writes a number, which must be finite.
func (e *Encoder) Float(v float64) {
	e.value()
	e.Buf = strconv.AppendFloat(e.Buf, v, 'f', -1, 64)
}

// Bool writes true or false.
func (e *Encoder) Bool(v bool) {
	e.value()
	e.Buf = strconv.AppendBool(e.Buf, v)
}
