package node

import (
	"context"
	"io"
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
)

// front puts the doors of the node together.
func (n *Node) Front(cfg *config.Config) (*api.Front, error) {
	version, err := api.ReadVersion(cfg.HTTP.VersionFile)
	if err != nil {
		return nil, err
	}
	access := api.NewAccess(cfg.Access, cfg.HTTP.TrustedProxies)
	n.open = n.locator
	if !access.Open() { // who has no token sees what is public
		n.open = n.locator.With("", n.public)
	}
	door := mozilla.New(cfg.Mozilla, mozilla.Deps{
		Run:     n.engine.With(n.tables.With(n.open)).Run,
		Symbols: n.symbolFile,
		Now:     time.Now,
		Log:     n.log,
	})
	desk := operate.New(operate.Deps{Access: access, Explain: n.explainText, Forget: n.Forget, Log: n.log})
	var answers jobs.Store // nil: this node is alone
	if n.far.redis != nil {
		answers = n.far.redis.Answers()
	}
	n.sentry = sentry.New(cfg.Sentry, sentry.Deps{Store: answers, Access: access, Engine: n.engineFor, Fetch: n.client.Text, File: n.proxied, Sources: len(n.configured), Patience: cfg.Network.Defaults().MaxDownloadTimeout, Now: time.Now, Log: n.log})
	profilers := elastic.New(cfg.Elastic, elastic.Deps{Store: n.uploads.store, Keys: n.uploads.keys, Run: n.engine.Run, Forget: n.Forget, Log: n.log})
	n.attend(cfg.Elastic.Uploads.Defaults().Expiry)
	opt := api.Options{Log: n.log, Now: time.Now, Version: version, Memory: n.memory.requests, Checks: []api.Check{{Name: "data_directory", Run: n.writable}}}
	return api.New(cfg.HTTP, opt, door.Routes(), desk.Routes(), n.sentry.Routes(), profilers.Routes()), nil
}

// proxied is a file of a module, of the configured sources.
func (n *Node) proxied(ctx context.Context, a sentry.Search, m ident.Module, kind string) (sentry.File, error) {
	l, err := n.locatorFor(a)
	if err != nil {
		return nil, err
	}
	return fileOf(ctx, l, m, kind)
}

// symbolFile is the .sym of a module, for those who want the file itself.
func (n *Node) symbolFile(ctx context.Context, m ident.Module) (mozilla.File, error) {
	return fileOf(ctx, n.open, m, source.Breakpad)
}

// fileOf is the first file of a kind that a source has.
func fileOf(ctx context.Context, l *locate.Locator, m ident.Module, kind string) (*foundFile, error) {
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

// foundFile is a found file while it is read.
type foundFile struct {
	*io.SectionReader
	found *locate.Found
}

func (o *foundFile) Tag() string { return o.found.Tag() }

func (o *foundFile) Close() error {
	o.found.Close()
	return nil
}
