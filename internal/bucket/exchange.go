package bucket

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"symbolon/internal/fault"
	"symbolon/internal/transfer"
)

const (
	maxTries  = 3
	maxAnswer = 64 << 10        // bytes of an answer that is not a blob
	localTime = 5 * time.Second // timeout of a service of this machine
)

var backoff = transfer.Backoff{First: 100 * time.Millisecond, Max: time.Second, MaxAfter: 10 * time.Second}

// Exchange is one request to an object store. Tries that fail on the network or
// because the store is busy are repeated, three tries in all. It follows no
// redirect, so that no other server sees the credentials.
type Exchange struct {
	Transport http.RoundTripper                                // a *fault.Error of it is final
	Place     string                                           // for messages
	Request   func(ctx context.Context) (*http.Request, error) // returns a new request for each try, without a body
	Body      []byte
	Verdict   Verdict
	Idle      time.Duration // longest time in which nothing moves; zero: not limited
}

// Verdict returns the failure for an unsuccessful answer, from its status and the first
// 64 KiB of its body, and whether a retry may succeed. With nil the answer is accepted.
type Verdict func(resp *http.Response, body []byte) (failed *fault.Error, again bool)

// Busy reports whether a request that fails with this status may succeed later.
func Busy(status int) bool {
	return status == http.StatusTooManyRequests || status >= 500 && status != http.StatusNotImplemented
}

// failure is the failure of one try.
type failure struct {
	error
	again bool          // another try may succeed
	after time.Duration // wait that the store asks for

	isRefusal bool // the transport sent no request
}

// Do makes the request. The body of the answer fails with a *fault.Error, and
// ends with ctx.
func (e *Exchange) Do(ctx context.Context) (*http.Response, error) {
	var before *failure
	for try := 1; ; try++ {
		resp, failed := e.try(ctx)
		if failed == nil {
			return resp, nil
		}
		if failed.isRefusal && before != nil {
			return nil, before.error
		}
		before = failed
		if !failed.again || try == maxTries {
			return nil, failed.error
		}
		if !backoff.Wait(ctx, try, failed.after) {
			if err := ctx.Err(); err != nil {
				return nil, fault.New(fault.KindOf(err), e.Place, "%w", err)
			}
			return nil, failed.error
		}
	}
}

// try makes the request once.
func (e *Exchange) try(ctx context.Context) (resp *http.Response, failed *failure) {
	if err := Ended(ctx); err != nil {
		return nil, &failure{error: err}
	}
	own, guard := transfer.NewGuard(ctx, e.Idle)
	b := &body{caller: ctx, own: own, guard: guard, place: e.Place, idle: e.Idle}
	defer func() {
		if failed != nil {
			b.Close()
		}
	}()
	req, err := e.Request(own)
	if err != nil {
		return nil, &failure{error: err}
	}
	req.Body, req.ContentLength = http.NoBody, int64(len(e.Body))
	up := &upload{r: bytes.NewReader(e.Body), b: b}
	if len(e.Body) > 0 {
		req.Body = up
	}
	guard.Start()
	resp, err = e.Transport.RoundTrip(req.WithContext(own))
	up.Close() // before the guard is stopped, which it may start
	guard.Stop()
	if f, ok := errors.AsType[*fault.Error](err); ok { // the transport refuses the request
		return nil, &failure{error: f, isRefusal: true}
	}
	if err != nil {
		return nil, &failure{error: b.broken(err), again: true}
	}
	b.in, resp.Body = resp.Body, b
	if resp.StatusCode < 300 {
		return resp, nil
	}
	text, err := io.ReadAll(io.LimitReader(b, maxAnswer))
	b.Close()
	if err != nil && ctx.Err() != nil {
		return nil, &failure{error: err}
	}
	resp.Body = io.NopCloser(bytes.NewReader(text))
	if f, again := e.Verdict(resp, text); f != nil {
		return nil, &failure{error: f, again: again, after: retryAfter(resp)}
	}
	return resp, nil
}

// retryAfter returns the wait that the store asks for. A date is compared with
// the clock of the store.
func retryAfter(resp *http.Response) time.Duration {
	now, err := http.ParseTime(resp.Header.Get("Date"))
	if err != nil {
		now = time.Now()
	}
	return transfer.RetryAfter(resp.Header.Get("Retry-After"), now)
}

// body is the body of an answer, and the contexts of its try.
type body struct {
	caller, own context.Context
	guard       *transfer.Guard // of own
	in          io.ReadCloser   // nil: no answer yet
	place       string
	idle        time.Duration
}

func (b *body) Read(p []byte) (int, error) {
	if b.caller.Err() != nil {
		return 0, b.broken(b.caller.Err())
	}
	b.guard.Start()
	n, err := b.in.Read(p)
	b.guard.Stop()
	if err != nil && err != io.EOF {
		err = b.broken(err)
	}
	return n, err
}

func (b *body) Close() error {
	b.guard.Close()
	if b.in == nil {
		return nil
	}
	return b.in.Close()
}

// upload is the body of a request. Each read of it is progress. After Close the
// transport cannot read the bytes, so the caller may change them.
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
	u.b.guard.Start()
	return u.r.Read(p)
}

func (u *upload) Close() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.r = nil
	return nil
}

// broken returns the fault for an error of a connection.
func (b *body) broken(err error) error {
	var timeout interface{ Timeout() bool }
	switch gone := b.caller.Err(); {
	case gone != nil:
		return fault.New(fault.KindOf(gone), b.place, "%w", gone)
	case context.Cause(b.own) == transfer.ErrStalled:
		return fault.New(fault.Timeout, b.place, "no data arrived for %v", b.idle)
	case errors.As(err, &timeout) && timeout.Timeout():
		return fault.New(fault.Timeout, b.place, "the connection timed out")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fault.New(fault.Transport, b.place, "the connection ended before the blob did: %w", io.ErrUnexpectedEOF)
	}
	return fault.New(fault.Transport, b.place, "%s", innermost(err))
}

// Bytes makes the request and returns the answer, which must be short.
func (e *Exchange) Bytes(ctx context.Context) ([]byte, error) {
	resp, err := e.Do(ctx)
	if err != nil {
		return nil, err
	}
	return ReadAnswer(resp, e.Place, maxAnswer)
}

// ReadAnswer reads an answer that is not a blob, of at most limit bytes, and closes
// it.
func ReadAnswer(resp *http.Response, place string, limit int64) ([]byte, error) {
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	switch {
	case err != nil:
		return nil, err
	case int64(len(text)) > limit:
		return nil, fault.New(fault.Malformed, place, "the answer is larger than %d bytes", limit)
	}
	return text, nil
}

// Direct returns a transport for services of this machine that issue
// credentials. It uses no proxy, which would see them.
func Direct() http.RoundTripper {
	direct := &net.Dialer{Timeout: localTime}
	return &http.Transport{DialContext: direct.DialContext, DisableKeepAlives: true}
}

// Local makes a request to a service of this machine that issues credentials.
func Local(ctx context.Context, place string, request func(context.Context) (*http.Request, error)) ([]byte, error) {
	e := Exchange{
		Transport: Direct(), Place: place, Request: request, Idle: localTime,
		Verdict: func(resp *http.Response, _ []byte) (*fault.Error, bool) {
			if Busy(resp.StatusCode) {
				return fault.New(fault.Transport, place, "%s", Status(resp.StatusCode)), true
			}
			return fault.New(fault.Denied, place, "%s", Status(resp.StatusCode)), false
		},
	}
	return e.Bytes(ctx)
}
