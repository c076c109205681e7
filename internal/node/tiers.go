package node

import (
	"fmt"
	"os"
	"time"

	"symbolon/internal/bucket"
	"symbolon/internal/bucket/dir"
	"symbolon/internal/cache"
	"symbolon/internal/cache/redis"
	"symbolon/internal/cache/shared"
	"symbolon/internal/config"
	"symbolon/internal/source"
	"symbolon/internal/source/web"
)

// tiers are what nodes share behind their disks: nothing, Redis, a bucket, or
// the bucket behind Redis.
type tiers struct {
	redis  *redis.Store
	bucket *shared.Store
	layers []*cache.Layer // the last one has all before it
	faults []cache.Tier   // those of them that share faults
}

// openTiers opens the tiers behind the disk, and gives all of them as one, with
// the leases if there are any.
func (n *Node) openTiers(cfg *config.Config) (tier cache.Tier, lease cache.Lease, err error) {
	tier = n.store
	far := &n.far
	if !cfg.Cache.Redis.URL.IsZero() {
		if far.redis, err = redis.Open(cfg.Cache.Redis, n.spool, time.Now, n.log); err != nil {
			return nil, nil, err
		}
		layer := cache.Over(tier, far.redis, time.Now)
		far.layers = append(far.layers, layer)
		far.faults = append(far.faults, far.redis)
		tier, lease = layer, layer
	}
	if !cfg.Cache.Shared.On() {
		return tier, lease, nil
	}
	b, err := n.ownBucket(cfg.Cache.Bucket(), cfg.Network)
	if err != nil {
		return nil, nil, fmt.Errorf("cache.shared: %w", err)
	}
	far.bucket = shared.New(cfg.Cache.Shared, shared.Deps{Bucket: b, Lease: lease, Spool: n.spool, Now: time.Now, Log: n.log})
	layer := cache.Over(tier, far.bucket, time.Now)
	far.layers = append(far.layers, layer)
	if cfg.Cache.Shared.Negatives > 0 {
		far.faults = append(far.faults, far.bucket)
	}
	if lease != nil {
		lease = layer // which gives them back when both have what was made
	}
	return layer, lease, nil
}

// ownBucket opens a bucket or a folder that is written to, which is made if it
// is not there.
func (n *Node) ownBucket(place source.Config, network web.Config) (bucket.Bucket, error) {
	if place.Type != source.Filesystem {
		return openBucket(place, n.client.Transport(false), max(network.Defaults().ReadTimeout, 0))
	}
	if err := os.MkdirAll(place.Path, 0o700); err != nil {
		return nil, err
	}
	return dir.Open(place.Path)
}

// close ends what the layers do, last made first, and then their tiers.
func (t *tiers) close() {
	for i := range t.layers {
		t.layers[len(t.layers)-1-i].Close()
	}
	if t.bucket != nil {
		t.bucket.Close()
	}
	if t.redis != nil {
		t.redis.Close()
	}
}
