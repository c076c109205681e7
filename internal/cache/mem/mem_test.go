package mem_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
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

func TestLeastRecentlyUsedGoesFirst(t *testing.T) {
	c := mem.New[*value]("open", 30)
	a, b, d := put(c, "a", 10), put(c, "b", 10), put(c, "d", 10)
	if !has(c, "a") {
		t.Fatal("a is gone though everything fits")
	}
	e := put(c, "e", 20)
	for v, want := range map[*value]bool{a: true, b: false, d: false, e: true} {
		if v.open.Load() != want || has(c, v.name) != want {
			t.Errorf("%s: open %v, found %v; want %v", v.name, v.open.Load(), has(c, v.name), want)
		}
	}
	if s := c.Stats(); s.Bytes != 30 || s.Entries != 2 || s.Evictions != 2 || s.Pinned != 0 {
		t.Errorf("stats: %+v", s)
	}
}

func TestEvictedValueStaysOpenWhileInUse(t *testing.T) {
	c := mem.New[*value]("open", 10)
	a := opened("a")
	first := c.Put(key("a"), a, 10, a.close)
	second := first.Retain()
	put(c, "b", 10)
	if has(c, "a") {
		t.Fatal("a was not evicted")
	}
	if s := c.Stats(); s.Pinned != 10 || s.Bytes != 10 {
		t.Errorf("in use: %+v", s)
	}
	first.Release()
	first.Release() // of no effect, or the second reference would be lost
	if !second.Value().open.Load() {
		t.Fatal("closed while a reference is left")
	}
	second.Release()
	if a.open.Load() {
		t.Fatal("still open without a reference")
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

func TestValueOverTheBoundIsUsableAndNotKept(t *testing.T) {
	c := mem.New[*value]("open", 10)
	small := put(c, "small", 5)
	big := opened("big")
	ref := c.Put(key("big"), big, 11, big.close)
	if !ref.Value().open.Load() || has(c, "big") || !small.open.Load() {
		t.Errorf("big open %v, big found %v, small open %v", big.open.Load(), has(c, "big"), small.open.Load())
	}
	if s := c.Stats(); s.Pinned != 11 {
		t.Errorf("stats: %+v", s)
	}
	ref.Release()
	if big.open.Load() {
		t.Error("big is open without a reference")
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
	first := put(c, "first", 0)
	for i := range 16 << 10 {
		put(c, fmt.Sprint(i), 0)
	}
	if first.open.Load() {
		t.Errorf("stats: %+v", c.Stats())
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

// TestAgainstAModel compares random operations with a list that is searched
// from end to end.
func TestAgainstAModel(t *testing.T) {
	const bound = 50
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	c := mem.New[*value]("open", bound)
	type kept struct {
		v    *value
		size int64
	}
	var model []kept // last used first
	find := func(name string) int {
		return slices.IndexFunc(model, func(k kept) bool { return k.v.name == name })
	}
	for range 20_000 {
		name := string(rune('a' + random.IntN(20)))
		at := find(name)
		switch random.IntN(2) {
		case 0:
			if got := has(c, name); got != (at >= 0) {
				t.Fatalf("Get(%s) found %v, model %v", name, got, at >= 0)
			}
			if at >= 0 {
				k := model[at]
				model = slices.Insert(slices.Delete(model, at, at+1), 0, k)
			}
		default:
			size := random.Int64N(30)
			if at >= 0 {
				model = slices.Delete(model, at, at+1)
			}
			model = slices.Insert(model, 0, kept{put(c, name, size), size})
		}
		var total int64
		for i := 0; i < len(model); i++ {
			if total += model[i].size; total > bound {
				for _, k := range model[i:] {
					if k.v.open.Load() {
						t.Fatalf("%s is open and should be evicted", k.v.name)
					}
				}
				total -= model[i].size
				model = model[:i]
			}
		}
		if s := c.Stats(); s.Bytes != total || s.Entries != int64(len(model)) || s.Pinned != 0 {
			t.Fatalf("stats %+v, model %d bytes in %d", s, total, len(model))
		}
	}
	for _, k := range model {
		if !k.v.open.Load() {
			t.Errorf("%s is closed", k.v.name)
		}
	}
}

func TestConcurrentUseNeverSeesAClosedValue(t *testing.T) {
	c := mem.New[*value]("open", 40)
	var all sync.WaitGroup
	var made sync.Map
	for g := range 8 {
		all.Go(func() {
			random := rand.New(rand.NewPCG(uint64(g), 1))
			for range 2000 {
				name := string(rune('a' + random.IntN(12)))
				ref, ok := c.Get(key(name))
				if !ok {
					v := opened(name)
					made.Store(v, true)
					ref = c.Put(key(name), v, 10, v.close)
				}
				other := ref.Retain()
				ref.Release()
				if !other.Value().open.Load() {
					t.Error("a value in use is closed")
				}
				if random.IntN(20) == 0 {
					v := opened(name)
					made.Store(v, true)
					c.Put(key(name), v, 10, v.close).Release()
				}
				other.Release()
			}
		})
	}
	all.Wait()
	c.Close()
	made.Range(func(v, _ any) bool {
		if v.(*value).open.Load() {
			t.Error("a value is still open")
		}
		return true
	})
	if s := c.Stats(); s.Pinned != 0 || s.Bytes != 0 || s.Entries != 0 {
		t.Errorf("stats: %+v", s)
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
