package json

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
)

// ErrSyntax reports that the input is not JSON.
var ErrSyntax = errors.New("not JSON")

// ErrDepth reports that arrays and objects are nested too deeply.
var ErrDepth = fmt.Errorf("nested deeper than %d levels", maxDepth)

// Limits of the decoder. The depth is that of encoding/json.
const (
	bufferSize = 32 << 10
	maxDepth   = 10_000
	maxNumber  = 16 << 10 // bytes of a number
	maxString  = 4 << 10  // default of MaxString
)

// A Decoder reads one JSON document from a stream. After the first error its
// methods do nothing, and loops over Next end. It allocates only its buffers.
type Decoder struct {
	Err       error  // the first error
	Text      []byte // the last string that was kept, until the next one is read
	Truncated bool   // Text is only the beginning of the string
	MaxString int    // the number of bytes of a string that are kept
	HasBOM    bool   // the document begins with a byte order mark
	Unique    bool   // a Table rejects a second member with the same name

	src      io.Reader
	srcErr   error // the error of src: io.EOF or another one
	buf      []byte
	pos, end int
	open     []byte // closing brackets of the arrays and objects that were entered
}

// decoders has decoders for their memory.
var decoders = sync.Pool{New: func() any { return &Decoder{buf: make([]byte, bufferSize)} }}

// NewDecoder returns a decoder for the document in src. Call Release.
func NewDecoder(src io.Reader) *Decoder {
	d := decoders.Get().(*Decoder)
	*d = Decoder{src: src, buf: d.buf, open: d.open[:0], Text: d.Text[:0], MaxString: maxString}
	d.need(3)
	if bytes.HasPrefix(d.buf[:d.end], []byte("\ufeff")) {
		d.pos, d.HasBOM = 3, true
	}
	return d
}

// Release returns the memory of the decoder, which must not be used afterwards.
func (d *Decoder) Release() {
	d.src = nil
	if cap(d.Text) > maxString {
		d.Text = nil
	}
	decoders.Put(d)
}

// fill reads more input after the unread part of the buffer. It returns false at
// the end of the input.
func (d *Decoder) fill() bool {
	if d.srcErr != nil {
		return false
	}
	if d.pos > 0 {
		d.end = copy(d.buf, d.buf[d.pos:d.end])
		d.pos = 0
	}
	for range 100 {
		var n int
		n, d.srcErr = d.src.Read(d.buf[d.end:])
		d.end += n
		if n > 0 {
			return true
		}
		if d.srcErr != nil {
			return false
		}
	}
	d.srcErr = io.ErrNoProgress
	return false
}

// need reads until n bytes are in the buffer, or the input ends.
func (d *Decoder) need(n int) {
	for d.end-d.pos < n && d.fill() {
	}
}

// Fail sets Err, unless there is an error already.
func (d *Decoder) Fail(err error) {
	if d.Err == nil {
		d.Err = err
	}
}

// fail reports that the input is not JSON here, or could not be read.
func (d *Decoder) fail() {
	if d.srcErr != nil && d.srcErr != io.EOF {
		d.Fail(d.srcErr)
	}
	d.Fail(ErrSyntax)
}

// Peek skips white space and returns the byte after it, or 0 at the end or
// after an error. No value begins with 0.
func (d *Decoder) Peek() byte {
	if d.Err != nil {
		return 0
	}
	for {
		for d.pos < d.end {
			switch c := d.buf[d.pos]; c {
			case ' ', '\t', '\n', '\r':
				d.pos++
			default:
				return c
			}
		}
		if !d.fill() {
			return 0
		}
	}
}
