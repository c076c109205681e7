package node

import (
	"context"
	"fmt"

	"symbolon/internal/explain"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
	"symbolon/internal/source"
	project "symbolon/internal/source/sentry"
)

// Prefetched is the outcome of Prefetch.
type Prefetched struct {
	Found  bool   `json:"found"`
	Detail string `json:"detail"`
	Bytes  int64  `json:"bytes"`
}

// Explain looks a module up and returns the trail.
func (n *Node) Explain(ctx context.Context, q explain.Question) (*explain.Trail, error) {
	return explain.Lookup(ctx, n.locator, q, len(n.sources.all))
}

// explainText looks up a module that is given as NAME/ID.
func (n *Node) explainText(ctx context.Context, module string, p locate.Purpose) (any, error) {
	m, err := explain.ParseModule(module)
	if err != nil {
		return nil, err
	}
	return n.Explain(ctx, explain.Question{Module: m, Purpose: p})
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
