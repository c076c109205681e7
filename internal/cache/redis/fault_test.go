//go:build unix

package redis_test

import (
	"bytes"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/cache"
	"symbolon/internal/cache/cachetest"
	"symbolon/internal/cache/redis"
	"symbolon/internal/fault"
	"symbolon/internal/trial"
	"symbolon/internal/waittest"
)

const (
	left  = "redis unavailable, backing off"
	again = "redis available again"
)

// took is how long do takes.
func took(do func()) time.Duration {
	start := time.Now()
	do()
	return time.Since(start)
}

// best is the shortest of some times of do: what it costs when the machine is
// not busy with another test.
func best(do func()) time.Duration {
	shortest := time.Hour
	for range 20 {
		shortest = min(shortest, took(do))
	}
	return shortest
}

func TestAServerThatIsKilledAndComesBackEmpty(t *testing.T) {
	t.Parallel()
	s := start(t)
	n := open(t, patient(s))
	body := text(1<<20, 1)
	cachetest.Put(t, n, cache.Symcache, keyA, body)
	s.Kill()
	waittest.Until(t, "the node backs off", func() bool {
		if cachetest.Get(t, n, cache.Symcache, keyA) != nil {
			t.Fatal("an entry came from nowhere")
		}
		return n.log.Count(left) == 1
	})
	if d := best(func() { cachetest.Get(t, n, cache.Symcache, keyA) }); d > time.Millisecond {
		t.Errorf("a miss costs %v", d)
	}
	cachetest.Put(t, n, cache.Symcache, keyA, body)
	n.Remember(t.Context(), cache.Meta, keyA, fault.New(fault.NotFound, "", "not"), time.Hour)
	n.Forget(t.Context(), cache.Meta, keyA)
	s.Restart()
	waittest.Until(t, "it is used again", func() bool { return n.log.Count(again) == 1 })
	if cachetest.Get(t, n, cache.Symcache, keyA) != nil {
		t.Error("an entry came from nowhere")
	}
	cachetest.Put(t, n, cache.Symcache, keyA, body)
	if !bytes.Equal(cachetest.Get(t, n, cache.Symcache, keyA), body) {
		t.Error("the entry is not there")
	}
	if n.log.Count("level=WARN") != 1 || n.log.Count("level=") != 2 {
		t.Errorf("the log is\n%v", n.log)
	}
}

func TestAServerThatIsKilledInTheMiddle(t *testing.T) {
	t.Parallel()
	s := start(t)
	var until atomic.Int64 // bytes that pass before the server is killed
	var once sync.Mutex
	kill := func() {
		once.Lock()
		defer once.Unlock()
		s.Kill()
	}
	cfg := patient(s)
	cfg.URL = bin.NewSecret(through(t, s, func(n int, _ bool) {
		if left := until.Add(-int64(n)); left <= 0 && left > -int64(n) {
			kill()
		}
	}))
	n := open(t, cfg)
	body := noise(3<<20, 2)
	right := func(key cache.Key) {
		if got := cachetest.Get(t, n, cache.Symcache, key); got != nil && !bytes.Equal(got, body) {
			t.Error("the entry has another content")
		}
	}
	for _, after := range []int64{1, 1 << 20, 4 << 20} {
		cachetest.Put(t, n, cache.Symcache, keyA, body)
		until.Store(after)
		var all sync.WaitGroup
		all.Go(func() { right(keyA) })
		all.Go(func() { cachetest.Put(t, n, cache.Symcache, keyB, body) })
		all.Wait()
		kill() // if they were given up before
		until.Store(0)
		s.Restart()
		waittest.Until(t, "it is used again", func() bool {
			cachetest.Put(t, n, cache.Meta, keyA, []byte("x"))
			return cachetest.Get(t, n, cache.Meta, keyA) != nil
		})
		right(keyB)
	}
}

func TestAFlushInTheMiddleLosesEntriesAndNothingElse(t *testing.T) {
	t.Parallel()
	s := start(t)
	n := open(t, patient(s))
	body := noise(1<<20, 3)
	stop := make(chan struct{})
	var flushes sync.WaitGroup
	flushes.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(3 * time.Millisecond):
				s.ask("FLUSHALL")
			}
		}
	})
	misses := 0
	for range 25 {
		cachetest.Put(t, n, cache.Symcache, keyA, body)
		switch got := cachetest.Get(t, n, cache.Symcache, keyA); {
		case got == nil:
			misses++
		case !bytes.Equal(got, body):
			t.Fatal("the entry has another content")
		}
	}
	close(stop)
	flushes.Wait()
	if misses == 0 {
		t.Error("no flush fell between")
	}
	cachetest.Put(t, n, cache.Symcache, keyA, body)
	if !bytes.Equal(cachetest.Get(t, n, cache.Symcache, keyA), body) {
		t.Error("the entry is missing without a flush")
	}
}

func TestAServerThatHangsCostsTheTimeoutAndThenNothing(t *testing.T) {
	t.Parallel()
	s := start(t)
	const timeout = 100 * time.Millisecond
	n := open(t, redis.Config{URL: bin.NewSecret(s.url()), Timeout: timeout})
	body := text(100_000, 4)
	cachetest.Put(t, n, cache.Symcache, keyA, body)
	cachetest.Get(t, n, cache.Symcache, keyA)
	s.Stop()
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			if d := took(func() { cachetest.Get(t, n, cache.Symcache, keyA) }); d > 3*timeout {
				t.Errorf("a lookup took %v", d)
			}
		})
	}
	all.Wait()
	waittest.Until(t, "the node backs off", func() bool { return n.log.Count(left) == 1 })
	if d := best(func() {
		cachetest.Get(t, n, cache.Symcache, keyA)
		n.Remember(t.Context(), cache.Meta, keyA, fault.New(fault.NotFound, "", "not"), time.Hour)
		n.Forget(t.Context(), cache.Meta, keyA)
	}); d > time.Millisecond {
		t.Errorf("while the node backs off a call costs %v", d)
	}
	s.Continue()
	waittest.Until(t, "it is used again", func() bool { return n.log.Count(again) == 1 })
	if !bytes.Equal(cachetest.Get(t, n, cache.Symcache, keyA), body) {
		t.Error("the entry is not there")
	}
}

// through forwards to a server. It calls pass with the size of each part, before it
// forwards it.
func through(t *testing.T, s *server, pass func(n int, isAnswer bool)) string {
	forward := func(to io.WriteCloser, from io.Reader, isAnswer bool) {
		defer to.Close()
		part := make([]byte, 64<<10)
		for {
			n, err := from.Read(part)
			if err != nil {
				return
			}
			pass(n, isAnswer)
			to.Write(part[:n])
		}
	}
	return "redis://" + trial.NewListener(t, func(in net.Conn) {
		out, err := net.Dial("tcp", s.Addr())
		if err != nil {
			return
		}
		go forward(out, in, false)
		forward(in, out, true)
	})
}

// slowly is through with a delay of every answer.
func slowly(t *testing.T, s *server, delay func() time.Duration) string {
	return through(t, s, func(_ int, isAnswer bool) {
		if isAnswer {
			waittest.Delay(t.Context(), delay())
		}
	})
}

func TestAServerThatIsTooFarAwayIsReportedWithTheTimeout(t *testing.T) {
	t.Parallel()
	url := slowly(t, start(t), func() time.Duration { return 50 * time.Millisecond })
	n := openAnyway(t, redis.Config{URL: bin.NewSecret(url), Timeout: 40 * time.Millisecond})
	n.log.Await(t, "s: cache.redis.timeout is 40ms") // after 10 ms, or 1 s if the machine is busy
}

func TestASlowServerIsLeftAloneUntilItIsQuick(t *testing.T) {
	t.Parallel()
	s := start(t)
	var delay, answers atomic.Int64
	url := slowly(t, s, func() time.Duration {
		answers.Add(1)
		return time.Duration(delay.Load())
	})
	n := open(t, redis.Config{URL: bin.NewSecret(url), Timeout: 100 * time.Millisecond})
	cachetest.Put(t, n, cache.Meta, keyA, []byte("x"))
	delay.Store(int64(150 * time.Millisecond))
	for range 3 {
		if cachetest.Get(t, n, cache.Meta, keyA) != nil {
			t.Fatal("an answer came before its time")
		}
	}
	n.log.Await(t, left)
	before := answers.Load()
	waittest.Until(t, "it is reached again, and too slow", func() bool { return answers.Load() >= before+2 })
	if n.log.Count(left) != 1 || n.log.Count(again) != 0 {
		t.Errorf("the log is\n%v", n.log)
	}
	if d := best(func() { cachetest.Get(t, n, cache.Meta, keyA) }); d > time.Millisecond {
		t.Errorf("a slow server costs %v", d)
	}
	delay.Store(0)
	waittest.Until(t, "it is used again", func() bool { return cachetest.Get(t, n, cache.Meta, keyA) != nil })
}

func TestAServerThatIsAlwaysALittleLateIsLeftAlone(t *testing.T) {
	t.Parallel()
	s := start(t)
	var late atomic.Bool
	url := slowly(t, s, func() time.Duration {
		if late.Load() {
			return 60 * time.Millisecond
		}
		return 0
	})
	n := open(t, redis.Config{URL: bin.NewSecret(url), Timeout: 200 * time.Millisecond}) // in time, but for a fourth of it
	cachetest.Put(t, n, cache.Meta, keyA, []byte("x"))
	late.Store(true)
	for range 8 {
		cachetest.Get(t, n, cache.Meta, keyA)
	}
	if d := best(func() { cachetest.Get(t, n, cache.Meta, keyA) }); d > time.Millisecond {
		t.Errorf("it still costs %v", d)
	}
	waittest.Until(t, "the log has the failure", func() bool { return n.log.Count(left) == 1 })
	late.Store(false)
	waittest.Until(t, "it is used again", func() bool { return cachetest.Get(t, n, cache.Meta, keyA) != nil })
}

func TestAServerThatIsDownAtFirst(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Kill()
	var n *node
	if d := took(func() { n = openAnyway(t, patient(s)) }); d > time.Second {
		t.Errorf("the start took %v", d)
	}
	cachetest.Put(t, n, cache.Meta, keyA, []byte("x"))
	n.log.Await(t, left)
	if cachetest.Get(t, n, cache.Meta, keyA) != nil {
		t.Error("an entry came from nowhere")
	}
	s.Restart()
	waittest.Until(t, "it is used", func() bool {
		cachetest.Put(t, n, cache.Meta, keyA, []byte("x"))
		return cachetest.Get(t, n, cache.Meta, keyA) != nil
	})
}

func TestAServerThatTakesNoConnectionDoesNotHoldTheStart(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Stop()
	if d := took(func() { openAnyway(t, patient(s)) }); d > time.Second {
		t.Errorf("the start took %v", d)
	}
	s.Continue()
}

func TestAServerThatIsNoCacheIsWarnedAbout(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"redis evicts no tables":    {"--maxmemory-policy", "noeviction"},
		"maxmemory-policy=volatile": {"--maxmemory-policy", "volatile-lru"},
		"redis has no maxmemory":    {"--maxmemory", "0"},
		"":                          nil,
	} {
		n := open(t, patient(start(t, args...)))
		warnings := 1
		if want == "" {
			warnings = 0
		}
		if n.log.Count(want) == 0 || n.log.Count("level=WARN") != warnings {
			t.Errorf("%q: the log is\n%v", args, n.log)
		}
	}
}

func TestAFullServerThatEvictsNothingIsToldOnce(t *testing.T) {
	t.Parallel()
	s := start(t, "--maxmemory", "2mb", "--maxmemory-policy", "noeviction")
	n := open(t, patient(s))
	cachetest.Put(t, n, cache.Meta, keyA, []byte("x"))
	for i := range 6 {
		key := cache.KeyOf(itoa(i))
		cachetest.Put(t, n, cache.Symcache, key, noise(600_000, i))
		if got := cachetest.Get(t, n, cache.Symcache, key); got != nil && !bytes.Equal(got, noise(600_000, i)) {
			t.Error("the entry has another content")
		}
	}
	if n.log.Count("redis refuses a command") != 1 || n.log.Count("OOM") != 1 || n.log.Count(left) != 0 {
		t.Errorf("the log is\n%v", n.log)
	}
	if cachetest.Get(t, n, cache.Meta, keyA) == nil {
		t.Error("a stored entry cannot be read")
	}
}
