package locate

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/cache"
	"symbolon/internal/ident"
)

// invalidations has the times when identifiers were invalidated. They are stored
// in the cache as well, for the time after a restart and for other nodes.
type invalidations struct {
	newest atomic.Int64 // the last time of all, in nanoseconds
	mu     sync.Mutex
	times  map[string]time.Time
}

// maxInvalidations is the largest number of times in memory.
const maxInvalidations = 100_000

// Invalidate ends the use of all that is known of modules with one of these
// identifiers: missing files are looked for again, and the sources of found
// files are asked whether they have changed.
func (l *Locator) Invalidate(ctx context.Context, m ident.Module) error {
	now := l.now()
	text, err := now.MarshalBinary()
	if err != nil {
		return err
	}
	for _, id := range ids(m.Derive()) {
		if err := cache.StoreText(ctx, l.tier, cache.Meta, invalidationKey(id), text); err != nil {
			return err
		}
		l.invalidations.note(id, now)
	}
	return nil
}

func (v *invalidations) note(id string, at time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.times == nil || len(v.times) >= maxInvalidations { // the cache still has them
		v.times = map[string]time.Time{}
	}
	v.times[id] = later(v.times[id], at)
	v.newest.Store(max(v.newest.Load(), at.UnixNano()))
}

// last returns the last time when one of the identifiers was invalidated by this
// process.
func (v *invalidations) last(ids []string) (last time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, id := range ids {
		last = later(last, v.times[id])
	}
	return last
}

// invalidated returns the last time when m was invalidated, by this process or
// another one.
func (l *Locator) invalidated(ctx context.Context, m ident.Module) time.Time {
	last := l.invalidations.last(ids(m))
	for _, id := range ids(m) {
		cache.Every(ctx, l.tier, cache.Meta, invalidationKey(id), func(blob cache.Blob) {
			var at time.Time
			if text, err := bin.Read(blob, 0, int(min(blob.Size(), 64))); err == nil && at.UnmarshalBinary(text) == nil {
				last = later(last, at)
			}
		})
	}
	return last
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// ids returns the identifiers of a module.
func ids(m ident.Module) []string {
	var list []string
	if !m.DebugID.IsZero() {
		list = append(list, m.DebugID.Breakpad())
	}
	if !m.CodeID.IsZero() {
		list = append(list, m.CodeID.String())
	}
	if !m.FileID.IsZero() {
		list = append(list, m.FileID.Hex())
	}
	return list
}

func invalidationKey(id string) cache.Key { return cache.KeyOf("forgotten", id) }
