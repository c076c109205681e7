//go:build !race

package load_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"symbolon/internal/trial"
	"symbolon/internal/waittest"
)

// The memory of a server that has served everything, with the budget for
// tables that is named here.
const (
	tableBudget = "table.max_bytes=64MiB"
	ceiling     = 200 << 20
)

func TestMemoryHasACeilingAndStaysFlat(t *testing.T) {
	skipIfShort(t)
	var all []templates
	for n, funcs := range []int{58_000, 20_000, 12_000, 8_000, 6_000, 5_000, 4_000, 3_000, 2_000, 2_000, 1_000, 1_000} {
		all = append(all, newTemplates(n, funcs))
	}
	up := serveTemplates(t, all...)
	s := trial.Start(t, trial.Options{Sources: []string{up.URL}, Set: []string{tableBudget, "log.level=warn"}})
	idle, _ := s.Memory()
	c := newClient(t, s)

	// Cold, all at once, then until all tables are there.
	start := time.Now()
	status, took, err := c.post(strings.NewReader(everything(all, 2400)), nil)
	if status != http.StatusOK || err != nil {
		t.Fatalf("%d, %v", status, err)
	}
	_, peak := s.Memory()
	t.Logf("idle %d MiB; cold answer after %v, at most %d MiB until then", idle>>20, took, peak>>20)
	waittest.Until(t, "all tables are built", func() bool {
		return s.Metric("table_builds_total", `outcome="built"`) == float64(len(all))
	})
	now, peak := s.Memory()
	t.Logf("all tables built after %v with %.0f MB of files: %d MiB now, %d MiB at most", time.Since(start), s.Metric("table_build_input_bytes_total")/1e6, now>>20, peak>>20)

	small := func(i int) string { return all[i%len(all)].stack(i*31, 27) }
	for _, phase := range []struct {
		name     string
		requests int
		body     func(int) string
	}{
		{"small", 400, small},
		{"large", 8, func(i int) string { return everything(all, 2400+i) }},
		{"small", 400, small},
	} {
		parallel(4, func(k int) { c.asking(t, phase.requests/4, 0, nil, func(i int) string { return phase.body(4*i + k) }) })
		now, peak = s.Memory()
		t.Logf("%d %s requests: %d MiB now, %d MiB at most", phase.requests, phase.name, now>>20, peak>>20)
	}
	if peak > ceiling {
		t.Errorf("the memory was %d MiB at most; the ceiling is %d", peak>>20, ceiling>>20)
	}
	before := now
	parallel(4, func(k int) { c.asking(t, 2500, 0, nil, func(i int) string { return small(4*i + k) }) })
	after, peak := s.Memory()
	t.Logf("10,000 more small requests: %d MiB before, %d MiB after, %d MiB at most", before>>20, after>>20, peak>>20)
	if after > before+before/10 {
		t.Errorf("the memory grew from %d to %d MiB in 10,000 small requests", before>>20, after>>20)
	}
	if peak > ceiling {
		t.Errorf("the memory was %d MiB at most; the ceiling is %d", peak>>20, ceiling>>20)
	}
}

// everything is a request for n functions of each file, in stacks of 100.
func everything(all []templates, n int) string {
	var b strings.Builder
	b.WriteString(`{"memoryMap":[`)
	for i, f := range all {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `["%s","%s"]`, f.File, f.ID)
	}
	b.WriteString(`],"stacks":[[`)
	for k := range n * len(all) {
		if k%100 == 0 && k > 0 {
			b.WriteString("],[")
		} else if k > 0 {
			b.WriteByte(',')
		}
		m := k % len(all)
		fmt.Fprintf(&b, "[%d,%d]", m, all[m].offset(k/len(all)*7919%all[m].funcs))
	}
	b.WriteString("]]}")
	return b.String()
}
