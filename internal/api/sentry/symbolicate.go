package sentry

import (
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/api/jobs"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/metric"
	"symbolon/internal/source"
)

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
