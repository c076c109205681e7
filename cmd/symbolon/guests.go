package main

import (
	"sync"

	"symbolon/internal/source"
	"symbolon/internal/symbolicate"
)

// maxGuests is how many sources that requests named are kept open. They are
// small; what they share is with the client.
const maxGuests = 1000

// guests are the sources that requests named.
type guests struct {
	node *node
	mu   sync.Mutex
	open map[string]source.Source // by their configuration
}

// engine is an engine for a scope: over the sources that a request names, or if
// it names none over those of the configuration.
func (n *node) engineFor(scope string, named []source.Config) (*symbolicate.Engine, error) {
	sources := n.configured
	if named != nil {
		sources = make([]source.Source, 0, len(named))
		for _, c := range named {
			s, err := n.guests.source(c)
			if err != nil {
				return nil, err
			}
			sources = append(sources, s)
		}
	}
	return n.engine.With(n.tables.With(n.locator.With(scope, sources))), nil
}

// source opens a source, or finds it open.
func (g *guests) source(c source.Config) (source.Source, error) {
	key := c.Fingerprint()
	g.mu.Lock()
	defer g.mu.Unlock()
	if s := g.open[key]; s != nil {
		return s, nil
	}
	s, err := openSource(c, g.node.network, g.node.client, true)
	if err != nil {
		return nil, err
	}
	if g.open == nil || len(g.open) >= maxGuests {
		g.open = map[string]source.Source{}
	}
	g.open[key] = s
	return s, nil
}
