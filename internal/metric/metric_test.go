package metric_test

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"symbolon/internal/metric"
)

func exposition(t *testing.T) string {
	t.Helper()
	var out strings.Builder
	if err := metric.WriteTo(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestEveryDeclaredMetricIsWritten(t *testing.T) {
	text := exposition(t)
	seen := map[string]bool{}
	for _, row := range metric.Table() {
		if !strings.HasPrefix(row.Name, "symbolon_") && row.Name != "process_start_time_seconds" || seen[row.Name] || len(row.Help) < 10 || !strings.HasSuffix(row.Help, ".") {
			t.Errorf("bad row %+v", row)
		}
		seen[row.Name] = true
		if row.Type == "counter" && !strings.HasSuffix(row.Name, "_total") {
			t.Errorf("counter %s does not end in _total", row.Name)
		}
		if !strings.Contains(text, "# HELP "+row.Name+" "+row.Help+"\n# TYPE "+row.Name+" "+row.Type+"\n") {
			t.Errorf("no head of %s", row.Name)
		}
	}
	for _, want := range []string{
		"symbolon_build_info", "process_start_time_seconds",
		"symbolon_http_requests_total", "symbolon_http_request_seconds", "symbolon_http_in_flight",
		"symbolon_http_refused_total", "symbolon_frames_total", "symbolon_modules_total", "symbolon_downloads_total",
		"symbolon_download_bytes_total", "symbolon_download_seconds", "symbolon_cache_lookups_total",
		"symbolon_cache_bytes", "symbolon_cache_entries", "symbolon_cache_evictions_total",
		"symbolon_cache_up", "symbolon_cache_failures_total", "symbolon_cache_dropped_total",
		"symbolon_table_builds_total", "symbolon_table_build_seconds", "symbolon_table_build_input_bytes_total",
		"symbolon_bad_records_total", "symbolon_upload_parts_total", "symbolon_uploads_published_total",
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

func TestEveryLineHasTheFormat(t *testing.T) {
	metric.Requests.Add(1, `a "b" \c`+"\nd\xff", "200")
	metric.DownloadSeconds.Observe(.02, "here")
	line := regexp.MustCompile(`^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{[a-z_]+="([^"\\]|\\["\\n])*"(,[a-z_]+="([^"\\]|\\["\\n])*")*\})? [0-9.e+-]+)$`)
	for _, l := range strings.Split(strings.TrimSuffix(exposition(t), "\n"), "\n") {
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
					exposition(t)
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
	for line := range strings.Lines(exposition(t)) {
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

func TestWriteErrorIsReturned(t *testing.T) {
	full := errors.New("full")
	if err := metric.WriteTo(failingWriter{full}); !errors.Is(err, full) {
		t.Errorf("%v", err)
	}
}

type failingWriter struct{ err error }

func (f failingWriter) Write([]byte) (int, error) { return 0, f.err }

func BenchmarkCounter(b *testing.B) {
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			metric.Frames.Add(1, "named")
		}
	})
}
