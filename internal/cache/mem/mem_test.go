package mem_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"symbolon/internal/cache"
	"symbolon/internal/cache/mem"
)

// value is something that knows whether it is open.
type value struct {
	name string
	open atomic.Bool
}

func opened(name string) *value {
	v := &value{name: name}
	v.open.Store(true)
	return v
}

func (v *value) close() {
	if !v.open.Swap(false) {
		panic("closed twice: " + v.name)
	}
}

func key(name string) cache.Key { return cache.KeyOf(name) }

func put(c *mem.Cache[*value], name string, size int64) *value {
	v := opened(name)
	c.Put(key(name), v, size, v.close).Release()
	return v
}

func has(c *mem.Cache[*value], name string) bool {
	r, ok := c.Get(key(name))
	if ok {
		r.Release()
	}
	return ok
}

func TestValuesThatAreUsedOftenStay(t *testing.T) {
	c := mem.New[*value]("open", 1000)
	var often []*value
	for i := range 5 {
		often = append(often, put(c, fmt.Sprint("often ", i), 100))
	}
	for range 10 {
		for _, v := range often {
			has(c, v.name)
		}
	}
	for i := range 1000 {
		put(c, fmt.Sprint("once ", i), 100)
	}
	for _, v := range often {
		if !v.open.Load() {
			t.Errorf("%s was evicted for values that were used once", v.name)
		}
	}
	if s := c.Stats(); s.Bytes > 1000 || s.Evictions < 990 || s.Pinned != 0 {
		t.Errorf("stats: %+v", s)
	}
}

func TestEvictedValueStaysOpenAndFoundWhileInUse(t *testing.T) {
	c := mem.New[*value]("open", 10)
	a := opened("a")
	first := c.Put(key("a"), a, 10, a.close)
	second := first.Retain()
	for c.Stats().Pinned == 0 {
		put(c, "b", 10) // until it was asked for more often than a
	}
	if s := c.Stats(); s.Pinned != 10 || s.Bytes != 10 {
		t.Errorf("in use: %+v", s)
	}
	if !has(c, "a") {
		t.Error("a is in use and is not found")
	}
	first.Release()
	first.Release() // of no effect, or the second reference would be lost
	if !second.Value().open.Load() {
		t.Fatal("closed while a reference is left")
	}
	second.Release()
	if a.open.Load() || has(c, "a") {
		t.Fatal("still open or found without a reference")
	}
	if s := c.Stats(); s.Pinned != 0 {
		t.Errorf("after use: %+v", s)
	}
}

func TestReplacedValueIsClosedOnce(t *testing.T) {
	c := mem.New[*value]("open", 100)
	old := put(c, "k", 60)
	next := opened("k")
	ref := c.Put(key("k"), next, 30, next.close)
	defer ref.Release()
	if old.open.Load() {
		t.Error("the replaced value is open")
	}
	if got, ok := c.Get(key("k")); !ok || got.Value() != next {
		t.Error("the new value is not found")
	} else {
		got.Release()
	}
	if s := c.Stats(); s.Bytes != 30 || s.Entries != 1 || s.Evictions != 0 {
		t.Errorf("stats: %+v", s)
	}
}

func TestValueOverTheBoundIsFoundAsLongAsItIsInUse(t *testing.T) {
	c := mem.New[*value]("open", 10)
	small := put(c, "small", 5)
	big := opened("big")
	ref := c.Put(key("big"), big, 11, big.close)
	if !ref.Value().open.Load() || !has(c, "big") || !small.open.Load() {
		t.Errorf("big open %v, big found %v, small open %v", big.open.Load(), has(c, "big"), small.open.Load())
	}
	if s := c.Stats(); s.Pinned != 11 {
		t.Errorf("stats: %+v", s)
	}
	ref.Release()
	if big.open.Load() || has(c, "big") {
		t.Error("big is open or found without a reference")
	}
}

func TestNegativeBoundIsNone(t *testing.T) {
	c := mem.New[*value]("open", -1)
	a := put(c, "a", 1<<40)
	put(c, "b", 1<<40)
	if !a.open.Load() || !has(c, "a") {
		t.Error("evicted")
	}
}

func TestNumberOfValuesIsBounded(t *testing.T) {
	c := mem.New[*value]("open", -1)
	for i := range 20_000 {
		put(c, fmt.Sprint(i), 0)
	}
	if s := c.Stats(); s.Entries > 16<<10 || s.Entries < 15<<10 {
		t.Errorf("stats: %+v", s)
	}
}

func TestClosedCacheKeepsNothing(t *testing.T) {
	c := mem.New[*value]("open", 10)
	a, b := put(c, "a", 1), opened("b")
	used := c.Put(key("b"), b, 1, b.close)
	c.Close()
	if a.open.Load() || !b.open.Load() {
		t.Errorf("a open %v, b in use open %v", a.open.Load(), b.open.Load())
	}
	used.Release()
	if late := put(c, "late", 1); b.open.Load() || late.open.Load() || has(c, "late") {
		t.Errorf("b open %v, late open %v", b.open.Load(), late.open.Load())
	}
}

func TestNilFreeIsAllowed(t *testing.T) {
	c := mem.New[int]("open", 10)
	c.Put(key("a"), 7, 1, nil).Release()
	c.Close()
}

// TestRandomUse compares random operations with what is promised of them.
func TestRandomUse(t *testing.T) {
	const bound = 50
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	c := mem.New[*value]("open", bound)
	type sized struct {
		*value
		size int64
	}
	last := map[string]sized{} // that was put
	for range 20_000 {
		name := string(rune('a' + random.IntN(20)))
		before := last[name]
		if random.IntN(2) == 0 {
			if got, want := has(c, name), before.value != nil && before.open.Load(); got != want {
				t.Fatalf("Get(%s) found %v, it is open: %v", name, got, want)
			}
		} else {
			size := random.Int64N(60)
			last[name] = sized{put(c, name, size), size}
			if before.value != nil && before.open.Load() {
				t.Fatalf("%s is open and was replaced", name)
			}
		}
		var bytes, entries int64
		for _, v := range last {
			if v.open.Load() {
				bytes += v.size
				entries++
			}
		}
		if s := c.Stats(); s.Bytes != bytes || s.Entries != entries || s.Pinned != 0 || bytes > bound {
			t.Fatalf("stats %+v, %d bytes in %d values are open", s, bytes, entries)
		}
	}
}

func TestConcurrentUseKeepsTheBoundAndNeverSeesAClosedValue(t *testing.T) {
	const bound, largest = 40, 15
	c := mem.New[*value]("open", bound)
	var all sync.WaitGroup
	var made sync.Map
	open := func(random *rand.Rand, name string) *mem.Ref[*value] {
		v := opened(name)
		made.Store(v, true)
		return c.Put(key(name), v, 1+random.Int64N(largest), v.close)
	}
	for g := range 8 {
		all.Go(func() {
			random := rand.New(rand.NewPCG(uint64(g), 1))
			for range 2000 {
				name := string(rune('a' + random.IntN(12)))
				ref, ok := c.Get(key(name))
				if !ok {
					ref = open(random, name)
				}
				other := ref.Retain()
				ref.Release()
				if !other.Value().open.Load() || other.Value().name != name {
					t.Errorf("%s: open %v, name %s", name, other.Value().open.Load(), other.Value().name)
				}
				if random.IntN(20) == 0 {
					open(random, name).Release()
				}
				if random.IntN(200) == 0 {
					c.Clear()
				}
				if s := c.Stats(); s.Bytes > bound+largest {
					t.Errorf("%d bytes are kept", s.Bytes)
				}
				other.Release()
			}
		})
	}
	all.Wait()
	if s := c.Stats(); s.Bytes > bound || s.Pinned != 0 {
		t.Errorf("nothing is in use: %+v", s)
	}
	c.Close()
	made.Range(func(v, _ any) bool {
		if v.(*value).open.Load() {
			t.Errorf("%s is still open", v.(*value).name)
		}
		return true
	})
	if s := c.Stats(); s.Pinned != 0 || s.Bytes != 0 || s.Entries != 0 {
		t.Errorf("closed: %+v", s)
	}
}

func BenchmarkGet(b *testing.B) {
	c := mem.New[int]("open", 1000)
	k := key("k")
	c.Put(k, 1, 1, nil).Release()
	b.ReportAllocs()
	for b.Loop() {
		r, _ := c.Get(k)
		r.Release()
	}
}
