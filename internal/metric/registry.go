package metric

import (
	"net/http"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Row describes one metric.
type Row struct {
	Name   string
	Type   string // counter, gauge or histogram
	Labels []string
	Help   string
}

// registry is the metrics in the order in which they were declared. It does
// not change once the package is initialised.
type registry struct {
	*prometheus.Registry
	rows []Row
}

func newRegistry() *registry { return &registry{Registry: prometheus.NewRegistry()} }

// declare adds a row and returns the full name of its metric.
func (r *registry) declare(kind, name, help string, labels []string) string {
	r.rows = append(r.rows, Row{Name: prefix + name, Type: kind, Labels: labels, Help: help})
	return prefix + name
}

func (r *registry) counter(name, help string, labels ...string) *Counter {
	c := new(Counter)
	r.number(&c.number, prometheus.CounterValue, r.declare("counter", name, help, labels), help, labels)
	return c
}

func (r *registry) gauge(name, help string, labels ...string) *Gauge {
	g := new(Gauge)
	r.number(&g.number, prometheus.GaugeValue, r.declare("gauge", name, help, labels), help, labels)
	return g
}

func (r *registry) number(n *number, kind prometheus.ValueType, name, help string, labels []string) {
	n.kind, n.desc = kind, prometheus.NewDesc(name, help, labels, nil)
	n.init(name, labels, func(...string) *atomic.Int64 { return new(atomic.Int64) })
	r.MustRegister(n)
}

// histogram declares a histogram with the common buckets, and with native ones for
// clients that request them: each is at most a tenth larger than the one before.
func (r *registry) histogram(name, help string, labels ...string) *Histogram {
	name = r.declare("histogram", name, help, labels)
	vec := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: name, Help: help, Buckets: bounds[:], NativeHistogramBucketFactor: 1.1, NativeHistogramMaxBucketNumber: 160,
	}, labels)
	r.MustRegister(vec)
	h := new(Histogram)
	h.init(name, labels, func(values ...string) *timing { return &timing{Observer: vec.WithLabelValues(values...)} })
	return h
}

// Table returns all metrics of ours in the order of their declaration.
func Table() []Row { return declared.rows }

// Handler returns the handler that answers with all metrics, including those of the Go
// runtime and of the process, in the format that the client prefers: the text format of
// Prometheus, OpenMetrics or protobuf.
func Handler() http.Handler {
	standard := prometheus.NewRegistry()
	standard.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return declared.handler(standard)
}

// Memory returns a function that reads the resident memory of this process in bytes, or zero
// where the system does not report it.
func Memory() func() float64 {
	r := prometheus.NewRegistry()
	r.MustRegister(collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return func() float64 {
		families, _ := r.Gather() // an error leaves the family out
		for _, f := range families {
			if f.GetName() == "process_resident_memory_bytes" {
				return f.GetMetric()[0].GetGauge().GetValue()
			}
		}
		return 0
	}
}

func (r *registry) handler(more ...prometheus.Gatherer) http.Handler {
	return promhttp.HandlerFor(append(prometheus.Gatherers{r}, more...), promhttp.HandlerOpts{EnableOpenMetrics: true, DisableCompression: true})
}
