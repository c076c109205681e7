package markup_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"symbolon/internal/filter"
	"symbolon/internal/filter/filtertest"
	"symbolon/internal/filter/markup"
)

// names are those of the addresses as linked.
var names = filtertest.Names{"abcdef": {
	0x1100: {{Function: []byte("f(int)"), File: []byte("/src/f.cc"), Line: 7, Column: 3}},
	0x1110: {
		{Function: []byte("twice"), File: []byte("/src/t.h"), Line: 2, Column: 9, Inlined: true},
		{Function: []byte("g()"), File: []byte("/src/g.cc"), Line: 30},
	},
	0x1120: {{Function: []byte("bare")}},
}}

const preamble = "{{{reset}}}\n{{{module:0x1:libf.so:elf:abcdef}}}\n{{{mmap:0x7000:0x1000:load:0x1:rx:0x1000}}}\n"

// filtered returns what Filter makes of a text.
func filtered(t testing.TB, in io.Reader) string {
	t.Helper()
	var out bytes.Buffer
	err := markup.Filter(t.Context(), &filter.Run{Names: names}, bufio.NewReader(in), bufio.NewWriter(&out))
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestElementsAreReplacedByNames(t *testing.T) {
	for in, want := range map[string]string{
		"{{{bt:0:0x7100:pc}}}\n":                    "    #0    0x0000000000007100 f(int) /src/f.cc:7:3 (libf.so+0x1100)\n",
		"a {{{bt:12:0x7101:ra}}} b":                 "a    #12    0x0000000000007100 f(int) /src/f.cc:7:3 (libf.so+0x1100) b",
		"{{{bt:1:0x7111}}}\r\n":                     "    #1.1  0x0000000000007110 twice /src/t.h:2:9 (libf.so+0x1110)\r\n    #1    0x0000000000007110 g() /src/g.cc:30:0 (libf.so+0x1110)\r\n",
		"{{{bt:2:0x7120:pc}}}\n":                    "    #2    0x0000000000007120 bare ??:0:0 (libf.so+0x1120)\n",
		"{{{pc:0x7100}}} {{{pc:0x7101}}}\n":         "f(int)[/src/f.cc:7] {{{pc:0x7101}}}\n",
		"{{{pc:0x7111:ra}}}\n":                      "g()[/src/t.h:2]\n",
		"{{{symbol:_ZN1a1bEv}}}{{{symbol:main}}}\n": "a::b()main\n",
		"\x1b[1m{{{symbol:_Z1fi}}}\x1b[0m \xff\x00": "\x1b[1mf(int)\x1b[0m \xff\x00",
	} {
		if got := filtered(t, strings.NewReader(preamble+in)); got != preamble+want {
			t.Errorf("%q: got\n%q, want\n%q", in, got, preamble+want)
		}
	}
}

func TestFramesWithoutNamesAreReported(t *testing.T) {
	run := &filter.Run{Names: filtertest.Names{}}
	in := bufio.NewReader(strings.NewReader(preamble + "{{{pc:0x7100}}} {{{pc:0x7110}}}\n"))
	if err := markup.Filter(t.Context(), run, in, bufio.NewWriter(io.Discard)); err != nil {
		t.Fatal(err)
	}
	var report strings.Builder
	run.Report(&report)
	if got, want := report.String(), "symbolon: libf.so: no names for 2 frames: no source has the file\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// spaces has the spaces of the addresses that were looked up.
type spaces struct {
	filtertest.Names
	list []filter.Space
}

func (s *spaces) Look(ctx context.Context, q *filter.Query) (filter.Answer, error) {
	for _, a := range q.Addresses {
		s.list = append(s.list, a.Space)
	}
	return s.Names.Look(ctx, q)
}

func TestModulesAtTheirLinkedAddressAreFixed(t *testing.T) {
	names := &spaces{}
	const in = "{{{module:0:app:elf:ab}}}{{{mmap:0x400000:0x1000:load:0:rx:0x400000}}}{{{mmap:0x7000:0x1000:load:0:rx:0x2000}}}\n{{{pc:0x400010}}}{{{pc:0x7010}}}\n"
	if err := markup.Filter(t.Context(), &filter.Run{Names: names}, bufio.NewReader(strings.NewReader(in)), bufio.NewWriter(io.Discard)); err != nil {
		t.Fatal(err)
	}
	if want := []filter.Space{filter.Fixed, filter.Linked}; !slices.Equal(names.list, want) {
		t.Errorf("spaces are %v, want %v", names.list, want)
	}
}

func TestOtherTextStaysAsItIs(t *testing.T) {
	for _, in := range []string{
		"{{{bt:0:0x9000}}} {{{bt:0:0x7500}}} {{{pc:0x7fff}}}\n", "{{{data:0x7100}}} {{{hexdict:a:b}}} {{{Bt:0:0x7101}}}\n",
		"{{{bt}}} {{{bt:0}}} {{{bt:x:0x7101}}} {{{bt:0:7101}}} {{{bt:0:0x7101:xx}}} {{{pc:0x7100:}}}\n", "{{{}}} {{{:}}} {{{bt:0:0x7101\n}}}",
		"{{{symbol:{{{pc:0x7100}}}}}}", "{{{symbol}}} {{{symbol:}}}",
		"{{{reset}}}{{{bt:0:0x7101}}}\n", strings.Repeat("x", 1<<17) + "{{{bt:0:0x7101}}}\n",
	} {
		if got := filtered(t, strings.NewReader(preamble+in)); got != preamble+in {
			t.Errorf("%.80q: got\n%.200q", in, got)
		}
	}
}

// A log may declare modules and maps without end.
func TestModulesAndMapsAreLimited(t *testing.T) {
	const limit = 1 << 14
	var c markup.Context
	var last string
	c.Report = func(_ *markup.Element, _ int, _ bool, text string) { last = text }
	add := func(format string, n int) {
		var e markup.Element
		line := fmt.Sprintf(format, n)
		if _, _, ok := e.Next([]byte(line)); !ok {
			t.Fatalf("%s has no element", line)
		}
		if string(e.Tag) == "module" {
			c.AddModule(&e)
		} else {
			c.AddMap(&e)
		}
	}
	for _, x := range []struct{ format, want string }{
		{"{{{module:%d:a:elf:ab}}}", "too many modules"}, {"{{{mmap:%#x00:1:load:1:r:0x0}}}", "too many maps"},
	} {
		last = ""
		for n := range limit {
			add(x.format, n+1)
		}
		if last != "" {
			t.Errorf("%s: up to the limit: %s", x.format, last)
		}
		if add(x.format, limit+1); last != x.want {
			t.Errorf("%s: got %q, want %q", x.format, last, x.want)
		}
	}
}

// Lines after a very long one are read, and how the text arrives makes no difference.
func TestTextMayArriveInPieces(t *testing.T) {
	in := strings.Repeat("x", 1<<17) + "{{{bt:0:0x7101}}}\n" + preamble + strings.Repeat("{{{pc:0x7100}}} {{{bt:1:0x7111}}}\n", 3000)
	want := filtered(t, strings.NewReader(in))
	if n := strings.Count(want, "{{{"); n != 4 {
		t.Fatalf("%d elements are left", n)
	}
	if filtered(t, iotest.OneByteReader(strings.NewReader(in))) != want {
		t.Error("byte by byte the text is another one")
	}
	if filtered(t, strings.NewReader(want)) != want {
		t.Error("a second run changes the text")
	}
}

func TestLinesAreWrittenBeforeTheNextIsRead(t *testing.T) {
	in, from := io.Pipe()
	to, out := io.Pipe()
	failed := make(chan error, 1)
	go func() {
		failed <- markup.Filter(t.Context(), &filter.Run{Names: names}, bufio.NewReader(in), bufio.NewWriter(out))
	}()
	lines := bufio.NewReader(to)
	for _, line := range strings.SplitAfter(preamble+"{{{symbol:_Z1fi}}}\n", "\n")[:4] {
		if _, err := io.WriteString(from, line); err != nil {
			t.Fatal(err)
		}
		if got, err := lines.ReadString('\n'); err != nil || len(got) > len(line) {
			t.Fatalf("%q, %v", got, err)
		}
	}
	_ = from.Close()
	if err := <-failed; err != nil {
		t.Error(err)
	}
}

func FuzzFilter(f *testing.F) {
	f.Add([]byte(preamble + "{{{bt:0:0x7101}}}{{{pc:0x7100}}}{{{symbol:_Z1fi}}}\r\n{{{data:0}}}"))
	f.Fuzz(func(t *testing.T, in []byte) {
		once := filtered(t, bytes.NewReader(in))
		if twice := filtered(t, strings.NewReader(once)); twice != once {
			t.Errorf("a second run changes %q to %q", once, twice)
		}
		if bytes.Count(in, []byte("\n")) > strings.Count(once, "\n") {
			t.Errorf("%q has fewer lines than %q", once, in)
		}
	})
}

func BenchmarkFilter(b *testing.B) {
	const line = "[00012.345678] an ordinary line of a log without anything in it\n"
	for name, in := range map[string]string{
		"plain":    strings.Repeat(line, 1<<16),
		"elements": preamble + strings.Repeat(strings.Repeat(line, 9)+"{{{bt:1:0x7111}}}\n", 1<<13),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(in)))
			b.ReportAllocs()
			for b.Loop() {
				run := filter.Run{Names: names}
				if err := markup.Filter(b.Context(), &run, bufio.NewReaderSize(strings.NewReader(in), 1<<16), bufio.NewWriterSize(io.Discard, 1<<16)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
