// Package rows serves the functions of data warehouses: a request has many rows, each of
// which gets an answer. Rows are those that filter/rows reads.
//
//	{"calls": [[ROW], …]}      → {"replies": [ROW, …]}      remote functions of BigQuery
//	{"data": [[0, ROW], …]}    → {"data": [[0, ROW], …]}    external functions of Snowflake
//	a row on each line         → a row on each line
//
// A row is a value or a string that contains it, and so is its answer. A row that
// cannot be answered has an error instead. The body is in memory, answers are sent
// in parts. A Door is safe for concurrent use.
package rows

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"

	"symbolon/internal/api"
	"symbolon/internal/filter"
	"symbolon/internal/filter/rows"
	"symbolon/internal/token"
)

// Deps are the dependencies of a door.
type Deps struct {
	// Grant returns the rights of the client of a request, if it may symbolicate.
	Grant func(*http.Request) (*token.Grant, error)
	// Run returns a run over the files that may answer the client.
	Run func(r *http.Request, g *token.Grant) *filter.Run
	// Text rewrites rows that are text.
	Text func(ctx context.Context, run *filter.Run, in *bufio.Reader, out *bufio.Writer) error
	// MaxModules limits the modules of a request, not counting rows that are requests.
	// Below zero: no limit.
	MaxModules int
	Log        *slog.Logger
}

// Door serves the route.
type Door struct{ deps Deps }

// New returns a door.
func New(deps Deps) *Door { return &Door{deps} }

// Routes returns the routes of the door.
func (d *Door) Routes() []api.Route {
	return []api.Route{{Methods: []string{http.MethodPost}, Pattern: "/api/rows", Summary: "Symbolicate rows of a data warehouse", Accepts: "application/json, application/x-ndjson", Produces: "application/json, application/x-ndjson", Handle: d.answer, Fail: fail}}
}

// fail writes an error in the form that BigQuery shows to its users.
func fail(w http.ResponseWriter, _ *http.Request, status int, title string) {
	if title == "" {
		title = http.StatusText(status)
	}
	api.WriteJSON(w, status, struct {
		Message string `json:"errorMessage"`
	}{title})
}

func (d *Door) answer(w http.ResponseWriter, r *http.Request) {
	g, err := d.deps.Grant(r)
	if err != nil {
		d.refuse(w, r, err)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		d.refuse(w, r, err)
		return
	}
	e, err := open(bytes.TrimPrefix(body, []byte("\ufeff"))) // of clients that write a byte order mark
	if err != nil {
		fail(w, r, http.StatusBadRequest, err.Error())
		return
	}
	query := r.URL.Query()
	o := rows.Options{Field: query.Get("field"), Replace: query.Get("replace") == "true", Strict: true, Text: d.deps.Text}
	run := d.deps.Run(r, g)
	run.Names = Limit(run.Names, d.deps.MaxModules)
	out := &writer{envelope: e, to: w}
	w.Header().Set("Content-Type", e.contentType)
	_, err = o.Filter(r.Context(), run, bufio.NewReaderSize(bytes.NewReader(e.lines), 64<<10), bufio.NewWriterSize(out, 64<<10))
	switch {
	case r.Context().Err() != nil: // the client has left
	case err == nil:
		out.end()
	case out.isBegun:
		d.deps.Log.Error("an answer was cut off within its rows", "request_id", api.RequestID(r.Context()), "error", err)
		panic(http.ErrAbortHandler)
	default:
		d.refuse(w, r, err)
	}
}

// refuse answers with an error.
func (d *Door) refuse(w http.ResponseWriter, r *http.Request, err error) {
	var unread *api.Refusal
	var inner *filter.StatusError
	switch {
	case r.Context().Err() != nil: // the client has left
	case errors.As(err, &unread):
		fail(w, r, unread.Status, unread.Text)
	case errors.As(err, &inner) && inner.Status == http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", "1")
		fail(w, r, inner.Status, inner.Reason)
	case errors.As(err, &inner) && inner.Status == http.StatusRequestEntityTooLarge:
		fail(w, r, inner.Status, inner.Reason)
	case api.Status(err) == http.StatusUnauthorized, api.Status(err) == http.StatusForbidden:
		fail(w, r, api.Status(err), err.Error())
	default:
		d.deps.Log.Error("cannot answer rows", "request_id", api.RequestID(r.Context()), "error", err)
		fail(w, r, api.Status(err), "")
	}
}
