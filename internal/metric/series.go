package metric

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"
)

const (
	maxLabels = 3
	maxSeries = 1000
	prefix    = "symbolon_"
	overflow  = "other" // the value of all labels of what goes past maxSeries
)

// key is the label values of a series, in the order of the labels.
type key [maxLabels]string

// family is one metric with its series. The map of series is replaced, never
// changed, so readers need no lock; new series are rare.
type family[T any] struct {
	name   string
	help   string
	labels []string
	series atomic.Pointer[map[key]*T]
	grow   sync.Mutex
}

func (f *family[T]) init(name, help string, labels []string) {
	if len(labels) > maxLabels {
		panic("metric " + name + " has too many labels")
	}
	if !strings.HasPrefix(name, "process_") {
		name = prefix + name
	}
	f.name, f.help, f.labels = name, help, labels
	empty := map[key]*T{}
	if len(labels) == 0 {
		empty[key{}] = new(T)
	}
	f.series.Store(&empty)
}

// at is the series with these label values.
func (f *family[T]) at(values []string) *T {
	if len(values) != len(f.labels) {
		panic(fmt.Sprintf("metric %s has %d labels, got %d values", f.name, len(f.labels), len(values)))
	}
	var k key
	copy(k[:], values)
	if s := (*f.series.Load())[k]; s != nil {
		return s
	}
	return f.add(k)
}

func (f *family[T]) add(k key) *T {
	f.grow.Lock()
	defer f.grow.Unlock()
	old := *f.series.Load()
	if len(old) >= maxSeries {
		for i := range f.labels {
			k[i] = overflow
		}
	}
	if s := old[k]; s != nil {
		return s
	}
	// The caller's values may be parts of something large.
	for i := range k {
		k[i] = strings.Clone(k[i])
	}
	grown := make(map[key]*T, len(old)+1)
	for k, s := range old {
		grown[k] = s
	}
	s := new(T)
	grown[k] = s
	f.series.Store(&grown)
	return s
}

// Counter is a number that only grows.
type Counter struct{ family[atomic.Int64] }

// Add adds n, which is not negative.
func (c *Counter) Add(n int64, labelValues ...string) { c.at(labelValues).Add(n) }

// Value is what was added so far.
func (c *Counter) Value(labelValues ...string) int64 { return c.at(labelValues).Load() }

// Gauge is a number that goes up and down.
type Gauge struct{ family[atomic.Int64] }

func (g *Gauge) Set(n int64, labelValues ...string) { g.at(labelValues).Store(n) }

func (g *Gauge) Add(n int64, labelValues ...string) { g.at(labelValues).Add(n) }

// Value is the number now.
func (g *Gauge) Value(labelValues ...string) int64 { return g.at(labelValues).Load() }

// Histogram counts durations by size.
type Histogram struct{ family[buckets] }

type buckets struct {
	counts [len(bounds) + 1]atomic.Int64 // each bucket by itself; the last has no bound
	sum    atomic.Uint64                 // bits of a float64
}

// Observe counts one duration.
func (h *Histogram) Observe(seconds float64, labelValues ...string) {
	b := h.at(labelValues)
	i := 0
	for i < len(bounds) && seconds > bounds[i] {
		i++
	}
	b.counts[i].Add(1)
	for {
		old := b.sum.Load()
		if b.sum.CompareAndSwap(old, math.Float64bits(math.Float64frombits(old)+seconds)) {
			return
		}
	}
}
