package auto

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"iter"
	"sync"

	"symbolon/internal/filter"
	"symbolon/internal/filter/markup"
	"symbolon/internal/filter/text"
)

// Logs names the addresses in logs: markup first, as it may be in any line. It does not
// read in after it has returned.
func Logs(ctx context.Context, run *filter.Run, in *bufio.Reader, out *bufio.Writer) error {
	next, stop := iter.Pull2(func(yield func([]byte, error) bool) {
		marked := bufio.NewWriterSize(yielder(yield), headSize)
		err := markup.Filter(ctx, run, in, marked)
		if werr := marked.Flush(); err == nil {
			err = werr
		}
		if err != nil && err != io.ErrClosedPipe {
			yield(nil, err)
		}
	})
	defer stop()
	return text.Filter(ctx, run, bufio.NewReaderSize(&pulled{next: next}, headSize), out)
}

// yielder is a writer to an iterator, in whose loop the bytes are used.
type yielder func([]byte, error) bool

func (y yielder) Write(p []byte) (int, error) {
	if !y(p, nil) {
		return 0, io.ErrClosedPipe
	}
	return len(p), nil
}

// pulled is a reader of what a yielder writes.
type pulled struct {
	next func() ([]byte, error, bool)
	rest []byte
}

func (r *pulled) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		part, err, ok := r.next()
		if !ok {
			return 0, io.EOF
		}
		if err != nil {
			return 0, err
		}
		r.rest = part
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// readers have the buffers of text.Filter.
var readers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, headSize) }}

// Text is Logs for an input in memory, and faster for a short one without addresses or
// markup. All addresses have a digit.
func Text(ctx context.Context, run *filter.Run, in *bufio.Reader, out *bufio.Writer) error {
	head, err := in.Peek(in.Size())
	switch {
	case err != io.EOF || bytes.Contains(head, []byte("{{{")):
		return Logs(ctx, run, in, out)
	case bytes.ContainsAny(head, "0123456789"):
		r := readers.Get().(*bufio.Reader)
		r.Reset(in)
		err := text.Filter(ctx, run, r, out)
		r.Reset(nil)
		readers.Put(r)
		return err
	}
	_, err = out.Write(head)
	return err
}
