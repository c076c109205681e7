package disk

import (
	"cmp"
	"slices"
	"time"

	"symbolon/internal/cache"
	"symbolon/internal/fault"
)

// Stats has the contents of the cache in numbers.
type Stats struct {
	Files    int64 // entries
	Bytes    int64 // their space on disk
	Held     int64 // bytes of spools, of unfinished entries and of Hold, not in Bytes
	Faults   int64 // remembered
	MaxFiles int64 // limit of Files; negative: none
	MaxBytes int64 // limit of Bytes and Held; negative: none
	Kinds    []KindStats
}

// KindStats is the part of one kind.
type KindStats struct {
	Kind  cache.Kind
	Files int64
	Bytes int64
}

// Stat returns the current Stats.
func (s *Store) Stat() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := Stats{
		Held: s.held, Faults: s.book.faults.count, MaxFiles: s.cfg.MaxFiles, MaxBytes: int64(s.cfg.MaxBytes),
	}
	st.Files, st.Bytes = s.book.totals()
	for i := range s.book.files {
		r := &s.book.files[i]
		st.Kinds = append(st.Kinds, KindStats{kinds[i], r.count, r.bytes})
	}
	return st
}

// Entry describes a file, or a remembered fault.
type Entry struct {
	Kind    cache.Kind
	Key     cache.Key
	Size    int64
	Created time.Time
	Used    time.Time
	Fault   *fault.Error // nil for a file; its expiry is cache.Expires
}

// List yields the current entries, least recently used first, until yield returns
// false.
func (s *Store) List(yield func(Entry) bool) {
	for _, e := range s.snapshot() {
		if !yield(e.describe()) {
			return
		}
	}
}

func (e *entry) describe() Entry {
	out := Entry{
		Kind: kinds[e.kind], Key: e.key, Size: e.size,
		Created: time.Unix(0, e.created), Used: time.Unix(0, e.used),
	}
	if e.fault != nil {
		out.Fault = e.remembered()
	}
	return out
}

// Largest returns the n largest files, the largest first.
func (s *Store) Largest(n int) (list []Entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	bySize := func(x, y Entry) int { return cmp.Compare(y.Size, x.Size) }
	least := int64(-1) // size of the last one of a full list
	for _, e := range s.book.entries {
		if e.fault != nil || e.size <= least {
			continue
		}
		if list = append(list, e.describe()); len(list) == 2*n {
			slices.SortFunc(list, bySize)
			list = list[:n]
			least = list[n-1].Size
		}
	}
	slices.SortFunc(list, bySize)
	return list[:min(n, len(list))]
}

// snapshot copies the entries, without expired faults.
func (s *Store) snapshot() []entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock()
	all := make([]entry, 0, len(s.book.entries))
	for _, e := range s.book.entries {
		if e.fault == nil || e.holds(now) {
			all = append(all, *e)
		}
	}
	slices.SortFunc(all, func(x, y entry) int {
		return cmp.Or(cmp.Compare(x.used, y.used), cmp.Compare(x.turn, y.turn))
	})
	return all
}

// Filter selects entries and faults. The zero value selects all.
type Filter struct {
	Kind   cache.Kind    // empty: every kind
	Idle   time.Duration // only entries that were not used for longer
	Faults bool          // only remembered faults
}

// Purge removes the entries and faults that f selects, and returns their number
// and the space of the files.
func (s *Store) Purge(f Filter) (count, bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock()
	chosen := func(e *entry) bool {
		return (f.Kind == "" || kinds[e.kind] == f.Kind) && (f.Idle <= 0 || now-e.used > int64(f.Idle)) && (!f.Faults || e.fault != nil)
	}
	var all []id
	for of, e := range s.book.entries {
		if chosen(e) {
			all = append(all, of)
		}
	}
	return s.dropAll(func() *entry {
		for len(all) > 0 {
			e := s.book.entries[all[0]]
			all = all[1:]
			if e != nil && chosen(e) { // it may have been used since
				return e
			}
		}
		return nil
	})
}
