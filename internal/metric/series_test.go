package metric

// These tests make registries of their own, which only the package can do.

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
)

// scrape returns what a scraper without wishes gets.
func scrape(h http.Handler) string {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	return w.Body.String()
}

func TestTextFormat(t *testing.T) {
	r := newRegistry()
	c := r.counter("jobs_total", "Jobs \\ done\nhere.", "kind", "outcome")
	g := r.gauge("depth", "Depth.")
	h := r.histogram("wait_seconds", "Wait.", "door")
	c.Add(3, "b", "ok")
	c.Add(4, "a", `"x\`+"\n")
	c.Add(1, "b", "ok")
	g.Set(-7)
	h.Observe(.0005, "v5")
	h.Observe(.3, "v5")
	h.Observe(1000, "v5")

	got := scrape(r.handler())
	for _, want := range []string{
		"# HELP symbolon_jobs_total Jobs \\\\ done\\nhere.\n# TYPE symbolon_jobs_total counter\n" +
			`symbolon_jobs_total{kind="a",outcome="\"x\\\n"} 4` + "\n" +
			`symbolon_jobs_total{kind="b",outcome="ok"} 4` + "\n",
		"# TYPE symbolon_depth gauge\nsymbolon_depth -7\n",
		"# TYPE symbolon_wait_seconds histogram\n" +
			`symbolon_wait_seconds_bucket{door="v5",le="0.0005"} 1` + "\n" +
			`symbolon_wait_seconds_bucket{door="v5",le="0.001"} 1` + "\n",
		`symbolon_wait_seconds_bucket{door="v5",le="0.25"} 1` + "\n" +
			`symbolon_wait_seconds_bucket{door="v5",le="0.5"} 2` + "\n",
		`symbolon_wait_seconds_bucket{door="v5",le="300"} 2` + "\n" +
			`symbolon_wait_seconds_bucket{door="v5",le="+Inf"} 3` + "\n" +
			`symbolon_wait_seconds_sum{door="v5"} 1000.3005` + "\n" +
			`symbolon_wait_seconds_count{door="v5"} 3` + "\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("want\n%s\nin\n%s", want, got)
		}
	}
}

func TestUnlabeledMetricsStartAtZero(t *testing.T) {
	r := newRegistry()
	r.counter("a_total", "A.")
	r.counter("b_total", "B.", "kind")
	r.histogram("c_seconds", "C.")
	if got := scrape(r.handler()); !strings.Contains(got, "\nsymbolon_a_total 0\n") || strings.Contains(got, "\nsymbolon_b_total") ||
		!strings.Contains(got, "symbolon_c_seconds_bucket{le=\"+Inf\"} 0\nsymbolon_c_seconds_sum 0\nsymbolon_c_seconds_count 0\n") {
		t.Errorf("got\n%s", got)
	}
}

func TestSeriesAreBounded(t *testing.T) {
	r := newRegistry()
	c := r.counter("a_total", "A.", "who", "what")
	for i := range maxSeries + 50 {
		c.Add(1, strconv.Itoa(i), "x")
	}
	c.Add(1, "0", "x")
	if n := len(*c.series.Load()); n != maxSeries+1 {
		t.Errorf("%d series", n)
	}
	if n := c.Value(overflow, overflow); n != 50 {
		t.Errorf("%d under %q", n, overflow)
	}
	if n := c.Value("0", "x"); n != 2 {
		t.Errorf("%d in the first series", n)
	}
}

func TestTooManyLabelsPanic(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	r := newRegistry()
	r.gauge("a", "A.", "1", "2", "3", "4")
}
