package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"symbolon/internal/metric"
)

// A Check fails if a part of the service does not work.
type Check struct {
	Name string
	Run  func(ctx context.Context) error
}

// checkTimeout is the time limit of a check.
const checkTimeout = 5 * time.Second

// ownRoutes returns the routes of every service. Those that load balancers probe
// answer HEAD; the Dockerflow paths have only GET.
func (f *Front) ownRoutes() []Route {
	get, probe := []string{http.MethodGet}, []string{http.MethodGet, http.MethodHead}
	return []Route{
		{Methods: get, Pattern: "/__version__", Summary: "The version of the server", Produces: "application/json", Handle: f.version, Exempt: true},
		{Methods: get, Pattern: "/__heartbeat__", Summary: "Run the health checks, with their results", Produces: "application/json", Handle: f.answerHeartbeat, Exempt: true},
		{Methods: get, Pattern: "/__lbheartbeat__", Summary: "Check that the server answers", Produces: "text/plain", Handle: alive, Exempt: true},
		{Methods: get, Pattern: "/__broken__", Summary: "Fail on purpose, to test alerts", Handle: f.broken},
		{Methods: probe, Pattern: "/healthcheck", Summary: "Check that the server answers, as Symbolicator does", Produces: "text/plain", Handle: healthy, Exempt: true, Fail: FailBare},
		{Methods: probe, Pattern: "/healthz", Summary: "Check that the server answers", Produces: "text/plain", Handle: alive, Exempt: true},
		{Methods: probe, Pattern: "/live", Summary: "Check that the server answers", Produces: "text/plain", Handle: alive, Exempt: true},
		{Methods: probe, Pattern: "/ready", Summary: "Check that the server can take requests", Handle: f.ready, Exempt: true},
		{Methods: probe, Pattern: "/readyz", Summary: "Check that the server can take requests", Handle: f.ready, Exempt: true},
		{Methods: probe, Pattern: "/metrics", Summary: "Metrics for Prometheus", Produces: "text/plain", Handle: metric.Handler().ServeHTTP, Exempt: true},
		{Methods: probe, Pattern: "/openapi.json", Summary: "This document", Produces: "application/json", Handle: f.document(), Exempt: true},
	}
}

// document returns the handler of the OpenAPI document, which is made once.
func (f *Front) document() http.HandlerFunc {
	text := sync.OnceValue(f.openAPI)
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(text())
	}
}

func alive(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte("ok\n"))
}

// healthy answers as Symbolicator does, without a line break.
func healthy(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte("ok"))
}

func (f *Front) version(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(f.opt.Version)
}

// ReadVersion returns the JSON of /__version__: the version.json at path, or
// without a path the build information of the binary.
func ReadVersion(path string) ([]byte, error) {
	if path != "" {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("version_file: %w", err)
		}
		if !json.Valid(text) {
			return nil, fmt.Errorf("version_file %s is not JSON", path)
		}
		return text, nil
	}
	var build struct {
		Source  string `json:"source"`
		Version string `json:"version"`
		Commit  string `json:"commit"`
		Build   string `json:"build"`
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		build.Source, build.Version, build.Build = info.Main.Path, info.Main.Version, info.GoVersion
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				build.Commit = s.Value
			}
		}
	}
	return json.Marshal(build)
}

// heartbeat is the body of /__heartbeat__, as Dockerflow defines it.
type heartbeat struct {
	Status  string            `json:"status"`
	Checks  map[string]string `json:"checks"`
	Details map[string]detail `json:"details"`
}

type detail struct {
	Status   string            `json:"status"`
	Level    int               `json:"level"`
	Messages map[string]string `json:"messages"`
}

// levelError is the level of a failed check in Dockerflow.
const levelError = 40

// check runs all checks concurrently.
func (f *Front) check(ctx context.Context) heartbeat {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	failed := make([]error, len(f.opt.Checks))
	var wg sync.WaitGroup
	for i, c := range f.opt.Checks {
		wg.Go(func() { failed[i] = c.Run(ctx) })
	}
	wg.Wait()
	v := heartbeat{Status: "ok", Checks: map[string]string{}, Details: map[string]detail{}}
	for i, c := range f.opt.Checks {
		v.Checks[c.Name] = "ok"
		if failed[i] != nil {
			v.Status, v.Checks[c.Name] = "error", "error"
			v.Details[c.Name] = detail{"error", levelError, map[string]string{c.Name + ".failed": failed[i].Error()}}
		}
	}
	return v
}

func (f *Front) answerHeartbeat(w http.ResponseWriter, r *http.Request) {
	v := f.check(r.Context())
	status := http.StatusOK
	if v.Status != "ok" {
		status = http.StatusServiceUnavailable
	}
	WriteJSON(w, status, v)
}

// ready answers whether new requests should be sent to this server.
func (f *Front) ready(w http.ResponseWriter, r *http.Request) {
	switch {
	case f.draining.Load():
		Fail(w, r, http.StatusServiceUnavailable, "503 Service Unavailable: the server is stopping")
	case f.check(r.Context()).Status != "ok":
		Fail(w, r, http.StatusServiceUnavailable, "503 Service Unavailable: a check failed, see /__heartbeat__")
	default:
		alive(w, r)
	}
}

// broken fails on purpose, for a test of the monitoring.
func (f *Front) broken(w http.ResponseWriter, r *http.Request) {
	f.opt.Log.Error("a request of /__broken__ fails on purpose", "request_id", RequestID(r.Context()))
	Fail(w, r, http.StatusInternalServerError, "")
}
