package metric

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

const (
	maxLabels = 3
	maxSeries = 1000
	prefix    = "symbolon_"
	overflow  = "other" // the value of all labels of what exceeds maxSeries
)

// key is the label values of a series, in the order of the labels.
type key [maxLabels]string

// family is one metric with its series. The map of series is replaced, never
// changed, so readers need no lock; new series are rare.
type family[T any] struct {
	name   string
	labels []string
	create func(labelValues ...string) T
	series atomic.Pointer[map[key]T]
	grow   sync.Mutex
}

func (f *family[T]) init(name string, labels []string, create func(...string) T) {
	if len(labels) > maxLabels {
		panic("metric " + name + " has too many labels")
	}
	f.name, f.labels, f.create = name, labels, create
	series := map[key]T{}
	if len(labels) == 0 {
		series[key{}] = create()
	}
	f.series.Store(&series)
}

// at returns the series with these label values.
func (f *family[T]) at(values []string) T {
	if len(values) != len(f.labels) {
		panic(fmt.Sprintf("metric %s has %d labels, got %d values", f.name, len(f.labels), len(values)))
	}
	var k key
	copy(k[:], values)
	if s, ok := (*f.series.Load())[k]; ok {
		return s
	}
	return f.add(k)
}

func (f *family[T]) add(k key) T {
	f.grow.Lock()
	defer f.grow.Unlock()
	old := *f.series.Load()
	// The caller's values may be parts of something large, and not be text.
	for i := range k {
		k[i] = strings.ToValidUTF8(strings.Clone(k[i]), "\ufffd")
		if len(old) >= maxSeries && i < len(f.labels) {
			k[i] = overflow
		}
	}
	if s, ok := old[k]; ok {
		return s
	}
	grown := make(map[key]T, len(old)+1)
	maps.Copy(grown, old)
	s := f.create(k[:len(f.labels)]...)
	grown[k] = s
	f.series.Store(&grown)
	return s
}

// each calls visit for the existing series with these label values; an empty value
// matches any.
func (f *family[T]) each(values []string, visit func(T)) {
	if len(values) != len(f.labels) {
		panic(fmt.Sprintf("metric %s has %d labels, got %d values", f.name, len(f.labels), len(values)))
	}
	var k key
	copy(k[:], values)
	series := *f.series.Load()
	if !slices.Contains(values, "") {
		if s, ok := series[k]; ok {
			visit(s)
		}
		return
	}
	for at, s := range series {
		isOne := true
		for i, v := range values {
			isOne = isOne && (v == "" || v == at[i])
		}
		if isOne {
			visit(s)
		}
	}
}

// number is a family of whole numbers. It is a prometheus.Collector, as the
// numbers of the library are floating point and cannot be read.
type number struct {
	family[*atomic.Int64]
	desc *prometheus.Desc
	kind prometheus.ValueType
}

// Describe implements prometheus.Collector.
func (n *number) Describe(out chan<- *prometheus.Desc) { out <- n.desc }

// Collect implements prometheus.Collector.
func (n *number) Collect(out chan<- prometheus.Metric) {
	for k, s := range *n.series.Load() {
		out <- prometheus.MustNewConstMetric(n.desc, n.kind, float64(s.Load()), k[:len(n.labels)]...)
	}
}

// Add adds m, which is not negative for a Counter.
func (n *number) Add(m int64, labelValues ...string) { n.at(labelValues).Add(m) }

// Value returns the number now.
func (n *number) Value(labelValues ...string) int64 { return n.at(labelValues).Load() }

// Sum returns the sum of the series with these label values; an empty value matches any.
func (n *number) Sum(labelValues ...string) (sum int64) {
	n.each(labelValues, func(s *atomic.Int64) { sum += s.Load() })
	return sum
}

// Counter is a number that only grows.
type Counter struct{ number }

// Gauge is a number that goes up and down.
type Gauge struct{ number }

// Set replaces the number.
func (g *Gauge) Set(m int64, labelValues ...string) { g.at(labelValues).Store(m) }

// Histogram counts durations by size.
type Histogram struct{ family[*timing] }

// timing is a series of a Histogram, with a sum that can be read.
type timing struct {
	prometheus.Observer
	nanos atomic.Int64
}

// Observe counts one duration.
func (h *Histogram) Observe(seconds float64, labelValues ...string) {
	s := h.at(labelValues)
	s.Observe(seconds)
	s.nanos.Add(int64(seconds * 1e9))
}

// Seconds returns the sum of the durations of the series with these label values; an
// empty value matches any.
func (h *Histogram) Seconds(labelValues ...string) float64 {
	var nanos int64
	h.each(labelValues, func(s *timing) { nanos += s.nanos.Load() })
	return float64(nanos) / 1e9
}
