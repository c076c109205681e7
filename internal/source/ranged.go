package source

import (
	"context"
	"errors"
	"io"
	"time"

	"symbolon/internal/fault"
	"symbolon/internal/transfer"
)

// Piece is the size of the pieces in which a large file is requested.
const Piece = 8 << 20

const (
	atOnce     = 4 // pieces of a file that are fetched or wait to be read
	maxResumes = 5 // of one piece
)

var backoff = transfer.Backoff{First: 100 * time.Millisecond, Max: 5 * time.Second}

// Opener opens n bytes of a file from off on. Another try may succeed after a
// fault of the kinds Transport and Timeout that is not Final, and after an error
// of reading that is not a fault; all others are final.
type Opener func(ctx context.Context, off, n int64) (io.ReadCloser, error)

// Ahead limits the memory for pieces that are fetched ahead of their readers, of
// all files together. A nil Ahead has no limit.
type Ahead struct{ taken chan struct{} }

// NewAhead returns an Ahead with memory for this many pieces.
func NewAhead(pieces int) *Ahead { return &Ahead{make(chan struct{}, pieces)} }

// take acquires the memory of a piece and reports whether there was some.
func (a *Ahead) take() bool {
	if a == nil {
		return true
	}
	select {
	case a.taken <- struct{}{}:
		return true
	default:
		return false
	}
}

func (a *Ahead) release() {
	if a != nil {
		<-a.taken
	}
}

// Ranged reads a large file from its beginning to its end. The first piece is streamed;
// the next ones are fetched ahead of the reader, at most four at a time, 32 MiB in
// memory. Without that memory, the next piece is streamed too. When a connection breaks,
// the rest of the piece is requested again. It is for one reader at a time, and must be
// closed.
type Ranged struct {
	ctx    context.Context
	cancel context.CancelFunc
	open   Opener
	size   int64
	ahead  *Ahead
	pieces int      // memory acquired from ahead
	first  *resumed // the piece that is streamed, or nil
	next   int64    // offset of the next piece to request
	queue  []*piece
	held   []byte // the piece that is being read, or nil
	rest   []byte // the unread part of held
	free   []byte // memory for another piece, or nil
	again  int
	err    error
}

// NewRanged returns a reader of a file of this size. It makes no request yet.
func NewRanged(ctx context.Context, size int64, ahead *Ahead, open Opener) *Ranged {
	r := &Ranged{open: open, size: size, ahead: ahead}
	r.ctx, r.cancel = context.WithCancel(ctx)
	return r
}

// NewResumed returns a reader of a file of this size that uses one connection at
// a time, and keeps no pieces in memory.
func NewResumed(ctx context.Context, size int64, open Opener) *Ranged {
	r := NewRanged(ctx, size, nil, open)
	r.next, r.first = size, &resumed{ctx: r.ctx, open: open, end: size}
	return r
}

// Resumed returns how many times a piece that was read has been resumed.
func (r *Ranged) Resumed() int { return r.again }

// Read reads the next bytes of the file.
func (r *Ranged) Read(p []byte) (n int, err error) {
	if r.err != nil {
		return 0, r.err
	}
	for r.first == nil && len(r.rest) == 0 {
		if r.err = r.turn(); r.err != nil {
			return 0, r.err
		}
	}
	r.fetch()
	if r.first == nil {
		n = copy(p, r.rest)
		r.rest = r.rest[n:]
		return n, nil
	}
	n, err = r.first.Read(p)
	switch {
	case err == io.EOF:
		r.done(r.first)
		r.first = nil
		return r.Read(p)
	case err != nil:
		r.err = err
	}
	return n, err
}

// fetch starts to fetch pieces until there are enough, or no memory is left.
func (r *Ranged) fetch() {
	under := len(r.queue)
	if r.first != nil || r.held != nil {
		under++
	}
	for ; under < atOnce && r.next < r.size; under++ {
		buffer := r.free
		if r.free = nil; buffer == nil {
			if !r.ahead.take() {
				return
			}
			r.pieces++
			buffer = make([]byte, Piece)
		}
		one := &piece{from: r.part(), done: make(chan struct{})}
		one.bytes = buffer[:one.from.end-one.from.off]
		go one.fetch()
		r.queue = append(r.queue, one)
	}
}

// part returns the next piece to request.
func (r *Ranged) part() *resumed {
	off := r.next
	r.next = min(r.size, off+Piece)
	return &resumed{ctx: r.ctx, open: r.open, off: off, end: r.next}
}

// turn continues with the next piece. The memory of the piece before is reused.
func (r *Ranged) turn() error {
	if r.held != nil {
		r.free, r.held = r.held[:Piece], nil
	}
	if r.next > 0 {
		r.fetch()
	}
	if len(r.queue) == 0 {
		if r.next == r.size {
			return io.EOF
		}
		r.first = r.part()
		return nil
	}
	one := r.queue[0]
	r.queue = r.queue[1:]
	<-one.done // it ends with the context
	r.done(one.from)
	if one.err != nil {
		return one.err
	}
	r.held, r.rest = one.bytes, one.bytes
	return nil
}

func (r *Ranged) done(of *resumed) {
	r.again += of.again
	of.close()
}

// Close cancels the requests, and waits for their end.
func (r *Ranged) Close() error {
	r.cancel()
	if r.first != nil {
		r.first.close()
	}
	for _, one := range r.queue {
		<-one.done
	}
	for ; r.pieces > 0; r.pieces-- {
		r.ahead.release()
	}
	r.queue, r.held, r.rest, r.free, r.err = nil, nil, nil, nil, io.ErrClosedPipe
	return nil
}

// piece is a piece that is fetched into memory.
type piece struct {
	from  *resumed
	bytes []byte
	err   error // set when done is closed
	done  chan struct{}
}

func (p *piece) fetch() {
	defer close(p.done)
	_, p.err = io.ReadFull(p.from, p.bytes)
	p.from.close()
}

// resumed reads a part of a file, over a new connection each time one breaks.
type resumed struct {
	ctx      context.Context
	open     Opener
	off, end int64
	in       io.ReadCloser // nil: not open
	again    int
}

func (r *resumed) Read(p []byte) (int, error) {
	for {
		if r.off >= r.end {
			return 0, io.EOF
		}
		n, err := r.step(p)
		if n > 0 || err == nil {
			return n, nil
		}
		if r.ctx.Err() != nil || !passing(err) || r.again >= maxResumes {
			return 0, err
		}
		r.again++
		if !backoff.Wait(r.ctx, r.again, 0) {
			return 0, err
		}
	}
}

// Final is a failure that is not retried, whatever its kind.
type Final struct{ Err error }

func (f Final) Error() string { return f.Err.Error() }

// Unwrap returns the failure.
func (f Final) Unwrap() error { return f.Err }

// passing reports whether another try may succeed.
func passing(err error) bool {
	if _, ok := errors.AsType[Final](err); ok {
		return false
	}
	var f *fault.Error
	return !errors.As(err, &f) || f.Kind == fault.Transport || f.Kind == fault.Timeout
}

// step reads from the connection, which it opens if needed.
func (r *resumed) step(p []byte) (n int, err error) {
	if r.in == nil {
		if r.in, err = r.open(r.ctx, r.off, r.end-r.off); err != nil {
			r.in = nil
			return 0, err
		}
	}
	n, err = r.in.Read(p[:min(int64(len(p)), r.end-r.off)])
	r.off += int64(n)
	if err == nil {
		return n, nil
	}
	r.close()
	if err == io.EOF && r.off < r.end {
		err = fault.New(fault.Transport, "", "the connection ended before the file did")
	}
	return n, err
}

func (r *resumed) close() {
	if r.in != nil {
		_ = r.in.Close() // it was only read
		r.in = nil
	}
}
