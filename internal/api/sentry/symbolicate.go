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
	"symbolon/internal/api/wire"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/metric"
	"symbolon/internal/source"
)

// Routes returns the routes of the door.
func (d *Door) Routes() []api.Route {
	post, read := []string{http.MethodPost}, []string{http.MethodGet, http.MethodHead}
	routes := []api.Route{
		{Methods: post, Pattern: "/symbolicate", Summary: "Symbolicate stacks, as Symbolicator does", Accepts: "application/json", Produces: "application/json", Handle: d.symbolicate, MaxBody: int64(d.cfg.MaxBody), Fail: fail},
		{Methods: read, Pattern: "/requests/", Summary: "Get the answer of a request that took longer", Produces: "application/json", Handle: d.poll, Fail: fail},
		{Methods: read, Pattern: "/proxy/", Summary: "Get a file of the sources by its path in a symbol server", Produces: "application/octet-stream", Challenge: api.Basic, Handle: d.proxy, Fail: fail},
	}
	for _, k := range []*kind{&minidumps, &appleReports} {
		routes = append(routes, api.Route{
			Methods: post, Pattern: k.path, Summary: "Symbolicate the stacks of a " + k.name, Accepts: "multipart/form-data, application/octet-stream", Produces: "application/json", MaxBody: int64(d.deps.MaxDump) + maxRest, MaxHeld: maxPart, Fail: fail,
			Handle: func(w http.ResponseWriter, r *http.Request) { d.crash(w, r, k) },
		})
	}
	for _, path := range []string{"/symbolicate-any", "/symbolicate-js", "/symbolicate-jvm"} {
		routes = append(routes, api.Route{Methods: post, Pattern: path, Summary: "Refused: only stacks of native code are symbolicated", Produces: "application/json", Handle: unserved, Fail: fail})
	}
	return routes
}

func unserved(w http.ResponseWriter, r *http.Request) {
	detail(w, http.StatusNotImplemented, r.URL.Path+" is not supported; use /symbolicate")
}

// timeoutOf returns the time that a client waits for the answer.
func timeoutOf(query url.Values) (timeout time.Duration, refused *api.Refusal) {
	text, ok := query["timeout"]
	if !ok {
		return jobs.Longest, nil
	}
	seconds, err := strconv.ParseUint(text[0], 10, 64)
	if err != nil {
		return 0, api.Refuse(http.StatusBadRequest, "timeout: must be a number of seconds")
	}
	return time.Duration(min(seconds, uint64(jobs.Longest/time.Second))) * time.Second, nil
}

func (d *Door) symbolicate(w http.ResponseWriter, r *http.Request) {
	client, ok := d.identify(w, r)
	if !ok {
		return
	}
	query := r.URL.Query()
	timeout, refused := timeoutOf(query)
	if refused == nil && !isJSON(r.Header.Get("Content-Type")) {
		refused = api.Refuse(http.StatusUnsupportedMediaType, "the request must have Content-Type: application/json")
	}
	if refused != nil {
		fail(w, r, refused.Status, refused.Text)
		return
	}
	scope, err := client.scope(query.Get("scope"))
	q := &request{scope: scope}
	if err == nil {
		q.Request, err = wire.Decode(r.Body, d.cfg.limits())
	}
	if err != nil {
		status, title := explain(err)
		fail(w, r, status, title)
		return
	}
	d.run(w, r, client, timeout, q)
}

// run answers a request by way of a job. It reports whether a job began.
func (d *Door) run(w http.ResponseWriter, r *http.Request, client client, timeout time.Duration, q *request) (began bool) {
	if err := d.admit(q, client); err != nil {
		status, title := explain(err)
		fail(w, r, status, title)
		return false
	}
	asked := len(q.Frames)
	if q.walk != nil {
		asked = len(q.Modules)
	}
	cost := q.LookupCost(d.deps.Sources, asked)
	switch {
	case cost > jobs.MostWeight && q.walk != nil:
		detail(w, http.StatusRequestEntityTooLarge, "too many modules for so many sources; use fewer sources")
		return false
	case cost > jobs.MostWeight:
		fail(w, r, http.StatusRequestEntityTooLarge, "too many modules for so many sources; use several requests")
		return false
	}
	q.search = Search{Scope: q.scope, Grant: client.Grant}
	if q.HasSources {
		q.search.Named = append([]source.Config{}, q.Sources...)
	}
	begin, err := d.engine(r.Context(), q.search)
	if err != nil {
		d.refuseSources(w, r, err)
		return false
	}
	j := d.jobs.Begin(client.jobScope(q.scope), q.Footprint()+q.walkCost+cost)
	if j == nil {
		metric.Refused.Add(1, "requests")
		d.busy(w, r, "maximum number of concurrent requests reached")
		return false
	}
	if wantsLines(r) {
		d.stream(w, r, j, begin, q)
		return true
	}
	d.jobs.Run(w, r, j, timeout, func() { d.answer(j, begin, q, api.RequestID(r.Context())) })
	return true
}

// refuseSources answers that the sources of a request cannot be used. An invalid
// one is an error of the client.
func (d *Door) refuseSources(w http.ResponseWriter, r *http.Request, err error) {
	status, title := api.Status(err), "sources: "+fault.Of(err).Detail
	switch kind := fault.KindOf(err); {
	case kind == fault.Malformed, kind == fault.Unsupported:
		status = http.StatusBadRequest
	case status == http.StatusInternalServerError:
		d.deps.Log.Error("cannot use the sources of a request", "request_id", api.RequestID(r.Context()), "error", err)
		title = ""
	}
	fail(w, r, status, title)
}

func isJSON(kind string) bool {
	kind, _, err := mime.ParseMediaType(kind)
	return err == nil && (kind == "application/json" || strings.HasPrefix(kind, "application/") && strings.HasSuffix(kind, "+json"))
}

// poll answers a client that polls for the answer to an earlier request.
func (d *Door) poll(w http.ResponseWriter, r *http.Request) {
	client, ok := d.identify(w, r)
	if !ok {
		return
	}
	timeout, refused := timeoutOf(r.URL.Query())
	if refused != nil {
		fail(w, r, refused.Status, refused.Text)
		return
	}
	id, ok := ident.ParseUUID(r.PathValue("rest"))
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	if err := d.jobs.Poll(w, r, client.canSee, id, timeout); err != nil {
		d.busy(w, r, "the store of answers does not respond")
	}
}
