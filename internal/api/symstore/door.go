// Package symstore serves the paths of symbol servers to debuggers for Windows and
// .NET, and to services:
//
//	/NAME/KEY/NAME     the layouts symstore and SSQP
//	/NA/NAME/KEY/NAME  the same in two tiers
//	/ID/ID/WORD        Symbolicator's layout unified
//
// Names and keys are compared without case. Some clients give up on a server after any
// status but 404, so everything that is unknown, malformed or denied is 404, and a
// request waits for a place on a full server. Only a client without a token, to whom no
// file is open, gets 401: debuggers may have credentials for it. The marks of folders (index2.txt,
// pingme.txt, flat.txt) and file.ptr are 404, and are not logged.
//
// A Door is safe for concurrent use.
package symstore

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/fault"
	"symbolon/internal/source"
	"symbolon/internal/token"
)

// Deps are the dependencies of a door.
type Deps struct {
	Grant func(r *http.Request) (*token.Grant, error)
	// Open opens the first requested file that the client may read.
	Open func(ctx context.Context, g *token.Grant, asked []source.FileRequest) (api.File, error)
	// HasFiles reports whether a client may read any file at all.
	HasFiles func(ctx context.Context, g *token.Grant) bool
	Log      *slog.Logger
}

// Door serves the routes.
type Door struct{ deps Deps }

// New returns a door.
func New(deps Deps) *Door { return &Door{deps} }

// holdTime is the time that a request waits for a place.
const holdTime = 30 * time.Second

// Routes returns the routes of the door.
func (d *Door) Routes() []api.Route {
	read := []string{http.MethodGet, http.MethodHead}
	var routes []api.Route
	for _, pattern := range []string{"/{file}/{id}/{name}", "/{tier}/{file}/{id}/{name}"} {
		routes = append(routes, api.Route{Methods: read, Pattern: pattern, Summary: "Get a file as from a symbol server of Windows", Produces: "application/octet-stream", Hold: holdTime, Challenge: api.Basic, Handle: d.serve, Fail: fail})
	}
	for _, pattern := range []string{
		"/" + source.Index2, "/pingme.txt", "/flat.txt", "/{file}/{id}/file.ptr", "/{tier}/{file}/{id}/file.ptr",
	} {
		routes = append(routes, api.Route{Methods: read, Pattern: pattern, Summary: "Not found: the store has another form", Exempt: true, Handle: notFound, Fail: fail})
	}
	return routes
}

func notFound(w http.ResponseWriter, r *http.Request) { api.FailBare(w, r, http.StatusNotFound, "") }

// fail writes an error of the front. dotnet-symbol asks again after 503; after 429 it
// does not use the server any more.
func fail(w http.ResponseWriter, r *http.Request, status int, title string) {
	if status == http.StatusTooManyRequests {
		status = http.StatusServiceUnavailable
	}
	api.FailBare(w, r, status, title)
}

func (d *Door) serve(w http.ResponseWriter, r *http.Request) {
	path := strings.Join([]string{r.PathValue("file"), r.PathValue("id"), r.PathValue("name")}, "/")
	if tier := r.PathValue("tier"); tier != "" {
		path = tier + "/" + path
	}
	asked := source.ParsePath(path)
	if len(asked) == 0 {
		notFound(w, r)
		return
	}
	var f api.File
	g, err := d.deps.Grant(r)
	switch {
	case err != nil:
	case g.ID == "" && !d.deps.HasFiles(r.Context(), g):
		err = token.ErrUnknown // there is none
	default:
		f, err = d.deps.Open(r.Context(), g, asked)
	}
	if err != nil {
		d.refuse(w, r, err)
		return
	}
	defer func() { _ = f.Close() }() // it was only read
	w.Header().Set("Content-Type", "application/octet-stream")
	api.SendFile(w, r, f, d.deps.Log)
}

// refuse answers that a file cannot be served. After a 401 debuggers for Windows ask
// their provider of credentials, over https, and wget sends its password.
func (d *Door) refuse(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return
	}
	status := api.Status(err)
	switch kind := fault.KindOf(err); {
	case status == http.StatusUnauthorized:
	case kind == fault.Denied, kind == fault.Malformed, kind == fault.Unsupported:
		status = http.StatusNotFound // asking again would not help
	case kind == fault.Internal:
		d.deps.Log.Error("cannot open a file", "request_id", api.RequestID(r.Context()), "error", err)
	}
	api.FailBare(w, r, status, "")
}
