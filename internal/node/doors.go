package node

import (
	"context"
	"net/http"
	"path/filepath"
	"slices"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/api/debuginfod"
	"symbolon/internal/api/difs"
	"symbolon/internal/api/elastic"
	"symbolon/internal/api/jobs"
	"symbolon/internal/api/mozilla"
	"symbolon/internal/api/operate"
	"symbolon/internal/api/otlp"
	"symbolon/internal/api/profiler"
	"symbolon/internal/api/rows"
	"symbolon/internal/api/sentry"
	"symbolon/internal/api/symstore"
	"symbolon/internal/api/tecken"
	"symbolon/internal/config"
	"symbolon/internal/filter"
	"symbolon/internal/filter/auto"
	"symbolon/internal/history"
	"symbolon/internal/locate"
	"symbolon/internal/missing"
	"symbolon/internal/source"
	"symbolon/internal/symbolicate"
	"symbolon/internal/token"
)

// Front returns the HTTP interfaces of the node, and starts the maintenance of
// uploads. Call it at most once.
func (n *Node) Front(cfg *config.Config) (*api.Front, error) {
	version, err := api.ReadVersion(cfg.HTTP.VersionFile)
	if err != nil {
		return nil, err
	}
	access := api.NewAccess(cfg.Access, n.uploads.keys, cfg.HTTP.TrustedProxies)
	symbols := mozilla.New(cfg.Mozilla, mozilla.Deps{
		Grant:    access.Grant,
		Run:      n.runFor,
		Open:     n.opener("tecken"),
		OpenTry:  n.openTry,
		Identify: n.identify,
		Now:      time.Now,
		Log:      n.log,
	})
	sources := profiler.New(cfg.Profiler, profiler.Deps{
		Grant: access.Grant, Run: n.runFor, Code: n.programFor, Source: n.sourceFromServer, Log: n.log,
	})
	operators := operate.New(operate.Deps{
		Grant: access.Grant, Explain: n.explainText, Forget: n.Forget, Protect: n.uploads.files.Protect, Missing: n.missingFor, Now: time.Now, Log: n.log,
	})
	var answers jobs.Store // nil without other nodes
	if n.tiers.redis != nil {
		answers = n.tiers.redis.Answers()
	}
	n.sentry = sentry.New(cfg.Sentry, sentry.Deps{
		Store: answers, Grant: access.Grant, Engine: n.engineFor, Fetch: n.client.Text, File: n.proxied, Sources: len(n.sources.all),
		Now: time.Now, Log: n.log,
		Spool: n.spool, Crashes: n.crashesFor, MaxDump: cfg.Crash.Defaults().MaxDump,
	})
	profilers := elastic.New(cfg.Elastic, elastic.Deps{
		Store: n.uploads.store, Grant: access.Grant, IsOpen: n.uploads.keys.IsOpen, Run: n.lookUp, Announce: n.uploads.files.Announce, Log: n.log,
	})
	n.counting = inBackground(n.missing.Run)
	n.history = history.New(history.OfProcess(idsOf(n.sources.all)), time.Now)
	n.sampling = inBackground(n.history.Run)
	n.difs = difs.New(cfg.Uploads, difs.Deps{
		Store: n.uploads.files, Grant: orOperator(access.Grant), Spool: n.spool, Now: time.Now, Log: n.log,
	})
	missingToAll := func(ctx context.Context, since time.Time) ([]*missing.Row, error) {
		return n.missingFor(ctx, &token.Grant{}, since)
	}
	uploaders := tecken.New(cfg.Tecken, cfg.Uploads, tecken.Deps{
		Transport: n.client.Transport(false),
		Store:     n.uploads.files, Tokens: n.uploads.keys, Grant: access.Grant, BaseURL: access.BaseURL, Missing: missingToAll,
		Spool: n.spool, Space: n.newSpace(filepath.Join(cfg.Data, "tmp")), Now: time.Now, Log: n.log,
	})
	n.uploads.maintain(cfg.Elastic.Uploads.Defaults().Expiry)
	debuggers := debuginfod.New(cfg.Debuginfod, debuginfod.Deps{
		Grant: access.Grant, Open: n.opener("debuginfod"), Source: n.sourceFor, Search: n.search, Log: n.log,
	})
	servers := symstore.New(symstore.Deps{Grant: access.Grant, Open: n.opener("symstore"), HasFiles: n.hasFiles, Log: n.log})
	profiles := otlp.New(cfg.OTLP, otlp.Deps{
		Grant: access.Symbolicating, Names: n.namesWithin(cfg.OTLP.Defaults().Wait), Transport: n.client.Transport(false), Log: n.log,
	})
	answering := slices.Concat(symbols.Routes(), n.sentry.Routes())
	warehouses := rows.New(rows.Deps{
		Grant: access.Symbolicating, Text: auto.Text, MaxModules: cfg.Mozilla.Defaults().MaxModules, Log: n.log,
		Run: func(r *http.Request, g *token.Grant) *filter.Run { return n.runOf(r, g, "rows", answering) },
	})
	opt := api.Options{
		Log: n.log, Now: time.Now, Version: version, Memory: n.memory.requests,
		Checks: []api.Check{{Name: "data_directory", Run: n.checkWritable}},
	}
	return api.New(cfg.HTTP, opt, symbols.Routes(), sources.Routes(), operators.Routes(), n.sentry.Routes(), profilers.Routes(),
		debuggers.Routes(), servers.Routes(), n.difs.Routes(), uploaders.Routes(), profiles.Routes(), warehouses.Routes(), n.pages(access, answering).Routes()), nil
}

// checkWritable returns an error if the data directory takes no new files.
func (n *Node) checkWritable(context.Context) error { return n.store.Writable() }

// globalScope is Sentry's name of the scope of requests without one.
const globalScope = "global"

// runFor answers a request of a client to the interfaces of Mozilla.
func (n *Node) runFor(ctx context.Context, g *token.Grant, req *symbolicate.Request) (*symbolicate.Result, error) {
	return counting(ctx, n.noting(n.engineOver(n.answering(ctx, g, "")), clientOf(ctx, "mozilla", ""))).Run(ctx, req)
}

// lookUp answers a request of a client that may read the symbfiles, from all sources.
func (n *Node) lookUp(ctx context.Context, g *token.Grant, req *symbolicate.Request) (*symbolicate.Result, error) {
	return n.engineOver(n.readable(ctx, ofAllSources(g))).Run(ctx, req)
}

// engineFor returns an engine over the sources of a request.
func (n *Node) engineFor(ctx context.Context, a sentry.Search) (*symbolicate.Engine, error) {
	l, err := n.locatorFor(ctx, a)
	if err != nil {
		return nil, err
	}
	return counting(ctx, n.noting(n.engineOver(l).Unlimited(), clientOf(ctx, "sentry", a.Scope))), nil
}

// locatorFor returns a locator over the sources in a request, or over those that its
// client may use.
func (n *Node) locatorFor(ctx context.Context, a sentry.Search) (*locate.Locator, error) {
	scope := scopeOf(a)
	if a.Named != nil {
		sources := make([]source.Source, 0, len(a.Named))
		for _, c := range a.Named {
			s, err := n.requested.source(scope, c)
			if err != nil {
				return nil, err
			}
			sources = append(sources, s)
		}
		return n.locator.WithRequestSources(scope, sources), nil
	}
	return n.answering(ctx, a.Grant, scope), nil
}

// scopeOf returns the scope of the caches for a request.
func scopeOf(a sentry.Search) string {
	if a.Scope == globalScope {
		return ""
	}
	return a.Scope
}

// proxied returns the first requested file that a client may read.
func (n *Node) proxied(ctx context.Context, a sentry.Search, asked []source.FileRequest) (api.File, error) {
	return n.openIn(ctx, a.Grant, scopeOf(a), asked)
}
