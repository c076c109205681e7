package ingest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"symbolon/internal/fault"
)

// errGone means that a part was removed while it was read.
var errGone = errors.New("the part was removed")

// publish publishes a round that has all its parts, and ends it. It returns false
// if another process did so meanwhile.
func (r round) publish(ctx context.Context, parts []*Part) (bool, error) {
	unlock, err := r.lock(ctx, r.Folder)
	if err != nil {
		return false, err
	}
	defer unlock()
	if over, err := r.over(ctx); err != nil || over != nil {
		return false, r.ended(over, err)
	}
	if err = r.checkSize(parts); err == nil {
		err = r.Publish(ctx, &Complete{parts, func(k int) (io.ReadCloser, error) { return r.open(ctx, k) }})
	}
	var refused *Refusal
	switch {
	case errors.As(err, &refused):
		if failed := r.end(ctx, nil); failed != nil {
			return false, failed
		}
		return false, err
	case errors.Is(err, errGone):
		return false, r.ended(r.over(ctx))
	case err != nil:
		return false, err
	}
	return true, r.end(ctx, parts)
}

// ended returns the error for a part whose round another process ended.
func (r round) ended(over *mark, err error) error {
	switch {
	case err != nil:
		return err
	case over == nil: // the parts have expired
		return fault.New(fault.Transport, r.Folder, "%w", errGone)
	case !over.Published:
		return Refuse(Conflict, r.Place, "the upload was superseded or refused; begin again with part 0")
	}
	return nil
}

// open opens the frame of a part.
func (r round) open(ctx context.Context, k int) (io.ReadCloser, error) {
	blob, _, err := r.deps.Bucket.Get(ctx, r.part(k), 0, -1)
	switch {
	case err != nil && fault.KindOf(err) == fault.NotFound:
		return nil, fmt.Errorf("part %d: %w", k, errGone)
	case err != nil:
		return nil, err
	}
	in := bufio.NewReaderSize(blob, 4*maxHead)
	if _, err := in.ReadSlice('\n'); err != nil {
		blob.Close()
		return nil, fault.New(fault.Transport, r.part(k), "%w", err)
	}
	return struct {
		io.Reader
		io.Closer
	}{in, blob}, nil
}

// A Reader reads the frames of parts, one after the other.
type Reader struct {
	parts *Complete
	next  int
	in    io.ReadCloser // nil: the part before next is read
	err   error
}

// Read reads frames.
func (r *Reader) Read(b []byte) (int, error) {
	for r.err == nil {
		if r.in == nil {
			if r.next == len(r.parts.Parts) {
				return 0, io.EOF
			}
			r.in, r.err = r.parts.next(r.next)
			r.next++
			continue
		}
		n, err := r.in.Read(b)
		if err == io.EOF {
			r.Close()
			err = nil
		}
		if r.err = err; n > 0 {
			return n, nil
		}
	}
	return 0, r.err
}

// Err returns the failure of reading, as opposed to one of decoding.
func (r *Reader) Err() error { return r.err }

// Close ends the use of the parts.
func (r *Reader) Close() {
	if r.in != nil {
		r.in.Close()
		r.in = nil
	}
}
