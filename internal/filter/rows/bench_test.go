package rows_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand"
	"strings"
	"testing"

	"symbolon/internal/filter"
	"symbolon/internal/filter/rows"
)

// constant are names with the same two calls at each address.
type constant struct{ calls []filter.Frame }

func (c constant) Look(context.Context, *filter.Query) (filter.Answer, error) { return c, nil }
func (c constant) Missing(int32) error                                        { return nil }
func (c constant) Frames(int) []filter.Frame                                  { return c.calls }
func (c constant) Release()                                                   {}

// pings returns n crash pings of 30 frames in 8 of their modules, most of which
// are at few addresses.
func pings(n, modules int) string {
	random := rand.New(rand.NewSource(1))
	var b strings.Builder
	for range n {
		b.WriteString(`{"crash_type":"SIGSEGV / SEGV_MAPERR","crash_address":"0x0","crash_thread":0,"main_module":0,"modules":[`)
		base := uint64(0x7f0000000000) + uint64(random.Intn(1<<16))<<12
		for m := range modules {
			fmt.Fprintf(&b, `{"base_address":"0x%x","end_address":"0x%x","filename":"lib%d.so","code_id":"","debug_file":"lib%[3]d.so","debug_id":"%032X0","version":"140.0"},`,
				base+uint64(m)<<32, base+uint64(m)<<32+1<<28, m, m+1)
		}
		b.WriteString(`{"filename":"last"}],"threads":[{"frames":[`)
		for f := range 30 {
			m := uint64(random.ExpFloat64()*2) & 7
			if f > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, `{"ip":"0x%x","module_index":%d,"trust":"cfi"}`, base+m<<32+uint64(random.ExpFloat64()*300)*16, m)
		}
		b.WriteString("]}]}\n")
	}
	return b.String()
}

func BenchmarkPings(b *testing.B) {
	names := constant{[]filter.Frame{
		{Function: []byte("RefPtr<mozilla::dom::Element>::operator->() const"), File: []byte("hg:hg.mozilla.org/mozilla-central:mfbt/RefPtr.h:0123456789ab"), Line: 315, Entry: 0, Inlined: true},
		{Function: []byte("mozilla::PresShell::EventHandler::HandleEvent(nsIFrame*, mozilla::WidgetGUIEvent*)"), File: []byte("hg:hg.mozilla.org/mozilla-central:layout/base/PresShell.cpp:0123456789ab"), Line: 6741},
	}}
	for name, modules := range map[string]int{"used modules": 3, "all modules": 50} {
		input := pings(4000, modules)
		for _, quoted := range []bool{false, true} {
			o := rows.Options{Replace: true}
			text := input
			if quoted {
				name += ", in a string"
				o.Field = "s"
				text = strings.NewReplacer(`"`, `\"`, "{\"crash_type", "{\"s\":\"{\\\"crash_type", "]}]}\n", "]}]}\"}\n").Replace(input)
			}
			b.Run(name, func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				b.ReportAllocs()
				for b.Loop() {
					n, err := o.Filter(context.Background(), &filter.Run{Names: names}, bufio.NewReaderSize(strings.NewReader(text), 64<<10), bufio.NewWriter(io.Discard))
					if err != nil || n.Rows != 4000 || n.Failed > 0 {
						b.Fatal(n, err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/4000, "µs/row")
			})
		}
	}
}
