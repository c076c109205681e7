package standin_test

import (
	"os"
	"path/filepath"
	"testing"
)

// markup returns what llvm-symbolizer --filter-markup prints for a log, and its messages.
// The file with build id abcdef is that of tagged.
func markup(t *testing.T, log string, args ...string) (out, messages string) {
	t.Helper()
	dir := t.TempDir()
	folder := filepath.Join(dir, ".build-id", "ab")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(tagged(t), filepath.Join(folder, "cdef.debug")); err != nil {
		t.Fatal(err)
	}
	return markupOf(t, log, append(args, "--debug-file-directory="+dir)...)
}

// markupOf is markup without a file.
func markupOf(t *testing.T, log string, args ...string) (out, messages string) {
	t.Helper()
	out, messages, status := runOn(t, nil, log, append([]string{"llvm-symbolizer", "--filter-markup"}, args...)...)
	if status != 0 {
		t.Fatalf("exit %d: %s", status, messages)
	}
	return out, messages
}

const markupPreamble = "{{{module:0:a.so:elf:abcdef}}}\n{{{mmap:0x10000:0x2000:load:0:rx:0x401000}}}\n"

func TestMarkupIsPrintedAsByLLVM(t *testing.T) {
	const summary = "[[[ELF module #0x0 \"a.so\"; BuildID=abcdef [0x10000-0x11fff](rx)]]]\n"
	for log, want := range map[string]string{
		"{{{bt:0:0x10004:pc}}}\n":                 "    #0    0x0000000000010004 one first.c:0:0 (a.so+0x401004)\n",
		"x {{{bt:12:0x10010}}} y":                 "x    #12    0x000000000001000f one first.c:0:0 (a.so+0x40100f) y\n",
		"{{{bt:1:0x10024:pc}}}\n":                 "    #1    0x0000000000010024 shared <invalid>:0:0 (a.so+0x401024)\n",
		"{{{bt:1:0x10104:pc}}}\n":                 "    #1    0x0000000000010104 (a.so+0x401104)\n",
		"{{{pc:0x10014}}} {{{pc:0x9}}}\n":         "two[second.c:0] [[[pc:0x9]]]\n",
		"{{{data:0x11008}}}{{{symbol:_Z1fi}}}\n":  "datumf(int)\n",
		"{{{foo:1}}} {{{}}} {{{Bad}}}\x1b[31m.\n": "{{{foo:1}}} {{{}}} .\n",
		"a{{{reset}}}b\n{{{bt:0:0x10004}}}\n":     "a[[[reset]]]\n[[[bt:0:0x10004]]]\n",
	} {
		if got, _ := markup(t, markupPreamble+log); got != summary+want {
			t.Errorf("%q: got\n%q, want\n%q", log, got, summary+want)
		}
	}
}

func TestMarkupOfOneModuleIsSummarizedOnOneLine(t *testing.T) {
	got, _ := markupOf(t, "a{{{module:0:a.o:elf:ab}}}b\nc{{{mmap:0x10:1:load:0:rX:0}}}\n{{{mmap:0:1:load:0:w:0}}}\nd{{{module:1:b.o:elf:c}}}\n{{{mmap:0x20:1:load:0:r:0}}}")
	want := `a[[[ELF module #0x0 "a.o"; BuildID=ab [0x0-0x0](w),[0x10-0x10](rx)]]]
d[[[ELF module #0x1 "b.o"; BuildID=0c]]]
[[[ELF module #0x0 "a.o"; adds [0x20-0x20](r)]]]
`
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestWrongMarkupIsReportedWithItsPlace(t *testing.T) {
	for line, want := range map[string]string{
		"a{{{symbol}}}b":                        "error: expected 1 field(s); found 0\na{{{symbol}}}b\n          ^\n",
		"{{{pc:0x1}}}":                          "error: no mmap covers address\n{{{pc:0x1}}}\n      ^\n",
		"{{{Bad}}}":                             "error: tags must be all lowercase characters\n{{{Bad}}}\n   ^\n",
		"{{{module:0:b:elf:ab}}}":               "error: duplicate module ID\n{{{module:0:b:elf:ab}}}\n          ^\n",
		"{{{module:1:b:coff:ab}}}":              "error: unknown module type\n{{{module:1:b:coff:ab}}}\n              ^\n",
		"{{{module:08:b:elf:ab}}}":              "error: expected module ID; found '08'\n{{{module:08:b:elf:ab}}}\n          ^\n",
		"{{{mmap:0x9000:0x8000:load:0:r:0x0}}}": "error: overlapping mmap: #0x0 [0x10000-0x11fff]\n{{{mmap:0x9000:0x8000:load:0:r:0x0}}}\n        ^\n",
		"{{{mmap:0x9000:1:load:0:xr:0x0}}}":     "error: expected mode; found 'xr'\n{{{mmap:0x9000:1:load:0:xr:0x0}}}\n                        ^\n",
		"{{{mmap:0x9000:1:load:7:r:0x0}}}":      "error: unknown module ID\n{{{mmap:0x9000:1:load:7:r:0x0}}}\n                      ^\n",
		"{{{bt:0:0x10004:xx}}}":                 "error: expected PC type; found 'xx'\n{{{bt:0:0x10004:xx}}}\n                ^\n",
		"{{{reset:x}}}":                         "warning: expected 0 field(s); found 1\n{{{reset:x}}}\n        ^\n",
		"{{{module:1:b:elf:99}}}\n{{{mmap:0x0:1:load:1:r:0x0}}}\n{{{pc:0}}}": "error: could not find build ID\n",
	} {
		if _, got := markup(t, markupPreamble+line); got != want {
			t.Errorf("%q: got\n%swant\n%s", line, got, want)
		}
	}
}

func TestColorsOfMarkup(t *testing.T) {
	const log = "\x1b[34msame{{{symbol:_Z1fi}}}after\n\x1b[1mbold{{{symbol:g}}}after\x1b[0m {{{pc:0x9}}}\x1b[2m\x1b[\n"
	for arg, want := range map[string]string{
		"--color=always": "\x1b[0;34msame\x1b[0;36mf(int)\x1b[0;34mafter\n\x1b[0m\x1b[1mbold\x1b[0;1;34mg\x1b[0m\x1b[1mafter\x1b[0m " +
			"\x1b[0;34m[[[\x1b[0;32mpc\x1b[0;34m:\x1b[0;32m0x9\x1b[0;34m]]]\x1b[0m\x1b[2m\x1b[\n",
		"--color=never": "samef(int)after\nboldgafter [[[pc:0x9]]]\x1b[2m\x1b[\n",
		"--color=auto":  "samef(int)after\nboldgafter [[[pc:0x9]]]\x1b[2m\x1b[\n",
	} {
		if got, _ := markupOf(t, log, arg); got != want {
			t.Errorf("%s: got\n%q, want\n%q", arg, got, want)
		}
	}
}

func FuzzFilterMarkup(f *testing.F) {
	f.Add("\x1b[1ma{{{module:0:a.o:elf:ab}}}\r\n{{{mmap:0x10:1:load:0:rX:0}}}\n{{{bt:0:0x10}}}{{{data:0}}}{{{symbol:_Z1fi:}}}{{{reset}}}")
	f.Fuzz(func(t *testing.T, log string) {
		plain, messages := markupOf(t, log, "--color=never")
		colored, again := markupOf(t, log, "--color=always")
		if messages != again {
			t.Errorf("with colors the messages are\n%swithout\n%s", again, messages)
		}
		if len(colored) < len(plain) {
			t.Errorf("with colors the output is\n%q, without\n%q", colored, plain)
		}
	})
}
