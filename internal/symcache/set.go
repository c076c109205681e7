package symcache

import (
	"math/bits"
	"slices"
)

// A set numbers distinct items in the order of their first use. It is a hash
// table with open addressing over a list, so that it needs little more memory
// than the items. The seed affects where an item is stored, but not its number.
type set[K key] struct {
	items []K
	slots []slot
	seed  uint64
}

// slot is an element of the hash table: a part of the hash, and a number + 1;
// zero means free.
type slot struct{ hash, number uint32 }

type key interface {
	comparable
	hash(seed uint64) uint64
}

// mix hashes two words.
func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a^0x9e3779b97f4a7c15, b^0xd1b54a32d192ed03)
	return hi ^ lo
}

// number returns the number of k, and whether it is new.
func (s *set[K]) number(k K) (uint32, bool) {
	if len(s.items)*4 >= len(s.slots)*3 {
		s.slots = grown(s.slots)
	}
	h, mask := uint32(k.hash(s.seed)), uint32(len(s.slots)-1)
	for i := h & mask; ; i = (i + 1) & mask {
		switch c := s.slots[i]; {
		case c.number == 0:
			s.items = append(grow(s.items, 1), k)
			s.slots[i] = slot{h, uint32(len(s.items))}
			return uint32(len(s.items) - 1), true
		case c.hash == h && s.items[c.number-1] == k:
			return c.number - 1, false
		}
	}
}

// grow returns list with capacity for n more items. It doubles the capacity, as
// copying lists and zeroing memory would otherwise be most of the work of a
// build.
func grow[T any](list []T, n int) []T {
	if cap(list)-len(list) < n {
		list = slices.Grow(list, max(n, len(list)))
	}
	return list
}

// grown returns a table with twice the slots.
func grown(old []slot) []slot {
	slots := make([]slot, max(64, len(old)*2))
	mask := uint32(len(slots) - 1)
	for _, c := range old {
		if c.number == 0 {
			continue
		}
		i := c.hash & mask
		for slots[i].number != 0 {
			i = (i + 1) & mask
		}
		slots[i] = c
	}
	return slots
}

// handle is a handle of a name in the input.
type handle uint64

func (h handle) hash(seed uint64) uint64 { return mix(uint64(h)^seed, seed) }

// sum is the hash of a text.
type sum [2]uint64

func (s sum) hash(uint64) uint64 { return s[0] }

// triple is an inlined call: the called function and the call site.
type triple struct{ origin, file, line, column uint32 }

func (t triple) hash(seed uint64) uint64 {
	return mix(uint64(t.origin)|uint64(t.file)<<32, mix(uint64(t.line)|uint64(t.column)<<32, seed))
}

// function is a function or symbol.
type function struct {
	entry, size uint64
	origin      uint32
}

func (f function) hash(seed uint64) uint64 {
	return mix(f.entry^seed, mix(f.size, uint64(f.origin)^seed))
}
