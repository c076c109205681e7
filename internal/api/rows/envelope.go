package rows

import (
	"bytes"
	"fmt"
	"io"

	"symbolon/internal/filter/rawjson"
)

// envelope has the rows of a body, and the form of their answer.
type envelope struct {
	lines       []byte // a row on each
	contentType string
	before      string   // precedes the rows of the answer; empty: they are lines
	numbers     [][]byte // of the rows, in Snowflake's form
}

// open finds the rows of a body. A document with a list of lists as calls or data is
// an envelope, every other body has a row on each line.
func open(body []byte) (e envelope, err error) {
	r := rawjson.Reader{Data: body}
	for r.Enter('{'); r.Next(); {
		key := string(r.Key())
		r.Peek()
		list, isList := bytes.CutPrefix(body[r.Pos:], []byte("["))
		list = bytes.TrimLeft(list, " \t\r\n")
		isEnvelope := isList && len(list) > 0 && (list[0] == '[' || list[0] == ']') && err == nil
		switch {
		case isEnvelope && key == "calls":
			err = e.read(&r, `{"replies":[`, 1)
		case isEnvelope && key == "data":
			err = e.read(&r, `{"data":[`, 2)
		default:
			r.Skip()
		}
	}
	if e.before == "" {
		return envelope{lines: body, contentType: "application/x-ndjson"}, nil
	}
	if r.End(); r.Err != nil {
		err = fmt.Errorf("invalid body: %w", r.Err)
	}
	return e, err
}

// read reads a list of lists of n elements, the last of which are rows, and those
// before them numbers.
func (e *envelope) read(r *rawjson.Reader, before string, n int) (err error) {
	*e = envelope{contentType: "application/json", before: before}
	i := 0
	for r.Enter('['); r.Next(); i++ {
		k := 0
		for r.Enter('['); r.Next(); k++ {
			v := r.Skip()
			if k < n-1 {
				e.numbers = append(e.numbers, v)
				continue
			}
			from := len(e.lines)
			e.lines = append(append(e.lines, v...), '\n')
			for at := from; at < len(e.lines)-1; at++ {
				if e.lines[at] == '\n' {
					e.lines[at] = ' '
				}
			}
		}
		if k != n && err == nil {
			err = fmt.Errorf("invalid row %d: must be a list of %d, with the row as the last element", i, n)
		}
	}
	return err
}

// writer writes rows in the form of their envelope.
type writer struct {
	envelope
	to      io.Writer
	n       int // rows that are complete
	isInRow bool
	isBegun bool
	buf     []byte
}

// Write implements io.Writer.
func (w *writer) Write(p []byte) (int, error) {
	w.isBegun = true
	if w.before == "" {
		return w.to.Write(p)
	}
	w.buf = w.buf[:0]
	for rest := p; len(rest) > 0; {
		if !w.isInRow {
			w.beginRow()
		}
		part, after, isEnd := bytes.Cut(rest, []byte("\n"))
		w.buf, rest = append(w.buf, part...), after
		if w.isInRow = !isEnd; isEnd {
			if w.n++; w.numbers != nil {
				w.buf = append(w.buf, ']')
			}
		}
	}
	if _, err := w.to.Write(w.buf); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (w *writer) beginRow() {
	if w.n == 0 {
		w.buf = append(w.buf, w.before...)
	} else {
		w.buf = append(w.buf, ',')
	}
	if w.numbers != nil {
		w.buf = append(append(append(w.buf, '['), w.numbers[w.n]...), ',')
	}
}

// end writes the end of the answer.
func (w *writer) end() {
	switch {
	case w.before == "":
	case w.n == 0:
		_, _ = io.WriteString(w.to, w.before+"]}") // the client may have left
	default:
		_, _ = io.WriteString(w.to, "]}")
	}
}
