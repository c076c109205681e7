package node

import (
	"context"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/api/ui"
	"symbolon/internal/ident"
	"symbolon/internal/token"
)

// pages returns the pages of the node.
func (n *Node) pages(access *api.Access) *ui.Door {
	return ui.New(ui.Deps{
		Grant: access.Grant, BaseURL: access.BaseURL, State: n.uploads.state,
		Explain: n.explainAll, Forget: n.Forget, Prefetch: n.prefetchFor,
		Now: time.Now, Log: n.log,
	})
}

// prefetchFor fetches the file of a module from all configured sources, and the projects
// that a client may see, and builds its table.
func (n *Node) prefetchFor(ctx context.Context, g *token.Grant, m ident.Module) (found bool, err error) {
	report, err := n.tables.With(n.answering(ctx, ofAllSources(g), "")).Prefetch(ctx, m)
	return err == nil && report.Fault == nil, err
}
