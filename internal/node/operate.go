package node

import (
	"context"
	"fmt"

	"symbolon/internal/explain"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
	"symbolon/internal/source"
	project "symbolon/internal/source/sentry"
	"symbolon/internal/token"
)

// Prefetched is the outcome of Prefetch.
type Prefetched struct {
	Found  bool   `json:"found"`
	Detail string `json:"detail"`
	Bytes  int64  `json:"bytes"`
}

// Explain looks a module up and returns the trail.
func (n *Node) Explain(ctx context.Context, q explain.Question) (*explain.Trail, error) {
	return n.explain(ctx, operator(), q)
}

func (n *Node) explain(ctx context.Context, g *token.Grant, q explain.Question) (*explain.Trail, error) {
	t, err := explain.Lookup(ctx, n.answering(ctx, g, ""), q, len(n.sources.all))
	if err != nil || t.Found {
		return t, err
	}
	deleted, err := n.uploads.files.Deleted(ctx, regular(g.Answering)(n.projects(ctx)), q.Module)
	if err != nil && ctx.Err() == nil {
		n.log.Warn("cannot look for deleted uploads of a module", "error", err)
	}
	var list []explain.Deletion
	for _, d := range deleted {
		list = append(list, explain.Deletion(d))
	}
	t.AddDeleted(list)
	return t, nil
}

// explainText looks up a module that is given as NAME/ID, for a client that may
// operate the server.
func (n *Node) explainText(ctx context.Context, g *token.Grant, module string, p locate.Purpose) (any, error) {
	m, err := explain.ParseModule(module)
	if err != nil {
		return nil, err
	}
	return n.explainAll(ctx, g, explain.Question{Module: m, Purpose: p})
}

// explainAll looks a module up in all configured sources, and the projects that a client
// may see.
func (n *Node) explainAll(ctx context.Context, g *token.Grant, q explain.Question) (*explain.Trail, error) {
	return n.explain(ctx, ofAllSources(g), q)
}

// ofAllSources returns a grant with all configured sources.
func ofAllSources(g *token.Grant) *token.Grant {
	all := *g
	all.Sources = []string{token.Any}
	return &all
}

// Forget invalidates all cached outcomes for m, also in the lists of projects: the
// next lookup asks the sources again.
func (n *Node) Forget(ctx context.Context, m ident.Module) error {
	full := m.Derive()
	for _, isGuarded := range []bool{false, true} {
		n.client.Shelf(isGuarded).ForgetIndexes()
		n.client.Shelf(isGuarded).Forget(func(name string) bool {
			return project.Lists(name, full) || !full.FileID.IsZero() && name == source.ElasticPath(full.FileID, source.MetadataFile)
		})
	}
	return n.locator.Invalidate(ctx, m)
}

// invalidate makes the next lookups of uploaded or deleted modules ask the store again.
func (n *Node) invalidate(changed []ident.Module) {
	for _, m := range changed {
		if err := n.locator.Withdraw(context.Background(), m); err != nil {
			n.log.Warn("cannot invalidate a module that was uploaded or deleted", "module", m.DebugFile, "error", err)
		}
	}
}

// Prefetch builds the table of m, unless it is in the cache.
func (n *Node) Prefetch(ctx context.Context, m ident.Module) (Prefetched, error) {
	report, err := n.tables.Prefetch(ctx, m)
	if err != nil {
		return Prefetched{}, fmt.Errorf("build the table of %s: %w", m.DebugFile, err)
	}
	if report.Fault != nil {
		if ctx.Err() != nil {
			return Prefetched{}, context.Cause(ctx)
		}
		return Prefetched{Detail: report.Fault.Error()}, nil
	}
	p := Prefetched{Found: true, Detail: "was there"}
	for _, t := range report.Tried {
		if t.Chosen && !t.Cached {
			p.Detail, p.Bytes = "fetched from "+t.Source, t.Attempt.Bytes
		}
	}
	return p, nil
}
