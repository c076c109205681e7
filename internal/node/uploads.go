package node

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"symbolon/internal/bucket"
	"symbolon/internal/bucket/dir"
	"symbolon/internal/cache"
	"symbolon/internal/config"
	"symbolon/internal/ident"
	"symbolon/internal/ingest"
	"symbolon/internal/ingest/symbfile"
	"symbolon/internal/scratch"
	"symbolon/internal/source"
	"symbolon/internal/source/tree"
	"symbolon/internal/source/web"
	"symbolon/internal/store"
	"symbolon/internal/store/retain"
	"symbolon/internal/token"
)

// uploads is the store of uploads, which several nodes may share.
type uploads struct {
	state  bucket.Bucket // with everything below
	store  *symbfile.Store
	files  *store.Store // of debug files
	keeper *retain.Keeper
	keys   *token.Ring
	source source.Source // nil if the store is a configured source
	id     string        // of that configured source
	folder *dir.Bucket   // nil if the store is not a folder
	log    *slog.Logger
	stop   func() // ends maintenance; nil if it does not run
}

// uploadsID is the id of the source of uploads in a folder of their own.
const uploadsID = "uploads"

// openUploads opens the store that the configuration names.
func openUploads(cfg *config.Config, spool func() (cache.Spool, error), client *web.Client, log *slog.Logger) (u uploads, err error) {
	place := source.Config{ID: uploadsID, Type: source.Filesystem, Path: cfg.State, Layout: source.Layout{Type: source.Elastic}}
	isConfigured := cfg.StateSource() >= 0
	if isConfigured {
		place = cfg.Sources[cfg.StateSource()]
		u.id = place.ID
	}
	b, err := openWritable(place, cfg.Network, client)
	if err != nil {
		return u, fmt.Errorf("open the store of uploads: %w", err)
	}
	state := bucket.Bucket(&bucket.Exclusive{Bucket: bucket.Required{Bucket: b}})
	if u.folder, _ = b.(*dir.Bucket); u.folder != nil {
		state = b // a folder never ignores a condition
	}
	u.state, u.log = state, log
	u.keys = token.NewRing(append(cfg.Elastic.Tokens(), cfg.Access.Tokens()...), state, time.Now, log)
	if !isConfigured {
		t, err := tree.New(place, b, client.Decoder(uploadNetwork(cfg), false), time.Now)
		if err != nil {
			return u, err
		}
		u.source = unlisted{t}
	}
	u.files = store.New(cfg.Uploads, store.Deps{Bucket: state, Spool: spool, IsOpen: u.isOpen, Now: time.Now, Log: log})
	u.keeper = retain.New(cfg.Uploads, retain.Deps{Store: u.files, Bucket: state, Now: time.Now, Log: log})
	u.store = symbfile.New(cfg.Elastic.Uploads, ingest.Deps{Bucket: state, Spool: spool, Now: time.Now, Log: log})
	return u, nil
}

// isOpen reports whether reading the project default needs no token.
func (u *uploads) isOpen(ctx context.Context) bool {
	isOpen, err := u.keys.IsOpen(ctx)
	return isOpen && err == nil
}

// maintain watches the changes of other nodes and collects uploads until close. In a
// folder it removes the parts of incomplete uploads after expiry; buckets have lifecycle
// rules for that.
func (u *uploads) maintain(expiry time.Duration) {
	u.stop = inBackground(func(ctx context.Context) {
		defer inBackground(u.files.Watch)()
		defer inBackground(u.keeper.Run)()
		parts := time.NewTicker(time.Hour)
		defer parts.Stop()
		for u.sweep(ctx, expiry); ; {
			select {
			case <-ctx.Done():
				return
			case <-parts.C:
				u.sweep(ctx, expiry)
			}
		}
	})
}

// inBackground calls run in a goroutine. stop ends its context and waits for it.
func inBackground(run func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		run(ctx)
	}()
	return func() {
		cancel()
		<-done
	}
}

// sweep removes expired parts.
func (u *uploads) sweep(ctx context.Context, expiry time.Duration) {
	if u.folder == nil {
		return
	}
	if err := u.folder.Sweep(ctx, ingest.Incoming, time.Now().Add(-expiry)); err != nil && ctx.Err() == nil {
		u.log.Warn("cannot remove expired parts of uploads", "error", err)
	}
}

func (u *uploads) close() {
	if u.stop != nil {
		u.stop()
	}
}

// unlisted is a source whose misses are not in the trail.
type unlisted struct{ source.Source }

// Candidates returns the candidates for a module.
func (s unlisted) Candidates(ctx context.Context, m ident.Module, kinds []string) ([]source.Candidate, error) {
	list, err := s.Source.Candidates(ctx, m, kinds)
	if err == nil && len(list) == 0 {
		err = source.ErrNothing
	}
	return list, err
}

// OpenStore opens the store of uploaded debug files of a configuration. A server may
// run on it at the same time. Files are received in the system's temporary folder.
func OpenStore(cfg *config.Config, log *slog.Logger) (s *store.Store, closeStore func(), err error) {
	settled := *cfg
	cfg = &settled
	if _, err := Complete(cfg); err != nil {
		return nil, nil, err
	}
	client := web.NewClient(cfg.Network, time.Now, log)
	u, err := openUploads(cfg, func() (cache.Spool, error) { return scratch.NewSpool(os.TempDir()) }, client, log)
	if err != nil {
		client.Close()
		return nil, nil, err
	}
	return u.files, client.Close, nil
}
