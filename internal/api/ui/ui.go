package ui

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/bucket"
	"symbolon/internal/explain"
	"symbolon/internal/ident"
	"symbolon/internal/object"
	"symbolon/internal/source"
	"symbolon/internal/symbolicate"
	"symbolon/internal/token"
)

// Deps are the dependencies of a door.
type Deps struct {
	Grant   func(*http.Request) (*token.Grant, error)
	BaseURL func(*http.Request) string // of this server, as the client has it
	State   bucket.Bucket              // has the key of sessions

	Explain func(ctx context.Context, g *token.Grant, q explain.Question) (*explain.Trail, error)
	Forget  func(ctx context.Context, m ident.Module) error
	// Prefetch fetches the file of a module for a client, and builds its table.
	Prefetch func(ctx context.Context, g *token.Grant, m ident.Module) (found bool, err error)

	// Inside calls use with the best file of a module.
	Inside func(ctx context.Context, g *token.Grant, q explain.Question, use func(*object.Object) error) error
	Run    func(ctx context.Context, g *token.Grant, req *symbolicate.Request) (*symbolicate.Result, error)
	Open   func(ctx context.Context, g *token.Grant, asked []source.FileRequest) (api.File, error)

	Now func() time.Time
	Log *slog.Logger
}

// Door serves the pages.
type Door struct {
	deps    Deps
	session *sessions
	forged  *http.CrossOriginProtection
	pages   []*page
}

// New returns a door.
func New(deps Deps) *Door {
	d := &Door{deps: deps, session: newSessions(deps.State, deps.Now), forged: http.NewCrossOriginProtection()}
	d.pages = []*page{d.homePage(), d.tryPage(), d.modulePage()}
	return d
}

// Routes returns the routes of the door.
func (d *Door) Routes() []api.Route {
	var routes []api.Route
	add := func(method, pattern string, h http.HandlerFunc) {
		fail := d.failFront
		if pattern == "/" {
			fail = nil // clients of protocols send requests there, too
		}
		routes = append(routes, api.Route{Methods: []string{method}, Pattern: pattern, Handle: h, Fail: fail})
	}
	for _, p := range d.pages {
		add(http.MethodGet, p.pattern, d.get(p))
		if p.actions != nil {
			routes = append(routes, api.Route{
				Methods: []string{http.MethodPost}, Pattern: p.pattern, Handle: d.post(p), Admit: d.admit(p), MaxBody: p.maxBody, MaxHeld: maxHeld, Fail: d.failFront,
			})
		}
	}
	add(http.MethodGet, "/ui/login", d.loginPage)
	add(http.MethodPost, "/ui/login", d.login)
	add(http.MethodPost, "/ui/logout", d.logout)
	for name, a := range assets {
		add(http.MethodGet, "/ui/"+name, a.serve)
	}
	return routes
}
