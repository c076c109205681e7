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

	// useStep is how far the time of last use in index.db may be behind, so
	// that an entry in steady use is not written again and again.
	useStep = int64(time.Minute)
)

// kinds gives every kind its number in memory.
var kinds = [...]cache.Kind{cache.Objects, cache.Meta, cache.Symcache, cache.Cficache}

func kindNumber(k cache.Kind) (uint8, bool) {
	i := slices.Index(kinds[:], k)
	return uint8(max(i, 0)), i >= 0
}

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
	saved   int64  // used, as index.db has it or will soon have it
	turn    uint64 // order of last use, whatever the clock says
	fault   *verdict

	prev, next *entry
}

// verdict is a fault to be remembered.
type verdict struct {
	fault.Error
	until int64
}

// newVerdict is what is kept of f until then.
func newVerdict(f *fault.Error, until int64) *verdict {
	return &verdict{fault.Error{Kind: f.Kind, Place: cache.Clip(f.Place), Detail: cache.Clip(f.Detail), Status: f.Status}, until}
}

// holds tells whether a fault is still remembered. One from the future is not,
// or a clock that was set back could keep it for years.
func (e *entry) holds(now int64) bool { return e.created <= now && now < e.fault.until }

// remembered is the fault of e as others see it.
func (e *entry) remembered() *fault.Error {
	return cache.Remembered(&e.fault.Error, time.Unix(0, e.fault.until))
}

// onDisk is the space that a file of size bytes takes.
func onDisk(size int64) int64 { return (size + block - 1) / block * block }

// ring is entries in order of use, with what they add up to.
type ring struct {
	first, last *entry // first: unused for longest
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

// book is the index in memory. It does no I/O and no locking.
type book struct {
	entries map[id]*entry
	files   [len(kinds)]ring
	faults  ring // in order of remembering
	turn    uint64
	dirty   map[id]struct{} // what index.db does not know yet
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

// add enters e as the one used last. The id must be free.
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

// touch notes that a file is used.
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

// oldest is the file that was not used for longest.
func (b *book) oldest() *entry {
	var oldest *entry
	for i := range b.files {
		if e := b.files[i].first; e != nil && (oldest == nil || e.turn < oldest.turn) {
			oldest = e
		}
	}
	return oldest
}

// totals is the number and the space of all files.
func (b *book) totals() (files, bytes int64) {
	for i := range b.files {
		files += b.files[i].count
		bytes += b.files[i].bytes
	}
	return files, bytes
}

// load enters what was found at the start, in order of last use, as known to
// index.db.
func (b *book) load(found []*entry) {
	slices.SortFunc(found, func(x, y *entry) int {
		return cmp.Or(cmp.Compare(x.used, y.used), cmp.Compare(x.kind, y.kind), slices.Compare(x.key[:], y.key[:]))
	})
	for _, e := range found {
		b.add(e)
	}
	clear(b.dirty)
}
