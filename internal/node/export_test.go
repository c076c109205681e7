package node

import (
	"log/slog"

	"symbolon/internal/cache/disk"
	"symbolon/internal/config"
	"symbolon/internal/locate"
	"symbolon/internal/source"
	"symbolon/internal/source/web"
	"symbolon/internal/store"
)

// For tests.
const (
	LeastMemory = leastMemory
	MostMemory  = mostMemory
)

var (
	ControlSocket = controlSocket
	DivideMemory  = divideMemory
)

func (n *Node) Locator() *locate.Locator { return n.locator }

func (n *Node) Store() *disk.Store { return n.store }

// OpenConfigured opens the sources of a configuration.
func OpenConfigured(cfg *config.Config, client *web.Client) ([]source.Source, error) {
	c, err := openConfigured(cfg, nil, client, slog.New(slog.DiscardHandler))
	return c.all, err
}

// OpenSource opens a source, that of a request if there is a share.
func OpenSource(c source.Config, client *web.Client, share *web.Share) (source.Source, error) {
	return openSource(c, web.Config{}, client, share)
}

// Files returns the store of uploaded debug files.
func (n *Node) Files() *store.Store { return n.uploads.files }
