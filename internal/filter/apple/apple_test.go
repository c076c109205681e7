package apple_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"symbolon/internal/filter"
	"symbolon/internal/filter/apple"
	"symbolon/internal/filter/filtertest"
	"symbolon/internal/format/applecrash"
)

const id = "3b1f2a4c5d6e7f80a1b2c3d4e5f60718"

// report has an exception, two threads and, at its end, the images.
const report = `Incident Identifier: 7E1C2D3F-4A5B-4C6D-8E9F-0A1B2C3D4E5F
Process:             Quince [4242]
Report Version:      104

Last Exception Backtrace:
0   Quince                        	0x100000101 0x100000000 + 257

Thread 0 name:  Quince worker
Thread 0 Crashed:
0   Quince                        	0x0000000100000100 0x100000000 + 256
1   Quince                        	0x0000000100000301 _mh_execute_header + 769
2   libsystem.dylib               	0x00007fff20301234 start + 10
3   ???                           	0x0000000000000042 0x42

Thread 1:
0   Quince                        	0x0000000100000300 main + 8
1   Quince                        	0x0000000100000999 0x100000000 + 2457

Thread 0 crashed with ARM Thread State (64-bit):
    x0: 0x0000000100000100   x1: 0x0000000000000000

Binary Images:
    0x7fff20300000 -     0x7fff20300fff libsystem.dylib x86_64 <81706f5e4d3c2b1a08f7e6d5c4a2f1b3> /usr/lib/libsystem.dylib
       0x100000000 -        0x100007fff +Quince x86_64  (1.2.3 - 45) <3B1F2A4C-5D6E-7F80-A1B2-C3D4E5F60718> /Applications/Quince
`

var named = strings.NewReplacer(
	"0   Quince                        \t0x100000101 0x100000000 + 257\n",
	"0   Quince                        \t0x100000101 inner (/a.mm:3) [inlined]\n1   Quince                        \t0x100000101 outer + 17 (/a.mm:8)\n",
	"0   Quince                        \t0x0000000100000100 0x100000000 + 256\n",
	"0   Quince                        \t0x0000000100000100 inner (/a.mm:3) [inlined]\n"+
		"1   Quince                        \t0x0000000100000100 outer + 16 (/a.mm:8)\n",
	"1   Quince                        \t0x0000000100000301 _mh_execute_header + 769", "2   Quince                        \t0x0000000100000301 run + 1",
	"2   libsystem", "3   libsystem",
	"3   ???", "4   ???",
).Replace(report)

func names() filtertest.Names {
	file := []byte("/a.mm")
	return filtertest.Names{id: {
		0x100: {{Function: []byte("inner"), File: file, Line: 3, Column: 7, Inlined: true, Entry: 0xf0}, {Function: []byte("outer"), File: file, Line: 8, Entry: 0xf0}},
		0x300: {{Function: []byte("run"), Entry: 0x300}},
	}}
}

func rewrite(t testing.TB, r *filter.Run, text string) string {
	t.Helper()
	if r.Names == nil {
		r.Names = names()
	}
	var out bytes.Buffer
	if err := apple.Rewrite(context.Background(), r, []byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestFramesGetNames(t *testing.T) {
	for _, end := range []string{"\n", "\r\n"} {
		in, want := strings.ReplaceAll(report, "\n", end), strings.ReplaceAll(named, "\n", end)
		got := rewrite(t, &filter.Run{}, in)
		if got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
		if again := rewrite(t, &filter.Run{}, got); again != got {
			t.Errorf("the second run returns\n%s", again)
		}
	}
}

func TestNameOfTheImageIsNotASymbol(t *testing.T) {
	for symbol, want := range map[string]string{
		"Quince + 769": "run + 1", "Quince + 16": "Quince + 16", "Quince": "Quince", "Pip + 769": "Pip + 769",
	} {
		in := strings.Replace(report, "_mh_execute_header + 769", symbol, 1)
		if got := rewrite(t, &filter.Run{}, in); !strings.Contains(got, "0x0000000100000301 "+want+"\n") {
			t.Errorf("%s: got\n%s", symbol, got)
		}
	}
}

func TestImagesAreAskedByTheNameOfTheirFile(t *testing.T) {
	for place, want := range map[string]string{
		"+com.example.Quince (1.2.3 - 45) <3B1F2A4C-5D6E-7F80-A1B2-C3D4E5F60718> /Applications/Quince.app/Contents/MacOS/Quince 2": "Quince 2",
		"+com.example.Quince x86_64 <3B1F2A4C-5D6E-7F80-A1B2-C3D4E5F60718> /var/containers/Bundle/":                                "com.example.Quince",
		"+com.example.Quince x86_64 <3B1F2A4C-5D6E-7F80-A1B2-C3D4E5F60718>":                                                        "com.example.Quince",
	} {
		in := "Incident Identifier: 7E1C\nThread 0:\n0   com.example.Quince \t0x0000000100000999 0x100000000 + 2457\n\nBinary Images:\n0x100000000 - 0x100007fff " + place + "\n"
		r := &filter.Run{Names: filtertest.Names{}}
		if rewrite(t, r, in); len(r.Missing()) != 1 || r.Missing()[0].Module.DebugFile != want || r.Missing()[0].Name != want {
			t.Errorf("%s: missing are %v, want %s", place, r.Missing(), want)
		}
	}
}

func TestForceReplacesNamesOnce(t *testing.T) {
	want := strings.Replace(named, "main + 8", "run + 0", 1)
	got := rewrite(t, &filter.Run{Force: true}, named)
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestNamedReportIsReadByTheParser(t *testing.T) {
	r, err := applecrash.Read([]byte(rewrite(t, &filter.Run{}, report)))
	if err != nil {
		t.Fatal(err)
	}
	got, want := r.Threads[0].Frames[:2], []applecrash.Frame{
		{Module: "Quince", Addr: 0x100000100, Symbol: "inner", File: "/a.mm", Line: 3, Inline: true}, {Module: "Quince", Addr: 0x100000100, Symbol: "outer", File: "/a.mm", Line: 8}}
	if got[0] != want[0] || got[1] != want[1] {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestReportWithoutNamesIsCopied(t *testing.T) {
	if got := rewrite(t, &filter.Run{Names: filtertest.Names{}}, report); got != report {
		t.Errorf("got\n%s", got)
	}
}

func TestLargeReportIsRefused(t *testing.T) {
	err := apple.Rewrite(context.Background(), &filter.Run{}, make([]byte, applecrash.MaxSize+1), &bytes.Buffer{})
	if err == nil {
		t.Error("no error")
	}
}

func TestIsTellsReports(t *testing.T) {
	for head, want := range map[string]bool{report: true, "{}\n" + report: true, "Thread 0:\n0   a   0x1 0x0 + 1\n": false, "x Report Version: 12\n": false} {
		if got := apple.Is([]byte(head)); got != want {
			t.Errorf("%.40q: got %v", head, got)
		}
	}
}

func FuzzRewrite(f *testing.F) {
	f.Add(report)
	f.Add(named)
	f.Fuzz(func(t *testing.T, in string) {
		once := rewrite(t, &filter.Run{}, in)
		if twice := rewrite(t, &filter.Run{}, once); twice != once {
			t.Errorf("%q: the second run returns %q for %q", in, twice, once)
		}
		if same := rewrite(t, &filter.Run{Names: filtertest.Names{}}, in); same != in {
			t.Errorf("%q: without names it is %q", in, same)
		}
	})
}
