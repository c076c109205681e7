// Package history keeps the figures of this process for a day, with one value per minute,
// for the plots of the pages.
//
// A series is a named function. For a counter, which grows, the value of a minute is the
// increase in that minute; for a gauge it is the last value of the minute. The series are
// fixed when a History is created, each with a ring of 1440 values of four bytes: 20
// series of the process and 10 for each of at most 32 sources, 2 MB at most. Nothing is
// written to disk, so the figures begin with the process.
//
// Run samples once a minute; Sample samples the current minute. A minute without a
// sample, because the process was stopped, has the last value of a gauge and no increase
// of a counter; the increase counts in the next sampled minute. Minutes count from the
// start, so that a change of the clock does not move them. A History is safe for
// concurrent use.
package history

import (
	"context"
	"sync"
	"time"
)

// Minutes is the length of a History.
const Minutes = 24 * 60

// Series is a figure of the process.
type Series struct {
	Name  string
	Read  func() float64
	Gauge bool // else it is a counter
}

// History has the values of some series.
type History struct {
	now   func() time.Time
	start time.Time
	names map[string]int

	mu      sync.Mutex
	series  []ring
	current int64 // minute of the newest values
}

type ring struct {
	Series
	before float64 // the last value of a counter
	values [Minutes]float32
}

// New returns a History of series with different names.
func New(series []Series, now func() time.Time) *History {
	h := &History{now: now, start: now(), names: map[string]int{}, series: make([]ring, len(series))}
	for i, s := range series {
		h.names[s.Name] = i
		h.series[i].Series = s
		if !s.Gauge {
			h.series[i].before = s.Read()
		}
	}
	return h
}

// Run samples each minute until ctx ends.
func (h *History) Run(ctx context.Context) {
	tick := time.NewTicker(time.Minute)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			h.Sample()
		}
	}
}

// Sample reads all series into the current minute.
func (h *History) Sample() {
	h.mu.Lock()
	defer h.mu.Unlock()
	before := h.current
	h.current = int64(h.now().Sub(h.start) / time.Minute)
	for i := range h.series {
		s := &h.series[i]
		last := float32(0)
		if s.Gauge {
			last = s.values[slot(before)]
		}
		for m := max(before, h.current-Minutes) + 1; m <= h.current; m++ {
			s.values[slot(m)] = last
		}
		v, at := s.Read(), &s.values[slot(h.current)]
		if s.Gauge {
			*at = float32(v)
			continue
		}
		*at += float32(v - s.before)
		s.before = v
	}
}

// slot returns the index of a minute, which may be before the start.
func slot(minute int64) int64 { return (minute + Minutes) % Minutes }

// Last returns the values of the last minutes, at most Minutes of them, the oldest first.
// Each of them is of step minutes: the sum of a counter, the last value of a gauge. They
// are zero before the start of the process, and for a name without a series.
func (h *History) Last(name string, minutes, step int) []float64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := make([]float64, minutes/step)
	i, known := h.names[name]
	if !known {
		return out
	}
	s := &h.series[i]
	first := h.current - int64(len(out)*step) + 1
	for n := range int64(len(out) * step) {
		v := float64(s.values[slot(first+n)])
		if s.Gauge {
			out[n/int64(step)] = v
		} else {
			out[n/int64(step)] += v
		}
	}
	return out
}

// Sum returns the growth of a counter in the last minutes.
func (h *History) Sum(name string, minutes int) (sum float64) {
	for _, v := range h.Last(name, minutes, 1) {
		sum += v
	}
	return sum
}
