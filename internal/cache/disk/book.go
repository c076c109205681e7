package disk

import (
	"cmp"
	"slices"
	"time"

	"symbolon/internal/cache"
	"symbolon/internal/fault"
)

const (
	maxFaults = 1 << 16
	block     = 4 << 10 // files take whole blocks of the disk

	// useStep is how old the time of last use in index.db may be, so that an
	// entry in steady use is not saved again and again.
	useStep = int64(time.Minute)
)

// kinds lists the kinds by their number in memory.
var kinds = [...]cache.Kind{cache.Objects, cache.Meta, cache.Symcache, cache.Cficache}

// idOf returns the id of the entry of a key. The kind must be one of kinds.
func idOf(k cache.Kind, key cache.Key) id { return id{uint8(slices.Index(kinds[:], k)), key} }

// id names an entry.
type id struct {
	kind uint8 // index in kinds
	key  cache.Key
}

// entry is a file, or a remembered fault. Times are nanoseconds of Unix time.
type entry struct {
	id
	size    int64
	created int64
	used    int64
	saved   int64  // used, as saved in index.db, or dirty
	turn    uint64 // order of last use, independent of the clock
	fault   *negative

	prev, next *entry
}

// negative is a remembered fault.
type negative struct {
	fault.Error
	until int64
}

// newNegative returns the negative entry for f.
func newNegative(f *fault.Error, until int64) *negative {
	return &negative{fault.Error{Kind: f.Kind, Place: cache.Clip(f.Place), Detail: cache.Clip(f.Detail), Status: f.Status}, until}
}

// holds reports whether a fault has not expired. A fault from the future has, or
// a clock that was set back could keep it for years.
func (e *entry) holds(now int64) bool { return e.created <= now && now < e.fault.until }

// remembered returns the fault of e as Get does.
func (e *entry) remembered() *fault.Error {
	return cache.Remembered(&e.fault.Error, time.Unix(0, e.fault.until))
}

// onDisk returns the space that a file of size bytes occupies.
func onDisk(size int64) int64 { return (size + block - 1) / block * block }

// ring is a list of entries in order of use, with their sums.
type ring struct {
	first, last *entry // first: least recently used
	count       int64
	bytes       int64
}

func (r *ring) push(e *entry) {
	e.prev, e.next = r.last, nil
	if r.last != nil {
		r.last.next = e
	} else {
		r.first = e
	}
	r.last = e
	r.count++
	r.bytes += onDisk(e.size)
}

func (r *ring) remove(e *entry) {
	if e.prev != nil {
		e.prev.next = e.next
	} else {
		r.first = e.next
	}
	if e.next != nil {
		e.next.prev = e.prev
	} else {
		r.last = e.prev
	}
	e.prev, e.next = nil, nil
	r.count--
	r.bytes -= onDisk(e.size)
}

// book is the index in memory, without I/O and locks.
type book struct {
	entries map[id]*entry
	files   [len(kinds)]ring
	faults  ring // oldest first
	turn    uint64
	dirty   map[id]struct{} // entries to save or delete in index.db
}

func newBook() book {
	return book{entries: map[id]*entry{}, dirty: map[id]struct{}{}}
}

func (b *book) ring(e *entry) *ring {
	if e.fault != nil {
		return &b.faults
	}
	return &b.files[e.kind]
}

// add adds e as the most recently used entry. The id must be free.
func (b *book) add(e *entry) {
	b.turn++
	e.turn = b.turn
	e.saved = e.used
	b.entries[e.id] = e
	b.ring(e).push(e)
	b.dirty[e.id] = struct{}{}
}

func (b *book) remove(e *entry) {
	delete(b.entries, e.id)
	b.ring(e).remove(e)
	b.dirty[e.id] = struct{}{}
}

// touch records a use of a file.
func (b *book) touch(e *entry, now int64) {
	r := b.ring(e)
	r.remove(e)
	r.push(e)
	b.turn++
	e.turn, e.used = b.turn, now
	if now-e.saved >= useStep || now < e.saved {
		e.saved = now
		b.dirty[e.id] = struct{}{}
	}
}

// oldest returns the least recently used file.
func (b *book) oldest() *entry {
	var oldest *entry
	for i := range b.files {
		if e := b.files[i].first; e != nil && (oldest == nil || e.turn < oldest.turn) {
			oldest = e
		}
	}
	return oldest
}

// totals returns the number and the space of all files.
func (b *book) totals() (files, bytes int64) {
	for i := range b.files {
		files += b.files[i].count
		bytes += b.files[i].bytes
	}
	return files, bytes
}

// load adds the entries found at the start, in order of their last use as saved
// in index.db.
func (b *book) load(found []*entry) {
	slices.SortFunc(found, func(x, y *entry) int {
		return cmp.Or(cmp.Compare(x.used, y.used), cmp.Compare(x.kind, y.kind), slices.Compare(x.key[:], y.key[:]))
	})
	for _, e := range found {
		b.add(e)
	}
	clear(b.dirty)
}
