//go:build !race

package load_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"symbolon/internal/trial"
	"symbolon/internal/waittest"
)

// While the symbols of a giant are fetched, scanned and made into a table,
// small requests are answered about as soon as before.
func TestAColdGiantDoesNotSlowOthers(t *testing.T) {
	skipIfShort(t)
	giant := newTemplates(2, 60_000)
	file := filepath.Join(t.TempDir(), "giant.sym") // made before, so that only the server has work
	size := writeFile(t, file, giant)
	up := trial.NewUpstream(t)
	up.Do(giant.path(), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, file) }))
	s, c, body, _ := readyFrom(t, up)

	const pause = 5 * time.Millisecond
	quiet := c.asking(t, 200, pause, nil, body)
	stop, answered := make(chan struct{}), make(chan time.Duration, 1)
	go func() {
		defer close(stop)
		status, took, err := newClient(t, s).post(strings.NewReader(giant.stack(0, 30)), nil)
		if status != http.StatusOK || err != nil {
			t.Errorf("the giant: %d, %v", status, err)
		}
		answered <- took
		waittest.Becomes(func() bool { return s.Metric("table_builds_total") == 2 })
	}()
	now := c.asking(t, 100_000, pause, stop, body)
	t.Logf("giant of %d MB answered after %v", size/1e6, <-answered)
	if n := s.Metric("table_builds_total", `outcome="built"`); n != 2 {
		t.Errorf("%v tables are built", n)
	}
	t.Logf("quiet: %v; with the giant: %v (p99 %.1f times)", quiet, now, float64(now.at(0.99))/float64(quiet.at(0.99)))
	if most := 2*quiet.at(0.9) + 10*time.Millisecond; now.at(0.9) > most {
		t.Errorf("one in ten took more than %v, %v at most were expected", now.at(0.9), most)
	}
}

// writeFile writes the symbols of f to a file, and tells its size.
func writeFile(t *testing.T, name string, f templates) int64 {
	t.Helper()
	out, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	f.writeTo(out)
	info, err := out.Stat()
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}
