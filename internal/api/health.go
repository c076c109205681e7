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

// Check is something that must be well for the service to be well.
type Check struct {
	Name string
	Run  func(ctx context.Context) error
}

// checkTime is how long a check may take.
const checkTime = 5 * time.Second

// fixed is the routes that every service has. HEAD is answered where probes
// of load balancers ask for it, and not by the Dockerflow paths, which know
// GET only.
func (f *Front) fixed() []Route {
	get, probe := []string{http.MethodGet}, []string{http.MethodGet, http.MethodHead}
	return []Route{
		{Methods: get, Pattern: "/", Handle: newPage().serve},
		{Methods: get, Pattern: "/__version__", Handle: f.version, Exempt: true},
		{Methods: get, Pattern: "/__heartbeat__", Handle: f.heartbeat, Exempt: true},
		{Methods: get, Pattern: "/__lbheartbeat__", Handle: alive, Exempt: true},
		{Methods: get, Pattern: "/__broken__", Handle: f.broken},
		{Methods: probe, Pattern: "/healthcheck", Handle: healthy, Exempt: true, Fail: FailBare},
		{Methods: probe, Pattern: "/healthz", Handle: alive, Exempt: true},
		{Methods: probe, Pattern: "/live", Handle: alive, Exempt: true},
		{Methods: probe, Pattern: "/ready", Handle: f.ready, Exempt: true},
		{Methods: probe, Pattern: "/readyz", Handle: f.ready, Exempt: true},
		{Methods: get, Pattern: "/metrics", Handle: metric.Handler().ServeHTTP, Exempt: true},
	}
}

func alive(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte("ok\n"))
}

// healthy is alive in the words of Symbolicator, without an end of line.
func healthy(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte("ok"))
}

func (f *Front) version(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(f.opt.Version)
}

// ReadVersion is what /__version__ says: the version.json at path, or without
// a path what the binary knows about its own build.
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
	var known struct {
		Source  string `json:"source"`
		Version string `json:"version"`
		Commit  string `json:"commit"`
		Build   string `json:"build"`
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		known.Source, known.Version, known.Build = info.Main.Path, info.Main.Version, info.GoVersion
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				known.Commit = s.Value
			}
		}
	}
	return json.Marshal(known)
}

// verdict is the body of a heartbeat, in the words of Dockerflow.
type verdict struct {
	Status  string            `json:"status"`
	Checks  map[string]string `json:"checks"`
	Details map[string]detail `json:"details"`
}

type detail struct {
	Status   string            `json:"status"`
	Level    int               `json:"level"`
	Messages map[string]string `json:"messages"`
}

// levelError is the level of a failed check in Dockerflow's counting.
const levelError = 40

// examine runs all checks side by side.
func (f *Front) examine(ctx context.Context) verdict {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	failed := make([]error, len(f.opt.Checks))
	var wg sync.WaitGroup
	for i, c := range f.opt.Checks {
		wg.Go(func() { failed[i] = c.Run(ctx) })
	}
	wg.Wait()
	v := verdict{Status: "ok", Checks: map[string]string{}, Details: map[string]detail{}}
	for i, c := range f.opt.Checks {
		v.Checks[c.Name] = "ok"
		if failed[i] != nil {
			v.Status, v.Checks[c.Name] = "error", "error"
			v.Details[c.Name] = detail{"error", levelError, map[string]string{c.Name + ".failed": failed[i].Error()}}
		}
	}
	return v
}

func (f *Front) heartbeat(w http.ResponseWriter, r *http.Request) {
	v := f.examine(r.Context())
	status := http.StatusOK
	if v.Status != "ok" {
		status = http.StatusServiceUnavailable
	}
	WriteJSON(w, status, v)
}

// ready says whether new requests should be sent here.
func (f *Front) ready(w http.ResponseWriter, r *http.Request) {
	switch {
	case f.draining.Load():
		Fail(w, r, http.StatusServiceUnavailable, "503 Service Unavailable: the server is stopping")
	case f.examine(r.Context()).Status != "ok":
		Fail(w, r, http.StatusServiceUnavailable, "503 Service Unavailable: a check failed, see /__heartbeat__")
	default:
		alive(w, r)
	}
}

// broken fails on purpose, so that operators can see how that looks.
func (f *Front) broken(w http.ResponseWriter, r *http.Request) {
	f.opt.Log.Error("/__broken__ was asked for, which fails on purpose", "request_id", RequestID(r.Context()))
	Fail(w, r, http.StatusInternalServerError, "")
}
