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
	"symbolon/internal/missing"
)

// controlSocket returns the path of the socket that ListenControl serves. Only the
// user of the node may open it.
func controlSocket(data string) string { return filepath.Join(data, "control.sock") }

// Remote calls the node of another process.
type Remote struct{ client *http.Client }

// Dial returns the node that runs on a data directory, or nil if none runs, and the path
// of the directory. The configured path may be empty, for that of the user.
func Dial(ctx context.Context, configured string) (r *Remote, data string, err error) {
	if data, err = DataDir(configured); err != nil {
		return nil, "", err
	}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", controlSocket(data))
	}
	c, err := dial(ctx, "", "")
	if err != nil {
		return nil, data, nil
	}
	c.Close()
	return &Remote{&http.Client{Transport: &http.Transport{DialContext: dial}}}, data, nil
}

// Close closes the connections.
func (r *Remote) Close() { r.client.CloseIdleConnections() }

// Uploads returns the address of the uploads of the node, and the transport to it.
func (r *Remote) Uploads() (address string, transport http.RoundTripper) {
	return "http://" + controlHost, r.client.Transport
}

// controlHost is the host of requests, which all go to the socket.
const controlHost = "control"

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

// Missing calls Node.Missing.
func (r *Remote) Missing(ctx context.Context, q MissingQuery) ([]*missing.Row, error) {
	return call[[]*missing.Row](ctx, r, "missing", q)
}

// Cache calls Node.Cache.
func (r *Remote) Cache(ctx context.Context, q CacheQuery, w io.Writer) error {
	return r.post(ctx, "cache", q, copyTo(w))
}

// Token calls Node.Token.
func (r *Remote) Token(ctx context.Context, q TokenQuery, w io.Writer) error {
	return r.post(ctx, "token", q, copyTo(w))
}

// Project calls Node.Project.
func (r *Remote) Project(ctx context.Context, q ProjectQuery, w io.Writer) error {
	return r.post(ctx, "project", q, copyTo(w))
}

// Maintain calls Node.Maintain.
func (r *Remote) Maintain(ctx context.Context, q MaintainQuery, w io.Writer) error {
	return r.post(ctx, "maintain", q, copyTo(w))
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
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+controlHost+"/"+method, bytes.NewReader(text))
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
	err = read(resp.Body)
	if reason := resp.Trailer.Get(failedTrailer); reason != "" {
		return fmt.Errorf("the running server: %s", reason)
	}
	return err
}
