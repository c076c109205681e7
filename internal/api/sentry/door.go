package sentry

import (
	"context"
	"log/slog"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/api/jobs"
	"symbolon/internal/bin"
	"symbolon/internal/cache/mem"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/metric"
	"symbolon/internal/source"
	"symbolon/internal/symbolicate"
)

// Deps are the parts that a door works with.
type Deps struct {
	Access *api.Access // who may use the door; nil: everybody
	// Engine is the one that asks sources for a scope.
	Engine func(Search) (*symbolicate.Engine, error)
	// Fetch gets a source file from an address that debug information names.
	Fetch func(ctx context.Context, url string, headers map[string]bin.Secret, verify bool) ([]byte, error)
	// File is a file of a module of this kind, of the configured sources.
	File    func(ctx context.Context, s Search, m ident.Module, kind string) (File, error)
	Sources int // how many are configured
	// Patience is how long a download may take.
	Patience time.Duration
	Store    jobs.Store // nil: this node is alone
	Now      func() time.Time
	Log      *slog.Logger
}

// Search selects the sources that are searched for a request.
type Search struct {
	Scope string          // of the caches
	Named []source.Config // those that the request names; nil: those of the configuration
	Only  []string        // ids of those of the configuration; nil: all
}

// Door serves the routes. Close it.
type Door struct {
	cfg    Config
	deps   Deps
	engine func(Search) (engine, error)
	jobs   *jobs.Jobs
	names  names
	texts  *mem.Cache[*text] // of source links
}

// New makes a door.
func New(cfg Config, deps Deps) *Door {
	cfg = cfg.Defaults()
	d := &Door{cfg: cfg, deps: deps, texts: mem.New[*text]("texts", textsBytes)}
	d.jobs = jobs.New(jobs.Config{MaxRunning: cfg.MaxConcurrentRequests, Memory: int64(cfg.AnswersMemory), Retention: cfg.Retention},
		jobs.Deps{Store: deps.Store, Now: deps.Now, Log: deps.Log})
	d.engine = func(s Search) (engine, error) {
		e, err := deps.Engine(s)
		return func(ctx context.Context, req *symbolicate.Request) ([]symbolicate.Module, result) {
			res := e.Begin(ctx, req)
			return res.Modules, res
		}, err
	}
	return d
}

// Close ends what runs. The front takes no requests any more.
func (d *Door) Close() {
	d.jobs.Close()
	d.texts.Close()
}

// Routes are what the door serves.
func (d *Door) Routes() []api.Route {
	post, read := []string{http.MethodPost}, []string{http.MethodGet, http.MethodHead}
	routes := []api.Route{
		{Methods: post, Pattern: "/symbolicate", Handle: d.symbolicate, MaxBody: int64(d.cfg.MaxBody), Fail: fail},
		{Methods: read, Pattern: "/requests/", Handle: d.poll, Fail: fail},
	}
	routes = append(routes, api.Route{Methods: read, Pattern: "/proxy/", Handle: d.proxy, Fail: fail})
	for _, path := range []string{"/symbolicate-any", "/symbolicate-js", "/symbolicate-jvm", "/minidump", "/applecrashreport"} {
		routes = append(routes, api.Route{Methods: post, Pattern: path, Handle: unserved, Fail: fail})
	}
	return routes
}

func unserved(w http.ResponseWriter, r *http.Request) {
	detail(w, http.StatusNotImplemented, r.URL.Path+" is not served here; /symbolicate is")
}

// fail words errors. What is wrong with a body is said in plain text, as by
// the peer, whose web framework says it.
func fail(w http.ResponseWriter, r *http.Request, status int, title string) {
	switch status {
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		api.FailBare(w, r, status, title)
	case http.StatusBadRequest, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity:
		if title == "" {
			title = http.StatusText(status)
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(title)) // a client that left has no use for the error
	default:
		if title == "" {
			title = http.StatusText(status)
		}
		detail(w, status, title)
	}
}

func detail(w http.ResponseWriter, status int, text string) {
	api.WriteJSON(w, status, struct {
		Detail string `json:"detail"`
	}{text})
}

// full says that the client should come back.
func (d *Door) full(w http.ResponseWriter, _ *http.Request, text string) {
	w.Header().Set("Retry-After", "1")
	detail(w, http.StatusServiceUnavailable, text)
}

// globalScope is that of requests which name none.
const globalScope = "global"

// waitOf is how long a client wants to wait. Without a word it waits until the
// answer is there.
func waitOf(query url.Values) (wait time.Duration, refused *refusal) {
	text, said := query["timeout"]
	if !said {
		return jobs.Longest, nil
	}
	seconds, err := strconv.ParseUint(text[0], 10, 64)
	if err != nil {
		return 0, &refusal{http.StatusBadRequest, "timeout: wanted is a number of seconds"}
	}
	return time.Duration(min(seconds, uint64(jobs.Longest/time.Second))) * time.Second, nil
}

func (d *Door) symbolicate(w http.ResponseWriter, r *http.Request) {
	who, ok := d.known(w, r)
	if !ok {
		return
	}
	query := r.URL.Query()
	wait, refused := waitOf(query)
	if refused == nil && !isJSON(r.Header.Get("Content-Type")) {
		refused = &refusal{http.StatusUnsupportedMediaType, "the request must have Content-Type: application/json"}
	}
	if refused != nil {
		fail(w, r, refused.status, refused.detail)
		return
	}
	scope, err := who.scope(query.Get("scope"))
	var q *question
	if err == nil {
		q, err = decode(r.Body, d.cfg)
	}
	if err == nil {
		err = d.admit(q, who)
	}
	if err != nil {
		status, title := explain(err)
		fail(w, r, status, title)
		return
	}
	cost := q.asking(d.deps.Sources)
	if cost > jobs.MostWeight {
		fail(w, r, http.StatusRequestEntityTooLarge, "so many modules cannot be looked for in so many sources; ask for fewer in a single request")
		return
	}
	q.scope = scope
	search := Search{Scope: scope, Only: who.sources()}
	if q.hasSources {
		search.Named = append([]source.Config{}, q.sources...)
	}
	begin, err := d.engine(search)
	if err != nil {
		d.refuseSources(w, r, err)
		return
	}
	j := d.jobs.Begin(scope, q.footprint()+cost)
	if j == nil {
		metric.Refused.Add(1, "requests")
		d.full(w, r, "maximum number of concurrent requests reached")
		return
	}
	if wantsLines(r) {
		d.stream(w, r, j, begin, q)
		return
	}
	d.jobs.Run(w, r, j, wait, func() { d.answer(j, begin, q, api.RequestID(r.Context())) })
}

// refuseSources says why the sources of a request cannot be used. One that is
// not what it should be is the mistake of the client, who wrote it.
func (d *Door) refuseSources(w http.ResponseWriter, r *http.Request, err error) {
	status, title := api.Status(err), "sources: "+fault.Of(err).Detail
	switch kind := fault.KindOf(err); {
	case kind == fault.Malformed, kind == fault.Unsupported:
		status = http.StatusBadRequest
	case status == http.StatusInternalServerError:
		d.deps.Log.Error("the sources of a request cannot be used", "request_id", api.RequestID(r.Context()), "error", err)
		title = ""
	}
	fail(w, r, status, title)
}

func explain(err error) (status int, title string) {
	switch err := err.(type) {
	case *api.BodyError:
		return err.Status, err.Title
	case *refusal:
		return err.status, err.detail
	}
	return http.StatusInternalServerError, ""
}

func isJSON(kind string) bool {
	kind, _, err := mime.ParseMediaType(kind)
	return err == nil && (kind == "application/json" || strings.HasPrefix(kind, "application/") && strings.HasSuffix(kind, "+json"))
}

// poll answers for a request that was sent before.
func (d *Door) poll(w http.ResponseWriter, r *http.Request) {
	who, ok := d.known(w, r)
	if !ok {
		return
	}
	wait, refused := waitOf(r.URL.Query())
	if refused != nil {
		fail(w, r, refused.status, refused.detail)
		return
	}
	id, ok := ident.ParseUUID(r.PathValue("rest"))
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	if err := d.jobs.Poll(w, r, who.sees, id, wait); err != nil {
		d.full(w, r, "the store of answers does not reply")
	}
}
