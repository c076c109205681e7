package node

import (
	"context"
	"slices"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/bucket"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/missing"
	"symbolon/internal/source"
	"symbolon/internal/store"
	"symbolon/internal/symbolicate"
	"symbolon/internal/token"
)

// MissingQuery asks for the modules that were not found since a time.
type MissingQuery struct {
	Since time.Time `json:"since"`
}

// Missing returns the modules that clients of all nodes requested and that were not
// found, the most requested ones first.
func (n *Node) Missing(ctx context.Context, q MissingQuery) ([]*missing.Row, error) {
	return n.missingFor(ctx, operator(), q.Since)
}

// maxCompared limits the modules of a report that are looked up in the store.
const maxCompared = 2000

// missingFor returns the modules that were not found since a time, without those that
// withoutUploaded omits.
func (n *Node) missingFor(ctx context.Context, g *token.Grant, since time.Time) ([]*missing.Row, error) {
	rows, err := n.missing.Rows(ctx, since)
	if err != nil {
		return nil, err
	}
	return n.withoutUploaded(ctx, g, rows)
}

// withoutUploaded removes the modules, among the first rows, that were uploaded after the
// last request to a project that the client may see.
func (n *Node) withoutUploaded(ctx context.Context, g *token.Grant, rows []*missing.Row) ([]*missing.Row, error) {
	projects := g.Visible(n.projects(ctx))
	rows = slices.Clone(rows)
	err := bucket.Each(min(len(rows), maxCompared), func(i int) error {
		found, err := n.uploads.files.Find(ctx, projects, store.Question{Module: rows[i].Module()})
		if slices.ContainsFunc(found, func(f store.Found) bool { return f.Time.After(rows[i].Last) }) {
			rows[i] = nil
		}
		return err
	})
	return slices.DeleteFunc(rows, func(r *missing.Row) bool { return r == nil }), err
}

// noting returns an engine that counts missing modules of a request.
func (n *Node) noting(e *symbolicate.Engine, from missing.Client) *symbolicate.Engine {
	return e.Noting(func(m ident.Module, why *fault.Error) { n.note(from, m, why) })
}

// note counts a module of a request that failed, if it is missing.
func (n *Node) note(from missing.Client, m ident.Module, why error) {
	switch fault.KindOf(why) {
	case fault.NotFound, fault.Denied, fault.Malformed, fault.Unsupported:
		n.missing.Note(from, m, why.Error())
	}
}

// clientOf returns the client of a request to an interface, in a scope.
func clientOf(ctx context.Context, door, scope string) missing.Client {
	return missing.Client{Door: door, Product: api.Product(ctx), Project: scope}
}

// opener returns openFor for an interface. It counts modules whose files are missing.
func (n *Node) opener(door string) func(context.Context, *token.Grant, []source.FileRequest) (api.File, error) {
	return func(ctx context.Context, g *token.Grant, asked []source.FileRequest) (api.File, error) {
		f, err := n.openFor(ctx, g, asked)
		if err != nil {
			n.note(clientOf(ctx, door, ""), asked[0].Module, err)
		}
		return f, err
	}
}
