package node

import (
	"crypto/sha256"
	"fmt"
	"sync"
	"time"

	"symbolon/internal/bucket/mem"
	"symbolon/internal/fault"
	"symbolon/internal/source"
	"symbolon/internal/source/tree"
	"symbolon/internal/source/web"
)

// maxRequested limits the sources and the scopes that stay open. They are small:
// connections, lists and indexes belong to the client.
const maxRequested = 1000

// requested opens the sources that requests name, and keeps them open.
type requested struct {
	client  *web.Client
	network web.Config

	mu     sync.Mutex
	open   map[[sha256.Size]byte]source.Source // by scope and configuration
	shares map[string]*web.Share               // by scope
}

func newRequested(client *web.Client, network web.Config) *requested {
	return &requested{client: client, network: network, open: map[[sha256.Size]byte]source.Source{}, shares: map[string]*web.Share{}}
}

// source returns a source of a scope. Scopes share lists and indexes of public
// sources only.
func (r *requested) source(scope string, c source.Config) (source.Source, error) {
	key := sha256.Sum256(fmt.Appendf(nil, "%q %s", scope, c.Fingerprint()))
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.open[key]; s != nil {
		return s, nil
	}
	s, err := openSource(c, r.network, r.client, r.share(scope))
	if c.Type == source.Filesystem && fault.KindOf(err) == fault.NotFound {
		// It counts as empty and is not kept, so the next request opens it again.
		return tree.NewGuarded(c, mem.New(), r.client.Decoder(r.network, true), time.Now)
	}
	if err != nil {
		return nil, err
	}
	if len(r.open) >= maxRequested {
		clear(r.open)
	}
	r.open[key] = s
	return s, nil
}

// share returns the share that a scope has of the client.
func (r *requested) share(scope string) *web.Share {
	share, ok := r.shares[scope]
	if !ok {
		if len(r.shares) >= maxRequested {
			clear(r.shares)
		}
		share = r.client.Share()
		r.shares[scope] = share
	}
	return share
}
