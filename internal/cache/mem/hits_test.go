package mem_test

import (
	"container/list"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"symbolon/internal/cache/mem"
)

// lru is the policy to compare with: what was not used for longest is evicted.
type lru struct {
	max, bytes int64
	at         map[int]*list.Element
	order      list.List // of int
	sizes      []int64
}

func (c *lru) ask(id int) (hit bool) {
	if at := c.at[id]; at != nil {
		c.order.MoveToFront(at)
		return true
	}
	c.at[id] = c.order.PushFront(id)
	for c.bytes += c.sizes[id]; c.bytes > c.max; {
		last := c.order.Remove(c.order.Back()).(int)
		delete(c.at, last)
		c.bytes -= c.sizes[last]
	}
	return false
}

// BenchmarkHits measures how many of 400,000 lookups of tables hit, in percent,
// and how many would with LRU. Sizes are log-normal around 440 KB; how often a
// table is asked for follows Zipf's law, and some are asked for once only.
func BenchmarkHits(b *testing.B) {
	const lookups, tables = 400_000, 20_000
	for _, zipf := range []float64{1.01, 1.2} {
		for _, once := range []float64{0, .1, .3} {
			for _, bound := range []int64{512 << 20, 2 << 30} {
				b.Run(fmt.Sprintf("zipf=%v/once=%v%%/MiB=%d", zipf, 100*once, bound>>20), func(b *testing.B) {
					for b.Loop() {
						random := rand.New(rand.NewPCG(1, 2))
						popular := rand.NewZipf(random, zipf, 1, tables-1)
						c, old := mem.New[int]("open", bound), &lru{max: bound, at: map[int]*list.Element{}}
						for range tables + lookups {
							old.sizes = append(old.sizes, int64(440e3*math.Exp(random.NormFloat64()*1.5)))
						}
						hits, oldHits := 0, 0
						for i := range lookups {
							id := tables + i
							if random.Float64() >= once {
								id = int(popular.Uint64())
							}
							if old.ask(id) {
								oldHits++
							}
							r, ok := c.Get(key(fmt.Sprint(id)))
							if ok {
								hits++
							} else {
								r = c.Put(key(fmt.Sprint(id)), id, old.sizes[id], nil)
							}
							r.Release()
						}
						c.Close()
						b.ReportMetric(100*float64(hits)/lookups, "hit%")
						b.ReportMetric(100*float64(oldHits)/lookups, "LRU%")
					}
				})
			}
		}
	}
}
