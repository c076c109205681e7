package node

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"sync/atomic"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/api/mozilla"
	"symbolon/internal/api/sentry"
	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/filter"
	"symbolon/internal/locate"
	"symbolon/internal/symbolicate"
	"symbolon/internal/token"
	"symbolon/internal/transfer"
)

// everything returns a locator over all sources of the node, and the uploads of all
// projects.
func (n *Node) everything() *locate.Locator {
	return n.answering(context.Background(), operator(), "")
}

// Names returns names from the sources of the node.
func (n *Node) Names() filter.Names {
	l := n.everything()
	tables := n.tables.With(l)
	return &filter.Local{Engine: n.engine.With(tables).Unlimited(), Tables: tables, Locator: l}
}

// Answers returns a function that answers requests from the sources of the node. Call it
// at most once, and not after Front.
func (n *Node) Answers() func(ctx context.Context, path string, body []byte) ([]byte, error) {
	engine := n.engineOver(n.everything()).Unlimited()
	grant := func(*http.Request) (*token.Grant, error) { return operator(), nil }
	cfg := n.cfg.Mozilla
	cfg.Strict = false // the limits of a server for its clients
	symbols := mozilla.New(cfg, mozilla.Deps{
		Grant: grant, Now: time.Now, Log: n.log,
		Run: func(ctx context.Context, _ *token.Grant, req *symbolicate.Request) (*symbolicate.Result, error) {
			return counting(ctx, engine).Run(ctx, req)
		},
	})
	n.sentry = sentry.New(n.cfg.Sentry, sentry.Deps{
		Grant: grant, Sources: len(n.sources.all), Now: time.Now, Log: n.log,
		Engine: func(ctx context.Context, a sentry.Search) (*symbolicate.Engine, error) {
			if a.Named == nil {
				return counting(ctx, engine), nil
			}
			e, err := n.engineFor(ctx, a)
			if err != nil {
				return nil, err
			}
			return counting(ctx, e), nil
		},
	})
	routes := slices.Concat(symbols.Routes(), n.sentry.Routes())
	return func(ctx context.Context, path string, body []byte) ([]byte, error) {
		r := &http.Request{Method: http.MethodPost, URL: &url.URL{Path: path}, Header: http.Header{}}
		return n.answer(routes, r.WithContext(ctx), body)
	}
}

// counting returns an engine that counts the addresses and the missing modules of
// requests for the run of a context.
func counting(ctx context.Context, e *symbolicate.Engine) *symbolicate.Engine {
	run := filter.RunOf(ctx)
	if run == nil {
		return e
	}
	return e.Ending(func(req *symbolicate.Request, res *symbolicate.Result) {
		n, modules := filter.Counts{Named: res.Named}, make([]int, len(req.Modules))
		for _, f := range req.Frames {
			if f.Module >= 0 {
				n.Addresses++
				modules[f.Module]++
			}
		}
		run.Count(n)
		for i, m := range req.Modules {
			if out := &res.Modules[i]; out.Asked && !out.Found && out.Report.Fault != nil {
				run.Add([]filter.Missing{{Name: cmp.Or(m.CodeFile, m.DebugFile), Addresses: modules[i], Why: out.Report.Fault, Module: m}})
			}
		}
	})
}

// runOf returns a run for a client of a door: over the files that may answer it, with
// the interfaces of the server for rows that are requests.
func (n *Node) runOf(r *http.Request, g *token.Grant, door string, routes []api.Route) *filter.Run {
	l := n.answering(r.Context(), g, "")
	names := &filter.Local{Engine: n.noting(n.engineOver(l), clientOf(r.Context(), door, "")), Locator: l}
	var requests atomic.Int64
	return &filter.Run{Names: names, Answer: func(ctx context.Context, path string, body []byte) ([]byte, error) {
		if most := int64(n.cfg.Mozilla.Defaults().MaxJobs); most >= 0 && requests.Add(1) > most {
			return nil, tooLarge("please limit number of requests among the rows to <= %d", most)
		}
		inner := r.Clone(ctx)
		inner.URL = &url.URL{Path: path}
		inner.Header.Del("Accept")
		text, err := n.answer(routes, inner, body)
		if refused, ok := errors.AsType[*filter.StatusError](err); ok && refused.Status == http.StatusUnauthorized {
			refused.Status = http.StatusForbidden // of this row
		}
		return text, err
	}}
}

func tooLarge(format string, args ...any) error {
	return &filter.StatusError{Status: http.StatusRequestEntityTooLarge, Reason: fmt.Sprintf(format, args...)}
}

// maxBusy limits the waits for an interface that has too much to do.
const maxBusy = 100

// answer has the interface of a request answer it with another body. It waits while the
// interface is busy, as other rows may be the reason.
func (n *Node) answer(routes []api.Route, r *http.Request, body []byte) (text []byte, err error) {
	i := slices.IndexFunc(routes, func(to api.Route) bool { return to.Pattern == r.URL.Path })
	if i < 0 {
		return nil, fmt.Errorf("no interface at %s", r.URL.Path)
	}
	if most := bin.Size(cmp.Or(routes[i].MaxBody, int64(n.cfg.HTTP.Defaults().MaxBody))); int64(len(body)) > int64(most) {
		return nil, tooLarge("the limit of a request is %v", most)
	}
	r.Header.Set("Content-Type", "application/json")
	backoff := transfer.Backoff{First: 100 * time.Millisecond, Max: time.Second}
	for try := 1; ; try++ {
		text, err = handle(routes[i].Handle, r, body)
		var busy *filter.StatusError
		if !errors.As(err, &busy) || busy.Status != http.StatusServiceUnavailable || try == maxBusy || !backoff.Wait(r.Context(), try, 0) {
			return text, err
		}
	}
}

// handle has a handler answer a request with another body.
func handle(h http.HandlerFunc, r *http.Request, body []byte) (text []byte, err error) {
	defer func() {
		if p := recover(); p == http.ErrAbortHandler {
			text, err = nil, tooLarge("the answer is too large; ask for fewer addresses in a single request")
		} else if p != nil {
			err = fault.Panicked(r.URL.Path, p)
		}
	}()
	r.Body = io.NopCloser(bytes.NewReader(body))
	w := &response{header: http.Header{}}
	h(w, r)
	if err := context.Cause(r.Context()); err != nil {
		return nil, err
	}
	if w.text.Len() == 0 {
		return nil, errors.New("no answer")
	}
	return w.text.Bytes(), filter.CheckStatus(cmp.Or(w.status, http.StatusOK), w.text.Bytes())
}

// response is a response in memory.
type response struct {
	header http.Header
	status int
	text   bytes.Buffer
}

func (w *response) Header() http.Header         { return w.header }
func (w *response) WriteHeader(status int)      { w.status = cmp.Or(w.status, status) }
func (w *response) Write(p []byte) (int, error) { return w.text.Write(p) }

// namesWithin returns a function that looks up names in the files that a client may read,
// without modules that are not ready in time.
func (n *Node) namesWithin(wait time.Duration) func(ctx context.Context, g *token.Grant) filter.Names {
	return func(ctx context.Context, g *token.Grant) filter.Names {
		l := n.answering(ctx, g, "")
		return &filter.Local{Engine: n.noting(n.engineOver(l), clientOf(ctx, "otlp", "")).Limited(wait), Locator: l}
	}
}
