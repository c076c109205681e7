//go:build unix

package redis_test

import (
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"symbolon/internal/cache/redis"
	"symbolon/internal/waittest"
)

func leased(s *server) redis.Config {
	cfg := unhurried(s)
	cfg.Lease = 6 * time.Second
	return cfg
}

func TestALeaseHasOneHolder(t *testing.T) {
	t.Parallel()
	s := start(t)
	a, b := open(t, unhurried(s)), open(t, unhurried(s))
	release, ok := a.Acquire(t.Context(), keyA)
	if !ok {
		t.Fatal("a free lease was not acquired")
	}
	for _, n := range []*node{a, b} {
		if again, ok := n.Acquire(t.Context(), keyA); ok {
			t.Error("the lease was acquired twice")
		} else {
			again()
		}
	}
	if other, ok := b.Acquire(t.Context(), keyB); !ok {
		t.Error("another lease was not acquired")
	} else {
		other()
	}
	if rest := s.ask("PTTL", s.keys("*lease:*")[0]); len(rest) != 5 { // 29,999 ms or so
		t.Errorf("the lease lasts for %s ms", rest)
	}
	release()
	release()
	if left := s.keys("*lease:*"); len(left) != 0 {
		t.Errorf("the lease is still there: %q", left)
	}
	if release, ok := b.Acquire(t.Context(), keyA); !ok {
		t.Error("a released lease was not acquired")
	} else {
		release()
	}
}

func TestALeaseIsRenewedWhileItIsHeld(t *testing.T) {
	t.Parallel()
	s := start(t)
	a, b := open(t, leased(s)), open(t, leased(s))
	release, ok := a.Acquire(t.Context(), keyA)
	if !ok {
		t.Fatal("a free lease was not acquired")
	}
	defer release()
	name, least := s.keys("*lease:*")[0], 1<<30
	waittest.Until(t, "the lease is renewed", func() bool {
		rest, err := strconv.Atoi(s.ask("PTTL", name))
		if err != nil {
			t.Fatal(err)
		}
		least = min(least, rest)
		return rest > least
	})
	if _, ok := b.Acquire(t.Context(), keyA); ok {
		t.Error("another node acquired the lease")
	}
}

// This one runs alone.
func TestAReleasedLeaseLeavesNoGoroutine(t *testing.T) {
	n := open(t, leased(start(t)))
	renewals := func() int {
		all := make([]byte, 1<<20)
		return strings.Count(string(all[:runtime.Stack(all, true)]), ".renew(")
	}
	release, ok := n.Acquire(t.Context(), keyA)
	if !ok {
		t.Fatal("a free lease was not acquired")
	}
	waittest.Until(t, "the lease is renewed", func() bool { return renewals() == 1 })
	release()
	if renewals() != 0 {
		t.Error("a renewal is left")
	}
}

func TestTheLeaseOfADeadHolderIsGivenToAnother(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := open(t, leased(s))
	// A holder that dies is one that neither renews nor releases.
	s.ask("SET", "symbolon:1:lease:"+keyA.String(), "token of the dead", "PX", "3000")
	if _, ok := b.Acquire(t.Context(), keyA); ok {
		t.Fatal("the lease was acquired twice")
	}
	start := time.Now()
	waittest.Until(t, "the lease is given", func() bool {
		release, ok := b.Acquire(t.Context(), keyA)
		release()
		return ok
	})
	if d := time.Since(start); d < 500*time.Millisecond {
		t.Errorf("it took %v", d)
	}
}

func TestALostLeaseHarmsNobody(t *testing.T) {
	t.Parallel()
	s := start(t)
	a, b := open(t, leased(s)), open(t, leased(s))
	first, ok := a.Acquire(t.Context(), keyA)
	if !ok {
		t.Fatal("a free lease was not acquired")
	}
	s.ask("FLUSHALL")
	second, ok := b.Acquire(t.Context(), keyA)
	if !ok {
		t.Fatal("a lost lease was not acquired")
	}
	waittest.Until(t, "both tried to renew", func() bool {
		_, calls, _ := strings.Cut(s.ask("INFO", "commandstats"), "cmdstat_eval:calls=")
		n, _, _ := strings.Cut(calls, ",")
		count, _ := strconv.Atoi(n)
		return count >= 2
	})
	first() // and must not take away what is the second one's
	if _, ok := a.Acquire(t.Context(), keyA); ok {
		t.Error("the lease was acquired while another node holds it")
	}
	second()
	if left := s.keys("*lease:*"); len(left) != 0 {
		t.Errorf("the lease is still there: %q", left)
	}
}

func TestWithoutRedisEverybodyWorks(t *testing.T) {
	t.Parallel()
	s := start(t)
	a, b := open(t, leased(s)), open(t, leased(s))
	held, ok := a.Acquire(t.Context(), keyB)
	if !ok {
		t.Fatal("a free lease was not acquired")
	}
	s.Kill()
	for range 5 {
		for _, n := range []*node{a, b} {
			release, ok := n.Acquire(t.Context(), keyA)
			if !ok {
				t.Error("no lease without redis")
			}
			release()
		}
	}
	held()
}
