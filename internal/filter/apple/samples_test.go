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

// otherID is the UUID of an image that is at the address of Quince in another process.
const otherID = "00112233445566778899aabbccddeeff"

// sampled is a report of sample. Its first frame without a name is a caller, the second
// and third are not.
const sampled = `Analysis of sampling Quince (pid 4242) every 1 millisecond
Process:         Quince [4242]
Load Address:    0x100000000
Report Version:  7
Analysis Tool:   /usr/bin/sample
----

Call graph:
    907 Thread_31   DispatchQueue_1: com.apple.main-thread  (serial)
    + 907 start  (in libdyld.dylib) + 1  [0x7fff20300101]
    +   900 ???  (in Quince)  load address 0x100000000 + 0x301  [0x100000301]
    +   ! 890 ???  (in Quince)  load address 0x100000000 + 0x100  [0x100000100]
    +   ! 10 ???  (in Quince)  load address 0x100000000 + 0x300,0x308,...  [0x100000300,0x100000308,...]
    +   4 ???  (in Quince)  load address 0x100000000 + 0x300,0x100  [0x100000300,0x100000100]
    +   2 ???  (in <unknown binary>)  [0x200000000]
    +   1 ???  (in Pip)  load address 0x200000000 + 0x300  [0x200000300]
    12 Thread_32

Total number in stack (recursive counted multiple, when >=5):

Sort by top of stack, same collapsed (when >= 5):
        ???  (in Quince)  load address 0x100000000 + 0x300  [0x100000300]        900

Binary Images:
       0x100000000 -        0x100007fff +com.example.quince (1.2.3 - 45) <3B1F2A4C-5D6E-7F80-A1B2-C3D4E5F60718> /Applications/Quince.app/Contents/MacOS/Quince
    0x7fff20300000 -     0x7fff20300fff  libdyld.dylib (832.7.3) <81706F5E-4D3C-2B1A-08F7-E6D5C4A2F1B3> /usr/lib/system/libdyld.dylib
`

var sampledNames = strings.NewReplacer(
	"+   900 ???  (in Quince)  load address 0x100000000 + 0x301  [0x100000301]", "+   900 run  (in Quince) + 1  [0x100000301]",
	"890 ???  (in Quince)  load address 0x100000000 + 0x100  [0x100000100]", "890 outer  (in Quince) + 16  [0x100000100]  inner at /a.mm:3, /a.mm:8",
	"10 ???  (in Quince)  load address 0x100000000 + 0x300,0x308,...  [", "10 run  (in Quince) + 0,8,...  [",
)

// spun is a report of spindump, with two processes.
const spun = `Date/Time:        2026-11-28 10:00:00.000 +0100
Report Version:   35.1

Data Source:      Stackshots

Heaviest stack for the main thread of the target process:
  10  start + 1 (dyld + 257) [0x7fff20300101]
  10  ??? (Quince + 769) [0x100000301]
  4   ??? (Quince + 256) [0x100000100]
 *4   ??? (kernel + 256) [0xffffff8000210100]


Process:          Quince [4242]

  Thread 0x31    DispatchQueue "com.apple.main-thread"(1)    10 samples (1-10)    priority 31 (base 31)
  10  start + 1 (dyld + 257) [0x7fff20300101] 1-10
    10  ??? (Quince + 769) [0x100000301] 1-10
      4   ??? (Quince + 256) [0x100000100] (running) 1-4
       *4   ??? (kernel + 256) [0xffffff8000210100] 1-4
      6   ??? (<3B1F2A4C-5D6E-7F80-A1B2-C3D4E5F60718> + 768) [0x100000300] 5-10
  1   ??? [0x100000300]

  Binary Images:
           0x100000000 -                ???  ???                        <3B1F2A4C-5D6E-7F80-A1B2-C3D4E5F60718>
   *0xffffff8000210000 - 0xffffff8000c0ffff  kernel (8020.121.3)        <3C587984-4004-3C76-8ADF-997822977184>  /System/Library/Kernels/kernel


Powerstats for:   Pip [4243]
  10  ??? (Pip + 769) [0x100000301]
    10  ??? (Pip + 769) [0x100000301]

  Binary Images:
           0x100000000 -        0x100007fff  com.example.Pip 1.0 (1)    <00112233-4455-6677-8899-AABBCCDDEEFF>  /Applications/Pip
`

var spunNames = strings.NewReplacer(
	"10  ??? (Quince + 769)", "10  run + 1 (Quince + 769)",
	"4   ??? (Quince + 256)", "4   outer + 16 (inner at /a.mm:3, /a.mm:8 in Quince + 256)",
	"??? (<3B1F2A4C-5D6E-7F80-A1B2-C3D4E5F60718> + 768)", "run + 0 (<3B1F2A4C-5D6E-7F80-A1B2-C3D4E5F60718> + 768)",
	"\n  10  ??? (Pip + 769)", "\n  10  caller + 1 (/p.c:1 in Pip + 769)",
	"\n    10  ??? (Pip + 769)", "\n    10  callee + 0 (/p.c:2 in Pip + 769)",
)

func rewriteSamples(t testing.TB, n filtertest.Names, text string) string {
	t.Helper()
	var out bytes.Buffer
	if err := apple.RewriteSamples(context.Background(), &filter.Run{Names: n}, []byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func sampleNames() filtertest.Names {
	n := names()
	n[id][0x308] = n[id][0x300]
	file := []byte("/p.c")
	n[otherID] = map[uint64][]filter.Frame{
		0x300: {{Function: []byte("caller"), File: file, Line: 1, Entry: 0x300}},
		0x301: {{Function: []byte("callee"), File: file, Line: 2, Entry: 0x301}},
	}
	return n
}

func TestSamplesGetNames(t *testing.T) {
	for in, want := range map[string]string{sampled: sampledNames.Replace(sampled), spun: spunNames.Replace(spun)} {
		for _, end := range []string{"\n", "\r\n"} {
			in, want := strings.ReplaceAll(in, "\n", end), strings.ReplaceAll(want, "\n", end)
			got := rewriteSamples(t, sampleNames(), in)
			if got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			if again := rewriteSamples(t, sampleNames(), got); again != got {
				t.Errorf("the second run returns\n%s", again)
			}
		}
	}
}

func TestOtherLinesOfSamplesAreCopied(t *testing.T) {
	const images = "\nBinary Images:\n 0x100000000 - 0x100007fff Quince (1) <3B1F2A4C-5D6E-7F80-A1B2-C3D4E5F60718> /Quince\n 0x1 - 0x2 Pip\n\n"
	for _, line := range []string{
		"1 ??? (Quince + 768) [0x100000301]", "1 ??? (Quince + 18446744073709551616) [0x100000300]", "1 ??? (Quince + 0x300) [0x100000300]",
		"1 ???  (in Quince)  load address 0x100000000 + 0x300  []", "1 ???  (in Quince)  load address 0x100000000 + 0x300  [0x,0x100000300]",
		"1 ???  (in Quince)  load address 0x100000000 + 0x300  [0x300]", "1 ???  (in Quince)  load address 0x100000000 + 0x300  [...]",
		"1 ??? (Quince + 1) [0x1] 1 (Quince + 768) [0x100000300]",
		"1 (??? (Quince + 768) [0x100000300]", "??? (Quince + 768) [0x100000300]", "*1 ??? (Quince + 768) [0x100000300]", "1??? (Quince + 768) [0x100000300]",
		"int x[0x100000300];", "00000300  ??? (Quince", "0x100000300: 00 01 ??? (Quince + 768) [0x100000300]",
	} {
		if got := rewriteSamples(t, sampleNames(), line+images); got != line+images {
			t.Errorf("%q: got %q", line, got)
		}
	}
	if in := images + "1 ??? (Quince + 768) [0x100000300]\n"; rewriteSamples(t, sampleNames(), in) != in {
		t.Error("a frame after the images of its process gets a name")
	}
}

func TestNodesHaveNamesOfTheirProcessOnly(t *testing.T) {
	const pip = "Process: Pip [2]\n  1 ??? (Pip + 768) [0x100000300]\n  Binary Images:\n 0x100000000 - 0x100007fff Pip (1) <00112233-4455-6677-8899-AABBCCDDEEFF> /Applications/Pip\n"
	const named = "Process: Pip [2]\n  1 caller + 0 (/p.c:1 in Pip + 768) [0x100000300]\n"
	for _, before := range []string{
		"Process: Pip [1]\n  1 ??? (Pip + 768) [0x100000300]\n\n", "  1 ??? (Quince + 768) [0x100000300]\n",
		"  1 ??? (<3B1F2A4C-5D6E-7F80-A1B2-C3D4E5F60718> + 768) [0x100000300]\n",
	} {
		if got := rewriteSamples(t, sampleNames(), before+pip); !strings.HasPrefix(got, before+named) {
			t.Errorf("got\n%s", got)
		}
	}
}

func TestPlacesOfSamples(t *testing.T) {
	frame := func(name, file string, entry uint64) filter.Frame {
		return filter.Frame{Function: []byte(name), File: []byte(file), Line: 3, Entry: entry}
	}
	for want, frames := range map[string][]filter.Frame{
		"f + 0 (Quince + 768)":                {frame("f", "", 0x400)},
		"f + 1 (i in Quince + 768)":           {frame("i", "", 0), frame("f", "", 0x2ff)},
		"f + 1 (i at /i:3 in Quince + 768)":   {frame("i", "/i", 0), frame("f", "", 0x2ff)},
		"f + 1 (j, i, /f:3 in Quince + 768)":  {frame("j", "", 0), frame("i", "", 0), frame("f", "/f", 0x2ff)},
		"f?g + 1 (j at /?:3 in Quince + 768)": {frame("j", "/\n", 0), frame("f\ng", "", 0x2ff)},
	} {
		got := rewriteSamples(t, filtertest.Names{id: {0x300: frames}}, strings.Replace(spun, "<3B1F2A4C-5D6E-7F80-A1B2-C3D4E5F60718> +", "Quince +", 1))
		if !strings.Contains(got, "6   "+want+" [0x100000300] 5-10\n") {
			t.Errorf("%s: got\n%s", want, got)
		}
	}
}

func TestModulesOfSamplesAreAskedOnce(t *testing.T) {
	r := &filter.Run{Names: filtertest.Names{}}
	if err := apple.RewriteSamples(context.Background(), r, []byte(spun), &bytes.Buffer{}); err != nil {
		t.Fatal(err)
	}
	list := r.Missing()
	if len(list) != 3 {
		t.Fatalf("missing are %v", list)
	}
	if m := list[2]; m.Name != "Quince" || m.Addresses != 4 || m.Module.CodeID != id || m.Module.DebugID.IsZero() {
		t.Errorf("got %+v", m)
	}
}

func TestLargeSamplesAreRefused(t *testing.T) {
	if err := apple.RewriteSamples(context.Background(), &filter.Run{}, make([]byte, applecrash.MaxSize+1), &bytes.Buffer{}); err == nil {
		t.Error("no error")
	}
}

func TestIsSamplesTellsReports(t *testing.T) {
	for head, want := range map[string]bool{
		sampled: true, spun: true, "Sampling process 1 for 3 seconds\n" + sampled: true, "Powerstats for:   a [1]\n": true,
		"Report Version: 18\n\nHeaviest stack for the target process:\n":   true,
		"Report Version: 18\nby Data Source: x\nData Source: Stackshots\n": true,
		"Incident Identifier: 1\nReport Version: 12\nData Source: db\n":    false,
		"Analysis of sampling rates is done\n":                             false, "Powerstats for: x\n": false,
		report: false, "Data Source: db\n": false, "an Analysis of sampling \n": false, "Heaviest stack \n": false,
	} {
		if got := apple.IsSamples([]byte(head)); got != want {
			t.Errorf("%.40q: got %v", head, got)
		}
	}
}

func FuzzRewriteSamples(f *testing.F) {
	for _, s := range []string{sampled, spun, sampledNames.Replace(sampled), spunNames.Replace(spun)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		once := rewriteSamples(t, sampleNames(), in)
		if twice := rewriteSamples(t, sampleNames(), once); twice != once {
			t.Errorf("%q: the second run returns %q for %q", in, twice, once)
		}
		if same := rewriteSamples(t, filtertest.Names{}, in); same != in {
			t.Errorf("%q: without names it is %q", in, same)
		}
	})
}
