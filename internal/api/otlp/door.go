// Package otlp serves profilers that send OpenTelemetry's profiles over HTTP:
//
//	POST /v1development/profiles
//
// Names are added to the profiles, and the result is sent to the next hop, whose status,
// body and Retry-After are the answer. Locations whose symbols are not ready in time are
// forwarded without names, and a message that cannot be read is forwarded unchanged:
// missing symbols never fail a request. Errors are a Status message, as the protocol
// requires.
//
// A Door is safe for concurrent use. It stores nothing, so clients may retry.
package otlp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"net/url"
	"time"

	"github.com/klauspost/compress/gzip"

	"symbolon/internal/api"
	"symbolon/internal/fault"
	"symbolon/internal/filter"
	"symbolon/internal/filter/otlp"
	"symbolon/internal/filter/wire"
	"symbolon/internal/metric"
	"symbolon/internal/token"
)

// Deps are the dependencies of a door.
type Deps struct {
	// Grant returns the rights of the client of a request, if it may symbolicate.
	Grant func(*http.Request) (*token.Grant, error)
	// Names returns names from the files that may answer a client. They wait as long as
	// profiles do.
	Names     func(ctx context.Context, g *token.Grant) filter.Names
	Transport http.RoundTripper // to the next hop
	Log       *slog.Logger
}

// Door serves the route.
type Door struct {
	cfg    Config
	deps   Deps
	client http.Client
}

// New returns a door.
func New(cfg Config, deps Deps) *Door {
	transport := deps.Transport
	if t, ok := transport.(*http.Transport); ok { // exporters wait longer for an answer than sources have
		t = t.Clone()
		t.ResponseHeaderTimeout = 0
		transport = t
	}
	client := http.Client{
		Transport: transport, Timeout: forwardTime,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return &Door{cfg.Defaults(), deps, client}
}

const (
	protobuf    = "application/x-protobuf"
	forwardTime = 30 * time.Second // as long as exporters wait
	maxAnswer   = 4 << 20          // of the next hop, as the protocol recommends
)

// Routes returns the routes of the door: none without a next hop.
func (d *Door) Routes() []api.Route {
	if d.cfg.Forward.IsZero() {
		return nil
	}
	return []api.Route{{
		Methods: []string{http.MethodPost}, Pattern: "/v1development/profiles", Summary: "Add names to profiles of OpenTelemetry, and send them on",
		Accepts: protobuf, Produces: protobuf, Admit: d.admit, Handle: d.serve, Fail: fail,
	}}
}

// fail writes a google.rpc.Status. Senders retry after some statuses.
func fail(w http.ResponseWriter, _ *http.Request, status int, title string) {
	if title == "" {
		title = http.StatusText(status)
	}
	w.Header().Set("Content-Type", protobuf)
	w.WriteHeader(status)
	_, _ = w.Write(wire.AppendBytes(nil, 2, title)) // the client may have left
}

// admit reports whether the body may be read. If not, it answers with an error.
func (d *Door) admit(w http.ResponseWriter, r *http.Request) bool {
	if _, err := d.deps.Grant(r); err != nil {
		d.refuse(w, r, err)
		return false
	}
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != protobuf {
		fail(w, r, http.StatusUnsupportedMediaType, fmt.Sprintf("profiles must be sent as %s: "+
			"set encoding: proto in the otlp_http exporter of a collector, which is its default", protobuf))
		return false
	}
	return true
}

// refuse answers that a client may not send profiles.
func (d *Door) refuse(w http.ResponseWriter, r *http.Request, err error) {
	status := api.Status(err)
	if status != http.StatusUnauthorized && status != http.StatusForbidden {
		d.deps.Log.Error("cannot read the tokens", "request_id", api.RequestID(r.Context()), "error", err)
	}
	fail(w, r, status, err.Error())
}

func (d *Door) serve(w http.ResponseWriter, r *http.Request) {
	g, err := d.deps.Grant(r)
	if err != nil { // since admit
		d.refuse(w, r, err)
		return
	}
	body, err := io.ReadAll(r.Body)
	var unread *api.Refusal
	switch {
	case r.Context().Err() != nil: // the client has left
		return
	case errors.As(err, &unread):
		fail(w, r, unread.Status, unread.Text)
		return
	}
	log := d.deps.Log.With("request_id", api.RequestID(r.Context()))
	named, err := d.name(r.Context(), g, body)
	if r.Context().Err() != nil {
		return
	}
	if err != nil {
		metric.OTLPUntouched.Add(1)
		log.Warn("cannot read profiles; forwarding them unchanged", "error", err)
	}
	resp, err := d.send(r, named)
	if err != nil {
		if r.Context().Err() == nil {
			log.Error("cannot send profiles to otlp.forward", "error", err)
			fail(w, r, http.StatusServiceUnavailable, "the next hop of the profiles does not answer")
		}
		return
	}
	defer func() { _ = resp.Body.Close() }() // it was only read
	switch {
	case resp.StatusCode == http.StatusNotFound:
		log.Warn("otlp.forward has no interface for profiles; its path is usually /v1development/profiles", "status", resp.StatusCode)
	case resp.StatusCode >= 300:
		log.Warn("otlp.forward refused profiles", "status", resp.StatusCode)
	}
	if resp.StatusCode/100 == 3 { // exporters would drop the profiles
		fail(w, r, http.StatusServiceUnavailable, "the next hop of the profiles redirects requests: correct otlp.forward")
		return
	}
	for _, name := range [...]string{"Content-Type", "Content-Encoding", "Retry-After"} {
		if values := resp.Header.Values(name); len(values) > 0 {
			w.Header()[name] = values
		}
	}
	w.WriteHeader(resp.StatusCode)
	_, _ = io.Copy(w, io.LimitReader(resp.Body, maxAnswer)) // the client gets the part that was read
}

// name returns the compressed body with names, or, with an error, unchanged.
func (d *Door) name(ctx context.Context, g *token.Grant, body []byte) (packed []byte, err error) {
	var out bytes.Buffer
	z, _ := gzip.NewWriterLevel(&out, gzip.BestSpeed) // the level is known
	err = func() (err error) {
		defer fault.Recover("OTLP profiles", &err)
		return otlp.Rewrite(ctx, &filter.Run{Names: d.deps.Names(ctx, g)}, body, z)
	}()
	if err != nil {
		out.Reset()
		z.Reset(&out)
		_, _ = z.Write(body) // to memory
	}
	_ = z.Close()
	return out.Bytes(), err
}

// send sends a compressed message to the next hop.
func (d *Door) send(r *http.Request, packed []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(r.Context(), http.MethodPost, d.cfg.Forward.Reveal(), bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", r.UserAgent())
	for name, value := range d.cfg.Headers {
		req.Header.Set(name, value.Reveal())
	}
	req.Header.Set("Content-Type", protobuf)
	req.Header.Set("Content-Encoding", "gzip")
	resp, err := d.client.Do(req)
	if inner, ok := errors.AsType[*url.Error](err); ok {
		err = inner.Err // without the address, which may have secrets
	}
	return resp, err
}
