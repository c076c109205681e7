package node

import (
	"symbolon/internal/cache/disk"
	"symbolon/internal/config"
	"symbolon/internal/locate"
	"symbolon/internal/source"
	"symbolon/internal/source/web"
)

// For tests.
const (
	LeastMemory = leastMemory
	MostMemory  = mostMemory
)

var (
	ControlSocket = controlSocket
	SettleMemory  = settleMemory
)

func (n *Node) Locator() *locate.Locator { return n.locator }

func (n *Node) Store() *disk.Store { return n.store }

// OpenConfigured opens the sources of a configuration.
func OpenConfigured(cfg *config.Config, client *web.Client) ([]source.Source, error) {
	n := &Node{client: client}
	err := n.openSources(cfg, nil)
	return n.configured, err
}

// OpenSource opens a source, that of a request if there is a share.
func OpenSource(c source.Config, client *web.Client, share *web.Share) (source.Source, error) {
	if share == nil {
		return openSource(c, web.Config{}, client, nil)
	}
	return openSource(c, web.Config{}, client, &guest{share})
}
