package shared

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"symbolon/internal/bucket"
	"symbolon/internal/cache"
	"symbolon/internal/cache/remote"
	"symbolon/internal/fault"
	"symbolon/internal/metric"
	"symbolon/internal/transfer"
)

const (
	places      = 64 // calls at a time
	maxFailures = 3  // in a row
	slack       = 10 // times the timeout, for calls that no request waits for
)

var (
	errOff    = errors.New("the bucket is unavailable")
	errSilent = errors.New("no answer in time")
	errBusy   = errors.New("too many calls at a time")
)

// link makes the calls to the bucket while that is available.
type link struct {
	bucket  bucket.Bucket
	timeout time.Duration
	probe   string // a key that need not exist
	log     *slog.Logger

	monitor  *remote.Monitor
	up       atomic.Bool
	failures transfer.Breaker
	refused  atomic.Bool   // a write, which is logged once
	places   chan struct{} // of calls that have not returned
}

// bounds are the times that a call may take: until its answer begins, until it
// is complete, and after its end until it has returned.
type bounds struct{ first, whole, end time.Duration }

// call makes a call to the bucket, and calls begun when the answer begins. Its
// error is that of the bucket. Its result is closed if its caller has left.
type call func(ctx context.Context, begun func()) (found, error)

// found is the result of a call: an entry, a fault, or the reason for neither.
type found struct {
	blob  cache.Spool
	fault error
	bad   error
}

// open begins to use the bucket, before the first probe is answered.
func (l *link) open() {
	l.places, l.failures.Limit = make(chan struct{}, places), maxFailures
	l.monitor = &remote.Monitor{Tier: tier, Name: "shared bucket", Log: l.log, Connect: l.connect}
	l.up.Store(true)
	l.monitor.Start(0)
}

func (l *link) close() { l.monitor.Stop() }

// connect uses the bucket if it answers in time once it is connected.
func (l *link) connect(ctx context.Context) (disconnect func(), err error) {
	for _, wait := range []time.Duration{slack * l.timeout, l.timeout} {
		_, err := l.await(ctx, bounds{first: wait, whole: wait}, func(ctx context.Context, _ func()) (found, error) {
			// The answer to a Stat of S3 does not distinguish a missing bucket from a
			// missing key.
			body, _, err := l.bucket.Get(ctx, l.probe, 0, 1)
			if err == nil {
				err = body.Close()
			}
			return found{}, err
		})
		if err != nil && (fault.KindOf(err) != fault.NotFound || errors.Is(err, bucket.ErrNoBucket)) {
			l.up.Store(false)
			return nil, err
		}
	}
	l.failures.Succeed()
	l.up.Store(true)
	return func() {
		l.up.Store(false)
		l.refused.Store(false)
	}, nil
}

// await makes a call and waits for it within its bounds. A call that ignores its context
// continues in the background.
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
				_ = f.blob.Close() // its caller has left
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

// read makes a call that reads, if the bucket is available. A missing object is
// not a failure of the bucket.
func (l *link) read(ctx context.Context, b bounds, do call) (found, error) {
	f, err := l.do(ctx, b, do)
	if err != nil && l.counts(ctx, err) && !silent(err) {
		metric.CacheFailures.Add(1, tier, "refused")
		l.fail(err)
	}
	return f, err
}

// write does the same for a call that writes. A bucket that refuses writes can
// still be read.
func (l *link) write(ctx context.Context, b bounds, do call) error {
	_, err := l.do(ctx, b, do)
	if err != nil && l.counts(ctx, err) && !silent(err) {
		metric.CacheFailures.Add(1, tier, "refused")
		if !l.refused.Swap(true) {
			l.log.Warn("shared bucket refuses a write", "error", err)
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
		l.failures.Succeed()
	case l.counts(ctx, err) && silent(err):
		metric.CacheFailures.Add(1, tier, "silent")
		l.fail(err)
	}
	return f, err
}

// counts reports whether an error is a failure of the bucket.
func (l *link) counts(ctx context.Context, err error) bool {
	return ctx.Err() == nil && err != errOff && err != errBusy && err != errSource && !errors.Is(err, bucket.ErrConditions) && fault.KindOf(err) != fault.NotFound
}

// silent reports whether an error means that the bucket did not answer.
func silent(err error) bool {
	kind := fault.KindOf(err)
	return err == errSilent || kind == fault.Timeout || kind == fault.Transport
}

// fail counts a failure. Too many in a row end the use of the bucket.
func (l *link) fail(err error) {
	if l.failures.Fail(time.Now()) && l.up.CompareAndSwap(true, false) {
		l.monitor.Lost(err)
	}
}
