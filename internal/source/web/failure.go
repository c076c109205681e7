package web

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"symbolon/internal/fault"
	"symbolon/internal/transfer"
)

// failure is a fault with the facts that decide about a retry.
type failure struct {
	*fault.Error
	again bool          // another try may succeed
	after time.Duration // wait that the server asks for
	late  bool          // it took a timeout, and another try may take as long
	down  bool          // it counts against the host
}

// verdict returns the failure for a status, or nil if the file follows.
func verdict(place string, status int) *failure {
	text := statusText(status)
	f := func(kind fault.Kind, detail string) *failure {
		return &failure{Error: fault.New(kind, place, "%s", detail), down: kind == fault.Transport || kind == fault.Timeout}
	}
	switch {
	case status == http.StatusOK || status == http.StatusNonAuthoritativeInfo:
		return nil
	case status == http.StatusPartialContent:
		return f(fault.Transport, text+", though the whole file was asked for")
	case status < 300:
		return f(fault.NotFound, text+" is not a file")
	case status < 400:
		return f(fault.Transport, text+" without saying where to")
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return f(fault.Denied, text)
	case status == http.StatusRequestTimeout:
		late := f(fault.Timeout, text)
		late.Status = status
		return late
	case status == http.StatusProxyAuthRequired:
		return f(fault.Transport, text)
	case status == http.StatusTooManyRequests || status >= 500:
		broken := f(fault.Transport, text)
		broken.again = transfer.IsTransient(status)
		return broken
	}
	return f(fault.NotFound, text)
}

// statusText returns a status with its standard text. The text of the server is
// not repeated.
func statusText(status int) string {
	if text := http.StatusText(status); text != "" {
		return fmt.Sprintf("%d %s", status, text)
	}
	return fmt.Sprintf("status %d", status)
}

// broken returns the failure for an error of a connection. caller is the context of the
// fetch, try the one of the try.
func (c *Client) broken(caller, try context.Context, place string, err error) *failure {
	if gone := caller.Err(); gone != nil {
		return &failure{Error: fault.New(fault.KindOf(gone), place, "canceled by the caller: %w", gone)}
	}
	late := func(format string, limit time.Duration, again bool) *failure {
		return &failure{Error: fault.New(fault.Timeout, place, format, limit), again: again, down: true}
	}
	var over transfer.Overdue
	switch cause := context.Cause(try); {
	case errors.As(cause, &over):
		return &failure{Error: fault.New(fault.Timeout, place, "%s", over.Error()), down: true}
	case cause == transfer.ErrStalled:
		return late("no data arrived for %v", c.cfg.ReadTimeout, false)
	case errors.Is(err, errRestricted):
		return &failure{Error: fault.New(fault.Transport, place, "%w", errRestricted)}
	case isTimeout(err) && strings.Contains(err.Error(), "awaiting response headers"):
		failed := late("no answer within %v", c.cfg.HeadTimeout, true)
		failed.late = true
		return failed
	case isTimeout(err) && c.cfg.ConnectTimeout > 0 && connecting(err):
		return late("no connection within %v", c.cfg.ConnectTimeout, true)
	case isTimeout(err):
		return &failure{Error: fault.New(fault.Timeout, place, "the connection timed out"), again: true, down: true}
	}
	detail, again := wording(err)
	return &failure{Error: fault.New(fault.Transport, place, "%s", detail), again: again, down: true}
}

func isTimeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.As(err, &t) && t.Timeout()
}

// connecting reports whether an error occurred before the connection was made.
func connecting(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial" || strings.Contains(err.Error(), "TLS handshake")
}

// wording returns a text for an error of a connection, and whether another try may
// succeed.
func wording(err error) (text string, again bool) {
	if proxy, ok := errors.AsType[proxyError](err); ok {
		return "the proxy answers " + statusText(int(proxy)), proxy >= 500
	}
	return transfer.Reason(err)
}

// brief truncates a long text.
func brief(text string) string {
	const most = 300
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "..."
	}
	return text
}

// proxyError is the status with which a proxy refuses a connection. The text of
// the proxy may have secrets and is not repeated.
type proxyError int

func (e proxyError) Error() string { return statusText(int(e)) }
