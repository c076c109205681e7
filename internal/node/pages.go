package node

import (
	"context"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/api/ui"
	"symbolon/internal/explain"
	"symbolon/internal/ident"
	"symbolon/internal/object"
	"symbolon/internal/source"
	"symbolon/internal/symbolicate"
	"symbolon/internal/token"
)

// pages returns the pages of the node.
func (n *Node) pages(access *api.Access) *ui.Door {
	return ui.New(ui.Deps{
		Grant: access.Grant, BaseURL: access.BaseURL, State: n.uploads.state,
		Explain: n.explainAll, Forget: n.Forget, Prefetch: n.prefetchFor,
		Inside: n.insideOf, Run: n.runAll, Open: n.openAll,
		Now: time.Now, Log: n.log,
	})
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

// runAll answers a request from all configured sources, and the projects that may answer a
// client.
func (n *Node) runAll(ctx context.Context, g *token.Grant, req *symbolicate.Request) (*symbolicate.Result, error) {
	return n.engineOver(n.answering(ctx, ofAllSources(g), "")).Run(ctx, req)
}

// openAll returns the first requested file of all configured sources, and the projects that
// a client may read.
func (n *Node) openAll(ctx context.Context, g *token.Grant, asked []source.FileRequest) (api.File, error) {
	return n.openFor(ctx, ofAllSources(g), asked)
}
