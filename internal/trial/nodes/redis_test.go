//go:build unix

// Package nodes_test runs two servers over one Redis, one bucket, or both.
package nodes_test

import (
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"symbolon/internal/cache/redistest"
	"symbolon/internal/trial"
	"symbolon/internal/waittest"
)

func TestMain(m *testing.M) { os.Exit(trial.Main(m)) }

// redis is a server of the test.
type redis struct {
	*redistest.Server
	t *testing.T
}

func startRedis(t *testing.T) *redis {
	return &redis{redistest.Start(t, "--save", "", "--maxmemory", "200mb", "--maxmemory-policy", "allkeys-lru"), t}
}

// flush forgets everything.
func (r *redis) flush() {
	c, err := net.Dial("tcp", r.Addr())
	if err != nil {
		r.t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprint(c, "FLUSHALL\r\n")
	_, _ = c.Read(make([]byte, 16))
}

// node starts a server over the Redis.
func (r *redis) node(source string, set ...string) *trial.Server {
	return trial.Start(r.t, trial.Options{Sources: []string{source}, Set: append(set, "cache.redis.url=redis://"+r.Addr())})
}

func up(s *trial.Server) func() bool {
	return func() bool { return s.Metric("cache_up", `tier="redis"`) == 1 }
}

// settled reports whether a server has the table of the only module of its requests.
func settled(s *trial.Server) func() bool {
	return func() bool { return s.Metric("cache_entries", `tier="disk"`) >= 2 }
}

func TestTwoNodesBuildATableOnce(t *testing.T) {
	r := startRedis(t)
	sym := trial.NewSym(1, 40_000)
	source := trial.NewUpstream(t)
	source.Do(sym.Path(), sym)
	a, b := r.node(source.URL), r.node(source.URL)
	waittest.Until(t, "both are connected", func() bool { return up(a)() && up(b)() })
	var wg sync.WaitGroup
	for i := range 40 { // a cold burst on both
		wg.Go(func() {
			if wrong := []*trial.Server{a, b}[i%2].Ask(sym, i); wrong != "" {
				t.Error(wrong)
			}
		})
	}
	wg.Wait()
	var built float64
	waittest.Until(t, "both have the table, and one counts that it built it", func() bool {
		built = a.Metric("table_builds_total", `outcome="built"`) + b.Metric("table_builds_total", `outcome="built"`)
		return settled(a)() && settled(b)() && built > 0
	})
	found := a.Metric("table_builds_total", `outcome="found"`) + b.Metric("table_builds_total", `outcome="found"`)
	if built != 1 || found > 1 { // a node that came late needed no build to find it
		t.Errorf("built %v times, taken from the other %v times", built, found)
	}

	// A node that comes later needs neither the source nor a build.
	asked := source.Count(sym.Path())
	c := r.node(source.URL)
	waittest.Until(t, "the third is connected", up(c))
	if wrong := c.Ask(sym, 7); wrong != "" {
		t.Error(wrong)
	}
	if n := source.Count(sym.Path()); n != asked || c.Metric("table_builds_total", "") != 0 {
		t.Errorf("the third asked the source %d times more and built %v tables", n-asked, c.Metric("table_builds_total", ""))
	}
}

// TestWhateverHappensToRedisAnswersAreRight breaks it in the middle of a burst,
// in each of the ways that there are.
func TestWhateverHappensToRedisAnswersAreRight(t *testing.T) {
	for name, harm := range map[string]func(*redis){
		"killed":    (*redis).Kill,
		"restarted": func(r *redis) { r.Kill(); r.Restart() },
		"flushed":   (*redis).flush,
		"hung": func(r *redis) {
			r.Stop()
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := startRedis(t)
			source := trial.NewUpstream(t)
			var syms []trial.Sym
			for i := range 6 {
				sym := trial.NewSym(10+i, 3000)
				source.Do(sym.Path(), sym)
				syms = append(syms, sym)
			}
			nodes := []*trial.Server{r.node(source.URL), r.node(source.URL)}
			waittest.Until(t, "both are connected", func() bool { return up(nodes[0])() && up(nodes[1])() })
			var wg sync.WaitGroup
			var answers atomic.Int32
			for w := range 4 {
				wg.Go(func() {
					for i := range 30 {
						if wrong := nodes[w%2].Ask(syms[(i/5)%len(syms)], w*31+i); wrong != "" {
							t.Error(wrong)
						}
						answers.Add(1)
					}
				})
			}
			waittest.Until(t, "some requests are answered", func() bool { return answers.Load() >= 20 })
			harm(r)
			wg.Wait()
		})
	}
}

// TestAHungRedisCostsLittle asks for new modules while Redis does not answer.
func TestAHungRedisCostsLittle(t *testing.T) {
	r := startRedis(t)
	source := trial.NewUpstream(t)
	var syms []trial.Sym
	for i := range 20 {
		sym := trial.NewSym(100+i, 50)
		source.Do(sym.Path(), sym)
		syms = append(syms, sym)
	}
	const timeout = 500 * time.Millisecond
	s := r.node(source.URL, "cache.redis.timeout="+timeout.String())
	waittest.Until(t, "it is connected", up(s))
	r.Stop()
	defer r.Continue()
	for i, sym := range syms[:5] { // the first ones find out
		if wrong := s.Ask(sym, i); wrong != "" {
			t.Error(wrong)
		}
	}
	if up(s)() {
		t.Error("a Redis that does not answer is still asked")
	}
	start := time.Now()
	for i, sym := range syms[5:] {
		if wrong := s.Ask(sym, i); wrong != "" {
			t.Error(wrong)
		}
	}
	if each := time.Since(start) / 15; each > timeout {
		t.Errorf("a new module takes %v, want less than one timeout of Redis, %v", each, timeout)
	}
	if lines := s.Lines("level=WARN", "redis"); len(lines) != 1 {
		t.Errorf("the log tells %d times: %v", len(lines), lines)
	}
}
