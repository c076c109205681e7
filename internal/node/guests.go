package node

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"
	"time"

	"symbolon/internal/api/sentry"
	"symbolon/internal/bucket/mem"
	"symbolon/internal/fault"
	"symbolon/internal/locate"
	"symbolon/internal/source"
	"symbolon/internal/source/tree"
	"symbolon/internal/source/web"
	"symbolon/internal/symbolicate"
)

// globalScope is the scope of requests that name none, in the words of Sentry.
const globalScope = "global"

// maxGuests is how many sources that requests named are kept open. They are
// small; what they share is with the client.
const maxGuests = 1000

// guests are the sources that requests named.
type guests struct {
	node *Node
	mu   sync.Mutex
	open map[[32]byte]source.Source // by the SHA-256 of their scope and their configuration
	room map[string]*web.Share      // by scope
}

// engineFor is an engine over the sources that are asked for a request.
func (n *Node) engineFor(a sentry.Search) (*symbolicate.Engine, error) {
	l, err := n.locatorFor(a)
	if err != nil {
		return nil, err
	}
	return n.engine.With(n.tables.With(l)).Patient(), nil
}

// locatorFor finds files in the sources that a request names, or if it names
// none in those of the configuration.
func (n *Node) locatorFor(a sentry.Search) (*locate.Locator, error) {
	sources := n.sources()
	if a.Only != nil {
		sources = slices.DeleteFunc(slices.Clone(sources), func(s source.Source) bool { return !slices.Contains(a.Only, s.ID()) })
	}
	scope := a.Scope
	if scope == globalScope {
		scope = "" // that of all who name none
	}
	if a.Named != nil {
		sources = make([]source.Source, 0, len(a.Named))
		for _, c := range a.Named {
			s, err := n.guests.source(scope, c)
			if err != nil {
				return nil, err
			}
			sources = append(sources, s)
		}
		return n.locator.WithGuests(scope, sources), nil
	}
	return n.locator.With(scope, sources), nil
}

// source opens a source for a scope, or finds it open. What it knows of lists
// and indexes is for that scope, unless it is public.
func (g *guests) source(scope string, c source.Config) (source.Source, error) {
	key := sha256.Sum256(fmt.Appendf(nil, "%q %s", scope, c.Fingerprint()))
	g.mu.Lock()
	defer g.mu.Unlock()
	if s := g.open[key]; s != nil {
		return s, nil
	}
	s, err := openSource(c, g.node.network, g.node.client, &guest{g.share(scope)})
	if c.Type == source.Filesystem && fault.KindOf(err) == fault.NotFound {
		// As if the folder were empty; the next request looks again.
		return tree.NewGuarded(c, mem.New(), g.node.client.Decoder(g.node.network, true), time.Now)
	}
	if err != nil {
		return nil, err
	}
	if g.open == nil || len(g.open) >= maxGuests {
		g.open = map[[32]byte]source.Source{}
	}
	g.open[key] = s
	return s, nil
}

// share is what a scope has of the client.
func (g *guests) share(scope string) *web.Share {
	share, there := g.room[scope]
	if !there {
		if share = g.node.client.Share(); g.room == nil || len(g.room) >= maxGuests {
			g.room = map[string]*web.Share{}
		}
		g.room[scope] = share
	}
	return share
}
