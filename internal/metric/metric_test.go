package metric_test

import (
	"net/http/httptest"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"symbolon/internal/metric"
)

func exposition() string {
	w := httptest.NewRecorder()
	metric.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	return w.Body.String()
}

func TestEveryMetricIsDeclaredWell(t *testing.T) {
	seen := map[string]bool{}
	for _, row := range metric.Table() {
		if !strings.HasPrefix(row.Name, "symbolon_") || seen[row.Name] || len(row.Help) < 10 || !strings.HasSuffix(row.Help, ".") {
			t.Errorf("bad row %+v", row)
		}
		seen[row.Name] = true
	}
	for _, want := range []string{
		"symbolon_build_info",
		"symbolon_http_requests_total", "symbolon_http_request_seconds", "symbolon_http_in_flight",
		"symbolon_http_refused_total", "symbolon_frames_total", "symbolon_modules_total", "symbolon_downloads_total",
		"symbolon_download_bytes_total", "symbolon_download_seconds", "symbolon_cache_lookups_total",
		"symbolon_cache_bytes", "symbolon_cache_entries", "symbolon_cache_evictions_total",
		"symbolon_state_up", "symbolon_cache_up", "symbolon_cache_failures_total", "symbolon_cache_dropped_total",
		"symbolon_table_builds_total", "symbolon_table_build_seconds", "symbolon_table_build_input_bytes_total",
		"symbolon_bad_records_total", "symbolon_upload_parts_total", "symbolon_uploads_published_total",
		"symbolon_otlp_locations_total", "symbolon_otlp_untouched_total",
	} {
		if !seen[want] {
			t.Errorf("%s is not declared", want)
		}
		delete(seen, want)
	}
	if len(seen) > 0 {
		t.Errorf("declared and not expected: %v", seen)
	}
}

// TestLintersOfPrometheusAreContent writes a series of each metric.
func TestLintersOfPrometheusAreContent(t *testing.T) {
	for _, use := range []func(int64, ...string){
		metric.BuildInfo.Set, metric.Requests.Add, metric.Refused.Add, metric.Frames.Add, metric.Modules.Add, metric.Downloads.Add,
		metric.DownloadBytes.Add, metric.CacheLookups.Add, metric.CacheBytes.Add, metric.CacheEntries.Add, metric.CacheEvictions.Add,
		metric.CacheUp.Add, metric.CacheFailures.Add, metric.CacheDropped.Add, metric.Builds.Add, metric.BadRecords.Add,
		metric.UploadParts.Add, metric.UploadsPublished.Add, metric.OTLPLocations.Add, metric.OTLPUntouched.Add,
	} {
		fill(use)
	}
	for _, h := range []*metric.Histogram{metric.RequestSeconds, metric.DownloadSeconds} {
		h.Observe(1, "linted")
	}
	text := exposition()
	for _, row := range metric.Table() {
		if !strings.Contains(text, "# HELP "+row.Name+" "+row.Help+"\n# TYPE "+row.Name+" "+row.Type+"\n") {
			t.Errorf("%s is not written", row.Name)
		}
	}
	problems, err := promlint.New(strings.NewReader(text)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// fill uses a metric with as many label values as it has labels.
func fill(use func(int64, ...string)) {
	for n := range 4 {
		func() {
			defer func() { _ = recover() }() // another number of labels
			use(0, slices.Repeat([]string{"linted"}, n)...)
		}()
	}
}

func TestEveryLineHasTheFormat(t *testing.T) {
	metric.Requests.Add(1, `a "b" \c`+"\nd\xff", "200")
	metric.DownloadSeconds.Observe(.02, "here")
	line := regexp.MustCompile(`^(# (HELP|TYPE) [a-z0-9_]+ .+|[a-z0-9_]+(\{[a-z_]+="([^"\\]|\\["\\n])*"(,[a-z_]+="([^"\\]|\\["\\n])*")*\})? ([0-9.e+-]+|[+]Inf|NaN))$`)
	for l := range strings.SplitSeq(strings.TrimSuffix(exposition(), "\n"), "\n") {
		if !line.MatchString(l) {
			t.Errorf("not a line of the format: %q", l)
		}
	}
}

func TestWrongNumberOfLabelValuesPanics(t *testing.T) {
	for name, use := range map[string]func(){
		"too few":   func() { metric.Requests.Add(1, "v5") },
		"too many":  func() { metric.Requests.Add(1, "v5", "200", "x") },
		"none":      func() { metric.RequestSeconds.Observe(1) },
		"unlabeled": func() { metric.InFlight.Set(1, "x") },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			use()
		}()
	}
}

func TestMetricsAreSafeForConcurrentUse(t *testing.T) {
	flying := metric.InFlight.Value()
	before, builds := metric.Frames.Value("named"), sample(t, "symbolon_table_build_seconds_count")
	const workers, rounds = 8, 500
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := range rounds {
				metric.Frames.Add(2, "named")
				metric.CacheBytes.Set(int64(i), "memory")
				metric.InFlight.Add(1)
				metric.InFlight.Add(-1)
				metric.BadRecords.Add(1, string(rune('a'+i%20)))
				metric.BuildSeconds.Observe(.5)
				if i%100 == 0 {
					exposition()
				}
			}
		})
	}
	wg.Wait()
	if got := metric.Frames.Value("named") - before; got != workers*rounds*2 {
		t.Errorf("counted %d", got)
	}
	if got := metric.InFlight.Value(); got != flying {
		t.Errorf("requests in flight are %d, want %d as before", got, flying)
	}
	if got := metric.CacheBytes.Value("memory"); got != rounds-1 {
		t.Errorf("cached bytes are %d, want %d", got, rounds-1)
	}
	if got := sample(t, "symbolon_table_build_seconds_count") - builds; got != workers*rounds {
		t.Errorf("the histogram counted %v observations, want %d", got, workers*rounds)
	}
}

// sample returns the value of a series without labels.
func sample(t *testing.T, name string) float64 {
	t.Helper()
	for line := range strings.Lines(exposition()) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			v, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
	}
	t.Fatalf("%s is not written", name)
	return 0
}

func TestAddingDoesNotAllocate(t *testing.T) {
	route, code := "v5", "200"
	metric.Requests.Add(1, route, code)
	metric.RequestSeconds.Observe(1, route)
	if n := testing.AllocsPerRun(100, func() {
		metric.Requests.Add(1, route, code)
		metric.RequestSeconds.Observe(.1, route)
		metric.InFlight.Add(1)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkCounter(b *testing.B) {
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			metric.Frames.Add(1, "named")
		}
	})
}

func TestSumsAreOverAllValuesOfAnEmptyLabel(t *testing.T) {
	sums := []struct {
		labels []string
		want   int64
	}{
		{[]string{"sums", "", ""}, 7}, {[]string{"sums", "", "hit"}, 3}, {[]string{"sums", "objects", ""}, 6},
		{[]string{"sums", "objects", "miss"}, 4}, {[]string{"sums", "none", "hit"}, 0},
	}
	for i := range sums { // the metrics are those of the process, in which the test may run again
		sums[i].want += metric.CacheLookups.Sum(sums[i].labels...)
	}
	seconds := metric.DownloadSeconds.Seconds("sums")
	metric.CacheLookups.Add(1, "sums", "meta", "hit")
	metric.CacheLookups.Add(2, "sums", "objects", "hit")
	metric.CacheLookups.Add(4, "sums", "objects", "miss")
	for _, x := range sums {
		if got := metric.CacheLookups.Sum(x.labels...); got != x.want {
			t.Errorf("%q: got %d, want %d", x.labels, got, x.want)
		}
	}
	if strings.Contains(exposition(), `"none"`) {
		t.Error("a sum has made a series")
	}
	metric.DownloadSeconds.Observe(.25, "sums")
	metric.DownloadSeconds.Observe(.5, "sums")
	if got := metric.DownloadSeconds.Seconds("sums") - seconds; got != .75 {
		t.Errorf("the durations are %v together, want 0.75", got)
	}
}

func TestProcessHasMemory(t *testing.T) {
	memory := metric.Memory()
	if runtime.GOOS != "linux" {
		t.Skip("not every system tells")
	}
	if memory() < 1<<20 {
		t.Errorf("got %v bytes", memory())
	}
}
