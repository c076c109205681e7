package mozilla_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"symbolon/internal/api/mozilla"
	"symbolon/internal/sym"
	"symbolon/internal/symbolicate"
)

// crashes is a request of 100 jobs with 10 modules and 30 frames each.
func crashes() string {
	var b strings.Builder
	b.WriteString(`{"jobs": [`)
	for j := range 100 {
		fmt.Fprintf(&b, `%s{"memoryMap": [`, strings.Repeat(", ", min(j, 1)))
		for m := range 10 {
			fmt.Fprintf(&b, `%s["lib%d.so", "%032X0"]`, strings.Repeat(", ", min(m, 1)), m+j%7, m+j%7)
		}
		b.WriteString(`], "stacks": [[`)
		for f := range 30 {
			fmt.Fprintf(&b, `%s[%d, %d]`, strings.Repeat(", ", min(f, 1)), f%11-1, 1000003*(j+f)%40_000_000)
		}
		b.WriteString(`]]}`)
	}
	b.WriteString(`]}`)
	return b.String()
}

func BenchmarkDecode(b *testing.B) {
	for name, body := range map[string]string{
		"crashes":  crashes(),
		"profiler": `{"jobs": [{"memoryMap": [["libxul.so", "` + libID + `"]], "stacks": [[` + strings.Repeat("[0,123456789],", 10_000) + `[0,1]]]}]}`,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(body)))
			r := strings.NewReader(body)
			for b.Loop() {
				r.Reset(body)
				if _, err := mozilla.Ask(r, mozilla.Config{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// same answers every frame alike, so that only the door is measured.
type same struct{ frames []sym.Frame }

func (s same) Frames(int) ([]sym.Frame, error) { return s.frames, nil }
func (s same) Release()                        {}
func (s same) AppendText(dst []byte, _ int32, t sym.Text) ([]byte, bool) {
	if t == 1 {
		return append(dst, "mozilla::dom::Element::QueueScrollEvent(nsAtom*, mozilla::WidgetGUIEvent const&)"...), true
	}
	return append(dst, "hg:hg.mozilla.org/mozilla-central:dom/base/Element.cpp:0123456789abcdef0123456789abcdef01234567"...), true
}

func (s same) AppendFile(dst []byte, m int32, t sym.Text) ([]byte, bool) {
	return s.AppendText(dst, m, t)
}

func BenchmarkAnswer(b *testing.B) {
	run := func(_ context.Context, req *symbolicate.Request) ([]symbolicate.Module, mozilla.Lookups, error) {
		mods := make([]symbolicate.Module, len(req.Modules))
		for i := range mods {
			mods[i].Asked, mods[i].Found = true, true
		}
		return mods, same{[]sym.Frame{{Func: 1, File: 2, Line: 77, Entry: 0}, {Func: 1, File: 2, Line: 123, Entry: 0, Size: 64}}}, nil
	}
	h := front(mozilla.NewWith(mozilla.Config{}, mozilla.Deps{Now: now, Log: quiet}, run))
	body := crashes()
	for _, c := range []struct{ name, path, accept string }{
		{"v5", "/symbolicate/v5", ""}, {"v5-gzip", "/symbolicate/v5", "gzip"}, {"v5-br", "/symbolicate/v5", "br"}, {"v5-zstd", "/symbolicate/v5", "zstd"},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			var sent int64
			for b.Loop() {
				r := httptest.NewRequest("POST", c.path, strings.NewReader(body))
				r.Header.Set("Accept-Encoding", c.accept)
				w := &counter{header: map[string][]string{}}
				h.ServeHTTP(w, r)
				sent = w.n
			}
			b.SetBytes(sent)
			b.ReportMetric(3000*float64(b.N)/b.Elapsed().Seconds(), "frames/s")
		})
	}
}

// counter is a ResponseWriter that counts.
type counter struct {
	header map[string][]string
	n      int64
}

func (c *counter) Header() http.Header { return c.header }
func (c *counter) WriteHeader(int)     {}
func (c *counter) Write(b []byte) (int, error) {
	c.n += int64(len(b))
	return len(b), nil
}
