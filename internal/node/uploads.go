package node

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"symbolon/internal/bucket"
	"symbolon/internal/bucket/dir"
	"symbolon/internal/cache"
	"symbolon/internal/cache/disk"
	"symbolon/internal/config"
	"symbolon/internal/ident"
	"symbolon/internal/ingest"
	"symbolon/internal/ingest/symbfile"
	"symbolon/internal/keys"
	"symbolon/internal/source"
	"symbolon/internal/source/tree"
	"symbolon/internal/source/web"
)

// uploads is the store of uploads, which several nodes may share.
type uploads struct {
	store  *symbfile.Store
	keys   *keys.Ring
	source source.Source // nil if the store is a configured source
	id     string        // of that configured source
	folder *dir.Bucket   // nil if the store is not a folder
	log    *slog.Logger
	stop   func() // ends maintenance; nil if it does not run
}

// uploadsID is the id of the source of uploads in a folder of their own.
const uploadsID = "uploads"

// openUploads opens the store that the configuration names.
func openUploads(cfg *config.Config, store *disk.Store, client *web.Client, log *slog.Logger) (u uploads, err error) {
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
	state := bucket.Bucket(&bucket.Exclusive{Bucket: b})
	if u.folder, _ = b.(*dir.Bucket); u.folder != nil {
		state = b // a folder never ignores a condition
	}
	u.log = log
	u.keys = keys.NewRing(cfg.Elastic.Keys(), state, time.Now, log)
	if !isConfigured {
		t, err := tree.New(place, b, client.Decoder(uploadNetwork(cfg), false), time.Now)
		if err != nil {
			return u, err
		}
		u.source = unlisted{keyed{t, u.keys}}
	}
	spool := func() (cache.Spool, error) { return store.Temp() }
	u.store = symbfile.New(cfg.Elastic.Uploads, ingest.Deps{Bucket: state, Spool: spool, Now: time.Now, Log: log})
	return u, nil
}

// guard makes the keys of uploads guard the configured source that is their store.
func (u *uploads) guard(sources *configured) {
	for _, list := range [][]source.Source{sources.all, sources.public} {
		for i, s := range list {
			if u.source == nil && s.ID() == u.id {
				list[i] = keyed{s, u.keys}
			}
		}
	}
}

// keysInterval is the time between two reads of the keys on an idle node. Another
// node may have closed reading; then tables that are open here must be closed.
const keysInterval = 10 * time.Second

// maintain rereads the keys until close, and in a folder removes the parts of
// incomplete uploads after expiry. Buckets have lifecycle rules for that.
func (u *uploads) maintain(expiry time.Duration) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		keys, parts := time.NewTicker(keysInterval), time.NewTicker(time.Hour)
		defer keys.Stop()
		defer parts.Stop()
		for u.sweep(ctx, expiry); ; {
			select {
			case <-ctx.Done():
				return
			case <-keys.C:
				u.keys.IsOpen(ctx)
			case <-parts.C:
				u.sweep(ctx, expiry)
			}
		}
	}()
	u.stop = func() {
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

// keyed is a source of uploads. If reading needs a key, it has candidates only for
// file ids: the interface of profilers, which uses those, checks keys itself.
type keyed struct {
	source.Source
	keys *keys.Ring
}

// Candidates returns the candidates for a module.
func (s keyed) Candidates(ctx context.Context, m ident.Module, kinds []string) ([]source.Candidate, error) {
	if m.FileID.IsZero() && !s.keys.IsOpen(ctx) {
		return nil, nil
	}
	return s.Source.Candidates(ctx, m, kinds)
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
