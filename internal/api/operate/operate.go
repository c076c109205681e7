// Package operate is the door for operators of the server.
//
//	GET  /api/explain/NAME/ID    the trail of the lookup of a module, as JSON
//	GET  /api/missing?since=24h  the modules that were not found, and not uploaded since, as JSON, or as CSV with format=csv
//	POST /api/forget             invalidates outcomes of {"modules": [{"debug_id": …, "code_id": …, "type": …}]}
//	POST /api/uploads/ID/keep    keeps an upload until {"until": TIME}, whatever the rules of retention say
//
// They are for tokens with the right admin, and the last one for those with the right
// delete in the project of the upload. A Door is safe for concurrent use.
package operate

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
	"symbolon/internal/missing"
	"symbolon/internal/token"
)

// maxBody limits a list of modules to forget.
const maxBody = 4 << 20

// Deps are the dependencies of a door.
type Deps struct {
	// Grant returns the rights of the client of a request.
	Grant func(*http.Request) (*token.Grant, error)
	// Explain looks up a module, given as NAME/ID, and returns its trail as a value
	// for encoding/json.
	Explain func(ctx context.Context, g *token.Grant, module string, p locate.Purpose) (any, error)
	Missing func(ctx context.Context, g *token.Grant, since time.Time) ([]*missing.Row, error)
	Forget  func(ctx context.Context, m ident.Module) error
	Protect func(ctx context.Context, upload string, until time.Time) error
	Now     func() time.Time
	Log     *slog.Logger
}

// Door serves the routes.
type Door struct{ deps Deps }

// New returns a door.
func New(deps Deps) *Door { return &Door{deps} }

// Routes returns the routes of the door.
func (d *Door) Routes() []api.Route {
	return []api.Route{
		{Methods: []string{http.MethodGet}, Pattern: "/api/explain/", Summary: "Look a module up, with the trail of the lookup", Produces: "application/json", Handle: d.guarded(token.Admin, d.explain), Fail: api.FailError},
		{Methods: []string{http.MethodGet}, Pattern: "/api/missing", Summary: "List the modules that no source had", Produces: "application/json", Handle: d.guarded(token.Admin, d.missing), Fail: api.FailError},
		{Methods: []string{http.MethodPost}, Pattern: "/api/forget", Summary: "Look modules up again that are remembered as missing", Accepts: "application/json", Produces: "application/json", Handle: d.guarded(token.Admin, d.forget), MaxBody: maxBody, Fail: api.FailError},
		{Methods: []string{http.MethodPost}, Pattern: "/api/uploads/{id}/keep", Summary: "Keep an upload until a time", Accepts: "application/json", Produces: "application/json", Handle: d.guarded(token.Delete, d.keep), Fail: api.FailError},
	}
}

// guarded returns h for clients that have a right in any project.
func (d *Door) guarded(right token.Right, h func(http.ResponseWriter, *http.Request, *token.Grant)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		g, err := d.deps.Grant(r)
		if status := api.Status(err); err != nil && status != http.StatusUnauthorized {
			d.deps.Log.Error("cannot read the tokens", "request_id", api.RequestID(r.Context()), "error", err)
			api.FailError(w, r, status, "")
			return
		}
		if err != nil || !g.May(right, "") {
			api.FailError(w, r, http.StatusForbidden, "this needs a token with the right "+string(right)+"; while there is none, "+
				"a client on this machine that uses localhost or a loopback address, without a proxy or a page of another origin")
			return
		}
		h(w, r, g)
	}
}

func (d *Door) explain(w http.ResponseWriter, r *http.Request, g *token.Grant) {
	p := locate.Debug
	if name := r.URL.Query().Get("purpose"); name != "" {
		var known bool
		if p, known = locate.ParsePurpose(name); !known {
			api.FailError(w, r, http.StatusBadRequest, "invalid purpose: must be sym-first, debug, symbols, unwind, sources or returnpads")
			return
		}
	}
	x, err := d.deps.Explain(r.Context(), g, r.PathValue("rest"), p)
	switch {
	case r.Context().Err() != nil:
	case err != nil:
		api.FailError(w, r, http.StatusBadRequest, err.Error())
	default:
		api.WriteJSON(w, http.StatusOK, x)
	}
}

// missing answers with the modules that were not found.
func (d *Door) missing(w http.ResponseWriter, r *http.Request, g *token.Grant) {
	query := r.URL.Query()
	since, err := time.ParseDuration(cmp.Or(query.Get("since"), "24h"))
	if err != nil || since < 0 {
		api.FailError(w, r, http.StatusBadRequest, "invalid since: must be a duration, such as 24h")
		return
	}
	rows, err := d.deps.Missing(r.Context(), g, d.deps.Now().Add(-since))
	switch {
	case r.Context().Err() != nil:
	case err != nil:
		d.deps.Log.Error("cannot read the counts of missing symbols", "request_id", api.RequestID(r.Context()), "error", err)
		api.FailError(w, r, http.StatusInternalServerError, "")
	case query.Get("format") == "csv":
		w.Header().Set("Content-Type", "text/csv; charset=utf-8")
		_ = missing.WriteCSV(w, rows) // the client may be gone
	default:
		api.WriteJSON(w, http.StatusOK, map[string]any{"missing": slices.Concat([]*missing.Row{}, rows)})
	}
}

const forgetForm = `invalid body: must be {"modules": [{"debug_id": ID, "code_id": ID, "type": TYPE}]}, ` +
	"where each module has one of the ids or both"

func (d *Door) forget(w http.ResponseWriter, r *http.Request, _ *token.Grant) {
	var asked struct {
		Modules []struct {
			Type    string `json:"type"`
			DebugID string `json:"debug_id"`
			CodeID  string `json:"code_id"`
		} `json:"modules"`
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		api.FailError(w, r, http.StatusBadRequest, "the body is not JSON with modules: "+err.Error())
		return
	}
	if asked.Modules == nil {
		api.FailError(w, r, http.StatusBadRequest, forgetForm)
		return
	}
	var modules []ident.Module
	for _, a := range asked.Modules {
		m := ident.Module{Type: ident.ParseType(a.Type), CodeID: ident.ParseCodeID(a.CodeID)}
		if a.DebugID != "" {
			id, err := ident.ParseDebugID(a.DebugID)
			if err != nil {
				api.FailError(w, r, http.StatusBadRequest, err.Error())
				return
			}
			m.DebugID = id
		}
		if m.DebugID.IsZero() && m.CodeID.IsZero() {
			api.FailError(w, r, http.StatusBadRequest, forgetForm)
			return
		}
		modules = append(modules, m)
	}
	for _, m := range modules {
		if err := d.deps.Forget(r.Context(), m); err != nil {
			d.deps.Log.Error("cannot forget a module", "request_id", api.RequestID(r.Context()), "error", err)
			api.FailError(w, r, http.StatusInternalServerError, "")
			return
		}
	}
	api.WriteJSON(w, http.StatusOK, map[string]int{"forgotten": len(modules)})
}

// keep keeps an upload until a time.
func (d *Door) keep(w http.ResponseWriter, r *http.Request, g *token.Grant) {
	id := r.PathValue("id")
	project, _, _ := strings.Cut(id, ".")
	var asked struct {
		Until time.Time `json:"until"`
	}
	err := json.NewDecoder(r.Body).Decode(&asked)
	switch {
	case project == "" || !g.May(token.Delete, project):
		api.FailError(w, r, http.StatusForbidden, "this needs a token with the right delete in the project of the upload")
		return
	case err != nil || asked.Until.IsZero():
		api.FailError(w, r, http.StatusBadRequest, `invalid body: must be {"until": TIME}, such as "2030-01-31T00:00:00Z"; a time in the past ends it`)
		return
	}
	switch err := d.deps.Protect(r.Context(), id, asked.Until); {
	case r.Context().Err() != nil:
	case err == nil:
		api.WriteJSON(w, http.StatusOK, map[string]any{"id": id, "until": asked.Until.UTC()})
	case fault.KindOf(err) == fault.NotFound:
		api.FailError(w, r, http.StatusNotFound, "there is no such upload")
	default:
		d.deps.Log.Error("cannot keep an upload", "request_id", api.RequestID(r.Context()), "error", err)
		api.FailError(w, r, api.Status(err), "")
	}
}
