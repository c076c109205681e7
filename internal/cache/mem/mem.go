// Package mem keeps values open: the tables that were used last, as many as
// fit into a number of bytes.
//
// Values are counted references. What Get and Put return belongs to the caller
// until it is released. A value that is evicted or replaced while
// somebody uses it stays open until the last reference is released, and only
// then is closed; until then its bytes are Pinned and not part of the bound.
//
// Everything is safe for concurrent use. Closing runs in the goroutine that
// released last, outside of all locks.
package mem

import (
	"container/list"
	"sync"
	"sync/atomic"

	"symbolon/internal/cache"
	"symbolon/internal/metric"
)

// maxEntries bounds the number of values whatever their size: an open value
// may have a mapping of memory, and a process has only so many of them.
const maxEntries = 16 << 10

const tier = "memory"

// Cache is open values by key. Make it with New.
type Cache[T any] struct {
	kind   string // label in the metrics
	max    int64
	pinned atomic.Int64

	mu      sync.Mutex
	entries map[cache.Key]*list.Element // of *entry[T]
	order   list.List                   // last used first
	stats   Stats                       // without Pinned
	closed  bool
}

// Stats is what a Cache holds and did.
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
// negative number is no bound.
func New[T any](kind string, maxBytes int64) *Cache[T] {
	return &Cache[T]{kind: kind, max: maxBytes, entries: map[cache.Key]*list.Element{}}
}

// Ref is a reference to an open value.
type Ref[T any] struct {
	e        *entry[T]
	released atomic.Bool
}

// Value is the value. It is open until Release.
func (r *Ref[T]) Value() T { return r.e.value }

// Retain makes another reference. It needs one that is not released.
func (r *Ref[T]) Retain() *Ref[T] { return r.e.ref() }

// Release gives the reference up. Only the first call counts.
func (r *Ref[T]) Release() {
	if !r.released.Swap(true) {
		r.e.unref()
	}
}

func (e *entry[T]) ref() *Ref[T] {
	e.refs.Add(1)
	return &Ref[T]{e: e}
}

// unref gives up one reference. The cache itself holds one to each entry that
// it has, so an entry that can be found is never closed, and one that is closed
// is pinned.
func (e *entry[T]) unref() {
	if e.refs.Add(-1) > 0 {
		return
	}
	e.owner.pinned.Add(-e.size)
	if e.free != nil {
		e.free()
	}
}

// Get returns a reference to the value of key.
func (c *Cache[T]) Get(key cache.Key) (*Ref[T], bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, ok := c.entries[key]
	if !ok {
		c.stats.Misses++
		metric.CacheLookups.Add(1, tier, c.kind, "miss")
		return nil, false
	}
	c.stats.Hits++
	metric.CacheLookups.Add(1, tier, c.kind, "hit")
	c.order.MoveToFront(at)
	return at.Value.(*entry[T]).ref(), true
}

// Peek is Get, and counts as no use.
func (c *Cache[T]) Peek(key cache.Key) (*Ref[T], bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, ok := c.entries[key]
	if !ok {
		return nil, false
	}
	return at.Value.(*entry[T]).ref(), true
}

// Put keeps a value of size bytes in place of what key had, and returns a
// reference to it. free closes the value and may be nil. A value that is
// larger than the bound is not kept: it is open for as long as its references.
func (c *Cache[T]) Put(key cache.Key, value T, size int64, free func()) *Ref[T] {
	e := &entry[T]{key: key, value: value, size: max(size, 0), free: free, owner: c}
	r := e.ref()
	var gone []*entry[T]
	c.mu.Lock()
	if old, ok := c.entries[key]; ok {
		gone = append(gone, c.take(old))
	}
	if c.closed || c.max >= 0 && e.size > c.max {
		c.retire(e)
	} else {
		e.refs.Add(1)
		c.entries[key] = c.order.PushFront(e)
		c.count(1, e.size)
		gone = append(gone, c.evict()...)
	}
	c.mu.Unlock()
	unrefAll(gone)
	return r
}

// evict takes out what was not used for longest until the rest fits. mu is
// held.
func (c *Cache[T]) evict() []*entry[T] {
	var gone []*entry[T]
	for c.stats.Entries > maxEntries || c.max >= 0 && c.stats.Bytes > c.max {
		gone = append(gone, c.take(c.order.Back()))
		c.stats.Evictions++
		metric.CacheEvictions.Add(1, tier, c.kind)
	}
	return gone
}

// take takes an entry out; the caller unrefs it when mu is free. mu is held.
func (c *Cache[T]) take(at *list.Element) *entry[T] {
	e := c.order.Remove(at).(*entry[T])
	delete(c.entries, e.key)
	c.count(-1, -e.size)
	c.retire(e)
	return e
}

// retire counts an entry as pinned, which ends with its last reference.
func (c *Cache[T]) retire(e *entry[T]) {
	c.pinned.Add(e.size)
}

// count keeps the books. mu is held.
func (c *Cache[T]) count(entries, bytes int64) {
	c.stats.Entries += entries
	c.stats.Bytes += bytes
	metric.CacheEntries.Add(entries, tier)
	metric.CacheBytes.Add(bytes, tier)
}

// Clear drops all values.
func (c *Cache[T]) Clear() { c.drop(false) }

// Close drops all values. What is put afterwards is not kept.
func (c *Cache[T]) Close() { c.drop(true) }

func (c *Cache[T]) drop(closed bool) {
	var gone []*entry[T]
	c.mu.Lock()
	c.closed = c.closed || closed
	for c.order.Len() > 0 {
		gone = append(gone, c.take(c.order.Front()))
	}
	c.mu.Unlock()
	unrefAll(gone)
}

func unrefAll[T any](gone []*entry[T]) {
	for _, e := range gone {
		e.unref()
	}
}

// Stats is what the cache holds now and did so far.
func (c *Cache[T]) Stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.stats
	s.Pinned = c.pinned.Load()
	return s
}
