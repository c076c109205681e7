//go:build unix

package nodes_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"symbolon/internal/bucket/s3test"
	"symbolon/internal/trial"
	"symbolon/internal/waittest"
)

// inBucket are the settings of a node that shares through the store.
func inBucket(s *s3test.Server) []string {
	return []string{
		"cache.shared.type=s3", "cache.shared.bucket=" + s3test.Bucket, "cache.shared.prefix=shared", "cache.shared.endpoint=" + s.Endpoint(),
		"cache.shared.access_key=" + s3test.AccessKey, "cache.shared.secret_key=" + s3test.SecretKey, "cache.shared.timeout=5s",
	}
}

// tables are the files of the tables in the store.
func tables(t *testing.T, s *s3test.Server) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(s.Folder, "shared", "v1", "symcache", "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// metas is how many descriptions of files are in the store.
func metas(t *testing.T, s *s3test.Server) int {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(s.Folder, "shared", "v1", "meta", "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}

// burst asks both nodes for one module, all at once, and waits until both have
// its table.
func burst(t *testing.T, sym trial.Sym, a, b *trial.Server) (built float64) {
	t.Helper()
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			if wrong := []*trial.Server{a, b}[i%2].Ask(sym, i); wrong != "" {
				t.Error(wrong)
			}
		})
	}
	wg.Wait()
	waittest.Until(t, "both have the table, and one says that it built it", func() bool {
		built = a.Metric("table_builds_total", `outcome="built"`) + b.Metric("table_builds_total", `outcome="built"`)
		return settled(a)() && settled(b)() && built > 0
	})
	return built
}

// later starts a node on which nothing is known, which needs neither the source
// nor a build.
func later(t *testing.T, source *trial.Upstream, sym trial.Sym, set []string) *trial.Server {
	t.Helper()
	asked := source.Count(sym.Path())
	c := trial.Start(t, trial.Options{Sources: []string{source.URL}, Set: set})
	if wrong := c.Ask(sym, 7); wrong != "" {
		t.Error(wrong)
	}
	if n := source.Count(sym.Path()); n != asked || c.Metric("table_builds_total", "") != 0 {
		t.Errorf("the later node asked the source %d times and built %v tables", n-asked, c.Metric("table_builds_total", ""))
	}
	return c
}

func TestNodesOverABucketShareTables(t *testing.T) {
	s := s3test.Run(t)
	sym := trial.NewSym(1, 40_000)
	source := trial.NewUpstream(t)
	source.Do(sym.Path(), sym)
	options := trial.Options{Sources: []string{source.URL}, Set: inBucket(s)}
	a, b := trial.Start(t, options), trial.Start(t, options)
	if built := burst(t, sym, a, b); built < 1 || built > 2 {
		t.Errorf("built %v times", built)
	}
	waittest.Until(t, "the table and its meta are in the bucket", func() bool { return len(tables(t, s)) == 1 && metas(t, s) > 0 })
	c := later(t, source, sym, inBucket(s))
	if c.Metric("cache_lookups_total", `tier="shared"`, `kind="symcache"`, `outcome="hit"`) == 0 {
		t.Error("the table did not come from the bucket")
	}

	// After one byte changed, the table is built again and the copy is mended.
	file := tables(t, s)[0]
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	good := string(text)
	text[len(text)/2] ^= 1
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	d := trial.Start(t, options)
	for i := range 10 {
		if wrong := d.Ask(sym, i); wrong != "" {
			t.Error(wrong)
		}
	}
	waittest.Until(t, "the table is built again", func() bool { return d.Metric("table_builds_total", `outcome="built"`) == 1 })
	waittest.Until(t, "it is mended", func() bool {
		text, err := os.ReadFile(file)
		return err == nil && string(text) == good
	})
	if lines := d.Lines("level=WARN", "shared bucket"); len(lines) != 1 {
		t.Errorf("the log tells %d times: %v", len(lines), lines)
	}
	later(t, source, sym, inBucket(s))
	for _, n := range []*trial.Server{a, b, c, d} {
		if strings.Contains(n.Log(), s3test.SecretKey) {
			t.Error("the log has the secret")
		}
	}
}

func TestNodesOverABucketAndRedisBuildATableOnce(t *testing.T) {
	s, r := s3test.Run(t), startRedis(t)
	sym := trial.NewSym(1, 40_000)
	source := trial.NewUpstream(t)
	source.Do(sym.Path(), sym)
	both := append(inBucket(s), "cache.redis.url=redis://"+r.Addr())
	options := trial.Options{Sources: []string{source.URL}, Set: both}
	a, b := trial.Start(t, options), trial.Start(t, options)
	waittest.Until(t, "both are connected", func() bool { return up(a)() && up(b)() })
	if built := burst(t, sym, a, b); built != 1 {
		t.Errorf("built %v times", built)
	}
	waittest.Until(t, "the table and its meta are in the bucket", func() bool { return len(tables(t, s)) == 1 && metas(t, s) > 0 })
	r.flush() // what Redis loses, the bucket has
	later(t, source, sym, both)
	r.Kill()
	later(t, source, sym, both)
}

// TestABucketThatIsKilledAndComesBackChangesNoAnswer kills it in the middle of a
// burst.
func TestABucketThatIsKilledAndComesBackChangesNoAnswer(t *testing.T) {
	s := s3test.Run(t)
	source := trial.NewUpstream(t)
	var syms []trial.Sym
	for i := range 8 {
		sym := trial.NewSym(10+i, 3000)
		source.Do(sym.Path(), sym)
		syms = append(syms, sym)
	}
	options := trial.Options{Sources: []string{source.URL}, Set: inBucket(s)}
	nodes := []*trial.Server{trial.Start(t, options), trial.Start(t, options)}
	var wg sync.WaitGroup
	var answers atomic.Int32
	for w := range 4 {
		wg.Go(func() {
			for i := range 40 {
				if wrong := nodes[w%2].Ask(syms[(i/5)%len(syms)], w*31+i); wrong != "" {
					t.Error(wrong)
				}
				answers.Add(1)
			}
		})
	}
	waittest.Until(t, "some requests are answered", func() bool { return answers.Load() >= 20 })
	s.Kill()
	waittest.Until(t, "more are answered without the bucket", func() bool { return answers.Load() >= 80 })
	s.Start()
	wg.Wait()
	for _, n := range nodes {
		waittest.Until(t, "the bucket is used", func() bool { return n.Metric("cache_up", `tier="shared"`) == 1 })
	}
	before := len(tables(t, s))
	sym := trial.NewSym(99, 3000)
	source.Do(sym.Path(), sym)
	if wrong := nodes[0].Ask(sym, 1); wrong != "" {
		t.Error(wrong)
	}
	waittest.Until(t, "the new table is in the bucket", func() bool { return len(tables(t, s)) > before })
}
