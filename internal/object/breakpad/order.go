package breakpad

import "math/bits"

// maxSlots is how large a function may be for distribute.
const maxSlots = 4 << 20

// settle makes s.order the keys that count, one for each address, in order: of
// those at one address the last one of the highest rank.
func (s *scratch) settle() {
	s.order = s.order[:0]
	if s.fn.Size < maxSlots && s.fn.Size/32 < uint64(len(s.keys)) {
		s.distribute()
		return
	}
	for i := range s.keys {
		s.order = append(s.order, place{s.keys[i].addr, int32(i)})
	}
	s.order, s.spare = mergeSort(s.order, s.spare)
	kept := s.order[:0]
	for _, p := range s.order {
		last := len(kept) - 1
		switch {
		case last < 0 || kept[last].addr != p.addr:
			kept = append(kept, p)
		case s.keys[p.index].rank >= s.keys[kept[last].index].rank:
			kept[last] = p
		}
	}
	s.order = kept
}

// distribute gives every address of the function a slot, which is faster than
// sorting if there are not many more addresses than keys.
func (s *scratch) distribute() {
	size := int(s.fn.Size) + 1 // the hole at the end has a slot too
	if cap(s.slots) < size {
		s.slots = make([]int32, size)
	}
	if n := (size + 63) / 64; cap(s.taken) < n {
		s.taken = make([]uint64, n)
	}
	slots, taken := s.slots[:size], s.taken[:(size+63)/64]
	for i := range s.keys {
		at := s.keys[i].addr - s.fn.Addr
		word, bit := &taken[at/64], uint64(1)<<(at%64)
		if *word&bit == 0 || s.keys[i].rank >= s.keys[slots[at]].rank {
			slots[at] = int32(i)
			*word |= bit
		}
	}
	for w, word := range taken {
		taken[w] = 0
		for ; word != 0; word &= word - 1 {
			at := uint64(w*64 + bits.TrailingZeros64(word))
			s.order = append(s.order, place{s.fn.Addr + at, slots[at]})
		}
	}
}

// mergeSort sorts by address and leaves equal ones in their order. It finds
// stretches that are in order, and there are many: each call has one. spare is
// memory; the sorted and the spare slice may change their roles.
func mergeSort(p, spare []place) (sorted, free []place) {
	if cap(spare) < len(p) {
		spare = make([]place, cap(p))
	}
	spare = spare[:len(p)]
	for {
		merged := false
		for from := 0; from < len(p); {
			mid := stretchEnd(p, from)
			end := mid
			if mid < len(p) {
				end = stretchEnd(p, mid)
				merged = true
			}
			merge(spare[from:end], p[from:mid], p[mid:end])
			from = end
		}
		if !merged {
			return p, spare
		}
		p, spare = spare, p
	}
}

// stretchEnd returns the end of the stretch in order that begins at from.
func stretchEnd(p []place, from int) int {
	i := from + 1
	for i < len(p) && p[i-1].addr <= p[i].addr {
		i++
	}
	return i
}

func merge(dst, a, b []place) {
	for len(a) > 0 && len(b) > 0 {
		if b[0].addr < a[0].addr {
			dst[0], b = b[0], b[1:]
		} else {
			dst[0], a = a[0], a[1:]
		}
		dst = dst[1:]
	}
	copy(dst, a)
	copy(dst[len(a):], b)
}
