package node

import (
	"fmt"
	"log/slog"
	"slices"
	"time"

	"symbolon/internal/cache"
	"symbolon/internal/cache/disk"
	"symbolon/internal/cache/redis"
	"symbolon/internal/cache/shared"
	"symbolon/internal/config"
	"symbolon/internal/source/web"
)

// tiers are the tiers of the cache: the disk, and after it those that nodes share,
// Redis before a bucket. Either may be missing.
type tiers struct {
	all    cache.Tier  // all tiers as one
	lease  cache.Lease // nil without Redis
	redis  *redis.Store
	bucket *shared.Store
	layers []*cache.Layer // each one contains those before it
	faults []cache.Tier   // the shared tiers that store faults
}

// openTiers opens the tiers of a configuration over the disk. After an error the
// caller closes those that are open.
func openTiers(cfg *config.Config, store *disk.Store, client *web.Client, log *slog.Logger) (t tiers, err error) {
	t.all = store
	spool := func() (cache.Spool, error) { return store.Temp() }
	if !cfg.Cache.Redis.URL.IsZero() {
		if t.redis, err = redis.Open(cfg.Cache.Redis, spool, time.Now, log); err != nil {
			return t, err
		}
		t.lease = t.add(t.redis)
		t.faults = append(t.faults, t.redis)
	}
	if !cfg.Cache.Shared.On() {
		return t, nil
	}
	b, err := openWritable(cfg.Cache.Bucket(), cfg.Network, client)
	if err != nil {
		return t, fmt.Errorf("cache.shared: %w", err)
	}
	t.bucket = shared.New(cfg.Cache.Shared, shared.Deps{Bucket: b, Lease: t.lease, Spool: spool, Now: time.Now, Log: log})
	layer := t.add(t.bucket)
	if cfg.Cache.Shared.Negatives > 0 {
		t.faults = append(t.faults, t.bucket)
	}
	if t.lease != nil {
		t.lease = layer // which releases a lease when both tiers have the entry
	}
	return t, nil
}

// add adds a tier after the others.
func (t *tiers) add(tier cache.Shared) *cache.Layer {
	layer := cache.Over(t.all, tier, time.Now)
	t.layers = append(t.layers, layer)
	t.all = layer
	return layer
}

// close ends the work of the layers, the last one first, and then closes their
// tiers.
func (t *tiers) close() {
	for _, layer := range slices.Backward(t.layers) {
		layer.Close()
	}
	if t.bucket != nil {
		t.bucket.Close()
	}
	if t.redis != nil {
		t.redis.Close()
	}
}
