package difs

import (
	"log/slog"
	"net/http"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/cache"
	"symbolon/internal/ident"
	"symbolon/internal/store"
	"symbolon/internal/token"
)

// Deps are the dependencies of a door.
type Deps struct {
	Store *store.Store
	Grant func(r *http.Request) (*token.Grant, error)
	Spool func() (cache.Spool, error) // for a zip while it is received
	Now   func() time.Time
	Log   *slog.Logger
}

// Door serves the routes. New creates it.
type Door struct {
	limits store.Config
	Deps
	assembler assembler
}

// New returns a door. The limits are those of the store. Call Close.
func New(limits store.Config, deps Deps) *Door {
	d := &Door{limits: limits.Defaults(), Deps: deps}
	d.assembler.start(d.Store, d.Now, d.Log)
	return d
}

// Close cancels the assembly of files, and waits for its end.
func (d *Door) Close() { d.assembler.stop() }

// route returns a route. Its handler gets the grant of a client that has the right
// in the project of the path, or in any if the path has none.
func (d *Door) route(method, pattern, summary string, right token.Right, handle handler) api.Route {
	return api.Route{
		Methods: []string{method}, Pattern: pattern, Summary: summary, Produces: "application/json", Fail: failDetail,
		Admit: func(w http.ResponseWriter, r *http.Request) bool {
			_, err := d.permit(r, right)
			if err != nil {
				d.fail(w, r, err)
			}
			return err == nil
		},
		Handle: func(w http.ResponseWriter, r *http.Request) {
			g, err := d.permit(r, right)
			if err == nil {
				err = handle(w, r, g)
			}
			if err != nil {
				d.fail(w, r, err)
			}
		},
	}
}

// A handler answers a request, or returns an error before it does.
type handler func(w http.ResponseWriter, r *http.Request, g *token.Grant) error

// permit returns the grant of a client that has a right.
func (d *Door) permit(r *http.Request, right token.Right) (*token.Grant, error) {
	g, err := d.Grant(r)
	if err != nil {
		return nil, err
	}
	project := r.PathValue("project")
	if project != "" && ident.CheckProject(project) != nil {
		return nil, api.Refuse(http.StatusNotFound, "invalid project %.60q: a name has at most 50 characters a-z, 0-9 and hyphen", project)
	}
	if right == "" || g.May(right, project) && len(g.Projects) > 0 { // an operator of the server may have none
		return g, nil
	}
	if right == token.Read {
		switch all, err := d.Store.Projects(r.Context()); {
		case err != nil:
			return nil, err
		case all[project]: // it is public
			return g, nil
		}
	}
	switch {
	case g.ID == "":
		return nil, api.Refuse(http.StatusUnauthorized, "a token is needed: set SENTRY_AUTH_TOKEN to one that symbolon token add printed")
	case right == token.Read:
		return nil, api.Refuse(http.StatusNotFound, "the project %q does not exist, or the token may not read it", project)
	case project == "":
		return nil, api.Refuse(http.StatusForbidden, "the token lacks the right %q", right)
	}
	return nil, lacks(right, project)
}

// lacks returns the refusal of a client without a right in a project.
func lacks(right token.Right, project string) error {
	return api.Refuse(http.StatusForbidden, "the token lacks the right %q in the project %q", right, project)
}
