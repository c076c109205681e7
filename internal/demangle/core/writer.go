package core

import "strconv"

// MaxText bounds the readable form of one name: 16 KiB.
const MaxText = 16 << 10

// Writer appends the readable form of a name to a buffer.
type Writer struct {
	Out   []byte
	start int
}

// NewWriter returns a Writer that appends to dst.
func NewWriter(dst []byte) Writer { return Writer{Out: dst, start: len(dst)} }

// Written returns the text written so far.
func (w *Writer) Written() []byte { return w.Out[w.start:] }

// IsFull reports whether the text is longer than it may be.
func (w *Writer) IsFull() bool { return len(w.Out)-w.start > MaxText }

// Last returns the last byte of the text, zero if there is none.
func (w *Writer) Last() byte {
	if len(w.Out) == w.start {
		return 0
	}
	return w.Out[len(w.Out)-1]
}

// AppendString writes a string.
func (w *Writer) AppendString(s string) { w.Out = append(w.Out, s...) }

// AppendByte writes a byte.
func (w *Writer) AppendByte(c byte) { w.Out = append(w.Out, c) }

// AppendInt writes a decimal number.
func (w *Writer) AppendInt(n int) { w.Out = strconv.AppendInt(w.Out, int64(n), 10) }
