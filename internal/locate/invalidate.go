package locate

import (
	"sync"
	"sync/atomic"
	"time"

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
