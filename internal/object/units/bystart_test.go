package units

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestByStartIsAStableSort(t *testing.T) {
	type thing struct{ start, number uint64 }
	r := rand.New(rand.NewPCG(1, 2))
	var order byStart[thing]
	for n := range 300 {
		few := 1 + r.Uint64N(uint64(n)+1)
		all := make([]thing, n)
		for i := range all {
			all[i] = thing{r.Uint64N(few), uint64(i)}
		}
		if n > 1 && n%3 == 0 {
			all[1].start = 1<<63 + few // too far away for a key
		}
		want := slices.Clone(all)
		slices.SortStableFunc(want, func(a, b thing) int { return cmp.Compare(a.start, b.start) })
		if order.sort(all, func(x *thing) uint64 { return x.start }); !slices.Equal(all, want) {
			t.Fatalf("%d things: %v, wanted %v", n, all, want)
		}
	}
}

func TestDistantStartsAreSortedInLittleMemory(t *testing.T) {
	all, order := make([]uint64, 1000), byStart[uint64]{}
	got := testing.AllocsPerRun(10, func() {
		for i := range all {
			all[i] = uint64(i) * 7919 % 1000 << 50
		}
		order.sort(all, func(x *uint64) uint64 { return *x })
	})
	if got > 4 || !slices.IsSorted(all) {
		t.Errorf("%v allocations, sorted: %v", got, slices.IsSorted(all))
	}
}
