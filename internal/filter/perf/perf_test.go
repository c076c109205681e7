package perf_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"symbolon/internal/filter"
	"symbolon/internal/filter/filtertest"
	"symbolon/internal/filter/perf"
	"symbolon/internal/ident"
)

const (
	appID = "7a3307cb2da11ebce55d25c7d437dc4b9559ee63"
	libID = "93ac61ec5a8eb1396f9fbd350e3169a558528a40"
	osID  = "48dc540c8b76393804ca8088dbfa7d42911a9444"
)

// names has names at 0x7d3 and 0x1188, with an inlined call, of the program, at
// 0x27249 of the library, and of the kernel.
var names = filtertest.Names{
	appID: {
		0x7d3:  {{Function: []byte("leaf")}},
		0x1188: {{Function: []byte("in<A; B>"), Inlined: true}, {Function: []byte("mid(int)"), Inlined: true}, {Function: []byte("out")}},
		0x1189: {{Function: []byte("after")}},
	},
	libID: {0x27249: {{Function: []byte("start")}}},
	osID:  {0x1234: {{Function: []byte("idle")}}, 0xffffffff81005678: {{Function: []byte("tick")}}},
}

// rewrite returns a text with names. It fails if a second run changes it.
func rewrite(t *testing.T, run *filter.Run, text string) string {
	t.Helper()
	run.Names = names
	once := filtered(t, run, text)
	if twice := filtered(t, run, once); twice != once && !run.Force {
		t.Errorf("a second run changes\n%sto\n%s", once, twice)
	}
	return once
}

func filtered(t testing.TB, run *filter.Run, text string) string {
	t.Helper()
	var out bytes.Buffer
	w := bufio.NewWriter(&out)
	if err := perf.Filter(t.Context(), run, bufio.NewReader(strings.NewReader(text)), w); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

const ids = appID + " /srv/app\n" + libID + " /usr/lib/libc.so.6\n" + osID + " [kernel.kallsyms]\n"

func TestScriptLinesGetNames(t *testing.T) {
	for _, c := range []struct{ what, in, want string }{
		{"a chain", "app 4711 [002] 81.123456:     250000 cycles:u: \n" +
			"\t             7d3 [unknown] (/srv/app)\n\t            1189 [unknown] (/srv/app)\n\t           2724a [unknown] (/usr/lib/libc.so.6)\n\n",
			"app 4711 [002] 81.123456:     250000 cycles:u: \n" +
				"\t             7d3 leaf (/srv/app)\n\t            1189 in<A; B> (inlined)\n\t            1189 mid(int) (inlined)\n" +
				"\t            1189 out (/srv/app)\n\t           2724a start (/usr/lib/libc.so.6)\n\n"},
		{"the first frame of each sample is exact", "a 1 1.000000: x: \n\t 1189 [unknown] (/srv/app)\n\nb c 2 1.100000: x: \n\t 1189 [unknown] (/srv/app)\n",
			"a 1 1.000000: x: \n\t 1189 after (/srv/app)\n\nb c 2 1.100000: x: \n\t 1189 after (/srv/app)\n"},
		{"the first frame below the kernel is exact",
			"a 1 1.000000: x: \n\tffffffff81005678 [unknown] ([kernel.kallsyms])\n\t 1189 [unknown] (/srv/app)\n\t 1189 [unknown] (/srv/app)\n",
			"a 1 1.000000: x: \n\tffffffff81005678 tick ([kernel.kallsyms])\n\t 1189 after (/srv/app)\n" +
				"\t 1189 in<A; B> (inlined)\n\t 1189 mid(int) (inlined)\n\t 1189 out (/srv/app)\n"},
		{"lines of sources are between frames", "a 1 1.000000: x: \n\t 7d3 [unknown] (/srv/app)\n  app[7d3]\n\t 1189 [unknown] (/srv/app)\n  app[1189]\n",
			"a 1 1.000000: x: \n\t 7d3 leaf (/srv/app)\n  app[7d3]\n" +
				"\t 1189 in<A; B> (inlined)\n\t 1189 mid(int) (inlined)\n\t 1189 out (/srv/app)\n  app[1189]\n"},
		{"a deleted file", "a 1 1.000000: x: \n\t 7d3 [unknown] (/srv/app (deleted))\n", "a 1 1.000000: x: \n\t 7d3 leaf (/srv/app (deleted))\n"},
		{"field dsoff", "a 1 1.000000: x: \n\t 5500001234d3 [unknown] (/srv/app+0x7d3)\n", "a 1 1.000000: x: \n\t 5500001234d3 leaf (/srv/app+0x7d3)\n"},
		{"a line break of Windows", "a 1 1.000000: x: \r\n\t 7d3 [unknown] (/srv/app)\r\n", "a 1 1.000000: x: \r\n\t 7d3 leaf (/srv/app)\r\n"},
		{"the end of the file", "a 1 1.000000: x: \n\t 7d3 [unknown] (/srv/app)", "a 1 1.000000: x: \n\t 7d3 leaf (/srv/app)"},
	} {
		t.Run(c.what, func(t *testing.T) {
			if got := rewrite(t, new(filter.Run), ids+c.in); got != ids+c.want {
				t.Errorf("got\n%swant\n%s", got, ids+c.want)
			}
		})
	}
}

func TestScriptKeepsOtherLines(t *testing.T) {
	for _, text := range []string{
		"", "\n", "\x00\xff[unknown] (\n)", "\t 7d3 [unknown] ([unknown])\n", "\t 7d3 [unknown] (/srv/other)\n",
		"\t 7d3 work+0x13 (/srv/app)\n", "\t 9999 [unknown] (/srv/app)\n", "\t 7d3\n", "\t 7d3 [unknown]\n", "\t 7d3 [unknown] ()\n",
		"\t 7d3 <impl Trait for (A, B)>::f (/srv/app)\n", "\tFFF [unknown] (/srv/app)\n", "\t12345678901234567 [unknown] (/srv/app)\n",
		"a 1 1.000000: x: 7d3 [unknown] (/srv/app)\n", "\t 7d3 [unknown] /srv/app)\n", "\t 7f00000007d3 [unknown] (/srv/app)\n",
		"a 1 1.000000: PERF_RECORD_MMAP2 1/1: [0x1000]: r-xp /srv/app\n", "\t 7d3 mid (inlined)\n",
		"\t7f5e1d2c3a4b read+4 (/usr/lib/libc.so.6)\n\t7f5e1d2c3a4c 0x7f5e1d2c3a4c ([unknown])\n", // of bpftrace
	} {
		if got := rewrite(t, new(filter.Run), ids+text); got != ids+text {
			t.Errorf("%q became %q", text, got[len(ids):])
		}
	}
}

func TestMappingsGiveAbsoluteAddresses(t *testing.T) {
	const events = "    swapper     0     0.000000: PERF_RECORD_MMAP -1/0: [0xffffffff9a000000(0x1209988) @ 0xffffffff9a000000]: x [kernel.kallsyms]_text\n" +
		"   app 10 1.100000: PERF_RECORD_MMAP2 10/10: [0x55f7aa573000(0x1000) @ 0x1000 fe:00 10010636 3085030695]: r-xp /srv/app\n" +
		"   app 11 1.200000: PERF_RECORD_MMAP2 11/11: [0x55f7aa573000(0x1000) @ 0 <" + appID + ">]: r-xp /srv/app\n"
	const samples = "   app 10 1.300000:     250000 cpu-clock:      55f7aa573189 [unknown] (/srv/app)\n" +
		"   app 11/12 [003] 1.400000: cpu-clock:      55f7aa5737d3 [unknown] (/srv/app)\n" +
		" a: b  11 1.400000: cpu-clock:      55f7aa5737d3 [unknown] (/srv/app)\n" +
		"   app 11 1.500000: cpu-clock: ffffffff9a001234 [unknown] ([kernel.kallsyms])\n" +
		"app 11 1.600000: x: \n\t55f7aa5737d3 [unknown] (/srv/app)\n"
	want := strings.NewReplacer("573189 [unknown]", "573189 after", "5737d3 [unknown]", "5737d3 leaf", "1234 [unknown]", "1234 idle").Replace(samples)
	text := ids + events
	if got := rewrite(t, new(filter.Run), text+samples); got != text+want {
		t.Errorf("got\n%swant\n%s", got, text+want)
	}
}

func TestForcedRunReplacesNames(t *testing.T) {
	const text = ids + "a 1 1.000000: x: \n\t 7d3 _init+0x13 (/srv/app)\n\t 1189 x::y (inlined)\n\t 1189 operator()(int)+0x1 (/srv/app)\n"
	const want = ids + "a 1 1.000000: x: \n\t 7d3 leaf (/srv/app)\n\t 1189 x::y (inlined)\n\t 1189 out (/srv/app)\n"
	if got := rewrite(t, &filter.Run{Force: true}, text); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestUserIdentifiesFiles(t *testing.T) {
	run := &filter.Run{Known: map[string]ident.Module{"app": {CodeID: appID}}}
	const text = "a 1 1.000000: x: \n\t 7d3 [unknown] (/srv/app)\n"
	if got := rewrite(t, run, text); !strings.Contains(got, "7d3 leaf (/srv/app)") {
		t.Errorf("got %q", got)
	}
}

func TestUnknownModulesAreNotLookedUp(t *testing.T) {
	run := &filter.Run{Local: func(path string) (ident.Module, bool) {
		t.Errorf("%q is looked up", path)
		return ident.Module{}, false
	}}
	rewrite(t, run, "a;[unknown <0>];[[unknown] <1>];[unknown];main+0x12 1\na 1 1.000000: x: \n\t 0 [unknown] ([unknown])\n\t 1 [unknown] ()\n")
}

func TestFoldedStacksGetNames(t *testing.T) {
	const same = libID + " /opt/libtwo.so\n" + appID + " /srv/libtwo.so\n"
	for _, c := range []struct{ in, want string }{
		{"app;[app <1189>];[app <7d3>] 12\n", "app;out;mid(int)_[i];in<A: B>_[i];leaf 12\n"},
		{"app;/srv/app+0x1189 3\n", "app;after 3\n"},
		{"app;[libc.so.6+0x2724a];app+0x7d3_[j] 1.5\r\n", "app;start;leaf_[j] 1.5\r\n"},
		{"libc.so.6+0x27249 1", "start 1"},
		{"swapper;[[kernel.kallsyms] <ffffffff81005678>]_[k] 7\n", "swapper;tick_[k] 7\n"},
		{"app;main+0x1189;[unknown];[libtwo.so <7d3>];/opt/no+0x1;;[app <x>] 7\n", ""},
		{"app;[app <7d3>]\n", ""},
		{"app;[unknown <0>];[[unknown] <0>] 1\n", ""},
		{"app;[app <7d3>] 12x\n", ""},
		{"\xff;\x00 1\n 1\n", ""},
	} {
		if c.want == "" {
			c.want = c.in
		}
		if got := rewrite(t, new(filter.Run), ids+same+c.in); got != ids+same+c.want {
			t.Errorf("%q became %q, want %q", c.in, got[len(ids)+len(same):], c.want)
		}
	}
}

func TestLinesPassAsTheyCome(t *testing.T) {
	in, send := io.Pipe()
	receive, out := io.Pipe()
	go func() {
		err := perf.Filter(t.Context(), &filter.Run{Names: names}, bufio.NewReader(in), bufio.NewWriter(out))
		out.CloseWithError(err)
	}()
	lines := bufio.NewReader(receive)
	for _, text := range []string{appID + " /srv/app\n", "a 1 1.000000: x:\n", "\t 7d3 [unknown] (/srv/app)\n\t 11"} {
		io.WriteString(send, text)
		want, _, _ := strings.Cut(strings.Replace(text, "[unknown]", "leaf", 1), "\n")
		if got, _ := lines.ReadString('\n'); got != want+"\n" {
			t.Fatalf("got %q, want %q", got, want+"\n")
		}
	}
	send.Close()
	if rest, err := io.ReadAll(lines); err != nil || string(rest) != "\t 11" {
		t.Errorf("got %q, %v", rest, err)
	}
}

func TestLongLinesPass(t *testing.T) {
	long := strings.Repeat("x", 10<<20)
	for _, text := range []string{long + " [unknown] (/srv/app)\n", "\t 7d3 " + long + " (/srv/app)", strings.Repeat("[app <7d3>];", 1<<20) + "a 1\n"} {
		tail := "\n\t 7d3 [unknown] (/srv/app)\n"
		want := ids + text + strings.Replace(tail, "[unknown]", "leaf", 1)
		if got := rewrite(t, new(filter.Run), ids+text+tail); got != want {
			t.Errorf("a line of %d bytes that begins with %q is changed", len(text), text[:12])
		}
	}
}

func TestFormatsAreRecognized(t *testing.T) {
	for text, want := range map[string]bool{
		"a 1 1.000001: x: \n\t 7d3 [unknown] (/srv/app)\n":                         true,
		ids + "a b 1/2 [003] 1.000001:     250000 cycles:u: \n":                    true,
		"  a 1 1.000001: x: 7d3 main+0x1 (/srv/app)\n":                             true,
		"  a 1 1.000001: PERF_RECORD_MMAP2 1/1: [0x1(0x1) @ 0 0:0 0 0]: r-xp /a\n": true,
		"a;b;c 12\na 1\n":          true,
		ids + "a;[b+0x1] 1.5\n\nc": true,
		"\n\t 7d3 [unknown] (/srv/app)\n\n\t 7d3 main (/srv/app)\n": true,
		ids:                                     true,
		"a 1\n":                                 false,
		"a;b 1\nand more\n":                     false,
		"a:\n\t 7d3 [unknown] (/srv/app)\n":     false,
		"at 12:30:01 1.000001: started\n":       false,
		"frame 1 1.000001: is in (libfoo.so)\n": false,
		"// fixed in version 7.5:\n":            false,
		"2026-11-29 app 1.2.30000000:\n":        false,
		"":                                      false,
	} {
		if perf.Is([]byte(text)) != want {
			t.Errorf("%q is recognized: %v", text, !want)
		}
	}
}

// everything has a name for every address.
type everything struct{}

func (everything) Look(ctx context.Context, _ *filter.Query) (filter.Answer, error) {
	return everything{}, ctx.Err()
}
func (everything) Missing(int32) error { return nil }
func (everything) Release()            {}
func (everything) Frames(int) []filter.Frame {
	return []filter.Frame{{Function: []byte("a;b\n")}, {Function: []byte("f")}}
}

func TestFramesWithoutNamesAreReported(t *testing.T) {
	run := &filter.Run{Names: filtertest.Names{}}
	filtered(t, run, ids+"a 1 1.000000: x: \n\t 7d3 [unknown] (/srv/app)\n\t 7d4 [unknown] (/srv/app)\n\n")
	var report strings.Builder
	run.Report(&report)
	if got, want := report.String(), "symbolon: app: no names for 2 frames: no source has the file\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func FuzzFilter(f *testing.F) {
	f.Add(ids + "a 1 1.000000: x: \n\t 7d3 [unknown] (/srv/app)\n\n  b 1 1.000000: x: 7d3 [unknown] (/srv/app)\n")
	f.Add(ids + "a 1 1.000000: PERF_RECORD_MMAP2 1/1: [0x1000(0x1000) @ 0 <" + appID + ">]: r-xp /srv/app\n")
	f.Add(ids + "a;[app <7d3>];/srv/app+0x1_[k] 3\n")
	f.Fuzz(func(t *testing.T, text string) {
		perf.Is([]byte(text))
		if got := filtered(t, &filter.Run{Names: filtertest.Names{}, Force: true}, text); got != text {
			t.Errorf("without names %q became %q", text, got)
		}
		once := filtered(t, &filter.Run{Names: everything{}}, text)
		if twice := filtered(t, &filter.Run{Names: everything{}}, once); twice != once {
			t.Errorf("%q became %q, and that %q", text, once, twice)
		}
	})
}

func BenchmarkFilter(b *testing.B) {
	for what, name := range map[string]string{"named": "work+0x13", "unknown": "[unknown]"} {
		sample := "app 4711 [002] 81.123456:     250000 cycles:u: \n" +
			strings.Repeat("\t             7d3 "+name+" (/srv/app)\n\t           2724a "+name+" (/usr/lib/libc.so.6)\n", 10) + "\n"
		text := ids + strings.Repeat(sample, 1000)
		b.Run(what, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				in := bufio.NewReaderSize(strings.NewReader(text), 64<<10)
				if err := perf.Filter(b.Context(), &filter.Run{Names: names}, in, bufio.NewWriterSize(io.Discard, 64<<10)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
