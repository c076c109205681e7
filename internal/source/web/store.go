package web

import (
	"context"
	"errors"
	"io"
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
	t := &storeTransport{RoundTripper: c.Transport(share != nil), client: c, deny: c.deny}
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
		if req.Body != nil {
			_ = req.Body.Close() // as each RoundTripper does
		}
		return nil, fault.New(fault.Transport, host, "%s", why)
	}
	resp, err := t.RoundTripper.RoundTrip(req)
	switch {
	case err != nil:
		t.broken(req, host, err)
	case resp.StatusCode >= 400:
		t.client.count(t.deny, host, verdict(host, resp.StatusCode))
	case resp.Body == http.NoBody:
		t.client.count(t.deny, host, nil)
	default:
		resp.Body = &storeBody{ReadCloser: resp.Body, transport: t, req: req, host: host}
	}
	return resp, err
}

// broken counts an error of a connection, unless the caller left.
func (t *storeTransport) broken(req *http.Request, host string, err error) {
	var over transfer.Overdue
	ctx := req.Context()
	if cause := context.Cause(ctx); cause == nil || cause == transfer.ErrStalled || errors.As(cause, &over) {
		failed := t.client.broken(context.Background(), ctx, host, err)
		failed.Detail, _, _ = strings.Cut(failed.Detail, `"`) // a quoted text is of the server
		t.client.count(t.deny, host, failed)
	}
}

// storeBody is the body of an answer. Its end or its first error counts; a body that is
// closed before does not.
type storeBody struct {
	io.ReadCloser
	transport *storeTransport
	req       *http.Request
	host      string
	isCounted bool
}

func (b *storeBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && !b.isCounted {
		if b.isCounted = true; err == io.EOF {
			b.transport.client.count(b.transport.deny, b.host, nil)
		} else {
			b.transport.broken(b.req, b.host, err)
		}
	}
	return n, err
}
