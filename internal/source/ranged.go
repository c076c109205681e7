package source

import (
	"context"
	"errors"
	"io"
	"time"

	"symbolon/internal/fault"
	"symbolon/internal/transfer"
)

// Piece is how much of a large file is asked for at once.
const Piece = 8 << 20

const (
	atOnce     = 4 // pieces of a file under way or waiting to be read
	maxResumes = 5 // of one piece
)

var backoff = transfer.Backoff{First: 100 * time.Millisecond, Max: 5 * time.Second}

// Opener opens n bytes of a file from off on. A failure of the kinds Transport
// and Timeout may go away if it is not Final, and so may one of the reading that
// is no fault; all others are final.
type Opener func(ctx context.Context, off, n int64) (io.ReadCloser, error)

// Ahead is the memory for pieces that are fetched before their turn, of many
// files together. A nil Ahead has no bound.
type Ahead struct{ taken chan struct{} }

// NewAhead is memory for this many pieces.
func NewAhead(pieces int) *Ahead { return &Ahead{make(chan struct{}, pieces)} }

// take takes the memory of a piece if there is some. Nobody waits for it.
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

func (a *Ahead) giveBack() {
	if a != nil {
		<-a.taken
	}
}

// Ranged is a large file, read from its beginning to its end. The first piece
// is passed on as it comes; those after it are fetched ahead of the reader, at
// most four of them in memory, 32 MiB. Without memory for that, the next piece
// is passed on as it comes too. Where a connection breaks, the rest of the piece
// is asked for again. It is for one reader at a time, and to be closed.
type Ranged struct {
	ctx    context.Context
	cancel context.CancelFunc
	open   Opener
	size   int64
	ahead  *Ahead
	pieces int      // of its memory that this file has
	first  *resumed // the piece that is passed on as it comes, nil: there is none now
	next   int64    // where the next piece begins that nobody has asked for
	queue  []*piece
	held   []byte // the piece that is being read, nil: none is
	rest   []byte // what of it is left
	free   []byte // memory for another piece, if any
	again  int
	err    error
}

// NewRanged makes a reader of a file of this size. It asks for nothing yet.
func NewRanged(ctx context.Context, size int64, ahead *Ahead, open Opener) *Ranged {
	r := &Ranged{open: open, size: size, ahead: ahead}
	r.ctx, r.cancel = context.WithCancel(ctx)
	return r
}

// NewResumed makes a reader of a file of this size that reads it over one
// connection at a time, and keeps none of it in memory.
func NewResumed(ctx context.Context, size int64, open Opener) *Ranged {
	r := NewRanged(ctx, size, nil, open)
	r.next, r.first = size, &resumed{ctx: r.ctx, open: open, end: size}
	return r
}

// Resumed is how often a piece was asked for again, of those that were read.
func (r *Ranged) Resumed() int { return r.again }

// Read reads what comes next.
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

// fetch starts pieces until enough are under way, or there is no memory for
// more.
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

// part is the next piece that nobody has asked for.
func (r *Ranged) part() *resumed {
	off := r.next
	r.next = min(r.size, off+Piece)
	return &resumed{ctx: r.ctx, open: r.open, off: off, end: r.next}
}

// turn goes on to the next piece. The one before it has been read, and its
// memory takes another one.
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

// Close ends what is under way, and waits for it.
func (r *Ranged) Close() error {
	r.cancel()
	if r.first != nil {
		r.first.close()
	}
	for _, one := range r.queue {
		<-one.done
	}
	for ; r.pieces > 0; r.pieces-- {
		r.ahead.giveBack()
	}
	r.queue, r.held, r.rest, r.free, r.err = nil, nil, nil, nil, io.ErrClosedPipe
	return nil
}

// piece is a piece that is fetched into memory.
type piece struct {
	from  *resumed
	bytes []byte
	err   error // to be looked at when done is closed
	done  chan struct{}
}

func (p *piece) fetch() {
	defer close(p.done)
	_, p.err = io.ReadFull(p.from, p.bytes)
	p.from.close()
}

// resumed reads a part of a file, over several connections if they break.
type resumed struct {
	ctx      context.Context
	open     Opener
	off, end int64
	in       io.ReadCloser // nil: to be opened at off
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

// Final is a failure after which nothing more is asked for, whatever its kind.
type Final struct{ Err error }

func (f Final) Error() string { return f.Err.Error() }

// Unwrap is the failure itself.
func (f Final) Unwrap() error { return f.Err }

// passing tells whether a failure may go away.
func passing(err error) bool {
	var final Final
	if errors.As(err, &final) {
		return false
	}
	var f *fault.Error
	return !errors.As(err, &f) || f.Kind == fault.Transport || f.Kind == fault.Timeout
}

// step reads from the connection there is. A failure leaves none.
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
		_ = r.in.Close() // what was read counts
		r.in = nil
	}
}
