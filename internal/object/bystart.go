package object

import (
	"cmp"
	"math"
	"slices"
)

// byStart sorts things by where they start, equals in the order in which they
// come. It keeps memory for the next time.
type byStart[T any] struct {
	keys []uint64
	room []T
}

// placeBits are those of a key that say where the thing is; start is above.
const placeBits = 24

// sort returns all in order; the slice that was given is not to be used again.
// Nearly always start and place fit into one number, which sorts far quicker.
func (o *byStart[T]) sort(all []T, start func(*T) uint64) []T {
	sorted, least, most := true, uint64(math.MaxUint64), uint64(0)
	for i := range all {
		v := start(&all[i])
		sorted = sorted && v >= most
		least, most = min(least, v), max(most, v)
	}
	if sorted {
		return all
	}
	if len(all) >= 1<<placeBits || most-least >= 1<<(64-placeBits) {
		slices.SortStableFunc(all, func(a, b T) int { return cmp.Compare(start(&a), start(&b)) })
		return all
	}
	o.keys = slices.Grow(o.keys[:0], len(all))
	for i := range all {
		o.keys = append(o.keys, (start(&all[i])-least)<<placeBits|uint64(i))
	}
	slices.Sort(o.keys)
	out := slices.Grow(o.room[:0], len(all))
	for _, k := range o.keys {
		out = append(out, all[k&(1<<placeBits-1)])
	}
	o.room = all
	return out
}
