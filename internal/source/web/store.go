package web

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"symbolon/internal/fault"
	"symbolon/internal/transfer"
)

// storeTransport is the transport of a source in an object store. It blocks hosts that
// fail, as those of symbol servers are blocked; each try of the store's client counts.
type storeTransport struct {
	http.RoundTripper
	client *Client
	deny   *denyList
}

// StoreTransport returns a transport for a source in an object store. share is that of
// the request that named the source, nil for the configuration.
func (c *Client) StoreTransport(share *Share) http.RoundTripper {
	t := &storeTransport{c.Transport(share != nil), c, c.deny}
	if share != nil {
		t.deny = share.deny
	}
	return t
}

// RoundTrip sends a request, unless its host is blocked. Services that issue credentials
// have hosts of their own, so a failing one does not block the store.
func (t *storeTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	host := strings.ToLower(req.URL.Host)
	if why := t.deny.blocked(host); why != "" {
		return nil, fault.New(fault.Transport, host, "%s", why)
	}
	resp, err := t.RoundTripper.RoundTrip(req)
	switch {
	case err == nil && resp.StatusCode < 400:
		t.client.count(t.deny, host, nil)
	case err == nil:
		t.client.count(t.deny, host, verdict(host, resp.StatusCode))
	case !isCanceled(req.Context()):
		t.client.count(t.deny, host, t.client.broken(context.Background(), req.Context(), host, err))
	}
	return resp, err
}

// isCanceled reports whether a try ended because its caller left, not because it took
// too long.
func isCanceled(ctx context.Context) bool {
	var over transfer.Overdue
	cause := context.Cause(ctx)
	return cause != nil && cause != transfer.ErrStalled && !errors.As(cause, &over)
}
