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
