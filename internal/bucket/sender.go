package bucket

import (
	"context"
	"errors"
	"io"
	"net/http"

	"symbolon/internal/fault"
)

// Sender is an http.RoundTripper for libraries that get credentials. It sends each
// request as an Exchange, so that the guards, limits and retries of the bucket apply and
// no redirect is followed. It keeps the last failure, as the library only keeps its text.
// A Sender is for one fetch of credentials.
type Sender struct {
	Exchange                 // without Request and Body
	Context  context.Context // of the fetch: not every library hands it over
	Refusal  func(req *http.Request, status int, body, answer []byte) string
	Failed   error
}

// RoundTrip sends a request. An unsuccessful answer is an error.
func (s *Sender) RoundTrip(req *http.Request) (*http.Response, error) {
	var body []byte
	if req.Body != nil {
		defer req.Body.Close()
		var err error
		if body, err = io.ReadAll(req.Body); err != nil {
			return nil, err
		}
	}
	if req.URL.Scheme != "http" && req.URL.Scheme != "https" || req.URL.Host == "" {
		return nil, errors.ErrUnsupported
	}
	e := s.Exchange
	e.Body = body
	e.Request = func(ctx context.Context) (*http.Request, error) { return req.Clone(ctx), nil }
	e.Verdict = func(resp *http.Response, answer []byte) (*fault.Error, bool) {
		kind, again := fault.Denied, Busy(resp.StatusCode)
		if again {
			kind = fault.Transport
		}
		return fault.New(kind, s.Place, "%s", s.Refusal(req, resp.StatusCode, body, answer)), again
	}
	resp, err := e.Do(s.Context)
	s.Failed = err
	return resp, err
}
