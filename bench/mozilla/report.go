//go:build linux

package mozilla

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// target is what a figure should be, on the machine that the targets were
// recorded on: at most the value, or at least.
type target struct {
	least bool
	value float64
}

// The calibration on that machine: processor seconds for so many bytes.
const (
	recordedTime  = 0.35
	recordedBytes = 125_655_831
)

// targets are by group, row and name of the figure.
var targets = map[[3]string]target{
	{"cold", "largest file", "cpu s"}:             {value: 0.13},
	{"cold", "largest file", "peak MB over idle"}: {value: 32},
	{"cold", "all files", "cpu s"}:                {value: 0.45},
	{"cold", "all files", "peak MB over idle"}:    {value: 64},

	{"gzip", "ratio of the two", "wall"}: {value: 1.25},

	{"warm", "60 requests of 1 job", "frames / cpu s"}:   {true, 170_000},
	{"warm", "100 jobs, 10 a request", "frames / cpu s"}: {true, 450_000},
	{"warm", "1,000 stacks in 1 job", "frames / cpu s"}:  {true, 700_000},
	{"latency", "alone", "ms p99"}:                       {value: 2},
	{"latency", "ratio of the two", "p50"}:               {value: 2},
	{"latency", "ratio of the two", "p99"}:               {value: 2},
	{"start", "first answer", "ms"}:                      {value: 50},
	{"start", "before any request", "resident MB"}:       {value: 30},
	{"size", "in memory", "bytes / byte"}:                {value: 0.165},
	{"size", packedRow, "bytes / byte"}:                  {value: 0.07},
	{"build", "1 worker", "MB / cpu s"}:                  {true, 140},
	{"build", "2 workers", "MB / s"}:                     {true, 230},
	{"lookup", "random", "ns / frame"}:                   {value: 130},
	{"lookup", "random", "allocations / lookup"}:         {value: 0},
	{"lookup", "in order", "ns / frame"}:                 {value: 40},
	{"lookup", "in order", "allocations / lookup"}:       {value: 0},
	{"memory", "after everything", "resident MB"}:        {value: 200 << 20 / mb},
	{"memory", "after 10,000 requests more", "MB grown"}: {value: 10},
}

// scaled is a value as it would be on the recording machine. Only what is
// processor time is scaled.
func scaled(name string, value, factor float64) (float64, bool) {
	switch name {
	case "frames / cpu s", "MB / cpu s", "MB / s":
		return value / factor, true
	case "cpu s", "cpu s with the tables", "cpu s to scan", "cpu s to hash", "ns / frame":
		return value * factor, true
	}
	return value, false
}

// figure is one figure with the values of all runs.
type figure struct {
	Group  string    `json:"group"`
	Row    string    `json:"row"`
	Name   string    `json:"name"`
	Values []float64 `json:"values"`
}

// report gathers figures and prints them.
type report struct {
	w           io.Writer
	figures     []*figure
	notes       []string
	machineText []string
	recorded    float64              // the calibration there, for our largest file
	calibration map[string][]float64 // processor seconds, by group
}

func newReport(w io.Writer) *report { return &report{w: w, calibration: map[string][]float64{}} }

// add adds a value to a figure.
func (r *report) add(group, row, name string, value float64) {
	for _, f := range r.figures {
		if f.Group == group && f.Row == row && f.Name == name {
			f.Values = append(f.Values, value)
			return
		}
	}
	r.figures = append(r.figures, &figure{group, row, name, []float64{value}})
}

// last is the last value of a figure.
func (r *report) last(group, row, name string) float64 {
	for _, f := range r.figures {
		if f.Group == group && f.Row == row && f.Name == name {
			return f.Values[len(f.Values)-1]
		}
	}
	return 0
}

// note adds a line to the group that is being measured, once.
func (r *report) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(r.notes, text) {
		r.notes = append(r.notes, text)
	}
}

// machine prints what is measured on, and with which files.
func (r *report) machine(modules []module) {
	size := int64(0)
	for _, m := range modules {
		size += m.size
	}
	r.recorded = recordedTime * float64(modules[0].size) / recordedBytes
	load, _ := os.ReadFile("/proc/loadavg") // an empty one tells enough
	r.machineText = []string{
		fmt.Sprintf("%d cores, %s", runtime.NumCPU(), procField("/proc/cpuinfo", "model name")),
		fmt.Sprintf("memory %s, %s, load %s", procField("/proc/meminfo", "MemTotal"), runtime.Version(), strings.Join(strings.Fields(string(load))[:3], " ")),
		time.Now().Format(time.DateTime),
		fmt.Sprintf("%d files, %d bytes, the largest %s.sym with %d", len(modules), size, modules[0].file, modules[0].size),
	}
	fmt.Fprintln(r.w, strings.Join(r.machineText, "\n"))
}

func procField(path, name string) string {
	text, _ := os.ReadFile(path)
	for line := range strings.Lines(string(text)) {
		if key, value, _ := strings.Cut(line, ":"); strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return name + " unknown"
}

// calibrate measures the processor time of sha256sum over a file, with which a
// group's figures are scaled.
func (r *report) calibrate(ctx context.Context, group, path string) error {
	cmd := exec.CommandContext(ctx, "sha256sum", path)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("sha256sum: %w", err)
	}
	used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	r.calibration[group] = append(r.calibration[group], used.Seconds())
	return nil
}

// spread is the median of values, and the least and the most of them.
func spread(values []float64) (median, least, most float64) {
	values = slices.Sorted(slices.Values(values))
	return values[len(values)/2], values[0], values[len(values)-1]
}

// print prints the figures of a group.
func (r *report) print(g group) {
	calibration, least, most := spread(r.calibration[g.name])
	fmt.Fprintf(r.w, "\n%s: %s\ncalibration: %.3f cpu s (%.3f–%.3f); recorded: %.3f\n\n", g.name, g.title, calibration, least, most, r.recorded)
	t := tabwriter.NewWriter(r.w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "row\tfigure\tmedian\tmin–max\tscaled\ttarget\t")
	row := ""
	for _, f := range r.figures {
		if f.Group != g.name {
			continue
		}
		median, least, most := spread(f.Values)
		like, isScaled := scaled(f.Name, median, r.recorded/calibration)
		shown, judged := "", ""
		if isScaled {
			shown = number(like)
		}
		if want, ok := targets[[3]string{f.Group, f.Row, f.Name}]; ok {
			judged = want.judge(like)
		}
		head := f.Row
		if head == row {
			head = ""
		}
		row = f.Row
		fmt.Fprintf(t, "%s\t%s\t%s\t%s–%s\t%s\t%s\t\n", head, f.Name, number(median), number(least), number(most), shown, judged)
	}
	_ = t.Flush() // an output that is gone shows by itself
	for _, n := range r.notes {
		fmt.Fprintln(r.w, n)
	}
	r.notes = nil
}

func (t target) judge(value float64) string {
	sign, ok := "≤", value <= t.value
	if t.least {
		sign, ok = "≥", value >= t.value
	}
	mark := "MISS"
	if ok {
		mark = "ok"
	}
	return fmt.Sprintf("%s %s  %s", sign, number(t.value), mark)
}

// number writes a value with three digits that count.
func number(v float64) string {
	switch {
	case v == 0:
		return "0"
	case v >= 100 || v <= -100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10 || v <= -10:
		return fmt.Sprintf("%.1f", v)
	case v >= 1 || v <= -1:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

// finish writes all figures as JSON, if asked to.
func (r *report) finish(path string) error {
	if path == "" {
		return nil
	}
	text, err := json.MarshalIndent(map[string]any{
		"machine": r.machineText, "calibration_cpu_s": r.calibration, "recorded_calibration_cpu_s": r.recorded, "figures": r.figures,
	}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}
