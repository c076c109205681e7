package tecken

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/api/receive"
	"symbolon/internal/bin"
	"symbolon/internal/cache"
	"symbolon/internal/ident"
	"symbolon/internal/missing"
	"symbolon/internal/store"
	"symbolon/internal/token"
)

// Deps are the dependencies of a door.
type Deps struct {
	Store     *store.Store
	Tokens    *token.Ring
	Missing   func(ctx context.Context, since time.Time) ([]*missing.Row, error)
	Grant     func(*http.Request) (*token.Grant, error)
	BaseURL   func(*http.Request) string          // of this server, as the client has it
	Spool     func() (cache.Spool, error)         // for a zip while it is received
	Space     func(ctx context.Context) bin.Space // for archives inside of a zip
	Transport http.RoundTripper                   // for zips whose address clients send
	Now       func() time.Time
	Log       *slog.Logger
}

// Door serves the routes. New creates it.
type Door struct {
	cfg    Config
	limits store.Config
	Deps

	mu       sync.Mutex
	partials map[string]*partial // by session and file
}

// New returns a door. The limits are those of the store.
func New(cfg Config, limits store.Config, deps Deps) *Door {
	return &Door{cfg: cfg, limits: limits.Defaults(), Deps: deps, partials: map[string]*partial{}}
}

const trySuffix = "-try"

// Try returns the project of the uploads of try builds of a project.
func Try(project string) string { return project + trySuffix }

// Regular returns the projects without the public ones of try builds, which are read
// below /try/ only, unless a token names them.
func Regular(all map[string]bool) map[string]bool {
	all = maps.Clone(all)
	for name := range all {
		if strings.HasSuffix(name, trySuffix) {
			all[name] = false
		}
	}
	return all
}

// WithTry returns the projects that a client may read below /try/: regular projects, and
// their projects for try builds if these are public or the token of the client may read
// the regular one.
func WithTry(g *token.Grant, all map[string]bool) []string {
	list := g.Visible(Regular(all))
	for _, name := range slices.Clone(list) {
		isPublic, exists := all[Try(name)]
		if exists && (isPublic || g.May(token.Read, name)) && !slices.Contains(list, Try(name)) {
			list = append(list, Try(name))
		}
	}
	slices.Sort(list)
	return list
}

// createTry creates the project of the try builds of a project, as public as this one
// is, unless it exists.
func (d *Door) createTry(ctx context.Context, project string) error {
	all, err := d.Store.Projects(ctx)
	if err != nil {
		return err
	}
	if _, exists := all[Try(project)]; exists || !all[project] {
		return nil // the upload creates a private one
	}
	return d.Store.SetProject(ctx, Try(project), true)
}

// client is a client that may upload.
type client struct {
	*token.Grant
	project string // of its uploads
	isTry   bool   // it may upload try builds only
}

// errNoToken refuses a client without a token.
var errNoToken = api.Refuse(http.StatusForbidden, "This requires an Auth-Token to authenticate the request")

// grant returns the rights of the client of a request.
func (d *Door) grant(r *http.Request) (*token.Grant, error) {
	g, err := d.Grant(r)
	switch {
	case errors.Is(err, token.ErrUnknown):
		return nil, api.Refuse(http.StatusForbidden, "API Token not matched: %v", err)
	case err != nil:
		return nil, err
	}
	return g, nil
}

// uploader returns the client of an upload.
func (d *Door) uploader(r *http.Request) (*client, error) {
	g, err := d.grant(r)
	if err != nil {
		return nil, err
	}
	c := &client{Grant: g, isTry: !g.May(token.Upload, "")}
	switch {
	case g.ID == "" && len(g.Projects) == 0: // a client of this machine may still have the right admin
		return nil, errNoToken
	case len(g.Projects) == 0 || c.isTry && !g.May(token.UploadTry, ""):
		return nil, api.Refuse(http.StatusForbidden, "Forbidden: the token has neither the right upload nor upload-try in a project")
	case slices.Contains(g.Projects, token.Any), slices.Contains(g.Projects, ident.DefaultProject):
		c.project = ident.DefaultProject
	case len(g.Projects) > 1:
		return nil, api.Refuse(http.StatusForbidden, "Forbidden: the token is for several projects (%s): use one for a single project",
			strings.Join(g.Projects, ", "))
	default:
		c.project = g.Projects[0]
	}
	return c, nil
}

// isReader reports whether a client may see the records of uploads of a project.
func isReader(g *token.Grant, project string) bool {
	base, isTry := strings.CutSuffix(project, trySuffix)
	return g.May(token.Read, project) || isTry && (g.May(token.Read, base) || g.May(token.UploadTry, base))
}

// A handler answers a request, or returns an error before it does.
type handler func(w http.ResponseWriter, r *http.Request) error

// route returns a route for a path that ends in a slash, or has one or none.
func (d *Door) route(method, pattern, summary string, handle handler) api.Route {
	return api.Route{Methods: []string{method}, Pattern: pattern, Summary: summary, Fail: fail, Handle: d.handle(handle)}
}

// handle returns the function that answers requests with handle.
func (d *Door) handle(handle handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := handle(w, r); err != nil {
			d.fail(w, r, err)
		}
	}
}

// fail answers with an error, unless the client has left.
func (d *Door) fail(w http.ResponseWriter, r *http.Request, err error) {
	if a := receive.Answer(r, err, d.Log); a != nil {
		fail(w, r, a.Status, a.Text)
	}
}

// fail writes {"error": text}.
func fail(w http.ResponseWriter, r *http.Request, status int, text string) {
	if status == http.StatusMethodNotAllowed {
		text = fmt.Sprintf("Method Not Allowed (%s): %s", r.Method, r.URL.Path)
	}
	api.FailError(w, r, status, text)
}
