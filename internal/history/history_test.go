package history_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"symbolon/internal/history"
	"symbolon/internal/metric"
)

// figures is a counter and a gauge.
type figures struct{ counter, gauge atomic.Int64 }

func (f *figures) history() *history.History {
	return history.New([]history.Series{
		{Name: "counter", Read: func() float64 { return float64(f.counter.Load()) }},
		{Name: "gauge", Read: func() float64 { return float64(f.gauge.Load()) }, Gauge: true},
	}, time.Now)
}

func expect(t *testing.T, h *history.History, name string, step int, want ...float64) {
	t.Helper()
	h.Sample()
	if got := h.Last(name, len(want)*step, step); !slices.Equal(got, want) {
		t.Errorf("%s by %d minutes: got %v, want %v", name, step, got, want)
	}
}

func TestCountersAreDifferencesAndGaugesAreValues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &figures{}
		f.counter.Store(100)
		h := f.history()
		ctx, stop := context.WithCancel(t.Context())
		go h.Run(ctx)
		for i := range 4 {
			f.counter.Add(int64(i))
			f.gauge.Store(int64(10 * i))
			time.Sleep(time.Minute)
			synctest.Wait()
		}
		stop()
		expect(t, h, "counter", 1, 0, 0, 1, 2, 3)
		expect(t, h, "gauge", 1, 0, 0, 10, 20, 30)
		expect(t, h, "counter", 2, 0, 1, 5)
		expect(t, h, "gauge", 2, 0, 10, 30)
		if got := h.Sum("counter", 2); got != 5 {
			t.Errorf("the counter grew by %v in two minutes, want 5", got)
		}
	})
}

func TestASampleReplacesThatOfTheMinuteUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &figures{}
		h := f.history()
		f.counter.Store(3)
		f.gauge.Store(7)
		expect(t, h, "counter", 1, 0, 3)
		f.counter.Store(5)
		expect(t, h, "counter", 1, 0, 5)
		expect(t, h, "gauge", 1, 0, 7)
	})
}

func TestMinutesWithoutASampleHaveNoDifference(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &figures{}
		f.gauge.Store(7)
		h := f.history()
		f.counter.Store(3)
		expect(t, h, "counter", 1, 3)
		time.Sleep(3 * time.Minute)
		f.counter.Store(9)
		f.gauge.Store(8)
		expect(t, h, "counter", 1, 3, 0, 0, 6)
		expect(t, h, "gauge", 1, 7, 7, 7, 8)
	})
}

func TestValuesOfTheDayBeforeAreReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &figures{}
		h := f.history()
		f.counter.Store(1)
		h.Sample()
		time.Sleep(history.Minutes * time.Minute)
		h.Sample()
		if got := h.Sum("counter", history.Minutes); got != 0 {
			t.Errorf("%v of the day before remain", got)
		}
		time.Sleep(5 * history.Minutes * time.Minute)
		f.counter.Store(4)
		h.Sample()
		if got := h.Sum("counter", history.Minutes); got != 3 {
			t.Errorf("got %v after days without samples, want 3", got)
		}
	})
}

func TestUnknownNamesAreZero(t *testing.T) {
	expect(t, (&figures{}).history(), "other", 1, 0, 0)
}

func TestSeriesOfTheProcessFollowTheMetrics(t *testing.T) {
	h := history.New(history.OfProcess([]string{"depot"}), time.Now)
	metric.Requests.Add(2, "a", "200")
	metric.Requests.Add(1, "b", "404")
	metric.Downloads.Add(3, "depot", "not_found")
	metric.DownloadBytes.Add(10, "depot")
	metric.DownloadSeconds.Observe(1.5, "depot")
	metric.CacheLookups.Add(4, "disk", "meta", "hit")
	metric.CacheLookups.Add(5, "disk", "objects", "miss")
	h.Sample()
	for name, want := range map[string]float64{
		history.Requests: 3, history.Source("depot", "not_found"): 3, history.Source("depot", "ok"): 0,
		history.Source("depot", history.Bytes): 10, history.Source("depot", history.Seconds): 1.5,
		history.Tier("disk", history.Hits): 4, history.Tier("disk", history.Lookups): 9, history.Tier("redis", history.Lookups): 0,
	} {
		if got := h.Sum(name, 1); got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	if h.Last(history.Memory, 1, 1)[0] == 0 {
		t.Error("the process has no memory")
	}
}

func TestSourcesAreBounded(t *testing.T) {
	few, many := history.OfProcess(make([]string, 32)), history.OfProcess(make([]string, 1000))
	if len(few) != len(many) || len(many)*history.Minutes*4 > 2_000_000 {
		t.Errorf("%d and %d series", len(few), len(many))
	}
}

func BenchmarkSample(b *testing.B) {
	ids := make([]string, 32)
	for i := range ids {
		ids[i] = string(rune('a' + i))
	}
	h := history.New(history.OfProcess(ids), time.Now)
	b.ReportAllocs()
	for b.Loop() {
		h.Sample()
	}
}
