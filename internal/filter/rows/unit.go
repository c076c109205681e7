package rows

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"sync"

	"symbolon/internal/api/json"
)

const (
	maxUnit = 4 << 20  // bytes of rows that are looked up together
	maxRow  = 32 << 20 // longer ones are copied
)

var errLong = fmt.Errorf("invalid row: must be shorter than %d bytes", maxRow)

// unit is a number of rows that are rewritten together.
type unit struct {
	reader
	in     *bufio.Reader
	out    *bufio.Writer
	counts Counts

	isDocument bool // the rest of the input is one row

	input []byte
	ends  []int // of the rows in input
	rows  []row
	dst   []byte
}

// units have the memory of Filters that have ended.
var units = sync.Pool{New: func() any { return &unit{} }}

// free returns the memory of a unit to the pool, without the modules.
func (u *unit) free() {
	u.in, u.out, u.options, u.run, u.counts = nil, nil, nil, nil, Counts{}
	u.known, u.modules = nil, u.modules[:0]
	units.Put(u)
}

// rewrite reads and rewrites a unit of at most n rows. After the last one of the
// input it returns io.EOF.
func (u *unit) rewrite(ctx context.Context, n int) error {
	end := u.read(n)
	if end != nil && end != io.EOF && end != errLong {
		return end
	}
	u.reset()
	u.query.Called = true
	u.rows, u.frames, u.strings = u.rows[:0], u.frames[:0], u.strings[:0]
	from := 0
	for _, to := range u.ends {
		u.rows = append(u.rows, u.open(u.input[from:to:to]))
		from = to
	}
	if err := u.answerRequests(ctx); err != nil {
		return err
	}
	if err := u.look(ctx); err != nil {
		return err
	}
	u.skipUnanswered()
	err := u.write(ctx)
	u.release()
	if err == nil && end == errLong {
		err = u.copyLong(u.input[from:])
		end = nil
	}
	if err == nil && (u.in.Buffered() == 0 || end != nil) {
		err = u.out.Flush()
	}
	return cmp.Or(err, end)
}

// read reads rows until a unit is complete, or no more of them have been received.
// After a row that is too long it returns errLong.
func (u *unit) read(n int) error {
	u.input, u.ends = u.input[:0], u.ends[:0]
	for from := 0; ; {
		part, err := u.in.ReadSlice('\n')
		u.input = append(u.input, part...)
		isOpen := err == bufio.ErrBufferFull || err == nil && u.isDocument
		switch {
		case isOpen && len(u.input)-from > maxRow:
			u.isDocument = false // the rest is copied line by line
			return errLong
		case isOpen:
			continue
		case len(u.input) > from:
			from = len(u.input)
			u.ends = append(u.ends, from)
		}
		if err != nil || len(u.ends) == n || len(u.input) >= maxUnit || u.in.Buffered() == 0 {
			return err
		}
	}
}

// copyLong copies the rest of a row, after its beginning.
func (u *unit) copyLong(beginning []byte) error {
	u.counts.Rows++
	if u.options.Strict {
		u.writeError(errLong)
	} else {
		u.counts.Failed++
		u.out.Write(beginning)
	}
	for {
		part, err := u.in.ReadSlice('\n')
		if !u.options.Strict {
			u.out.Write(part)
		}
		if err != bufio.ErrBufferFull {
			return err
		}
	}
}

// write writes the rows with their answers.
func (u *unit) write(ctx context.Context) (err error) {
	for i, n := 0, 0; i < len(u.rows) && err == nil; i += n {
		w := &u.rows[i]
		n = 1
		switch {
		case w.shape == plainText && w.isString:
			err = u.writeString(ctx, w)
		case w.shape == plainText && !u.options.Strict:
			n, err = u.writeText(ctx, i)
		case w.shape == plainText:
			u.writeError(errNotJSON)
		default:
			u.writeRow(w)
		}
		u.counts.Rows += n
	}
	return err
}

// writeError writes a row that is an error.
func (u *unit) writeError(err error) {
	u.counts.Failed++
	u.out.WriteString("{" + note(err) + "}\n")
}

func (u *unit) writeRow(w *row) {
	if w.err != nil {
		u.counts.Failed++
	}
	u.dst = u.appendRow(u.dst[:0], w)
	u.out.Write(u.dst)
}

// writeText writes the lines of text from row i on, and returns their number.
func (u *unit) writeText(ctx context.Context, i int) (n int, err error) {
	from := 0
	if i > 0 {
		from = u.ends[i-1]
	}
	for i+n < len(u.rows) && u.rows[i+n].shape == plainText && !u.rows[i+n].isString {
		n++
	}
	return n, u.rewriteText(ctx, u.input[from:u.ends[i+n-1]], u.out)
}

// writeString writes a row with text in a string.
func (u *unit) writeString(ctx context.Context, w *row) error {
	var text bytes.Buffer
	out := bufio.NewWriter(&text)
	if err := cmp.Or(u.rewriteText(ctx, w.doc, out), out.Flush()); err != nil {
		return err
	}
	if bytes.Equal(text.Bytes(), w.doc) {
		u.out.Write(w.line)
		return nil
	}
	u.dst = append(u.dst[:0], w.line[:w.value.from]...)
	u.dst = json.AppendQuoted(u.dst, text.Bytes())
	u.out.Write(append(u.dst, w.line[w.value.to:]...))
	return nil
}

func (u *unit) rewriteText(ctx context.Context, text []byte, out *bufio.Writer) error {
	if u.options.Text == nil {
		_, err := out.Write(text)
		return err
	}
	return u.options.Text(ctx, u.run, bufio.NewReader(bytes.NewReader(text)), out)
}
