package rawjson

import "bufio"

// An Editor writes a document with changes, which are made in the order of their
// positions. Errors of the writer are reported by its Flush.
type Editor struct {
	Out *bufio.Writer

	data []byte
	pos  int // of the first byte of data that is not written yet
}

// NewEditor returns an Editor of data that writes to out.
func NewEditor(out *bufio.Writer, data []byte) Editor { return Editor{Out: out, data: data} }

// Replace copies what precedes data[from:to], and omits these bytes. Their
// replacement, if there is one, must be written to Out next.
func (e *Editor) Replace(from, to int) {
	e.Out.Write(e.data[e.pos:from])
	e.pos = to
}

// Finish copies the rest of the document.
func (e *Editor) Finish() { e.Replace(len(e.data), len(e.data)) }
