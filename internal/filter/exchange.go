package filter

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"symbolon/internal/transfer"
)

const (
	maxTries        = 5         // requests for one answer
	maxRemoteAnswer = 256 << 20 // bytes of an answer
)

// limits bound the waits for a server.
type limits struct {
	stall time.Duration // without a byte
	whole time.Duration // of a request and its answer
	retry time.Duration // the first wait before another try
}

// A server waits for its modules for a minute, if its configuration does not change that.
var defaults = limits{stall: 2 * time.Minute, whole: 10 * time.Minute, retry: time.Second}

// Answer sends a request to a path of the server, again while the server is busy or
// away, and returns its answer.
func (r *Remote) Answer(ctx context.Context, path string, body []byte) (text []byte, err error) {
	var refusal error // of this request alone
	err = r.whileUp(ctx, func() (err error) {
		text, err = r.ask(ctx, path, body)
		if refused, ok := errors.AsType[*StatusError](err); ok && refused.IsRefusal() {
			err, refusal = nil, err
		}
		return err
	})
	return text, cmp.Or(refusal, err)
}

func (r *Remote) ask(ctx context.Context, path string, body []byte) ([]byte, error) {
	backoff := transfer.Backoff{First: r.limits.retry, Max: 10 * time.Second, MaxAfter: time.Minute}
	for try := 1; ; try++ {
		text, canPass, after, err := r.try(ctx, path, body)
		if err == nil || !canPass || try == maxTries || !backoff.Wait(ctx, try, after) {
			return text, err
		}
	}
}

// client follows the redirects that keep the body of a request, and returns others.
var client = http.Client{CheckRedirect: func(next *http.Request, via []*http.Request) error {
	if next.Method != http.MethodPost || len(via) >= maxTries {
		return http.ErrUseLastResponse
	}
	return nil
}}

// try sends a request once. If it fails, try reports whether the failure may pass, and
// how long the server asks to wait.
func (r *Remote) try(ctx context.Context, path string, body []byte) (text []byte, canPass bool, after time.Duration, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, r.limits.whole, transfer.Overdue(r.limits.whole))
	defer cancel()
	ctx, guard := transfer.NewGuard(ctx, r.limits.stall)
	defer guard.Close()
	guard.Start()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url+path, nil)
	if err != nil {
		return nil, false, 0, err
	}
	req.ContentLength = int64(len(body))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(guard.Reader(bytes.NewReader(body))), nil }
	req.Body, _ = req.GetBody()
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "symbolon")
	if r.token != "" {
		req.Header.Set("Authorization", "Bearer "+r.token)
	}
	resp, err := client.Do(req)
	if err != nil {
		canPass, err := r.broken(ctx, err)
		return nil, canPass, 0, err
	}
	defer resp.Body.Close()
	text, err = io.ReadAll(io.LimitReader(guard.Reader(resp.Body), maxRemoteAnswer))
	switch {
	case err != nil:
		canPass, err := r.broken(ctx, err)
		return nil, canPass, 0, err
	case len(text) == maxRemoteAnswer:
		err = &StatusError{http.StatusRequestEntityTooLarge, "the answer is too large; ask for fewer addresses in a single request"}
		return nil, false, 0, fmt.Errorf("%s: %w", r.shown, err)
	}
	if err := r.redirected(resp); err != nil {
		return nil, false, 0, err
	}
	if err := CheckStatus(resp.StatusCode, text); err != nil {
		canPass = transfer.IsTransient(resp.StatusCode)
		return nil, canPass, transfer.RetryAfter(resp.Header.Get("Retry-After"), time.Now()), fmt.Errorf("%s: %w", r.shown, err)
	}
	var line bytes.Buffer
	if err := json.Compact(&line, text); err != nil || line.Bytes()[0] != '{' {
		return nil, false, 0, fmt.Errorf("%s: invalid answer: must be an object of JSON", r.shown)
	}
	return line.Bytes(), false, 0, nil
}

// broken returns the error of a connection, and whether another try may succeed.
func (r *Remote) broken(ctx context.Context, err error) (canPass bool, _ error) {
	cause := context.Cause(ctx)
	_, isLate := errors.AsType[transfer.Overdue](cause)
	switch {
	case cause == transfer.ErrStalled:
		return false, fmt.Errorf("%s: no data arrived for %v", r.shown, r.limits.stall)
	case isLate:
		return false, fmt.Errorf("%s: %w", r.shown, cause)
	case cause != nil:
		return false, cause
	}
	if u, ok := errors.AsType[*url.Error](err); ok { // without the URL, which may have secrets
		err = u.Err
	}
	text, canPass := transfer.Reason(err)
	return canPass, fmt.Errorf("%s: %s", r.shown, text)
}

// redirected returns an error for an answer that has another URL.
func (r *Remote) redirected(resp *http.Response) error {
	to, err := resp.Location()
	switch status := resp.StatusCode; {
	case err != nil || status/100 != 3:
		return nil
	case status == http.StatusTemporaryRedirect || status == http.StatusPermanentRedirect:
		return fmt.Errorf("%s: status %d: redirects more than %d times", r.shown, status, maxTries-1)
	default:
		return fmt.Errorf("%s: status %d: redirects to another URL; use that of %s", r.shown, status, to.Redacted())
	}
}
