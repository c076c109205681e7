package node

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"

	"symbolon/internal/api/ui"
	"symbolon/internal/explain"
	"symbolon/internal/ident"
	"symbolon/internal/source"
	"symbolon/internal/source/tree"
)

// idsOf returns the ids of sources.
func idsOf(sources []source.Source) (ids []string) {
	for _, s := range sources {
		ids = append(ids, s.ID())
	}
	return ids
}

// sourceStates returns the configured sources, and which of them are blocked.
func (n *Node) sourceStates() []ui.Source {
	blocked := n.client.Blocked()
	var list []ui.Source
	for i, s := range n.sources.all {
		if i == len(n.cfg.Sources) { // the builtin one
			list = append(list, ui.Source{ID: s.ID(), Type: "built in", Public: true})
			break
		}
		c := n.cfg.Sources[i]
		host := ""
		if store, ok := s.(*tree.Source); ok {
			host = store.Host()
		} else if u, err := c.URL.Parse(); err == nil {
			host = u.Host
		}
		b := blocked[strings.ToLower(host)]
		list = append(list, ui.Source{
			ID: c.ID, Type: c.Type, Layout: c.Layout.Type, Place: c.Place(), Public: c.IsPublic, Blocked: b.Until, Why: b.Why,
		})
	}
	return list
}

// probe looks a module up in one source and uses no cached outcomes: in a scope of its
// own, as those of sources that are not public are not shared.
func (n *Node) probe(ctx context.Context, id string, q explain.Question) (*explain.Trail, error) {
	for _, s := range n.sources.all {
		if s.ID() == id {
			l := n.locator.With("probe "+rand.Text(), []source.Source{unshared{s}})
			return explain.Lookup(ctx, l, q, 1)
		}
	}
	return nil, fmt.Errorf("no source has the id %q", id)
}

// unshared is a source whose files belong to a scope.
type unshared struct{ source.Source }

// Candidates returns the places of the source, as those of one that is not public.
func (u unshared) Candidates(ctx context.Context, m ident.Module, kinds []string) ([]source.Candidate, error) {
	list, err := u.Source.Candidates(ctx, m, kinds)
	for i := range list {
		list[i].Public = false
	}
	return list, err
}

// shownTiers returns the tiers of the node.
func (n *Node) shownTiers() []ui.Tier {
	list := []ui.Tier{
		{Name: "memory", MaxBytes: int64(n.cfg.Table.MaxBytes)}, {Name: "disk", MaxBytes: n.store.Stat().MaxBytes},
	}
	if n.tiers.redis != nil {
		list = append(list, ui.Tier{Name: "redis", IsShared: true})
	}
	if n.tiers.bucket != nil {
		list = append(list, ui.Tier{Name: "shared", IsShared: true})
	}
	return list
}
