package node

import (
	"context"
	"net/http"
	"path/filepath"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/api/ui"
	"symbolon/internal/bucket"
	"symbolon/internal/cache"
	"symbolon/internal/crash"
	"symbolon/internal/explain"
	"symbolon/internal/fault"
	"symbolon/internal/filter"
	"symbolon/internal/ident"
	"symbolon/internal/object"
	"symbolon/internal/source"
	"symbolon/internal/symbolicate"
	"symbolon/internal/token"
)

// pages returns the pages of the node. answering are the interfaces for requests.
func (n *Node) pages(access *api.Access, answering []api.Route) *ui.Door {
	return ui.New(ui.Deps{
		Grant: access.Grant, BaseURL: access.BaseURL, State: n.uploads.state,
		Explain: n.explainAll, Forget: n.Forget, Prefetch: n.prefetchFor,
		Inside: n.insideOf,
		Run: func(ctx context.Context, g *token.Grant, req *symbolicate.Request) (*symbolicate.Result, error) {
			return n.engineOver(n.answering(ctx, ofAllSources(g), "")).Run(ctx, req)
		},
		Open: func(ctx context.Context, g *token.Grant, asked []source.FileRequest) (api.File, error) {
			return n.openFor(ctx, ofAllSources(g), asked)
		},
		Spool: n.spool, Space: n.newSpace(filepath.Join(n.cfg.Data, "tmp")), MaxDump: n.cfg.Crash.Defaults().MaxDump,
		MaxText: n.cfg.HTTP.Defaults().MaxBody, MaxModules: n.cfg.Mozilla.Defaults().MaxModules,
		Naming:  func(r *http.Request, g *token.Grant) *filter.Run { return n.runOf(r, g, "ui", answering) },
		Crashes: n.crashesTo, Example: n.example,
		History: n.history, Sources: n.sourceStates, Probe: n.probe, Disk: n.store, Tiers: n.shownTiers(),
		Purge: func(kind cache.Kind, onlyFaults bool) (count, bytes int64) {
			return n.purge(CacheQuery{Kind: string(kind), Faults: onlyFaults, All: kind == "" && !onlyFaults})
		},
		Batches: n.cfg.Batches, OpenBatch: func(place string) (bucket.Bucket, error) { return n.OpenPlace(place, false) },
		Store: n.uploads.files, Limits: n.cfg.Uploads, Tokens: n.uploads.keys,
		Missing: n.missing.Report, WithoutUploaded: n.withoutUploaded,
		Now: time.Now, Log: n.log,
	})
}

// crashesTo returns a processor of crashes over the files that may answer a client. It
// calls note with each module that has no names.
func (n *Node) crashesTo(ctx context.Context, g *token.Grant, note func(ident.Module, error)) *crash.Processor {
	tables, from := n.tables.With(n.answering(ctx, g, "")), clientOf(ctx, "ui", "")
	engine := n.engine.With(tables).Unlimited().Noting(func(m ident.Module, why *fault.Error) {
		n.note(from, m, why)
		note(m, why)
	})
	return crash.New(crash.Deps{Engine: engine, Tables: tables})
}

// prefetchFor fetches the file of a module from all configured sources, and the projects
// that a client may see, and builds its table.
func (n *Node) prefetchFor(ctx context.Context, g *token.Grant, m ident.Module) (found bool, err error) {
	report, err := n.tables.With(n.answering(ctx, ofAllSources(g), "")).Prefetch(ctx, m)
	return err == nil && report.Fault == nil, err
}

// insideOf calls use with the best file of a module, for a client that may operate the
// server.
func (n *Node) insideOf(ctx context.Context, g *token.Grant, q explain.Question, use func(*object.Object) error) error {
	found, _, err := n.answering(ctx, ofAllSources(g), "").Best(ctx, q.Module, q.Purpose)
	if err != nil {
		return err
	}
	defer found.Close()
	o, _, err := found.File(ctx)
	if err != nil {
		return err
	}
	return use(o)
}
