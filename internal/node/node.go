package node

import (
	"context"
	"log/slog"
	"path/filepath"
	"slices"
	"time"

	"symbolon/internal/api/difs"
	"symbolon/internal/api/sentry"
	"symbolon/internal/bin"
	"symbolon/internal/cache"
	"symbolon/internal/cache/disk"
	"symbolon/internal/config"
	"symbolon/internal/history"
	"symbolon/internal/locate"
	"symbolon/internal/missing"
	"symbolon/internal/scratch"
	"symbolon/internal/source"
	"symbolon/internal/source/web"
	"symbolon/internal/symbolicate"
	"symbolon/internal/table"
)

// Node is a running node.
type Node struct {
	cfg       *config.Config // complete
	log       *slog.Logger
	memory    memory
	store     *disk.Store
	client    *web.Client
	tiers     tiers
	sources   configured
	requested *requested
	uploads   uploads
	locator   *locate.Locator
	tables    *table.Tables
	syms      *symMaker
	engine    *symbolicate.Engine
	missing   *missing.Log
	example   string // a request that the built-in source answers; empty without it
	counting  func() // ends the counting of missing modules; nil before Front
	history   *history.History
	sampling  func()       // ends its samples; nil before Front
	sentry    *sentry.Door // nil before Front and Answers
	difs      *difs.Door   // nil before Front
}

// New builds a node. builtin may be nil. cfg is not changed.
func New(cfg *config.Config, builtin *Builtin, log *slog.Logger) (n *Node, err error) {
	n = &Node{log: log}
	if builtin != nil {
		n.example = builtin.Example
	}
	settled := *cfg
	cfg = &settled
	defer func() {
		if err != nil {
			n.Close()
			n = nil
		}
	}()
	if _, err := Complete(cfg); err != nil {
		return n, err
	}
	n.cfg, n.memory = cfg, newMemory(cfg)
	if n.store, err = disk.Open(cfg.Cache.Disk, cfg.Data, time.Now, log); err != nil {
		return n, err
	}
	n.client = web.NewClient(cfg.Network, time.Now, log)
	n.requested = newRequested(n.client, cfg.Network)
	if n.tiers, err = openTiers(cfg, n.store, n.client, log); err != nil {
		return n, err
	}
	if n.sources, err = openConfigured(cfg, builtin, n.client, log); err != nil {
		return n, err
	}
	if n.uploads, err = openUploads(cfg, n.spool, n.client, log); err != nil {
		return n, err
	}
	n.missing = missing.New(n.uploads.state, time.Now, log)
	n.locator = locate.New(cfg.Locate, locate.Deps{
		Sources: n.allSources(),
		Tier:    n.tiers.all,
		Spool:   n.spool,
		Space:   n.newSpace(filepath.Join(cfg.Data, "tmp")),
		Memory:  n.memory.mappings,
		Lives:   cfg.Cache.Lifetimes,
		Now:     time.Now,
		Log:     log,
	})
	n.tables = table.New(cfg.Table, table.Deps{
		Locator: n.locator, Tier: n.tiers.all, Scratch: spools{n.store}, Memory: n.memory.builds, Lease: n.tiers.lease, Now: time.Now, Log: log,
	})
	n.uploads.files.OnChange(n.invalidate)
	n.syms = newSymMaker(n.tiers.all, spools{n.store}, n.memory.builds)
	n.engine = symbolicate.New(cfg.Symbolicate, n.tables, time.Now)
	return n, nil
}

// allSources returns the configured sources and the uploads.
func (n *Node) allSources() []source.Source {
	if n.uploads.source == nil {
		return n.sources.all
	}
	return append(slices.Clip(n.sources.all), n.uploads.source)
}

// Close ends all work and closes what New opened, in reverse order.
func (n *Node) Close() {
	if n.sentry != nil {
		n.sentry.Close()
	}
	if n.difs != nil {
		n.difs.Close()
	}
	if n.tables != nil {
		n.tables.Close()
	}
	if n.syms != nil {
		n.syms.flight.Close()
	}
	if n.locator != nil {
		n.locator.Close()
	}
	if n.counting != nil {
		n.counting()
	}
	if n.sampling != nil {
		n.sampling()
	}
	n.uploads.close()
	n.tiers.close()
	if n.client != nil {
		n.client.Close()
	}
	if n.store != nil {
		if err := n.store.Close(); err != nil {
			n.log.Error("closing the disk cache", "error", err)
		}
	}
}

func (n *Node) spool() (cache.Spool, error) { return n.store.Temp() }

// spaceTimeout is how long a file waits for other files to release their unpacked
// sections. A request may hold one file while it waits for another one.
const spaceTimeout = 30 * time.Second

// newSpace returns a function that creates spaces in a folder of the data
// directory. They count in the disk cache.
func (n *Node) newSpace(dir string) func(context.Context) bin.Space {
	return func(ctx context.Context) bin.Space {
		return scratch.NewSpace(dir, func(size int64, do func() error) (func(), error) {
			ctx, cancel := context.WithTimeout(ctx, spaceTimeout)
			defer cancel()
			return hold(ctx, n.store, n.memory.builds, size, do)
		})
	}
}

// spools creates the temporary files of builds in the data directory, where they
// count in the disk cache. It implements bin.Scratch.
type spools struct{ store *disk.Store }

// Create creates a temporary file.
func (s spools) Create() (bin.ScratchFile, error) { return s.store.Temp() }

// Remove removes a file that Create created.
func (s spools) Remove(f bin.ScratchFile) error { return f.(cache.Spool).Close() }
