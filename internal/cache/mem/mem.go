// Package mem keeps values open, such as tables: those that are likely to be used again,
// within a number of bytes.
//
// Frequent use counts more than recent use (W-TinyLFU, see github.com/maypok86/otter):
// when the cache is full, a new value may be evicted at once, until it has been requested
// more often than another one.
//
// Values are reference counted. What Get and Put return belongs to the caller
// until it is released. A value that is evicted or replaced while it is in use
// stays open until the last reference is released, and only then is closed;
// until then its bytes are Pinned and not part of the bound, and Get finds it
// unless it was replaced.
//
// The bytes that are kept exceed the bound only while Put runs, by the one value
// that it adds.
//
// Everything is safe for concurrent use. Values are closed in the goroutine that released
// them last, outside of all locks.
package mem

import (
	"math"
	"sync"
	"sync/atomic"

	"github.com/maypok86/otter/v2"

	"symbolon/internal/cache"
	"symbolon/internal/metric"
)

// maxEntries bounds the number of values whatever their size: an open value
// may have a mapping of memory, and a process has only so many of them. So each
// counts as at least this part of the bound.
const maxEntries = 16 << 10

const tier = "memory"

// Cache is open values by key. Make it with New.
type Cache[T any] struct {
	kind string // label in the metrics
	max  int64
	unit int64 // bytes of one unit of weight
	kept *otter.Cache[cache.Key, *entry[T]]

	bytes, entries, pinned, hits, misses, evictions atomic.Int64

	change sync.Mutex // one Put, Clear or Close at a time
	closed bool       // guarded by change

	mu      sync.Mutex
	evicted map[cache.Key]*entry[T] // that are in use
	removed []*entry[T]             // whose reference of the cache is to be released
	pending atomic.Bool             // removed is not empty
}

// Stats are the figures of a Cache.
type Stats struct {
	Bytes, Entries          int64 // now
	Pinned                  int64 // bytes that are evicted and still in use
	Hits, Misses, Evictions int64 // since the start
}

type entry[T any] struct {
	key   cache.Key
	value T
	size  int64
	free  func()
	refs  atomic.Int64
	owner *Cache[T]
}

// New makes a Cache of values of maxBytes together, that counts as this kind. A
// negative number sets no bound.
func New[T any](kind string, maxBytes int64) *Cache[T] {
	if maxBytes < 0 {
		maxBytes = math.MaxInt64
	}
	c := &Cache[T]{kind: kind, max: maxBytes, unit: maxBytes>>32 + 1, evicted: map[cache.Key]*entry[T]{}}
	most := max(maxBytes/c.unit, 1)
	least := max(most/maxEntries, 1)
	c.kept = otter.Must(&otter.Options[cache.Key, *entry[T]]{
		MaximumWeight: uint64(most),
		// A weight has 32 bits. It is rounded up, so the sum never falls short of the bytes.
		Weigher: func(_ cache.Key, e *entry[T]) uint32 {
			return uint32(min(max((e.size+c.unit-1)/c.unit, least), math.MaxUint32))
		},
		OnAtomicDeletion: c.remove,
		Executor:         func(work func()) { work() },
	})
	return c
}

// Ref is a reference to an open value.
type Ref[T any] struct {
	e        *entry[T]
	released atomic.Bool
}

// Value returns the value. It is open until Release.
func (r *Ref[T]) Value() T { return r.e.value }

// Retain makes another reference. It needs one that is not released.
func (r *Ref[T]) Retain() *Ref[T] { return r.e.ref() }

// Release releases the reference. Only the first call counts.
func (r *Ref[T]) Release() {
	if !r.released.Swap(true) {
		r.e.unref()
	}
}

func (e *entry[T]) ref() *Ref[T] {
	e.refs.Add(1)
	return &Ref[T]{e: e}
}

// acquire is ref for an entry that may have been closed meanwhile.
func (e *entry[T]) acquire() (*Ref[T], bool) {
	for {
		n := e.refs.Load()
		if n == 0 {
			return nil, false
		}
		if e.refs.CompareAndSwap(n, n+1) {
			return &Ref[T]{e: e}, true
		}
	}
}

// unref releases one reference. The cache itself has one to each entry that it
// keeps, so an entry without references is pinned.
func (e *entry[T]) unref() {
	if e.refs.Add(-1) > 0 {
		return
	}
	e.owner.forget(e)
	if e.free != nil {
		e.free()
	}
}

// forget drops an entry that was evicted and is not in use any more.
func (c *Cache[T]) forget(e *entry[T]) {
	c.pinned.Add(-e.size)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.evicted[e.key] == e {
		delete(c.evicted, e.key)
	}
}

// Get returns a reference to the value of key.
func (c *Cache[T]) Get(key cache.Key) (*Ref[T], bool) {
	r, ok := c.find(key, c.kept.GetIfPresent)
	if !ok {
		c.misses.Add(1)
		metric.CacheLookups.Add(1, tier, c.kind, "miss")
		return nil, false
	}
	c.hits.Add(1)
	metric.CacheLookups.Add(1, tier, c.kind, "hit")
	return r, true
}

// Peek is Get, and counts as no use.
func (c *Cache[T]) Peek(key cache.Key) (*Ref[T], bool) {
	return c.find(key, func(key cache.Key) (*entry[T], bool) {
		e, ok := c.kept.GetEntryQuietly(key)
		return e.Value, ok
	})
}

// find returns a reference to the value that is kept, or else to one that was
// evicted and is in use.
func (c *Cache[T]) find(key cache.Key, kept func(cache.Key) (*entry[T], bool)) (*Ref[T], bool) {
	defer c.release() // looking up may evict
	for {
		e, ok := kept(key)
		if !ok {
			break
		}
		if r, ok := e.acquire(); ok {
			return r, true
		}
	}
	c.mu.Lock()
	e := c.evicted[key]
	c.mu.Unlock()
	if e == nil {
		return nil, false
	}
	return e.acquire()
}

// Put stores a value of size bytes under key, replacing an earlier one, and returns a
// reference to it. free closes the value and may be nil. A value that is larger than the
// bound is not kept: it is closed when its references are released.
func (c *Cache[T]) Put(key cache.Key, value T, size int64, free func()) *Ref[T] {
	e := &entry[T]{key: key, value: value, size: max(size, 0), free: free, owner: c}
	r := e.ref()
	defer c.release()
	c.change.Lock()
	defer c.change.Unlock()
	if c.closed || e.size > c.max {
		c.pinned.Add(e.size)
		c.kept.Invalidate(key)
		c.supersede(e)
		return r
	}
	e.refs.Add(1)
	c.count(1, e.size)
	c.kept.Set(key, e)
	c.kept.CleanUp() // evicts
	c.supersede(e)
	return r
}

// supersede ensures that no other entry than e is found for the key of e.
func (c *Cache[T]) supersede(e *entry[T]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case e.size > c.max && !c.closed:
		c.evicted[e.key] = e
	case c.evicted[e.key] != e:
		delete(c.evicted, e.key)
	}
}

// remove takes over an entry that is not kept any more. Locks of otter are held:
// the reference is released later.
func (c *Cache[T]) remove(event otter.DeletionEvent[cache.Key, *entry[T]]) {
	e := event.Value
	c.pinned.Add(e.size)
	c.count(-1, -e.size)
	c.mu.Lock()
	defer c.mu.Unlock()
	if event.WasEvicted() {
		c.evictions.Add(1)
		metric.CacheEvictions.Add(1, tier, c.kind)
		c.evicted[e.key] = e
	}
	c.removed = append(c.removed, e)
	c.pending.Store(true)
}

// release releases the references of the cache to removed entries.
func (c *Cache[T]) release() {
	if !c.pending.Load() {
		return
	}
	c.mu.Lock()
	removed := c.removed
	c.removed = nil
	c.pending.Store(false)
	c.mu.Unlock()
	for _, e := range removed {
		e.unref()
	}
}

func (c *Cache[T]) count(entries, bytes int64) {
	c.entries.Add(entries)
	c.bytes.Add(bytes)
	metric.CacheEntries.Add(entries, tier)
	metric.CacheBytes.Add(bytes, tier)
}

// Clear drops all values.
func (c *Cache[T]) Clear() { c.drop(false) }

// Close drops all values. Values that are put later are not kept.
func (c *Cache[T]) Close() { c.drop(true) }

func (c *Cache[T]) drop(closed bool) {
	defer c.release()
	c.change.Lock()
	defer c.change.Unlock()
	c.closed = c.closed || closed
	c.kept.InvalidateAll()
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.evicted)
}

// Stats returns the current figures of the cache.
func (c *Cache[T]) Stats() Stats {
	return Stats{
		Bytes: c.bytes.Load(), Entries: c.entries.Load(), Pinned: c.pinned.Load(),
		Hits: c.hits.Load(), Misses: c.misses.Load(), Evictions: c.evictions.Load(),
	}
}
