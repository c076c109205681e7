package ui

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/bin"
	"symbolon/internal/bucket"
	"symbolon/internal/cache"
	"symbolon/internal/cache/disk"
	"symbolon/internal/crash"
	"symbolon/internal/explain"
	"symbolon/internal/filter"
	"symbolon/internal/history"
	"symbolon/internal/ident"
	"symbolon/internal/missing"
	"symbolon/internal/object"
	"symbolon/internal/source"
	"symbolon/internal/store"
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

	// For files that clients send.
	Spool      func() (cache.Spool, error)
	Space      func(context.Context) bin.Space // for archives, and unpacked parts of debug files
	MaxDump    bin.Size                        // of files: crash.max_dump
	MaxText    bin.Size                        // of texts: http.max_body
	MaxModules int                             // of a text; below zero: no limit
	// Naming returns a run over the files that may answer a client.
	Naming func(*http.Request, *token.Grant) *filter.Run
	// Crashes returns a processor over these files, which calls note with each module
	// that has no symbols.
	Crashes func(ctx context.Context, g *token.Grant, note func(ident.Module, error)) *crash.Processor
	Example string // a request whose modules have symbols; empty: there is none

	// For the operators of the node.
	History *history.History
	Sources func() []Source // the configured ones
	Probe   func(ctx context.Context, source string, q explain.Question) (*explain.Trail, error)
	Disk    *disk.Store
	Tiers   []Tier // in their order
	// Purge removes entries of the disk cache: of a kind or, if that is empty, all, with the
	// open tables.
	Purge     func(kind cache.Kind, onlyFaults bool) (count, bytes int64)
	Batches   []string // destinations
	OpenBatch func(destination string) (bucket.Bucket, error)

	// For uploads and tokens.
	Store   *store.Store
	Limits  store.Config
	Tokens  *token.Ring
	Missing func(ctx context.Context, since time.Time, isWanted func(*missing.Row) bool) (missing.Report, error)
	// WithoutUploaded returns rows without the modules that a client has uploaded since.
	WithoutUploaded func(ctx context.Context, g *token.Grant, rows []*missing.Row) ([]*missing.Row, error)

	Now func() time.Time
	Log *slog.Logger
}

// Door serves the pages.
type Door struct {
	deps    Deps
	session *sessions
	forged  *http.CrossOriginProtection
	pages   []*page
	kept    profiles
	batches batches
}

// New returns a door.
func New(deps Deps) *Door {
	d := &Door{deps: deps, session: newSessions(deps.State, deps.Now), forged: http.NewCrossOriginProtection()}
	d.pages = []*page{
		d.homePage(), d.tryPage(), d.crashPage(), d.profilePage(), d.missingPage(), d.modulePage(),
		d.uploadsPage(), d.uploadPage(), d.sourcesPage(), d.cachesPage(), d.batchesPage(), d.tokensPage(), d.projectsPage(),
	}
	return d
}

// Routes returns the routes of the door.
func (d *Door) Routes() []api.Route {
	var routes []api.Route
	add := func(method, pattern, about, kind string, h http.HandlerFunc) *api.Route {
		routes = append(routes, api.Route{
			Methods: []string{method}, Pattern: pattern, Summary: about, Produces: kind, Handle: h, Fail: d.failFront,
		})
		return &routes[len(routes)-1]
	}
	for _, p := range d.pages {
		r := add(http.MethodGet, p.pattern, "Page: "+p.about, pageTypes, private(d.get(p)))
		if p.pattern == "/" {
			r.Fail = nil // clients of protocols send requests there, too
		}
		if p.actions != nil {
			about := "Actions of the page, which the query names: do=" + strings.Join(slices.Sorted(maps.Keys(p.actions)), ", ")
			r := add(http.MethodPost, p.pattern, about, pageTypes+", text/event-stream", private(d.post(p)))
			r.Admit, r.MaxBody, r.MaxHeld = d.admit(p), p.maxBody, maxHeld
		}
	}
	add(http.MethodGet, keptPath, "Read a kept profile, by its key", "application/json", d.serveProfile)
	add(http.MethodGet, "/ui/login", "Page: sign in", "text/html", private(d.loginPage))
	add(http.MethodPost, "/ui/login", "Begin a session with a token", "text/html", private(d.login))
	add(http.MethodPost, "/ui/logout", "End a session", "", private(d.logout))
	for name, a := range assets {
		kind, _, _ := strings.Cut(a.kind, ";")
		add(http.MethodGet, "/ui/"+name, "A file of the pages", kind, a.serve)
	}
	return routes
}

// pageTypes are the forms of a page.
const pageTypes = "text/html, application/json"
