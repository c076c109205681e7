package metric

import (
	"bufio"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
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
type registry []entry

type entry struct {
	Row
	write func(*bufio.Writer)
}

func (r *registry) counter(name, help string, labels ...string) *Counter {
	c := new(Counter)
	c.init(name, help, labels)
	*r = append(*r, entry{c.row("counter"), func(w *bufio.Writer) { c.each(w, writeInt) }})
	return c
}

func (r *registry) gauge(name, help string, labels ...string) *Gauge {
	g := new(Gauge)
	g.init(name, help, labels)
	*r = append(*r, entry{g.row("gauge"), func(w *bufio.Writer) { g.each(w, writeInt) }})
	return g
}

func (r *registry) histogram(name, help string, labels ...string) *Histogram {
	h := new(Histogram)
	h.init(name, help, labels)
	*r = append(*r, entry{h.row("histogram"), func(w *bufio.Writer) { h.each(w, writeBuckets) }})
	return h
}

func (f *family[T]) row(kind string) Row {
	return Row{Name: f.name, Type: kind, Labels: f.labels, Help: f.help}
}

// Table is all metrics in the order of their declaration.
func Table() []Row { return declared.table() }

// WriteTo writes all metrics in the Prometheus text format. Series of a metric
// are sorted by their label values.
func WriteTo(w io.Writer) error { return declared.writeTo(w) }

func (r registry) table() []Row {
	rows := make([]Row, len(r))
	for i := range r {
		rows[i] = r[i].Row
	}
	return rows
}

func (r registry) writeTo(w io.Writer) error {
	out := bufio.NewWriter(w)
	for _, e := range r {
		out.WriteString("# HELP " + e.Name + " " + escapeHelp.Replace(e.Help) + "\n")
		out.WriteString("# TYPE " + e.Name + " " + e.Type + "\n")
		e.write(out)
	}
	return out.Flush()
}

var (
	escapeHelp  = strings.NewReplacer("\\", `\\`, "\n", `\n`)
	escapeValue = strings.NewReplacer("\\", `\\`, "\n", `\n`, `"`, `\"`)
)

// each writes the series of f with write, which is given the labels without
// their braces.
func (f *family[T]) each(w *bufio.Writer, write func(w *bufio.Writer, name, labels string, s *T)) {
	series := *f.series.Load()
	keys := slices.SortedFunc(maps.Keys(series), func(a, b key) int { return slices.Compare(a[:], b[:]) })
	for _, k := range keys {
		var pairs []string
		for i, label := range f.labels {
			pairs = append(pairs, label+`="`+escapeValue.Replace(strings.ToValidUTF8(k[i], "\ufffd"))+`"`)
		}
		write(w, f.name, strings.Join(pairs, ","), series[k])
	}
}

func writeInt(w *bufio.Writer, name, labels string, n *atomic.Int64) {
	writeSample(w, name, labels, strconv.FormatInt(n.Load(), 10))
}

func writeBuckets(w *bufio.Writer, name, labels string, b *buckets) {
	separator := ","
	if labels == "" {
		separator = ""
	}
	var total int64
	for i := range b.counts {
		bound := "+Inf"
		if i < len(bounds) {
			bound = strconv.FormatFloat(bounds[i], 'g', -1, 64)
		}
		total += b.counts[i].Load()
		writeSample(w, name+"_bucket", labels+separator+`le="`+bound+`"`, strconv.FormatInt(total, 10))
	}
	sum := math.Float64frombits(b.sum.Load())
	writeSample(w, name+"_sum", labels, strconv.FormatFloat(sum, 'g', -1, 64))
	writeSample(w, name+"_count", labels, strconv.FormatInt(total, 10))
}

func writeSample(w *bufio.Writer, name, labels, value string) {
	w.WriteString(name)
	if labels != "" {
		w.WriteString("{" + labels + "}")
	}
	w.WriteString(" " + value + "\n")
}
