package cache_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/cache"
	"symbolon/internal/fault"
	"symbolon/internal/waittest"
)

// last is the last one of three tiers. Its leases are those of the layer before
// it.
type last struct {
	*shared
	lease cache.Lease
}

func (l *last) Acquire(ctx context.Context, key cache.Key) (func(), bool) {
	return l.lease.Acquire(ctx, key)
}

// layers is a disk over one shared tier over another.
func layers(t *testing.T, mid, end *shared) (*cache.Layer, cache.Tier) {
	first, near := layer(t, mid)
	all := cache.Over(first, &last{end, first}, time.Now)
	t.Cleanup(all.Close)
	return all, near
}

func TestLeaseIsReleasedAfterAllTiersHaveTheTable(t *testing.T) {
	synctest.Test(t, leaseIsReleasedAfterAllTiersHaveTheTable)
}

func leaseIsReleasedAfterAllTiersHaveTheTable(t *testing.T) {
	for _, slow := range []string{"middle", "end"} {
		mid, end := &shared{Store: store(t)}, &shared{Store: store(t)}
		late := map[string]*shared{"middle": mid, "end": end}[slow]
		late.began, late.gate = make(chan struct{}), make(chan struct{})
		all, _ := layers(t, mid, end)
		release, ok := all.Acquire(t.Context(), key)
		if !ok {
			t.Fatal("a free lease was not given")
		}
		put(t, all, cache.Symcache, key, "table")
		<-late.began
		release()
		quick := map[*shared]*shared{mid: end, end: mid}[late]
		waittest.Until(t, "the quick one has it", func() bool { return get(t, quick, cache.Symcache, key) != "" })
		synctest.Wait()
		if _, held := mid.seen(); !held {
			t.Errorf("the lease was released before the %s had the table", slow)
		}
		close(late.gate)
		waittest.Until(t, "the lease is released", func() bool {
			_, held := mid.seen()
			return !held
		})
		if get(t, late, cache.Symcache, key) != "table" {
			t.Errorf("the %s has no table", slow)
		}
	}
}

func TestWhatOnlyTheLastTierKnowsComesIntoAll(t *testing.T) {
	mid, end := &shared{Store: store(t)}, &shared{Store: store(t)}
	all, near := layers(t, mid, end)
	put(t, end, cache.Symcache, key, "table")
	other := cache.KeyOf("other")
	end.Remember(t.Context(), cache.Meta, other, fault.New(fault.Denied, "p", "d"), time.Hour)
	if got := get(t, all, cache.Symcache, key); got != "table" {
		t.Errorf("got %q", got)
	}
	if _, err := all.Get(t.Context(), cache.Meta, other); fault.KindOf(err) != fault.Denied {
		t.Errorf("got %v", err)
	}
	waittest.Until(t, "it is in all of them", func() bool {
		_, err := mid.Get(t.Context(), cache.Meta, other)
		return get(t, near, cache.Symcache, key) != "" && get(t, mid, cache.Symcache, key) != "" && fault.KindOf(err) == fault.Denied
	})
	all.Forget(t.Context(), cache.Symcache, key)
	for name, c := range map[string]cache.Tier{"near": near, "middle": mid, "end": end} {
		if get(t, c, cache.Symcache, key) != "" {
			t.Errorf("%s has not forgotten", name)
		}
	}
}

func TestEveryTierIsLookedInto(t *testing.T) {
	mid, end := &shared{Store: store(t)}, &shared{Store: store(t)}
	all, near := layers(t, mid, end)
	put(t, near, cache.Meta, key, "1")
	put(t, end, cache.Meta, key, "3")
	var seen []string
	look := func(b cache.Blob) {
		text, err := bin.Read(b, 0, int(b.Size()))
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, string(text))
	}
	cache.Every(t.Context(), all, cache.Meta, key, look)
	put(t, mid, cache.Meta, key, "2")
	cache.Every(t.Context(), all, cache.Meta, key, look)
	put(t, end, cache.Objects, key, "no kind that is shared")
	cache.Every(t.Context(), all, cache.Objects, key, look)
	if got := strings.Join(seen, ""); got != "13123" || get(t, near, cache.Meta, key) != "1" {
		t.Errorf("saw %s", got)
	}
}

// TestLayersEnd closes three tiers, the last one first, while they are busy.
func TestLayersEnd(t *testing.T) {
	mid, end := &shared{Store: store(t)}, &shared{Store: store(t), began: make(chan struct{}), gate: make(chan struct{})}
	all, _ := layers(t, mid, end)
	release, _ := all.Acquire(t.Context(), key)
	put(t, all, cache.Symcache, key, "table")
	<-end.began
	release()
	all.Close()
	waittest.Until(t, "the lease is released", func() bool {
		_, held := mid.seen()
		return !held
	})
}
