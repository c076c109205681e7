package node

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"syscall"

	"symbolon/internal/answer"
	"symbolon/internal/explain"
	"symbolon/internal/ident"
)

// controlSocket returns the path of the socket that ListenControl serves. Only the
// user of the node may open it.
func controlSocket(data string) string { return filepath.Join(data, "control.sock") }

// Remote calls the node of another process.
type Remote struct{ client *http.Client }

// Dial returns the node that runs on a data directory, or nil if none runs.
func Dial(ctx context.Context, data string) *Remote {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", controlSocket(data))
	}
	c, err := dial(ctx, "", "")
	if err != nil {
		return nil
	}
	c.Close()
	return &Remote{&http.Client{Transport: &http.Transport{DialContext: dial}}}
}

// Close closes the connections.
func (r *Remote) Close() { r.client.CloseIdleConnections() }

// Explain calls Node.Explain.
func (r *Remote) Explain(ctx context.Context, q explain.Question) (*explain.Trail, error) {
	return call[*explain.Trail](ctx, r, "explain", q)
}

// Prefetch calls Node.Prefetch.
func (r *Remote) Prefetch(ctx context.Context, m ident.Module) (Prefetched, error) {
	return call[Prefetched](ctx, r, "prefetch", m)
}

// Frames calls Node.Frames.
func (r *Remote) Frames(ctx context.Context, q FileQuery) ([]answer.Answer, error) {
	return call[[]answer.Answer](ctx, r, "frames", q)
}

// Cache calls Node.Cache.
func (r *Remote) Cache(ctx context.Context, q CacheQuery, w io.Writer) error {
	return r.post(ctx, "cache", q, copyTo(w))
}

// Key calls Node.Key.
func (r *Remote) Key(ctx context.Context, q KeyQuery, w io.Writer) error {
	return r.post(ctx, "key", q, copyTo(w))
}

// call calls a method that returns a value.
func call[T any](ctx context.Context, r *Remote, method string, arg any) (v T, err error) {
	err = r.post(ctx, method, arg, func(body io.Reader) error { return json.NewDecoder(body).Decode(&v) })
	return v, err
}

func copyTo(w io.Writer) func(io.Reader) error {
	return func(body io.Reader) error {
		_, err := io.Copy(w, body)
		return err
	}
}

// post sends an argument to a method, and passes the response to read.
func (r *Remote) post(ctx context.Context, method string, arg any, read func(io.Reader) error) error {
	text, err := json.Marshal(arg)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://control/"+method, bytes.NewReader(text))
	if err != nil {
		return err
	}
	resp, err := r.client.Do(req)
	if err != nil {
		if errors.Is(err, syscall.ECONNREFUSED) {
			return errors.New("the running server ended")
		}
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		reason, _ := io.ReadAll(io.LimitReader(resp.Body, 4096))
		return fmt.Errorf("the running server: %s", bytes.TrimSpace(reason))
	}
	return read(resp.Body)
}
