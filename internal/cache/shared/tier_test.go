package shared_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"symbolon/internal/bucket"
	"symbolon/internal/bucket/dir"
	"symbolon/internal/bucket/mem"
	"symbolon/internal/bucket/s3test"
	"symbolon/internal/cache"
	"symbolon/internal/cache/cachetest"
	"symbolon/internal/cache/shared"
	"symbolon/internal/fault"
	"symbolon/internal/waittest"
)

func TestTier(t *testing.T) {
	t.Parallel()
	t.Run("memory", func(t *testing.T) {
		cachetest.Run(t, func(t *testing.T) cache.Tier { return open(t, patient(), mem.New()) })
	})
	t.Run("folder", func(t *testing.T) {
		cachetest.Run(t, func(t *testing.T) cache.Tier { return open(t, patient(), folder(t)) })
	})
}

func folder(t *testing.T) bucket.Bucket {
	t.Helper()
	b, err := dir.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

// TestTierInAnObjectStore does so in S3, alone and under a disk, as in nodes.
func TestTierInAnObjectStore(t *testing.T) {
	t.Parallel()
	s := s3test.Run(t)
	number := 0
	fresh := func(t *testing.T) *node {
		number++
		return open(t, patient(), far(t, s.Endpoint(), fmt.Sprint("test", number)))
	}
	t.Run("alone", func(t *testing.T) {
		cachetest.Run(t, func(t *testing.T) cache.Tier { return fresh(t) })
	})
	t.Run("under a disk", func(t *testing.T) {
		cachetest.Run(t, func(t *testing.T) cache.Tier {
			n := fresh(t)
			l := cache.Over(n.disk, n, time.Now)
			t.Cleanup(l.Close)
			return l
		})
	})
}

func TestWhatOneNodePutTheOtherFinds(t *testing.T) {
	t.Parallel()
	s := s3test.Run(t)
	a, b := open(t, patient(), far(t, s.Endpoint(), "")), open(t, patient(), far(t, s.Endpoint(), ""))
	near, other := cache.Over(a.disk, a, time.Now), cache.Over(b.disk, b, time.Now)
	defer near.Close()
	defer other.Close()
	table := noise(20<<20, 1) // several parts of an upload
	cachetest.Put(t, near, cache.Symcache, keyA, table)
	cachetest.Put(t, near, cache.Objects, keyA, []byte("stays here"))
	cachetest.Put(t, near, cache.Meta, keyA, []byte("meta"))
	waittest.Until(t, "the other node has it", func() bool { return string(cachetest.Get(t, other, cache.Meta, keyA)) == "meta" })
	if !bytes.Equal(cachetest.Get(t, other, cache.Symcache, keyA), table) || !bytes.Equal(cachetest.Get(t, b.disk, cache.Symcache, keyA), table) {
		t.Error("the table has not come, or not into the near tier")
	}
	if cachetest.Get(t, other, cache.Objects, keyA) != nil {
		t.Error("a fetched file was shared")
	}
	near.Forget(t.Context(), cache.Symcache, keyA)
	if cachetest.Get(t, a, cache.Symcache, keyA) != nil || cachetest.Get(t, b, cache.Symcache, keyA) != nil {
		t.Error("what is forgotten is still shared")
	}
	cachetest.Put(t, b, cache.Symcache, keyA, table)
	if !bytes.Equal(cachetest.Get(t, a, cache.Symcache, keyA), table) {
		t.Error("what was forgotten cannot be shared again")
	}
}

func TestTheFirstTableStaysAndTheLastMeta(t *testing.T) {
	b := mem.New()
	first, second := open(t, patient(), b), open(t, patient(), b)
	for _, kind := range []cache.Kind{cache.Symcache, cache.Meta} {
		cachetest.Put(t, first, kind, keyA, []byte("one"))
		cachetest.Put(t, second, kind, keyA, []byte("two"))
		want := "one"
		if kind == cache.Meta {
			want = "two"
		}
		if got := cachetest.Get(t, first, kind, keyA); string(got) != want {
			t.Errorf("%s is %q", kind, got)
		}
	}
}

func TestDamageIsAMissAndIsMended(t *testing.T) {
	t.Parallel()
	b := mem.New()
	n := open(t, patient(), b)
	body := []byte("a table, a table, a table, a table, a table, a table")
	cachetest.Put(t, n, cache.Symcache, keyA, body)
	good := object(t, b, cache.Symcache, keyA)
	harmed := map[string][]byte{"empty": {}, "of others": []byte("<html>no such page</html>"), "longer": append(slices.Clone(good), 0)}
	for i := range good {
		harmed[fmt.Sprint("cut at ", i)] = good[:i]
		for _, bit := range []byte{1, 0x80} {
			flipped := slices.Clone(good)
			flipped[i] ^= bit
			harmed[fmt.Sprint("flipped at ", i, " by ", bit)] = flipped
		}
	}
	told, harmless := 0, 0
	for how, text := range harmed {
		plant(t, b, cache.Symcache, keyA, text)
		if bytes.Equal(cachetest.Get(t, n, cache.Symcache, keyA), body) {
			harmless++ // a bit of zstd's header that does not affect the content
			continue
		}
		for range 3 {
			if got := cachetest.Get(t, n, cache.Symcache, keyA); got != nil {
				t.Errorf("%s: %q is served", how, got)
			}
		}
		told++
		if lines := n.log.Count("level=WARN"); lines != told {
			t.Fatalf("%s: %d lines in the log after %d kinds of damage", how, lines, told)
		}
		cachetest.Put(t, n, cache.Symcache, keyA, body)
		if got := cachetest.Get(t, n, cache.Symcache, keyA); !bytes.Equal(got, body) {
			t.Errorf("%s: not mended: %q", how, got)
		}
	}
	if harmless > 1 {
		t.Errorf("%d kinds of damage change nothing", harmless)
	}
	plant(t, b, cache.Symcache, keyB, good)
	plant(t, b, cache.Meta, keyA, good)
	if cachetest.Get(t, n, cache.Symcache, keyB) != nil || cachetest.Get(t, n, cache.Meta, keyA) != nil {
		t.Error("the entry of another key is served")
	}
}

func TestForgottenEntriesAreNotServed(t *testing.T) {
	b := mem.New()
	a, other, late := open(t, patient(), b), open(t, patient(), b), open(t, patient(), b)
	a.Forget(t.Context(), cache.Symcache, keyB)
	if object(t, b, cache.Symcache, keyB) != nil {
		t.Error("a missing object was overwritten")
	}
	cachetest.Put(t, a, cache.Symcache, keyA, []byte("old"))
	a.Forget(t.Context(), cache.Symcache, keyA)
	if cachetest.Get(t, other, cache.Symcache, keyA) != nil {
		t.Error("it is still served")
	}
	cachetest.Put(t, late, cache.Symcache, keyA, []byte("first")) // has not looked
	if cachetest.Get(t, a, cache.Symcache, keyA) != nil {
		t.Error("who has not looked has replaced it")
	}
	cachetest.Put(t, other, cache.Symcache, keyA, []byte("new"))
	for _, n := range []*node{a, other, late} {
		if got := cachetest.Get(t, n, cache.Symcache, keyA); string(got) != "new" {
			t.Errorf("got %q", got)
		}
		if n.log.Count("level=WARN") != 0 {
			t.Error("an unexpected warning")
		}
	}
}

func TestFaultsAreSharedIfWantedAndNotForLong(t *testing.T) {
	b := mem.New()
	cfg := patient()
	a, other := open(t, cfg, b), open(t, cfg, b)
	cfg.Negatives = time.Minute
	brief := open(t, cfg, b)
	cfg.Negatives = 0
	mute := open(t, cfg, b)
	f := fault.New(fault.Denied, "https://symbols.example/x", "no")
	rest := func(n *node) time.Duration {
		_, err := n.Get(t.Context(), cache.Meta, keyA)
		return time.Until(cache.Expires(err)).Round(time.Minute)
	}
	a.Remember(t.Context(), cache.Meta, keyA, f, 24*time.Hour)
	if rest(other) != 2*time.Hour || rest(brief) != time.Minute {
		t.Errorf("it holds for %v and %v", rest(other), rest(brief))
	}
	if cachetest.Get(t, mute, cache.Meta, keyA) != nil {
		t.Error("a fault is an entry")
	}
	cachetest.Put(t, a, cache.Meta, keyA, []byte("meta"))
	mute.Remember(t.Context(), cache.Meta, keyA, f, 24*time.Hour)
	mute.Remember(t.Context(), cache.Meta, keyB, f, 24*time.Hour)
	if cachetest.Get(t, a, cache.Meta, keyA) != nil || object(t, b, cache.Meta, keyB) != nil {
		t.Error("the entry before is still served, or the fault is shared")
	}
}

func TestWhatIsTooLargeIsNotShared(t *testing.T) {
	b := mem.New()
	large := open(t, patient(), b)
	cfg := patient()
	cfg.MaxEntry = 1 << 20
	small := open(t, cfg, b)
	body := bytes.Repeat([]byte("a"), 1<<20+1)
	cachetest.Put(t, small, cache.Symcache, keyA, body)
	if object(t, b, cache.Symcache, keyA) != nil {
		t.Error("it was written")
	}
	cachetest.Put(t, large, cache.Symcache, keyA, body)
	if cachetest.Get(t, small, cache.Symcache, keyA) != nil {
		t.Error("it was read")
	}
	cachetest.Put(t, small, cache.Symcache, keyB, body[1:])
	if !bytes.Equal(cachetest.Get(t, small, cache.Symcache, keyB), body[1:]) || small.log.Count("level=WARN") != 0 {
		t.Error("what just fits is not shared, or one has warned of what is too large")
	}
}

// lease is one lease for all.
type lease struct {
	mu sync.Mutex
}

func (l *lease) Acquire(context.Context, cache.Key) (func(), bool) {
	ok := l.mu.TryLock()
	return func() {
		if ok {
			l.mu.Unlock()
		}
	}, ok
}

func TestLeasesAreThoseOfTheOther(t *testing.T) {
	n := open(t, patient(), mem.New())
	for range 2 {
		if _, ok := n.Acquire(t.Context(), keyA); !ok {
			t.Error("without leases not everybody may work")
		}
	}
	s := shared.New(patient(), shared.Deps{Bucket: mem.New(), Lease: &lease{}, Now: time.Now, Log: quiet})
	defer s.Close()
	release, ok := s.Acquire(t.Context(), keyA)
	if _, again := s.Acquire(t.Context(), keyA); !ok || again {
		t.Errorf("given: %v, then %v", ok, again)
	}
	release()
	if _, ok = s.Acquire(t.Context(), keyA); !ok {
		t.Error("not released")
	}
}
