package shared

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"symbolon/internal/bucket"
	"symbolon/internal/cache"
	"symbolon/internal/fault"
	"symbolon/internal/metric"
)

const (
	places      = 64 // calls at a time
	maxFailures = 3  // in a row, until the bucket is left alone
	slack       = 10 // times the timeout, for what no answer waits for
	firstPause  = 100 * time.Millisecond
	lastPause   = time.Minute
)

var (
	errOff    = errors.New("the bucket is left alone")
	errSilent = errors.New("no answer in time")
	errBusy   = errors.New("too many calls at a time")
)

// link is the way to the bucket, which it leaves alone when that fails.
type link struct {
	bucket  bucket.Bucket
	timeout time.Duration
	probe   string // a key that need not exist
	log     *slog.Logger

	up       atomic.Bool
	failures atomic.Int32  // in a row
	refused  atomic.Bool   // a write, and told
	lost     chan error    // why the bucket is left alone
	places   chan struct{} // of calls that have not returned
	ctx      context.Context
	cancel   context.CancelFunc
	done     chan struct{}
}

// bounds are the times that a call may take: until it says that the answer
// begins, until it has it all, and then until it has stopped.
type bounds struct{ first, whole, end time.Duration }

// call asks the bucket. It calls begun when the answer begins. Its error is that
// of the bucket. What it returns is closed if nobody waits for it any more.
type call func(ctx context.Context, begun func()) (found, error)

// found is what a call has found: an entry, a fault, or why it is neither.
type found struct {
	blob  cache.Spool
	fault error
	bad   error
}

// open begins to use the bucket, before it is known how it is.
func (l *link) open() {
	l.lost, l.places, l.done = make(chan error, 1), make(chan struct{}, places), make(chan struct{})
	l.ctx, l.cancel = context.WithCancel(context.Background())
	l.use(true)
	go l.keep()
}

func (l *link) close() {
	l.cancel()
	<-l.done
}

func (l *link) use(up bool) {
	l.failures.Store(0)
	l.up.Store(up)
	n := int64(0)
	if up {
		n = 1
	}
	metric.CacheUp.Set(n, tier)
}

// keep uses the bucket whenever it answers, until the end.
func (l *link) keep() {
	defer close(l.done)
	told := false // that the bucket is left alone
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		err := l.ask()
		if err == nil {
			began := time.Now()
			if l.use(true); told {
				l.log.Info("the shared bucket answers and is used again")
				l.refused.Store(false)
			}
			told = false
			select {
			case err = <-l.lost:
			case <-l.ctx.Done():
				return
			}
			if time.Since(began) > 10*pause { // it is well most of the time
				pause = firstPause
			}
		}
		if l.ctx.Err() != nil {
			return
		}
		if l.use(false); !told {
			l.log.Warn("the shared bucket cannot be used and is left alone until it can; nothing is shared meanwhile", "error", err)
			told = true
		}
		select {
		case <-time.After(pause):
		case <-l.ctx.Done():
			return
		}
	}
}

// ask tells whether the bucket answers in time once it is connected.
func (l *link) ask() error {
	for _, wait := range []time.Duration{slack * l.timeout, l.timeout} {
		_, err := l.await(l.ctx, bounds{first: wait, whole: wait}, func(ctx context.Context, _ func()) (found, error) {
			_, err := l.bucket.Stat(ctx, l.probe)
			return found{}, err
		})
		if err != nil && fault.KindOf(err) != fault.NotFound {
			return err
		}
	}
	return nil
}

// await makes a call and waits for it within its bounds. A call that does not
// mind its context goes on by itself.
func (l *link) await(ctx context.Context, b bounds, do call) (found, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, b.whole, errSilent)
	defer cancel()
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	late := time.AfterFunc(b.first, func() { giveUp(errSilent) })
	defer late.Stop()
	select {
	case l.places <- struct{}{}:
	case <-ctx.Done():
		return found{}, errBusy
	}
	type result struct {
		found
		err error
	}
	answer, returned := make(chan result), make(chan struct{})
	go func() {
		defer func() {
			close(returned)
			<-l.places
		}()
		f, err := do(ctx, func() { late.Stop() })
		select {
		case answer <- result{f, err}:
		case <-ctx.Done():
			if f.blob != nil {
				_ = f.blob.Close() // of no use to anybody
			}
		}
	}()
	select {
	case r := <-answer:
		if r.err != nil && ctx.Err() != nil {
			return r.found, context.Cause(ctx)
		}
		return r.found, r.err
	case <-ctx.Done():
		select {
		case <-returned:
		case <-time.After(b.end):
		}
		return found{}, context.Cause(ctx)
	}
}

// read makes a call that reads, if the bucket is not left alone. That there is no
// such object is no failure of the bucket.
func (l *link) read(ctx context.Context, b bounds, do call) (found, error) {
	f, err := l.do(ctx, b, do)
	if err != nil && l.counts(ctx, err) && !silent(err) {
		metric.CacheFailures.Add(1, tier, "refused")
		l.fail(err)
	}
	return f, err
}

// write does the same for a call that writes. A bucket that takes nothing can
// still be read.
func (l *link) write(ctx context.Context, b bounds, do call) error {
	_, err := l.do(ctx, b, do)
	if err != nil && l.counts(ctx, err) && !silent(err) {
		metric.CacheFailures.Add(1, tier, "refused")
		if !l.refused.Swap(true) {
			l.log.Warn("the shared bucket refuses what is written", "error", err)
		}
	}
	return err
}

func (l *link) do(ctx context.Context, b bounds, do call) (found, error) {
	if !l.up.Load() {
		return found{}, errOff
	}
	if err := ctx.Err(); err != nil {
		return found{}, err
	}
	f, err := l.await(ctx, b, do)
	switch {
	case err == nil || fault.KindOf(err) == fault.NotFound:
		l.failures.Store(0)
	case l.counts(ctx, err) && silent(err):
		metric.CacheFailures.Add(1, tier, "silent")
		l.fail(err)
	}
	return f, err
}

// counts tells whether an error says something about the bucket.
func (l *link) counts(ctx context.Context, err error) bool {
	return ctx.Err() == nil && err != errOff && err != errBusy && err != errSource && fault.KindOf(err) != fault.NotFound
}

// silent tells whether an error is one of the way to the bucket.
func silent(err error) bool {
	kind := fault.KindOf(err)
	return err == errSilent || kind == fault.Timeout || kind == fault.Transport
}

// fail leaves the bucket alone after too many failures.
func (l *link) fail(err error) {
	if l.failures.Add(1) >= maxFailures && l.up.CompareAndSwap(true, false) {
		select {
		case l.lost <- err:
		default: // it is being found out anyway
		}
	}
}
