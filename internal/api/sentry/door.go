package sentry

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/api/jobs"
	"symbolon/internal/api/wire"
	"symbolon/internal/bin"
	"symbolon/internal/cache"
	"symbolon/internal/cache/mem"
	"symbolon/internal/crash"
	"symbolon/internal/source"
	"symbolon/internal/sym"
	"symbolon/internal/symbolicate"
	"symbolon/internal/token"
)

// Deps are the dependencies of a door.
type Deps struct {
	// Grant returns the rights of the client of a request.
	Grant func(*http.Request) (*token.Grant, error)
	// Engine returns an engine over the sources of a search.
	Engine func(context.Context, Search) (*symbolicate.Engine, error)
	// Fetch fetches a source file from a URL in debug information.
	Fetch func(ctx context.Context, url string, headers map[string]bin.Secret, verify bool) ([]byte, error)
	// File opens the first requested file that the configured sources have.
	File    func(ctx context.Context, s Search, asked []source.FileRequest) (api.File, error)
	Sources int // number of configured sources
	// Spool returns a temporary file for a dump.
	Spool func() (cache.Spool, error)
	// Crashes returns a processor of dumps over the sources of a search.
	Crashes func(context.Context, Search) (*crash.Processor, error)
	MaxDump bin.Size
	Store   jobs.Store // nil: this node runs alone
	Now     func() time.Time
	Log     *slog.Logger
}

// Search selects the sources that are searched for a request.
type Search struct {
	Scope string          // of the caches
	Named []source.Config // those that the request names; nil: those that the client may use
	Grant *token.Grant    // of the client
}

// engine begins to open the modules of a request.
type engine func(ctx context.Context, req *symbolicate.Request) ([]symbolicate.Module, result)

// result has the methods of a *symbolicate.Result that the encoder uses. Tests have
// others.
type result interface {
	Next() (modules []int32, more bool)
	Open(from, to int)
	Addr(i int) (addr uint64, ok bool)
	Frames(i int) ([]sym.Frame, error)
	AppendRaw(dst []byte, m int32, t sym.Text) (out []byte, plain bool)
	AppendFile(dst []byte, m int32, t sym.Text) (out []byte, plain bool)
	Source(m int32, path string) (text []byte, link string)
	Release()
}

// request is a request that is being answered.
type request struct {
	*wire.Request
	scope     string
	search    Search
	crash     *crashed                    // nil: the request is not a crash file
	walk      func(context.Context) error // adds the stack traces; nil: they are there
	walkCost  int64                       // bytes of memory
	firstName string                      // debug file that the first module is looked up by; empty: that of the request
}

// Door serves the routes. Close it.
type Door struct {
	cfg    Config
	deps   Deps
	engine func(context.Context, Search) (engine, error)
	jobs   *jobs.Jobs
	names  names
	texts  *mem.Cache[*text] // of source links
}

// New returns a door.
func New(cfg Config, deps Deps) *Door {
	cfg = cfg.Defaults()
	d := &Door{cfg: cfg, deps: deps, texts: mem.New[*text]("texts", textsBytes)}
	d.jobs = jobs.New(jobs.Config{MaxRunning: cfg.MaxConcurrentRequests, Memory: int64(cfg.AnswersMemory), Retention: cfg.Retention},
		jobs.Deps{Store: deps.Store, Now: deps.Now, Log: deps.Log})
	d.engine = func(ctx context.Context, s Search) (engine, error) {
		e, err := deps.Engine(ctx, s)
		return func(ctx context.Context, req *symbolicate.Request) ([]symbolicate.Module, result) {
			res := e.Begin(ctx, req)
			return res.Modules, res
		}, err
	}
	return d
}

// Close ends running requests. The front must have ended.
func (d *Door) Close() {
	d.jobs.Close()
	d.texts.Close()
}

// fail writes an error. As in Symbolicator, errors of a body are plain text, since
// its web framework writes them.
func fail(w http.ResponseWriter, r *http.Request, status int, title string) {
	switch status {
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		api.FailBare(w, r, status, title)
	case http.StatusBadRequest, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge,
		http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity:
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(cmp.Or(title, http.StatusText(status)))) // the client may have left
	default:
		detail(w, status, cmp.Or(title, http.StatusText(status)))
	}
}

func detail(w http.ResponseWriter, status int, text string) {
	api.WriteJSON(w, status, struct {
		Detail string `json:"detail"`
	}{text})
}

// busy answers that the client should retry.
func (d *Door) busy(w http.ResponseWriter, _ *http.Request, text string) {
	w.Header().Set("Retry-After", "1")
	detail(w, http.StatusServiceUnavailable, text)
}

func explain(err error) (status int, title string) {
	if refused, ok := err.(*api.Refusal); ok {
		return refused.Status, refused.Text
	}
	return http.StatusInternalServerError, ""
}
