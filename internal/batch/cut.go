package batch

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"io"

	"github.com/klauspost/compress/zstd"

	"symbolon/internal/filter/rows"
)

const (
	chunkSize = 1 << 20  // bytes of rows that are looked up together
	maxRow    = 32 << 20 // longer ones are copied
	maxBuffer = 16 << 20 // a larger buffer of a chunk is not used again
	// windowSize is the window of zstd, the largest that all decoders must accept. It
	// finds more earlier copies of names than the default of 4 MiB, so the output is
	// smaller and takes less time.
	windowSize = 8 << 20
)

// chunk is consecutive rows of a unit.
type chunk struct {
	unit   *unit
	in     []byte
	rows   int  // that end in it
	isLong bool // it is a part of a row that is copied
	packed bytes.Buffer
	failed int
	err    error
	done   chan struct{} // receives a value when packed or err is set
}

// rewrite rewrites and compresses the rows.
func (c *chunk) rewrite(ctx context.Context, o *rows.Options, enc *zstd.Encoder) error {
	c.packed.Reset()
	enc.Reset(&c.packed)
	if c.isLong {
		c.failed = c.rows
		_, err := enc.Write(c.in)
		return cmp.Or(err, enc.Close())
	}
	in := bufio.NewReaderSize(bytes.NewReader(c.in), 64<<10)
	n, err := o.Filter(ctx, c.unit.run, in, bufio.NewWriter(enc)) // rows are larger than its buffer, and not copied
	c.failed = n.Failed
	return cmp.Or(err, enc.Close())
}

// release makes a chunk available for other rows.
func (w *run) release(c *chunk) {
	if cap(c.in) > maxBuffer {
		c.in = nil
	}
	w.free <- c
}

// cut cuts an input into units, and passes on the chunks of incomplete units.
func (w *run) cut(ctx context.Context, i int) error {
	in, err := w.open(ctx, &w.inputs[i])
	if err != nil {
		return err
	}
	defer in.Close()
	k := cutter{in: in}
	for n := 0; ; n++ {
		var u *unit
		if id := (unitID{i, n}); w.isTodo(id) {
			if u, err = w.newUnit(ctx, id); err != nil {
				return err
			}
		}
		isLast, err := w.cutUnit(ctx, &k, u)
		if u != nil {
			u.err, u.isLast = err, isLast
			close(u.chunks)
		}
		if isLast || err != nil {
			return err
		}
	}
}

// cutUnit reads the rows of a unit, which is nil if they are not needed, and reports
// whether it is the last one of the input.
func (w *run) cutUnit(ctx context.Context, k *cutter, u *unit) (isLast bool, err error) {
	for rest, isFirst := w.Unit, true; rest > 0 && !isLast; isFirst = false {
		c, err := w.chunk(ctx)
		if err != nil {
			return false, err
		}
		err = k.fill(c, rest)
		rest -= c.rows
		if isLast = err == io.EOF; err != nil && !isLast || u == nil || len(c.in)+c.rows == 0 && !isFirst {
			w.release(c)
		} else {
			c.unit = u
			u.chunks <- c
			w.jobs <- c
		}
		if err != nil && !isLast {
			return false, err
		}
	}
	if !isLast {
		_, err = k.in.peek()
		isLast = err == io.EOF
	}
	if isLast {
		err = nil
	}
	return isLast, err
}

// cutter cuts an input into chunks.
type cutter struct {
	in     *content
	isLong bool   // the next bytes are those of a row that is copied
	begun  []byte // the beginning of that row
}

// fill fills a chunk with rows until it has chunkSize bytes, but with n rows at most.
// At the end of the input it returns io.EOF.
func (k *cutter) fill(c *chunk, n int) error {
	c.in, c.rows, c.isLong = append(c.in[:0], k.begun...), 0, k.isLong
	k.begun = nil
	for {
		block, err := k.in.peek()
		if err == io.EOF && (c.isLong || len(c.in) > 0 && c.in[len(c.in)-1] != '\n') {
			c.rows++
		}
		if err != nil {
			return err
		}
		want := n - c.rows // line ends
		if rest := chunkSize - len(c.in); c.isLong || rest <= 0 {
			want = 1
		} else {
			block = block[:min(len(block), rest)]
		}
		size, found := after(block, want)
		c.in = append(c.in, block[:size]...)
		c.rows += found
		if _, err := k.in.Discard(size); err != nil {
			return err
		}
		switch {
		case found == want:
			k.isLong = false
			return nil
		case len(c.in) < chunkSize:
		case c.isLong, c.in[len(c.in)-1] == '\n':
			return nil
		case len(c.in) > maxRow:
			from := bytes.LastIndexByte(c.in, '\n') + 1
			if len(c.in)-from > maxRow {
				k.isLong, c.isLong = true, from == 0
				if from > 0 {
					k.begun = bytes.Clone(c.in[from:])
					c.in = c.in[:from]
				}
				return nil
			}
		}
	}
}

// after returns the size of the beginning of a block with n line ends, and n; or the size
// of the whole block and the number of its line ends.
func after(block []byte, n int) (size, found int) {
	if found = bytes.Count(block, []byte{'\n'}); found < n {
		return len(block), found
	}
	for range n {
		size += bytes.IndexByte(block[size:], '\n') + 1
	}
	return size, n
}
