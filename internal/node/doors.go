package node

import (
	"context"
	"io"
	"slices"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/api/elastic"
	"symbolon/internal/api/jobs"
	"symbolon/internal/api/mozilla"
	"symbolon/internal/api/operate"
	"symbolon/internal/api/sentry"
	"symbolon/internal/config"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
	"symbolon/internal/source"
	"symbolon/internal/symbolicate"
)

// Front returns the HTTP interfaces of the node, and starts the maintenance of
// uploads. Call it at most once.
func (n *Node) Front(cfg *config.Config) (*api.Front, error) {
	version, err := api.ReadVersion(cfg.HTTP.VersionFile)
	if err != nil {
		return nil, err
	}
	access := api.NewAccess(cfg.Access, cfg.HTTP.TrustedProxies)
	n.anonymous = n.locator
	if !access.Open() {
		n.anonymous = n.locator.With("", n.sources.public)
	}
	symbols := mozilla.New(cfg.Mozilla, mozilla.Deps{
		Run:     n.engine.With(n.tables.With(n.anonymous)).Run,
		Symbols: n.symbolFile,
		Now:     time.Now,
		Log:     n.log,
	})
	operators := operate.New(operate.Deps{Access: access, Explain: n.explainText, Forget: n.Forget, Log: n.log})
	var answers jobs.Store // nil without other nodes
	if n.tiers.redis != nil {
		answers = n.tiers.redis.Answers()
	}
	n.sentry = sentry.New(cfg.Sentry, sentry.Deps{
		Store: answers, Access: access, Engine: n.engineFor, Fetch: n.client.Text, File: n.proxied, Sources: len(n.sources.all),
		Timeout: cfg.Network.Defaults().MaxDownloadTimeout, Now: time.Now, Log: n.log,
		Spool: n.spool, Crashes: n.crashesFor, MaxDump: cfg.Crash.Defaults().MaxDump,
	})
	profilers := elastic.New(cfg.Elastic, elastic.Deps{
		Store: n.uploads.store, Keys: n.uploads.keys, Run: n.engine.Run, Forget: n.Forget, Log: n.log,
	})
	n.uploads.maintain(cfg.Elastic.Uploads.Defaults().Expiry)
	opt := api.Options{
		Log: n.log, Now: time.Now, Version: version, Memory: n.memory.requests,
		Checks: []api.Check{{Name: "data_directory", Run: n.checkWritable}},
	}
	return api.New(cfg.HTTP, opt, symbols.Routes(), operators.Routes(), n.sentry.Routes(), profilers.Routes()), nil
}

// checkWritable returns an error if the data directory takes no new files.
func (n *Node) checkWritable(context.Context) error { return n.store.Writable() }

// globalScope is Sentry's name of the scope of requests without one.
const globalScope = "global"

// engineFor returns an engine over the sources of a request.
func (n *Node) engineFor(a sentry.Search) (*symbolicate.Engine, error) {
	l, err := n.locatorFor(a)
	if err != nil {
		return nil, err
	}
	return n.engine.With(n.tables.With(l)).Patient(), nil
}

// locatorFor returns a locator over the sources that a request names, or over the
// configured ones that it may use.
func (n *Node) locatorFor(a sentry.Search) (*locate.Locator, error) {
	scope := a.Scope
	if scope == globalScope {
		scope = ""
	}
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
	sources := n.allSources()
	if a.Only != nil {
		sources = slices.DeleteFunc(slices.Clone(sources), func(s source.Source) bool { return !slices.Contains(a.Only, s.ID()) })
	}
	return n.locator.With(scope, sources), nil
}

// proxied returns a file of a module from the sources of a request.
func (n *Node) proxied(ctx context.Context, a sentry.Search, m ident.Module, kind string) (sentry.File, error) {
	l, err := n.locatorFor(a)
	if err != nil {
		return nil, err
	}
	return openFile(ctx, l, m, kind)
}

// symbolFile returns the .sym file of a module.
func (n *Node) symbolFile(ctx context.Context, m ident.Module) (mozilla.File, error) {
	return openFile(ctx, n.anonymous, m, source.Breakpad)
}

// openFile returns the first file of a kind that a source has.
func openFile(ctx context.Context, l *locate.Locator, m ident.Module, kind string) (*foundFile, error) {
	found, _, err := l.Any(ctx, m, kind)
	if err != nil {
		return nil, err
	}
	_, src, err := found.File(ctx)
	if err != nil {
		found.Close()
		return nil, err
	}
	found.Keep()
	return &foundFile{io.NewSectionReader(src, 0, src.Size()), found}, nil
}

// foundFile is an open file. Close releases it.
type foundFile struct {
	*io.SectionReader
	found *locate.Found
}

// Tag returns the entity tag of the file.
func (o *foundFile) Tag() string { return o.found.Tag() }

// Close releases the file.
func (o *foundFile) Close() error {
	o.found.Close()
	return nil
}
