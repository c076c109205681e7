package node

import (
	"context"

	"symbolon/internal/api/sentry"
	"symbolon/internal/crash"
)

// Crashes returns the processor of crashes that uses the sources of the node.
func (n *Node) Crashes() *crash.Processor {
	return crash.New(crash.Deps{Engine: n.engine.Unlimited(), Tables: n.tables})
}

// crashesFor returns a processor of crashes over the sources of a request.
func (n *Node) crashesFor(ctx context.Context, a sentry.Search) (*crash.Processor, error) {
	l, err := n.locatorFor(ctx, a)
	if err != nil {
		return nil, err
	}
	tables := n.tables.With(l)
	return crash.New(crash.Deps{Engine: n.noting(n.engine.With(tables).Unlimited(), clientOf(ctx, "crash", a.Scope)), Tables: tables}), nil
}
