package sentry_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"symbolon/internal/api/sentry"
	"symbolon/internal/ident"
	"symbolon/internal/object"
	"symbolon/internal/sym"
	"symbolon/internal/symbolicate"
)

// stacks50 is a request of 50 stack traces with 100 frames each in 3 modules.
func stacks50() string {
	var b strings.Builder
	b.WriteString(`{"stacktraces":[`)
	for s := range 50 {
		fmt.Fprintf(&b, `%s{"frames":[`, strings.Repeat(",", min(s, 1)))
		for f := range 100 {
			fmt.Fprintf(&b, `%s{"instruction_addr":"0x%x"}`, strings.Repeat(",", min(f, 1)), 0x7f0000001000+uint64(f%3)<<32+uint64(s*100+f)*16)
		}
		b.WriteString(`]}`)
	}
	b.WriteString(`],"modules":[`)
	for m := range 3 {
		fmt.Fprintf(&b, `%s{"type":"elf","code_id":"aa%02d","debug_id":"487e24dd-040d-3d82-3fa4-4664a0e46575","code_file":"/usr/lib/x86_64-linux-gnu/lib%d.so.6","image_addr":"0x%x","image_size":16777216}`,
			strings.Repeat(",", min(m, 1)), m, m, 0x7f0000000000+uint64(m)<<32)
	}
	b.WriteString(`],"options":{"apply_source_context":false}}`)
	return b.String()
}

// constant gives every address the same two frames.
type constant struct{ req *symbolicate.Request }

var constantFrames = []sym.Frame{
	{Func: 1, File: 3, Line: 77, Entry: 0x1000, Inlined: true}, {Func: 2, File: 3, Line: 1177, Entry: 0x1000},
}

var constantTexts = []string{"", "_ZNSt6vectorIiSaIiEE9push_backERKi", "_ZN6harbor5Crane4liftEiPKc", "/usr/src/harbor/src/core/crane.cpp"}

func (c constant) Addr(i int) (uint64, bool) { return c.req.Frames[i].Addr - 1, true }
func (c constant) Frames(i int) ([]sym.Frame, error) {
	return constantFrames[1-min(i%3, 1):], nil
}
func (c constant) AppendRaw(dst []byte, _ int32, t sym.Text) ([]byte, bool) {
	return append(dst, constantTexts[t]...), true
}
func (c constant) AppendFile(dst []byte, m int32, t sym.Text) ([]byte, bool) {
	return c.AppendRaw(dst, m, t)
}
func (c constant) Source(int32, string) ([]byte, string) { return nil, "" }
func (c constant) Release()                              {}

func constantRun(_ context.Context, req *symbolicate.Request) ([]symbolicate.Module, sentry.Lookups, error) {
	known := make([]symbolicate.Module, len(req.Modules))
	for i := range known {
		known[i] = symbolicate.Module{Asked: true, Found: true, Arch: ident.ArchX86_64, Features: object.HasDebug}
	}
	return known, constant{req}, nil
}

func BenchmarkDecode(b *testing.B) {
	body := stacks50()
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	r := strings.NewReader(body)
	for b.Loop() {
		r.Reset(body)
		if _, err := sentry.Ask(r, sentry.Config{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(5000*float64(b.N)/b.Elapsed().Seconds(), "frames/s")
}

// Everything but the lookups: from the body to the answer.
func BenchmarkRequest(b *testing.B) {
	body := stacks50()
	b.ReportAllocs()
	r := strings.NewReader(body)
	for b.Loop() {
		r.Reset(body)
		if err := sentry.Encode(r, constantRun, io.Discard); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(5000*float64(b.N)/b.Elapsed().Seconds(), "frames/s")
}

// A small request through the front, as it is met most: 30 frames, and the
// sources that it names.
func BenchmarkSmall(b *testing.B) {
	body := strings.NewReplacer(`"stacktraces":[`, `"sources":[{"id":"x","type":"http","url":"http://127.0.0.1:1/","layout":{"type":"symstore"}}],"stacktraces":[`).
		Replace(stacks50())
	head, rest, _ := strings.Cut(body, `{"frames":[`)
	stack, _, _ := strings.Cut(rest, `]}`)
	frames := strings.Split(stack, "},")[:30]
	_, modules, _ := strings.Cut(body, `,"modules"`)
	small := head + `{"frames":[` + strings.Join(frames, "},") + `}]}],"modules"` + modules
	d := sentry.NewWith(sentry.Config{AllowRequestSources: true}, sentry.Deps{Now: time.Now, Log: quiet},
		func(sentry.Search) (sentry.Run, error) { return constantRun, nil })
	defer d.Close()
	f := front(d)
	b.ReportAllocs()
	for b.Loop() {
		if w := do(f, "POST", "/symbolicate", small); w.Code != 200 || w.Body.Len() < 9000 {
			b.Fatal(w.Code, w.Body)
		}
	}
}
