package symcache

import (
	"math/bits"
	"slices"
)

// A set numbers different items in the order in which they come. It is an open
// table over a plain list, so that millions of items cost little more than
// themselves. The seed decides where an item is found, never which number it
// gets.
type set[K key] struct {
	items []K
	slots []slot
	seed  uint64
}

// slot is a place of an open table: a part of the hash, and a number + 1; zero
// is free.
type slot struct{ hash, number uint32 }

type key interface {
	comparable
	hash(seed uint64) uint64
}

// mix spreads two words over one.
func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a^0x9e3779b97f4a7c15, b^0xd1b54a32d192ed03)
	return hi ^ lo
}

// number is the number of k, and whether it is new.
func (s *set[K]) number(k K) (uint32, bool) {
	if len(s.items)*4 >= len(s.slots)*3 {
		s.slots = grown(s.slots)
	}
	h, mask := uint32(k.hash(s.seed)), uint32(len(s.slots)-1)
	for i := h & mask; ; i = (i + 1) & mask {
		switch c := s.slots[i]; {
		case c.number == 0:
			s.items = append(roomy(s.items, 1), k)
			s.slots[i] = slot{h, uint32(len(s.items))}
			return uint32(len(s.items) - 1), true
		case c.hash == h && s.items[c.number-1] == k:
			return c.number - 1, false
		}
	}
}

// roomy is list with place for n more. It doubles, as most of the work of a
// build would else be to copy its lists, and to have fresh memory zeroed.
func roomy[T any](list []T, n int) []T {
	if cap(list)-len(list) < n {
		list = slices.Grow(list, max(n, len(list)))
	}
	return list
}

// grown is an open table with twice the slots.
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

// handle is a name as the input calls it.
type handle uint64

func (h handle) hash(seed uint64) uint64 { return mix(uint64(h)^seed, seed) }

// sum is a text by its content.
type sum [2]uint64

func (s sum) hash(uint64) uint64 { return s[0] }

// triple is a call that was inlined: what was called, and where.
type triple struct{ origin, file, line, column uint32 }

func (t triple) hash(seed uint64) uint64 {
	return mix(uint64(t.origin)|uint64(t.file)<<32, mix(uint64(t.line)|uint64(t.column)<<32, seed))
}

// function is what the called frame of an answer tells.
type function struct {
	entry, size uint64
	origin      uint32
}

func (f function) hash(seed uint64) uint64 {
	return mix(f.entry^seed, mix(f.size, uint64(f.origin)^seed))
}
