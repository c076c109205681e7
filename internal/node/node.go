// Package node builds a running node from a configuration: its sources, caches,
// tables and doors.
package node

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"symbolon/internal/api/sentry"
	"symbolon/internal/bin"
	"symbolon/internal/bucket"
	"symbolon/internal/bucket/dir"
	"symbolon/internal/cache"
	"symbolon/internal/cache/disk"
	"symbolon/internal/config"
	"symbolon/internal/locate"
	"symbolon/internal/source"
	"symbolon/internal/source/tree"
	"symbolon/internal/source/web"
	"symbolon/internal/symbolicate"
	"symbolon/internal/table"
)

// node is everything below the doors, put together in the order of the ranks.
type Node struct {
	store   *disk.Store
	far     tiers
	client  *web.Client
	locator *locate.Locator
	tables  *table.Tables
	engine  *symbolicate.Engine
	memory  shares
	log     *slog.Logger
	network web.Config
	// The sources of the configuration, and those that requests named.
	configured []source.Source
	public     []source.Source // those of the configuration that are for everybody
	guests     guests
	uploads    uploads
	open       *locate.Locator // for those who need no token
	sentry     *sentry.Door    // nil: no requests are served
}

// Builtin is a bucket that is built in, with the name of its source.
type Builtin struct {
	Name   string
	Bucket bucket.Bucket
}

// New puts a node together. demo may be nil. Close the node.
func New(cfg *config.Config, demo *Builtin, log *slog.Logger) (n *Node, err error) {
	n = &Node{log: log, network: cfg.Network}
	settled := *cfg
	cfg = &settled
	n.guests.node = n
	defer func() {
		if err != nil {
			n.Close()
		}
	}()
	if _, err := Settle(cfg); err != nil {
		return n, err
	}
	n.memory = share(cfg)
	if n.store, err = disk.Open(cfg.Cache.Disk, cfg.Data, time.Now, log); err != nil {
		return n, err
	}
	if n.client, err = web.NewClient(cfg.Network, time.Now, log); err != nil {
		return n, err
	}
	tier, lease, err := n.openTiers(cfg)
	if err != nil {
		return n, err
	}
	if err := n.openSources(cfg, demo); err != nil {
		return n, err
	}
	if err := n.openUploads(cfg); err != nil {
		return n, err
	}
	n.locator = locate.New(cfg.Locate, locate.Deps{
		Sources: n.sources(),
		Tier:    tier,
		Spool:   n.spool,
		Space:   n.space(filepath.Join(cfg.Data, "tmp")),
		Memory:  n.memory.mappings,
		Lives:   cfg.Cache.Lifetimes,
		Now:     time.Now,
		Log:     log,
	})
	n.tables = table.New(cfg.Table, table.Deps{
		Locator: n.locator, Tier: tier, Scratch: spools{n.store}, Memory: n.memory.builds, Lease: lease, Now: time.Now, Log: log,
	})
	n.engine = symbolicate.New(cfg.Symbolicate, n.tables, time.Now)
	return n, nil
}

func (n *Node) spool() (cache.Spool, error) { return n.store.Temp() }

// openSources opens what the configuration names, in its order, and the demo
// after it.
func (n *Node) openSources(cfg *config.Config, demo *Builtin) error {
	add := func(s source.Source, public bool) {
		n.configured = append(n.configured, s)
		if public {
			n.public = append(n.public, s)
		}
	}
	for _, c := range cfg.Sources {
		network := cfg.Network
		if c.ID == cfg.State {
			network = uploadNetwork(cfg)
		}
		s, err := openSource(c, network, n.client, nil)
		if err != nil && c.Type == source.Filesystem {
			n.log.Warn("the folder of a source cannot be opened; it is looked for whenever a file is", "source", c.ID, "path", c.Path, "reason", err)
			s, err = tree.New(c, dir.Later(c.Path, c.FollowSymlinks), n.client.Decoder(network, false), time.Now)
		}
		if err != nil {
			return fmt.Errorf("source %s: %w", c.ID, err)
		}
		add(s, c.IsPublic)
	}
	if demo != nil {
		c := source.Config{ID: demo.Name, Type: source.Filesystem, Path: "/built-in"}
		s, err := tree.New(c, demo.Bucket, n.client.Decoder(cfg.Network, false), time.Now)
		if err != nil {
			return err
		}
		add(s, true)
	}
	return nil
}

// guest is for whom a source is open that a request named.
type guest struct{ share *web.Share }

// openSource opens a source. One that a request named is for a guest: it reaches
// public addresses only, and uses no credentials of this machine.
func openSource(c source.Config, network web.Config, client *web.Client, g *guest) (source.Source, error) {
	switch c.Type {
	case source.HTTP:
		return openWeb(c, client, g)
	case source.Sentry:
		return openProject(c, network, client, g)
	case source.S3, source.GCS:
		return openFar(c, network, client, g)
	}
	if g != nil {
		b, err := dir.Open(c.Path)
		if err != nil {
			return nil, err
		}
		return tree.NewGuarded(c, b, client.Decoder(network, true), time.Now)
	}
	b, err := opener(c)(c.Path)
	if err != nil {
		return nil, err
	}
	return tree.New(c, b, client.Decoder(network, false), time.Now)
}

// opener opens the folder of a source of the configuration.
func opener(c source.Config) func(folder string) (*dir.Bucket, error) {
	if c.FollowSymlinks {
		return dir.OpenFollowing
	}
	return dir.Open
}

// close ends what runs and closes what is open, last made first.
func (n *Node) Close() {
	if n.sentry != nil {
		n.sentry.Close()
	}
	if n.tables != nil {
		n.tables.Close()
	}
	if n.locator != nil {
		n.locator.Close()
	}
	if n.uploads.stop != nil {
		n.uploads.stop()
	}
	n.far.close()
	if n.client != nil {
		n.client.Close()
	}
	if n.store != nil {
		if err := n.store.Close(); err != nil {
			n.log.Error("closing the disk cache", "error", err)
		}
	}
}

// DataDir is the configured data directory, or the user's cache directory.
func DataDir(configured string) (string, error) {
	if configured != "" {
		return filepath.Abs(configured)
	}
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("there is no place for the data: %w; name one with --data", err)
	}
	return filepath.Join(base, "symbolon"), nil
}

// writable checks that the data directory takes new files, for the heartbeat.
func (n *Node) writable(context.Context) error { return n.store.Writable() }

// spools lets builds spill into the data directory, where what they write
// counts.
type spools struct{ store *disk.Store }

func (s spools) Create() (bin.ScratchFile, error) { return s.store.Temp() }

func (s spools) Remove(f bin.ScratchFile) error { return f.(cache.Spool).Close() } // what Create made
