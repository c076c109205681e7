package units

import (
	"cmp"
	"math"
	"slices"
)

// byStart sorts things by where they start, equals in the order in which they
// come. It keeps memory for the next time.
type byStart[T any] struct{ keys []uint64 }

// placeBits are the low bits of a key, with the index of the thing; start is above.
const placeBits = 24

// sort sorts all. Nearly always start and place fit into one number, which sorts
// far quicker.
func (o *byStart[T]) sort(all []T, start func(*T) uint64) {
	sorted, least, most := true, uint64(math.MaxUint64), uint64(0)
	for i := range all {
		v := start(&all[i])
		sorted = sorted && v >= most
		least, most = min(least, v), max(most, v)
	}
	if sorted {
		return
	}
	if len(all) >= 1<<placeBits-1 || most-least >= 1<<(64-placeBits) {
		sortWide(all, start)
		return
	}
	keys := slices.Grow(o.keys[:0], len(all))[:len(all)]
	for i := range all {
		keys[i] = (start(&all[i])-least)<<placeBits | uint64(i)
	}
	slices.Sort(keys)
	const done = 1<<placeBits - 1 // no place, as there are fewer
	for i := range keys {
		first, at := all[i], i
		for {
			from := int(keys[at] & done)
			if from == done {
				break
			}
			keys[at] |= done
			if from == i {
				all[at] = first
				break
			}
			all[at], at = all[from], from
		}
	}
	o.keys = keys
}

// sortWide is sort for starts of any distance. It compares no values of T, which would
// be allocated for the call of start.
func sortWide[T any](all []T, start func(*T) uint64) {
	type key struct {
		start uint64
		from  int
	}
	keys := make([]key, len(all))
	for i := range all {
		keys[i] = key{start(&all[i]), i}
	}
	slices.SortFunc(keys, func(a, b key) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.from, b.from)) })
	from := slices.Clone(all)
	for i := range keys {
		all[i] = from[keys[i].from]
	}
}
