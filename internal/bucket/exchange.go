package bucket

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"symbolon/internal/fault"
)

const (
	maxTries  = 3
	firstWait = 100 * time.Millisecond // at most, before the second try; doubled for each one after it
	mostAsked = 10 * time.Second       // that a store may ask us to wait
	maxAnswer = 64 << 10               // of an answer that is no blob
	localTime = 5 * time.Second        // in which nothing may move on the way to a service of this machine
)

// errIdle is the cause of a try in which nothing moved for too long.
var errIdle = errors.New("nothing moved")

// Exchange is one request to an object store, with its tries: those that fail
// on the way or at a busy store are repeated after a while, three in all. It
// follows no redirect, so that nobody else gets to see the credentials.
type Exchange struct {
	Transport http.RoundTripper
	Place     string                                           // for people
	Request   func(ctx context.Context) (*http.Request, error) // made for each try, without a body
	Body      []byte
	Verdict   Verdict
	Idle      time.Duration // in which nothing may move; zero is no bound
}

// Verdict says what an answer means that is no success, of which it is given
// the first 64 KiB, and whether another try may do better. With nil the answer
// is taken as it is.
type Verdict func(resp *http.Response, body []byte) (failed *fault.Error, again bool)

// Busy tells whether a status is one that may go away by itself.
func Busy(status int) bool {
	return status == http.StatusTooManyRequests || status >= 500 && status != http.StatusNotImplemented
}

// miss is a try that failed.
type miss struct {
	error
	again bool          // another one may do better
	after time.Duration // not before, as the store says
}

// Do asks. The body of the answer fails with a *fault.Error, and ends with ctx.
func (e *Exchange) Do(ctx context.Context) (*http.Response, error) {
	for try := 1; ; try++ {
		resp, failed := e.try(ctx)
		if failed == nil {
			return resp, nil
		}
		if !failed.again || try == maxTries || failed.after > mostAsked {
			return nil, failed.error
		}
		wait := failed.after
		if wait == 0 {
			wait = rand.N(firstWait<<(try-1)) + 1
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, fault.New(fault.KindOf(ctx.Err()), e.Place, "%w", ctx.Err())
		}
	}
}

// try asks once.
func (e *Exchange) try(ctx context.Context) (resp *http.Response, failed *miss) {
	if err := ended(ctx); err != nil {
		return nil, &miss{error: err}
	}
	own, cancel := context.WithCancelCause(ctx)
	b := &body{caller: ctx, own: own, cancel: cancel, place: e.Place, idle: e.Idle}
	b.timer = time.AfterFunc(time.Hour, func() { cancel(errIdle) })
	b.timer.Stop()
	defer func() {
		if failed != nil {
			b.Close()
		}
	}()
	req, err := e.Request(own)
	if err != nil {
		return nil, &miss{error: err}
	}
	req.Body, req.ContentLength = http.NoBody, int64(len(e.Body))
	up := &upload{r: bytes.NewReader(e.Body), b: b}
	if len(e.Body) > 0 {
		req.Body = up
	}
	b.await()
	resp, err = e.Transport.RoundTrip(req.WithContext(own))
	up.Close() // before the timer is stopped, which it may start
	b.timer.Stop()
	if err != nil {
		return nil, &miss{error: b.broken(err), again: true}
	}
	b.in, resp.Body = resp.Body, b
	if resp.StatusCode < 300 {
		return resp, nil
	}
	text, err := io.ReadAll(io.LimitReader(b, maxAnswer))
	b.Close()
	if err != nil && ctx.Err() != nil {
		return nil, &miss{error: err}
	}
	resp.Body = io.NopCloser(bytes.NewReader(text))
	if f, again := e.Verdict(resp, text); f != nil {
		return nil, &miss{f, again, retryAfter(resp)}
	}
	return resp, nil
}

// retryAfter reads the header of that name: seconds, or a date as measured by
// the clock of the store.
func retryAfter(resp *http.Response) time.Duration {
	text := resp.Header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	until, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(resp.Header.Get("Date"))
	if err != nil {
		return 0
	}
	return max(until.Sub(now), 0)
}

// body is the body of an answer, and what watches over a try.
type body struct {
	caller, own context.Context
	cancel      context.CancelCauseFunc
	in          io.ReadCloser
	place       string
	idle        time.Duration
	timer       *time.Timer
}

// await starts to measure how long nothing moves.
func (b *body) await() {
	if b.idle > 0 {
		b.timer.Reset(b.idle)
	}
}

func (b *body) Read(p []byte) (int, error) {
	if b.caller.Err() != nil {
		return 0, b.broken(b.caller.Err())
	}
	b.await()
	n, err := b.in.Read(p)
	b.timer.Stop()
	if err != nil && err != io.EOF {
		err = b.broken(err)
	}
	return n, err
}

func (b *body) Close() error {
	b.timer.Stop()
	b.cancel(nil)
	if b.in == nil {
		return nil
	}
	return b.in.Close()
}

// upload is the body of a request. What is taken of it is progress. Once it is
// closed nobody reads the bytes, which then belong to the caller again.
type upload struct {
	mu sync.Mutex
	r  *bytes.Reader // nil: closed
	b  *body
}

func (u *upload) Read(p []byte) (int, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.r == nil {
		return 0, io.ErrClosedPipe
	}
	u.b.await()
	return u.r.Read(p)
}

func (u *upload) Close() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.r = nil
	return nil
}

// broken says what an error of a connection means.
func (b *body) broken(err error) error {
	var timeout interface{ Timeout() bool }
	switch gone := b.caller.Err(); {
	case gone != nil:
		return fault.New(fault.KindOf(gone), b.place, "%w", gone)
	case context.Cause(b.own) == errIdle:
		return fault.New(fault.Timeout, b.place, "nothing came for %v", b.idle)
	case errors.As(err, &timeout) && timeout.Timeout():
		return fault.New(fault.Timeout, b.place, "the connection timed out")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fault.New(fault.Transport, b.place, "the connection ended before the blob did: %w", io.ErrUnexpectedEOF)
	}
	return fault.New(fault.Transport, b.place, "%s", innermost(err))
}

// Bytes asks for an answer that is short.
func (e *Exchange) Bytes(ctx context.Context) ([]byte, error) {
	resp, err := e.Do(ctx)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, err
	case len(text) > maxAnswer:
		return nil, fault.New(fault.Malformed, e.Place, "the answer is larger than %d bytes", maxAnswer)
	}
	return text, nil
}

// Local asks a service of this machine that hands out credentials: not through
// a proxy, which would see them.
func Local(ctx context.Context, place string, request func(context.Context) (*http.Request, error)) ([]byte, error) {
	direct := &net.Dialer{Timeout: localTime}
	e := Exchange{
		Transport: &http.Transport{DialContext: direct.DialContext, DisableKeepAlives: true},
		Place:     place, Request: request, Idle: localTime,
		Verdict: func(resp *http.Response, _ []byte) (*fault.Error, bool) {
			if Busy(resp.StatusCode) {
				return fault.New(fault.Transport, place, "%s", Status(resp.StatusCode)), true
			}
			return fault.New(fault.Denied, place, "%s", Status(resp.StatusCode)), false
		},
	}
	return e.Bytes(ctx)
}
