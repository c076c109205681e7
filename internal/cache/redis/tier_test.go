//go:build unix

package redis_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/cache"
	"symbolon/internal/cache/cachetest"
	"symbolon/internal/cache/redis"
	"symbolon/internal/fault"
	"symbolon/internal/metric"
	"symbolon/internal/waittest"
)

var (
	keyA = cache.KeyOf("a")
	keyB = cache.KeyOf("b")
)

func TestTier(t *testing.T) {
	t.Parallel()
	s := start(t)
	cachetest.Run(t, func(t *testing.T) cache.Tier {
		s.ask("FLUSHALL")
		return open(t, unhurried(s)).Store
	})
}

// TestLayeredTier has several nodes with near tiers of their own over one Redis.
func TestLayeredTier(t *testing.T) {
	t.Parallel()
	s := start(t)
	cachetest.Run(t, func(t *testing.T) cache.Tier {
		s.ask("FLUSHALL")
		n := open(t, unhurried(s))
		l := cache.Over(n.disk, n, time.Now)
		t.Cleanup(l.Close)
		return l
	})
}

func TestWhatOneNodePutTheOtherFinds(t *testing.T) {
	t.Parallel()
	s := start(t)
	a, b := open(t, patient(s)), open(t, patient(s))
	near, other := cache.Over(a.disk, a, time.Now), cache.Over(b.disk, b, time.Now)
	defer near.Close()
	defer other.Close()
	table := text(1<<20, 1)
	cachetest.Put(t, near, cache.Symcache, keyA, table)
	cachetest.Put(t, near, cache.Objects, keyA, []byte("stays here"))
	near.Remember(t.Context(), cache.Meta, keyB, fault.New(fault.NotFound, "there", "not"), time.Hour)
	waittest.Until(t, "the other node has it", func() bool { return bytes.Equal(cachetest.Get(t, other, cache.Symcache, keyA), table) })
	waittest.Until(t, "the other node has the fault", func() bool {
		_, err := other.Get(t.Context(), cache.Meta, keyB)
		return fault.KindOf(err) == fault.NotFound && time.Until(cache.Expires(err)) > 59*time.Minute
	})
	if cachetest.Get(t, other, cache.Objects, keyA) != nil {
		t.Error("a fetched file was shared")
	}
	if got := cachetest.Get(t, b.disk, cache.Symcache, keyA); !bytes.Equal(got, table) {
		t.Error("the table was not copied into the near tier")
	}
	_, err := b.disk.Get(t.Context(), cache.Meta, keyB)
	if rest := time.Until(cache.Expires(err)); rest < 59*time.Minute || rest > time.Hour {
		t.Errorf("the near tier remembers the fault for %v", rest)
	}
	near.Forget(t.Context(), cache.Symcache, keyA)
	if cachetest.Get(t, a, cache.Symcache, keyA) != nil || cachetest.Get(t, a.disk, cache.Symcache, keyA) != nil {
		t.Error("a tier still has the entry")
	}
}

func TestLargeEntriesAreManySmallKeys(t *testing.T) {
	t.Parallel()
	s := start(t)
	n := open(t, patient(s))
	body := text(1<<20, 2)
	cachetest.Put(t, n, cache.Symcache, keyA, body)
	cachetest.Put(t, n, cache.Meta, keyB, body[:4<<10])
	if !bytes.Equal(cachetest.Get(t, n, cache.Symcache, keyA), body) || !bytes.Equal(cachetest.Get(t, n, cache.Meta, keyB), body[:4<<10]) {
		t.Fatal("the entry has another content")
	}
	total := 0
	for _, key := range s.keys("*") {
		size := len(s.ask("GET", key))
		if total += size; size > 256<<10 {
			t.Errorf("%s has %d bytes", key, size)
		}
		if !strings.HasPrefix(key, "symbolon:1:") {
			t.Errorf("key %s", key)
		}
	}
	if total > len(body)*7/10 {
		t.Errorf("%d bytes became %d in redis", len(body), total)
	}
	if found := s.keys("*:meta:*"); len(found) != 1 {
		t.Errorf("a small entry has the keys %q", found)
	}
}

func TestWhatIsTooLargeIsNotShared(t *testing.T) {
	t.Parallel()
	s := start(t)
	cfg := patient(s)
	cfg.MaxEntry = 300 << 10
	n := open(t, cfg)
	n.Remember(t.Context(), cache.Symcache, keyA, fault.New(fault.Malformed, "", "old"), time.Hour)
	for _, size := range []int{1 << 20, 5 << 20} {
		cachetest.Put(t, n, cache.Symcache, keyA, text(size, 3))
		if cachetest.Get(t, n, cache.Symcache, keyA) != nil {
			t.Errorf("%d bytes came back", size)
		}
		if len(s.keys("*:"+keyA.String())) != 0 {
			t.Errorf("%d bytes have a record", size)
		}
	}
	cachetest.Put(t, open(t, patient(s)), cache.Symcache, keyA, text(1<<20, 3))
	if cachetest.Get(t, n, cache.Symcache, keyA) != nil {
		t.Error("an entry beyond max_entry was read")
	}
}

func TestDamageIsAMiss(t *testing.T) {
	t.Parallel()
	s := start(t)
	n := open(t, patient(s))
	body, other := noise(600_000, 4), noise(600_000, 5)
	head := "symbolon:1:symcache:" + keyA.String()
	chunks := func() []string {
		keys := s.keys(head + ":*")
		slices.Sort(keys)
		return keys
	}
	flip := func(key string, at int) {
		old := s.ask("GETRANGE", key, itoa(at), itoa(at))
		s.ask("SETRANGE", key, itoa(at), string(rune(old[0]^1)&0x7f))
	}
	for name, do := range map[string]func(){
		"a chunk is evicted":          func() { s.ask("DEL", chunks()[1]) },
		"all chunks are evicted":      func() { s.ask(append([]string{"DEL"}, chunks()...)...) },
		"the record is evicted":       func() { s.ask("DEL", head) },
		"a byte in a chunk":           func() { flip(chunks()[0], 100_000) },
		"a byte in the record":        func() { flip(head, 3) },
		"a chunk is shorter":          func() { s.ask("SET", chunks()[0], s.ask("GETRANGE", chunks()[0], "0", "1000")) },
		"a chunk is longer":           func() { s.ask("APPEND", chunks()[0], "x") },
		"a chunk is another one":      func() { s.ask("COPY", chunks()[0], chunks()[1], "REPLACE") },
		"the record is of another":    func() { s.ask("COPY", "symbolon:1:symcache:"+keyB.String(), head, "REPLACE") },
		"the record is damaged":       func() { s.ask("SET", head, "what is this") },
		"the record is of no type":    func() { s.ask("DEL", head); s.ask("LPUSH", head, "a") },
		"the record is empty":         func() { s.ask("SET", head, "") },
		"everything is flushed":       func() { s.ask("FLUSHALL") },
		"a chunk is of no known type": func() { key := chunks()[0]; s.ask("DEL", key); s.ask("SADD", key, "a") },
	} {
		s.ask("FLUSHALL")
		cachetest.Put(t, n, cache.Symcache, keyB, other)
		cachetest.Put(t, n, cache.Symcache, keyA, body)
		if len(chunks()) < 2 {
			t.Fatalf("too few chunks: %q", chunks())
		}
		do()
		if got := cachetest.Get(t, n, cache.Symcache, keyA); got != nil {
			t.Errorf("%s: %d bytes came back, right: %v", name, len(got), bytes.Equal(got, body))
		}
		if !strings.Contains(name, "type") && len(s.keys(head)) != 0 {
			t.Errorf("%s: the record is still there", name)
		}
		s.ask("DEL", head)
		cachetest.Put(t, n, cache.Symcache, keyA, body)
		if !bytes.Equal(cachetest.Get(t, n, cache.Symcache, keyA), body) && !strings.Contains(name, "type") {
			t.Errorf("%s: the entry is missing after it was put again", name)
		}
	}
}

func TestEvictedChunksAreCounted(t *testing.T) {
	s := start(t)
	n := open(t, patient(s))
	cachetest.Put(t, n, cache.Symcache, keyA, text(1<<20, 6))
	before := metric.CacheEvictions.Value("redis", "symcache")
	s.ask("DEL", s.keys("*:0")[0])
	if cachetest.Get(t, n, cache.Symcache, keyA) != nil || metric.CacheEvictions.Value("redis", "symcache") != before+1 {
		t.Error("an evicted chunk was not counted")
	}
}

func TestAFullServerEvictsAndGoesOn(t *testing.T) {
	t.Parallel()
	s := start(t, "--maxmemory", "4mb")
	n := open(t, patient(s))
	right := 0
	for i := range 20 {
		key, body := cache.KeyOf(itoa(i)), noise(300_000, i)
		cachetest.Put(t, n, cache.Symcache, key, body)
		if got := cachetest.Get(t, n, cache.Symcache, key); bytes.Equal(got, body) {
			right++
		} else if got != nil {
			t.Fatal("the entry has another content")
		}
	}
	if right < 15 {
		t.Errorf("only %d of 20 were there after they were put", right)
	}
	for i := range 20 {
		if got := cachetest.Get(t, n, cache.Symcache, cache.KeyOf(itoa(i))); got != nil && !bytes.Equal(got, noise(300_000, i)) {
			t.Fatal("the entry has another content")
		}
	}
}

func TestAFaultEndsWhenRedisSaysSo(t *testing.T) {
	t.Parallel()
	s := start(t)
	n := open(t, patient(s))
	n.Remember(t.Context(), cache.Meta, keyA, fault.New(fault.NotFound, "", "not"), time.Hour)
	name := s.keys("*:meta:*")[0]
	s.ask("PEXPIRE", name, "600000")
	_, err := n.Get(t.Context(), cache.Meta, keyA)
	if rest := time.Until(cache.Expires(err)); rest < 9*time.Minute || rest > 10*time.Minute {
		t.Errorf("the fault holds for %v", rest)
	}
	s.ask("PERSIST", name)
	if _, err := n.Get(t.Context(), cache.Meta, keyA); err != nil {
		t.Errorf("a fault without an expiry: %v", err)
	}
}

func TestASpoolThatFailsIsAMiss(t *testing.T) {
	t.Parallel()
	s := start(t)
	cachetest.Put(t, open(t, patient(s)), cache.Symcache, keyA, text(1<<20, 7))
	full := fault.New(fault.Internal, "disk", "full")
	n, err := redis.Open(patient(s), func() (cache.Spool, error) { return nil, full }, time.Now, quiet)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	if b, err := n.Get(t.Context(), cache.Symcache, keyA); b != nil || err != nil {
		t.Errorf("Get: %v, %v", b, err)
	}
	if _, err := n.Put(t.Context(), cache.Symcache, keyA, nil); !errors.Is(err, full) {
		t.Errorf("Put: %v", err)
	}
	if len(s.keys("*:symcache:*")) < 2 {
		t.Error("an entry was removed because a disk failed")
	}
}

func TestConfigSaysWhatIsWrong(t *testing.T) {
	for want, c := range map[string]redis.Config{
		"":              {},
		"invalid url":   {URL: bin.NewSecret("redis://u:canary%zz@h")},
		"invalid url: ": {URL: bin.NewSecret("http://u:canary@h/")},
	} {
		err := c.Validate()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v", want, err)
		}
		if err != nil && strings.Contains(err.Error(), "canary") {
			t.Errorf("the error has a secret: %v", err)
		}
	}
	if _, err := redis.Open(redis.Config{URL: bin.NewSecret("redis://u:canary%zz@h")}, nil, time.Now, quiet); err == nil || strings.Contains(err.Error(), "canary") {
		t.Errorf("Open: %v", err)
	}
}
