package symcache

import (
	"math/bits"

	"symbolon/internal/sym"
)

// A set numbers different items in the order in which they come. It is an open
// table of numbers over a plain list, so that millions of items cost little
// more than themselves. The seed decides where an item is found, never which
// number it gets.
type set[K key] struct {
	items []K
	slots []uint32 // number + 1; zero is free
	seed  uint64
}

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
		s.grow()
	}
	mask := uint64(len(s.slots) - 1)
	for i := k.hash(s.seed) & mask; ; i = (i + 1) & mask {
		n := s.slots[i]
		if n == 0 {
			s.items = append(s.items, k)
			s.slots[i] = uint32(len(s.items))
			return uint32(len(s.items) - 1), true
		}
		if s.items[n-1] == k {
			return n - 1, false
		}
	}
}

func (s *set[K]) grow() {
	s.slots = make([]uint32, max(64, len(s.slots)*2))
	mask := uint64(len(s.slots) - 1)
	for n, k := range s.items {
		i := k.hash(s.seed) & mask
		for s.slots[i] != 0 {
			i = (i + 1) & mask
		}
		s.slots[i] = uint32(n + 1)
	}
}

// handle is a name as the input calls it.
type handle sym.Text

func (h handle) hash(seed uint64) uint64 { return mix(uint64(h)^seed, seed) }

// nameID is a name by its content: the number of an entry of names.
type nameID uint32

func (n nameID) hash(seed uint64) uint64 { return mix(uint64(n)^seed, seed) }

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
