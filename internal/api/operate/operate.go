// Package operate is the door for operators of the server.
//
//	GET  /api/explain/NAME/ID    the trail of the lookup of a module, as JSON
//	POST /api/forget             invalidates outcomes of {"modules": [{"debug_id": …, "code_id": …, "type": …}]}
//
// Access decides which requests are those of an operator. A Door is safe for
// concurrent use.
package operate

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"

	"symbolon/internal/api"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
)

// maxBody limits a list of modules to forget.
const maxBody = 4 << 20

// Deps are the dependencies of a door.
type Deps struct {
	Access *api.Access
	// Explain looks up a module, given as NAME/ID, and returns its trail as a value
	// for encoding/json.
	Explain func(ctx context.Context, module string, p locate.Purpose) (any, error)
	Forget  func(ctx context.Context, m ident.Module) error
	Log     *slog.Logger
}

// Door serves the routes.
type Door struct{ deps Deps }

// New returns a door.
func New(deps Deps) *Door { return &Door{deps} }

// Routes returns the routes of the door.
func (d *Door) Routes() []api.Route {
	return []api.Route{
		{Methods: []string{http.MethodGet}, Pattern: "/api/explain/", Handle: d.guarded(d.explain), Fail: api.FailError},
		{Methods: []string{http.MethodPost}, Pattern: "/api/forget", Handle: d.guarded(d.forget), MaxBody: maxBody, Fail: api.FailError},
	}
}

func (d *Door) guarded(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !d.deps.Access.Operator(r) {
			api.FailError(w, r, http.StatusForbidden, "this needs a token of access.clients with admin: true; without configured tokens, "+
				"a client on this machine that uses localhost or a loopback address, without a proxy or a browser")
			return
		}
		h(w, r)
	}
}

func (d *Door) explain(w http.ResponseWriter, r *http.Request) {
	p := locate.Debug
	if name := r.URL.Query().Get("purpose"); name != "" {
		var known bool
		if p, known = locate.ParsePurpose(name); !known {
			api.FailError(w, r, http.StatusBadRequest, "invalid purpose: must be sym-first, debug, symbols, unwind, sources or returnpads")
			return
		}
	}
	x, err := d.deps.Explain(r.Context(), r.PathValue("rest"), p)
	switch {
	case r.Context().Err() != nil:
	case err != nil:
		api.FailError(w, r, http.StatusBadRequest, err.Error())
	default:
		api.WriteJSON(w, http.StatusOK, x)
	}
}

const forgetForm = `invalid body: must be {"modules": [{"debug_id": ID, "code_id": ID, "type": TYPE}]}, ` +
	"where each module has one of the ids or both"

func (d *Door) forget(w http.ResponseWriter, r *http.Request) {
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
