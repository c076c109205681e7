package text_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"symbolon/internal/filter"
	"symbolon/internal/filter/filtertest"
	"symbolon/internal/filter/text"
	"symbolon/internal/ident"
)

const id = "5e60c0cf82bde8d7fe5319c01f6b5a32235eac7e"

func frame(function, file string, line, column uint32) filter.Frame {
	return filter.Frame{Function: []byte(function), File: []byte(file), Line: line, Column: column}
}

// names has the functions of one module: inner is inlined in outer at 0x100, and main
// calls outer before 0x200.
func names() filtertest.Names {
	inner := frame("inner", "/a.c", 3, 5)
	inner.Inlined = true
	return filtertest.Names{id: {
		0x100:  {inner, frame("outer", "/a.c", 8, 1)},
		0x1ff:  {frame("main", "/a.c", 12, 0)},
		0x200:  {frame("main", "/a.c", 12, 0)},
		0x300:  {frame("_start", "", 0, 0)},
		0x400:  {inner, frame("_start", "", 0, 0)},
		0x1100: {inner, frame("outer", "/a.c", 8, 1)},
		0x1200: {frame("main", "/a.c", 12, 0)},
	}}
}

// run returns the input with names. The module app has no id of its own in it.
func run(t testing.TB, r *filter.Run, input string) string {
	t.Helper()
	if r.Names == nil {
		r.Names = names()
	}
	if r.Known == nil {
		r.Known = map[string]ident.Module{"app": {CodeFile: "app", CodeID: id}, "my tool": {CodeFile: "app", CodeID: id}}
	}
	var out bytes.Buffer
	w := bufio.NewWriter(&out)
	if err := text.Filter(context.Background(), r, bufio.NewReader(strings.NewReader(input)), w); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// maps are those of the module app, whose offsets 0 to 0x1fff are executable.
const maps = "55c000000000-55c000001000 r--p 00000000 08:01 42                         /bin/app\n" +
	"55c000001000-55c000003000 r-xp 00000000 08:01 42                         /bin/app (deleted)\n" +
	"7ffd0000-7ffe0000 rw-p 00000000 00:00 0                          [stack]\n"

// lines are inputs and outputs; an empty output is the input.
var lines = []struct{ name, in, out string }{
	{"frame of the address sanitizer", "    #0 0x55aa  (/srv/app+0x200) (BuildId: " + id + ")\n",
		"    #0 0x55aa in main /a.c:12\n"},
	{"function without a file", "    #4 0x55aa  (/srv/app+0x300) (BuildId: " + id + ")\n",
		"    #4 0x55aa in _start (/srv/app+0x300) (BuildId: " + id + ")\n"},
	{"module without a build id", "    #0 0x55aa  (/srv/my (x86) dir/app+0x200)\n", "    #0 0x55aa in main /a.c:12\n"},
	{"Mach-O module with a CPU", "    #0 0x55aa  (app:arm64+0x200)\n", "    #0 0x55aa in main /a.c:12\n"},
	{"inlined calls are numbered on until the next trace",
		"    #0 0x1  (app+0x100)\n    #1 0x2  (app+0x200)\n    #2 0x3  (app+0x999)\nread by:\n    #3 0x4 in f /x.c:1\n    #0 0x2  (app+0x200)\n",
		"    #0 0x1 in inner /a.c:3:5\n    #1 0x1 in outer /a.c:8:1\n    #2 0x2 in main /a.c:12\n    #3 0x3  (app+0x999)\nread by:\n" +
			"    #4 0x4 in f /x.c:1\n    #0 0x2 in main /a.c:12\n"},
	{"other numbers are not those of the trace", "    #0 0x1  (app+0x100)\nsee #1 of the list\n    #7 fixed\n",
		"    #0 0x1 in inner /a.c:3:5\n    #1 0x1 in outer /a.c:8:1\nsee #1 of the list\n    #7 fixed\n"},
	{"frame of the thread sanitizer", "    #0 <null> <null> (app+0x100) (BuildId: " + id + ")\n    #1 <null> <null> (app+0x300)\n",
		"    #0 inner /a.c:3:5 (app+0x100) (BuildId: " + id + ")\n    #1 outer /a.c:8:1 (app+0x100) (BuildId: " + id + ")\n" +
			"    #2 _start <null> (app+0x300)\n"},
	{"summary", "SUMMARY: AddressSanitizer: heap-use-after-free (/srv/app+0x100) (BuildId: " + id + ") \n",
		"SUMMARY: AddressSanitizer: heap-use-after-free /a.c:3:5 in inner \n"},
	{"summary without a file", "SUMMARY: ThreadSanitizer: data race (app+0x300)\n",
		"SUMMARY: ThreadSanitizer: data race (app+0x300) in _start\n"},
	{"prefix of another log, carriage return", "\x1b[1m2026-11-23 web.1 #12 | #0 0x1  (app+0x200)\r\n",
		"\x1b[1m2026-11-23 web.1 #12 | #0 0x1 in main /a.c:12\r\n"},
	{"line without an end", "    #9 0x1  (app+0x100)", "    #9 0x1 in inner /a.c:3:5\n    #10 0x1 in outer /a.c:8:1"},
	{"frame that has a name", "    #0 0x1 in f (app+0x100)\n", ""},
	{"unknown module", "    #0 0x1  (<unknown module>)\n    #1 0x1  (other+0x100)\n", ""},
	{"tombstone",
		"      #00 pc 0000000000000100  /data/app/base.apk!libfoo.so (offset 0x1000) (BuildId: " + id + ")\n" +
			"      #01 pc 00000300  /data/app/libfoo.so (BuildId: " + id + ")\n      #02 pc 00000200  /system/lib/app\n",
		"      #00 pc 0000000000000100  /data/app/base.apk!libfoo.so (offset 0x1000) (inner) (BuildId: " + id + ") at /a.c:3:5\n" +
			"      #01 pc 0000000000000100  /data/app/base.apk!libfoo.so (offset 0x1000) (outer) (BuildId: " + id + ") at /a.c:8:1\n" +
			"      #02 pc 00000300  /data/app/libfoo.so (_start) (BuildId: " + id + ")\n      #03 pc 00000200  /system/lib/app (main) at /a.c:12\n"},
	{"logcat", "I/DEBUG   (  31): #09 pc 0x100  app\n",
		"I/DEBUG   (  31): #09 pc 0x100  app (inner) at /a.c:3:5\nI/DEBUG   (  31): #10 pc 0x100  app (outer) at /a.c:8:1\n"},
	{"input of ndk-stack", "F DEBUG   : backtrace:\nF DEBUG   :     #00  pc 0000000000000200  /system/lib64/app (offset 0x1000)\n",
		"F DEBUG   : backtrace:\nF DEBUG   :     #00  pc 0000000000000200  /system/lib64/app (offset 0x1000) (main) at /a.c:12\n"},
	{"stack of ART", "  native: #00 pc 0000000000000200  /lib/app (???) (BuildId: " + id + ")\n  native: #01 pc 0000000000000201  /lib/app (f+4)\n",
		"  native: #00 pc 0000000000000200  /lib/app (main) (BuildId: " + id + ") at /a.c:12\n  native: #01 pc 0000000000000201  /lib/app (f+4)\n"},
	{"colors", "\x1b[31m/bin/app(+0x201) [0x55aa]\x1b[0m\n\x1b[1;31m    #0 0x1  (app+0x200) \x1b[39m\x1b[0m\r\n/bin/app(+0x201) [0x55aa]\x1b[0x\n/bin/app(+0x201) [0x55aa]m\n\x1b[0m\n",
		"\x1b[31m/bin/app(+0x201) [0x55aa] in main at /a.c:12\x1b[0m\n\x1b[1;31m    #0 0x1 in main /a.c:12 \x1b[39m\x1b[0m\r\n/bin/app(+0x201) [0x55aa]\x1b[0x\n/bin/app(+0x201) [0x55aa]m\n\x1b[0m\n"},
	{"frames of Envoy", "[./source/server/backtrace.h:127] #0: [0x201]\n[./source/server/backtrace.h:127] #0: Envoy::SignalAction::sigHandler() [0x201]\n", ""},
	{"tombstone with names", "      #00 pc 0100  /lib/app (foo(int)+4) (BuildId: " + id + ")\n      #01 pc 0100\n      #02 pc zz app\n", ""},
	{"core dump of systemd",
		"Process 1 (app) of user 0 dumped core.\nModule libfoo.so, build-id=" + id + "\nStack trace of thread 1:\n" +
			"#0  0x00007f1e2a3b4100 n/a (libfoo.so + 0x100)\n#1  0x00007f1e2a3b4200 n/a (libfoo.so + 0x200)\n#2  0x00007f1e2a3b4200 f (libfoo.so + 0x200)\n",
		"Process 1 (app) of user 0 dumped core.\nModule libfoo.so, build-id=" + id + "\nStack trace of thread 1:\n" +
			"#0  0x00007f1e2a3b4100 inner (libfoo.so + 0x100) at /a.c:3:5\n#1  0x00007f1e2a3b4100 outer (libfoo.so + 0x100) at /a.c:8:1\n" +
			"#2  0x00007f1e2a3b4200 main (libfoo.so + 0x200) at /a.c:12\n#3  0x00007f1e2a3b4200 f (libfoo.so + 0x200)\n"},
	{"code without a file in a core dump", "#0  0x00007f1e2a3b4100 n/a (n/a + 0x0)\n#1  0x00007f1e2a3b4200 n/a (app + 0x200)\n", "#0  0x00007f1e2a3b4100 n/a (n/a + 0x0)\n#1  0x00007f1e2a3b4200 main (app + 0x200) at /a.c:12\n"},
	{"columns of a core dump", "        #9  0x00007f1e2a3b4101 n/a (app + 0x101)\n        #10 0x00007f1e2a3b4200 n/a (app + 0x200)\n",
		"        #9  0x00007f1e2a3b4101 inner (app + 0x101) at /a.c:3:5\n        #10 0x00007f1e2a3b4101 outer (app + 0x101) at /a.c:8:1\n" +
			"        #11 0x00007f1e2a3b4200 main (app + 0x200) at /a.c:12\n"},
	{"modules of older versions of systemd", "Found module /lib/b.so with build-id: " + id + "\nModule c.so from rpm c-1.x86_64, build-id=" + id + "\n" +
		"#0  0x1 n/a (/lib/b.so + 0x200)\n#0  0x1 n/a (c.so + 0x200)\n",
		"Found module /lib/b.so with build-id: " + id + "\nModule c.so from rpm c-1.x86_64, build-id=" + id + "\n" +
			"#0  0x1 main (/lib/b.so + 0x200) at /a.c:12\n#0  0x1 main (c.so + 0x200) at /a.c:12\n"},
	{"modules of another process", "Module b.so, build-id=" + id + "\n#0  0x1 n/a (b.so + 0x200)\nProcess 2 (b) of user 0 dumped core.\n" +
		"#0  0x1 n/a (b.so + 0x200)\nModule b.so, build-id=abcd\n#0  0x1 n/a (b.so + 0x200)\n" +
		"Module b.so from rpm b-1.x86_64\n#0  0x1 n/a (b.so + 0x200)\nModule b.so without build-id.\n",
		"Module b.so, build-id=" + id + "\n#0  0x1 main (b.so + 0x200) at /a.c:12\nProcess 2 (b) of user 0 dumped core.\n" +
			"#0  0x1 n/a (b.so + 0x200)\nModule b.so, build-id=abcd\n#0  0x1 n/a (b.so + 0x200)\n" +
			"Module b.so from rpm b-1.x86_64\n#0  0x1 n/a (b.so + 0x200)\nModule b.so without build-id.\n"},
	{"backtrace of glibc", "/bin/app(+0x101)[0x55aa]\n./app(+0x300) [0x55aa]\napp() [0x201]\nNov 23 x: /bin/app[0x201]\n./app(main+0x12) [0x201]\n[0x201]\n",
		"/bin/app(+0x101)[0x55aa] in inner at /a.c:3:5\n/bin/app(+0x101)[0x55aa] in outer at /a.c:8:1\n./app(+0x300) [0x55aa]\n" +
			"app() [0x201] in main at /a.c:12\nNov 23 x: /bin/app[0x201] in main at /a.c:12\n./app(main+0x12) [0x201]\n[0x201]\n"},
	{"backtrace of glibc with symbols", "./app(outer+0x101) [0x55aa]\n./app(main+0x201)[0x55aa]\n./app(_start+0x301) [0x55aa]\n./app(x+0x101) [0x55aa]\n",
		"./app(outer+0x101) [0x55aa] in inner at /a.c:3:5\n./app(outer+0x101) [0x55aa] in outer at /a.c:8:1\n" +
			"./app(main+0x201)[0x55aa] in main at /a.c:12\n./app(_start+0x301) [0x55aa]\n./app(x+0x101) [0x55aa]\n"},
	{"backtrace of macOS",
		"9   app                                 0x0000000104b2c101 app + 257\n10  app   0x0000000104b2c201 0x104b2c000 + 513\n11  app  0x0000000104b2c301 app + 769\n" +
			"12  libdyld.dylib   0x00007fff0000dcc9 start + 1\n\t0   app  0x00004200 app + 512\n(\n    \"0   app  0x0000000104b2c201 app + 513\",\n",
		"9   app                                 0x0000000104b2c101 inner (/a.c:3) [inlined]\n10  app                                 0x0000000104b2c101 outer + 257 (/a.c:8)\n" +
			"11  app   0x0000000104b2c201 main + 513 (/a.c:12)\n12  app  0x0000000104b2c301 _start + 769\n13  libdyld.dylib   0x00007fff0000dcc9 start + 1\n" +
			"\t0   app  0x00004200 main + 512 (/a.c:12)\n(\n    \"0   app  0x0000000104b2c201 main + 513 (/a.c:12)\",\n"},
	{"backtrace of macOS with a file for the inlined call only", "0   app  0x0000000104b2c401 app + 1025\n",
		"0   app  0x0000000104b2c401 inner (/a.c:3) [inlined]\n1   app  0x0000000104b2c401 _start + 1025\n"},
	{"backtrace of macOS with symbols",
		"0   app  0x0000000104b2cabc outer + 257\n1   app  0x0000000104b2cabc main + 513\n2   app  0x0000000104b2cabc app + 513\n3   app  0x0000000104b2cabc _start + 769\n",
		"0   app  0x0000000104b2cabc inner (/a.c:3) [inlined]\n1   app  0x0000000104b2cabc outer + 257 (/a.c:8)\n" +
			"2   app  0x0000000104b2cabc main + 513 (/a.c:12)\n3   app  0x0000000104b2cabc app + 513\n4   app  0x0000000104b2cabc _start + 769\n"},
	{"lines that are not of a backtrace of macOS",
		"0   ???  0x0000000000000200 0x0 + 512\n0   app  0x0000000000000200 app + x\n0   app  0x200 app + 512\n0  app 0x0000000000000200  + 512\n0 0x0000000000000200 app + 512\n" +
			"app  0x0000000000000200 app + 512\n00000   app  0x0000000000000200 app + 512\n0   app  0x0000000000000200 app (x) + 512\n0   app  0x0000000000000200 + 512\n 0 + 512\n1 + 2\n", ""},
	{"numbers in brackets", "value [0x201]\n()[0x201]\n(+0x1)[0x201]\n/app(+0x201)[0x201] x\n/app)[0x201]\n", ""},
	{"frames of Firefox",
		" 0:01.20 GECKO(1) #01: ???[/srv/app +0x100]\n#02: f(int)[app +0x200] (tail)\n#03: ???[app +0x300]\n#04: f[app +0x999]\n",
		" 0:01.20 GECKO(1) #01: inner (/a.c:3)\n 0:01.20 GECKO(1) #02: outer (/a.c:8)\n#03: main (/a.c:12) (tail)\n#04: _start (app + 0x300)\n#05: f[app +0x999]\n"},
	{"two frames of Firefox in a line", "#00: ???[app +0x100]#0: ???[app +0x200]\n", ""},
	{"lines that are not frames of Firefox", "#01: f[app 0x200]\n#01: f[app +200]\n#01: f(app +0x200)\n#10000: f[app +0x200]\n#01 f[app +0x200]\n: f[app +0x200]\n#01: [app +0x200\n +0x200]\n", ""},
	{"error log of Java", "# Problematic frame:\n# C  [app+0x100]\n#\nNative frames:\nC  [app+0x100]\nV  [app+0x201]\nC  [app+0x300]  f+0x1\nC  [app+0x201]\n",
		"# Problematic frame:\n# C  [app+0x100]  inner  (/a.c:3:5)\n# C  [app+0x100]  outer  (/a.c:8:1)\n#\nNative frames:\n" +
			"C  [app+0x100]  inner  (/a.c:3:5)\nC  [app+0x100]  outer  (/a.c:8:1)\nV  [app+0x201]  main  (/a.c:12)\nC  [app+0x300]  f+0x1\n" +
			"C  [app+0x201]  main  (/a.c:12)\n"},
	{"Chromium", maps + "#0 0x55c000001101 <unknown>\n#1 0x55c000001201 <unknown>\n#2 0x55c000003000 <unknown>\n#3 0x55c000001101 f [x.c]\n",
		maps + "#0 0x55c000001101 inner [/a.c:3:5]\n#1 0x55c000001101 outer [/a.c:8:1]\n#2 0x55c000001201 main [/a.c:12]\n" +
			"#3 0x55c000003000 <unknown>\n#4 0x55c000001101 f [x.c]\n"},
	{"Chromium with modules", "#0 0x55c000001101 (/bin/app+0x101)\n", "#0 0x55c000001101 in inner /a.c:3:5\n#1 0x55c000001101 in outer /a.c:8:1\n"},
	{"Rust", maps + "x:    0:     0x55c000001101 - <unknown>\nx:   12:     0x55c000001201 - <unknown>\nx:   13:     0x55c000003000 - <unknown>\n",
		maps + "x:    0:     0x55c000001101 - inner\nx:                                at /a.c:3:5\n" +
			"x:                            outer\nx:                                at /a.c:8:1\n" +
			"x:   12:     0x55c000001201 - main\nx:                                at /a.c:12\nx:   13:     0x55c000003000 - <unknown>\n"},
	{"maps of another process", maps + "next\n" + strings.ReplaceAll(maps, "/app", "/b") + "#0 0x55c000001101 <unknown>\n", ""},
	{"address without maps", "#0 0x55c000001101 <unknown>\n   0:     0x55c000001101 - <unknown>\n", ""},
	{"Go panic", "panic: x\n\ngoroutine 1 [running]:\nmain.f(0x1, {0x2, 0x3})\n\t/src/a.go:4 +0x9\nmain.main()\n\t/src/a.go:9 +0x25\n" +
		"[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x201]\n", ""},
	{"oops of the kernel",
		"[   12.300000] CPU: 1 PID: 99 Comm: insmod Not tainted 6.9.1 #2 " + id + "\n" +
			"[   12.300001] RIP: 0010:outer+0x100/0x180 [oops " + id + "]\n[   12.300002] Code: 0f 0b\n" +
			"[   12.300003]  ? outer+0x101/0x180\n[   12.300004]  main+0x201/0x300 [app]\r\n[   12.300005]  _start+0x301/0x400\n" +
			"[   12.300006]  x.cold+0x101/0x180 [oops " + id + "]\n[   12.300007]  outer+0x101/0x180 [other]\n",
		"[   12.300000] CPU: 1 PID: 99 Comm: insmod Not tainted 6.9.1 #2 " + id + "\n" +
			"[   12.300001] RIP: 0010:outer (inner at /a.c:3, /a.c:8) [oops " + id + "]\n[   12.300002] Code: 0f 0b\n" +
			"[   12.300003]  ? outer (inner at /a.c:3, /a.c:8)\n[   12.300004]  main (/a.c:12) [app]\r\n[   12.300005]  _start+0x301/0x400\n" +
			"[   12.300006]  x.cold+0x101/0x180 [oops " + id + "]\n[   12.300007]  outer+0x101/0x180 [other]\n"},
	{"two symbols of the kernel", "[    1.0]  outer+0x101/0x180 main+0x201/0x300 [app]\nevent: (main+0x201/0x300 [app] <- outer+0x101/0x180 [app])\n", ""},
	{"exception of .NET", "   at N.T.M(String a) in app:token 0x0+0x100\n   at N.T.M() in app:token 0x0+0x300\n   at N.T.M() in app:token 0x1+0x100\r\n",
		"   at N.T.M(String a) in /a.c:line 3\n   at N.T.M() in app:token 0x0+0x300\n   at N.T.M() in app:token 0x1+0x100\r\n"},
	{"release of the kernel", "[0.0] Linux version 6.9.1 (gcc 12) #2\n f+0x1/0x2\nCPU: 0 Comm: x #\n", ""},
	{"other tokens", " in :token 0x1+0x1\n in app:token 0x1\n in app:token 0x1+0x1 \n in app:token 0x123456789+0x1\n:token 0x1+0x1\n", ""},
	{"other texts with sizes", "+0x1/0x2\nmain+0x/0x2\nmain+0x1/0x\nmain+1/0x2\n /0x1 +0x2\n", ""},
	{"leaks", "SUMMARY: AddressSanitizer: 9 byte(s) leaked in 1 allocation(s).\n", ""},
	{"signal in a program",
		"[1.5] app[49]: segfault at 10 ip 000055784679c100 sp 00007fff9f8f2d30 error 6 in app[100,55784679c000+1000] likely on CPU 0 (core 0, socket 0)\n" +
			"[1.6] traps: app[50] trap int3 ip:55784679c201 sp:7fff9f8f2d30 error:0 in app[55784679c000+1000]\r\n" +
			"app[51]: unhandled exception: DABT (lower EL), ESR 0x0000000092000006, level 2 translation fault in app[300,aaaab0c00000+1000]\n",
		"[1.5] app[49]: segfault at 10 ip 000055784679c100 sp 00007fff9f8f2d30 error 6 in app[100,55784679c000+1000] (inner at /a.c:3:5, outer at /a.c:8:1) likely on CPU 0 (core 0, socket 0)\n" +
			"[1.6] traps: app[50] trap int3 ip:55784679c201 sp:7fff9f8f2d30 error:0 in app[55784679c000+1000] (main at /a.c:12)\r\n" +
			"app[51]: unhandled exception: DABT (lower EL), ESR 0x0000000092000006, level 2 translation fault in app[300,aaaab0c00000+1000] (_start)\n"},
	{"other texts with mappings", " ip 1100 in app[2000+1000]\n ip 1100 in app[1000+100]\n ip 1100 in app[1000+1000\n ip 1100 in [1000+1000]\n in app[1000+1000]\n in app[100,1000+0]\n" +
		" in app[100,1000-1000]\n ip 3000 in app[1000+1000]\nip in app[1000+1000]\n", ""},
	{"PyTorch",
		"frame #0: c10::Error::Error() + 0x57 (0x7fdf700f6100 in /lib/libc10.so)\nframe #1: <unknown function> + 0x101 (0x7fdf700f6100 in /bin/app)   \n" +
			"| frame #2: <unknown function> + 0x201 (0x7fdf700f6200 in /bin/app)\nframe #3: <unknown function> + 0x301 (0x7fdf700f6300 in /bin/app)\n",
		"frame #0: c10::Error::Error() + 0x57 (0x7fdf700f6100 in /lib/libc10.so)\nframe #1: inner (0x7fdf700f6100 in /bin/app) at /a.c:3:5   \nframe #1: outer (0x7fdf700f6100 in /bin/app) at /a.c:8:1   \n" +
			"| frame #2: main (0x7fdf700f6200 in /bin/app) at /a.c:12\nframe #3: _start (0x7fdf700f6300 in /bin/app)\n"},
	{"other texts of PyTorch", "<unknown function> + 0x (0x1 in /bin/app)\n<unknown function> + 0x201 (1 in /bin/app)\n<unknown function> + 0x201)\n<unknown function> + 0x201 (0x1 in )\n<unknown function> + 0x201\n", ""},
	{"Python", "  Binary file \"/bin/app\", at _Py_DumpStack+0x42 [0x5b27f7d7147e]\n  Binary file \"/bin/app\", at +0x201 [0x5b27f7cd9aab]\n" +
		"  Binary file \"/bin/app\", at outer+0x101 [0x5b27f7cd9aab]\n  Binary file \"/bin/app\" [0x201]\n  Binary file '<unknown>' [0x201]\n  Binary file \"/bin/app\", at +1 [0x201]\n  Binary file \"/bin/app\", in [0x201]\n",
		"  Binary file \"/bin/app\", at _Py_DumpStack+0x42 [0x5b27f7d7147e]\n  Binary file \"/bin/app\", at +0x201 [0x5b27f7cd9aab] in main at /a.c:12\n" +
			"  Binary file \"/bin/app\", at outer+0x101 [0x5b27f7cd9aab] in inner at /a.c:3:5\n  Binary file \"/bin/app\", at outer+0x101 [0x5b27f7cd9aab] in outer at /a.c:8:1\n" +
			"  Binary file \"/bin/app\" [0x201] in main at /a.c:12\n  Binary file '<unknown>' [0x201]\n  Binary file \"/bin/app\", at +1 [0x201]\n  Binary file \"/bin/app\", in [0x201]\n"},
	{"Node.js", " 1: 0x101  [app]\n 1: 0xf50bdf v8::Call(int) [app]\n10: 0x10000201  [app]\n 1: 0x1101  [app]\n 2: 0x1201  [app]\nx: 0x1201  [app]\n 1: 0x1201  []\n 1: 0x7fdf00001201  [app]\n: 0x1201  [app]\n",
		" 1: 0x101  [app]\n 1: 0xf50bdf v8::Call(int) [app]\n10: 0x10000201  [app]\n 1: 0x1101 inner [app] at /a.c:3:5\n 1: 0x1101 outer [app] at /a.c:8:1\n 2: 0x1201 main [app] at /a.c:12\n" +
			"x: 0x1201  [app]\n 1: 0x1201  []\n 1: 0x7fdf00001201  [app]\n: 0x1201  [app]\n"},
	{"Wine",
		"=>0 0x00000140000100 in app (+0x100) (0x00000000c812e0)\n  1 0x00000140000201 in app (+0x201) (0000000000000000)\n  10 0x00000140000301 in app (+0x301) (0x01)\n" +
			"  2 0x0000007b627e49 Thunk+0x9 in app (+0x100) (0x01)\n0x00000140000100 app+0x100: movl\n in app (+0x100) (0x01)\n 0x1 in app (+0x100) [0x01]\n 0x1 in  (+0x100) (0x01)\n",
		"=>0 0x00000140000100 inner [/a.c:3:5] in app (+0x100) (0x00000000c812e0)\n=>0 0x00000140000100 outer [/a.c:8:1] in app (+0x100) (0x00000000c812e0)\n" +
			"  1 0x00000140000201 main [/a.c:12] in app (+0x201) (0000000000000000)\n  10 0x00000140000301 _start in app (+0x301) (0x01)\n" +
			"  2 0x0000007b627e49 Thunk+0x9 in app (+0x100) (0x01)\n0x00000140000100 app+0x100: movl\n in app (+0x100) (0x01)\n 0x1 in app (+0x100) [0x01]\n 0x1 in  (+0x100) (0x01)\n"},
	{"Flutter",
		"E/flutter: build_id: '" + id + "'\nE/flutter:     #00 abs 0000723d634100 virt 0000000000000100 _kDartIsolateSnapshotInstructions+0x1e26d7\n<asynchronous suspension>\n" +
			"E/flutter:     #01 abs 0000723d634300 virt 0000000000000300 _kDartVmSnapshotInstructions+0x1\n    #02 abs 0000723d634200 _kDartIsolateSnapshotInstructions+0x1\n    #03 abs 1 virt 200\n",
		"E/flutter: build_id: '" + id + "'\nE/flutter:     #00 abs 0000723d634100 virt 0000000000000100 inner (/a.c:3:5)\nE/flutter:     #01 abs 0000723d634100 virt 0000000000000100 outer (/a.c:8:1)\n<asynchronous suspension>\n" +
			"E/flutter:     #02 abs 0000723d634300 virt 0000000000000300 _start\n    #03 abs 0000723d634200 _kDartIsolateSnapshotInstructions+0x1\n    #04 abs 1 virt 200\n"},
	{"glog", maps + "PC: @                0x0 (unknown)\n    @     0x55c000001201 (unknown)\n    @     0x55c000001201 f()\nE1129 @     0x55c000001101 (unknown)\n    0x55c000001101 (unknown)\n @ 0x (unknown)\n @ (unknown)\n",
		maps + "PC: @                0x0 (unknown)\n    @     0x55c000001201 main [/a.c:12]\n    @     0x55c000001201 f()\nE1129 @     0x55c000001101 inner [/a.c:3:5]\nE1129 @     0x55c000001101 outer [/a.c:8:1]\n" +
			"    0x55c000001101 (unknown)\n @ 0x (unknown)\n @ (unknown)\n"},
	{"Abseil", maps + "PC: @     0x55c000001200  (unknown)  (unknown)\n    @     0x55c000001201         48  (unknown)\n    @     0x55c000001201         48  f(unknown)\n    @     0x55c000001201  f  (unknown)\n@ 0x55c000001201(unknown)\n",
		maps + "PC: @     0x55c000001200  (unknown)  main [/a.c:12]\n    @     0x55c000001201         48  main [/a.c:12]\n    @     0x55c000001201         48  f(unknown)\n    @     0x55c000001201  f  (unknown)\n@ 0x55c000001201(unknown)\n"},
	{"build ids of eu-stack",
		"#0  0x000055c000001100 - /bin/app\n    [" + id + "]@0x55c000000000+0x100\n#1  0x000055c000001201 - 1 f - app\n    [" + id + "]@0x55c000000000+0x200\n    /a.c:12\n#2  0x000055c000001300\n    [" + id + "]@0x55c000000000+0x300\n",
		"#0  0x000055c000001100 - /bin/app\n    [" + id + "]@0x55c000000000+0x100 in inner at /a.c:3:5\n    [" + id + "]@0x55c000000000+0x100 in outer at /a.c:8:1\n#1  0x000055c000001201 - 1 f - app\n" +
			"    [" + id + "]@0x55c000000000+0x200 in main at /a.c:12\n    /a.c:12\n#2  0x000055c000001300\n    [" + id + "]@0x55c000000000+0x300 in _start\n"},
	{"other texts with build ids", "[" + id + "]@0x1\n[" + id + "]@0x1+0x\n[" + id + "]@0x1+0x200 \"x\"\n[" + id + "z]@0x1+0x200\n" + id + "]@0x1+0x200\n[0123]@0x1+0x200\n]@0x1+0x200\n[" + id + "]@1+0x200\n", ""},
	{"build ids after other texts", "see [" + id + "]@0x1+0x200\n[" + id + "]@0x+0x200\n", ""},
	{"other calls with a number", "/bin/app: handler(0x201) [0x55aa]\nint y = app(0x201)[0x10]\napp (0x201) [0x55aa]\nsee /bin/app(0x201) [0x55aa]\napp(0x201)[0x55aa]\n", ""},
	{"other texts of glog", maps + "me@ 0x55c000001201 (unknown)\n", ""},
	{"crash report of Ruby", maps + "/bin/app(0x201) [0x55aa]\napp(0x55c000001101) [0x55c000001101]\n/lib/b(0x55c000009999) [0x55c000009999]\n(0x201) [0x55aa]\n/bin/app(f(0x201)) [0x55aa]\napp(0x1201) [0x1201]\n",
		maps + "/bin/app(0x201) [0x55aa] in main at /a.c:12\napp(0x55c000001101) [0x55c000001101] in inner at /a.c:3:5\napp(0x55c000001101) [0x55c000001101] in outer at /a.c:8:1\n" +
			"/lib/b(0x55c000009999) [0x55c000009999]\n(0x201) [0x55aa]\n/bin/app(f(0x201)) [0x55aa]\napp(0x1201) [0x1201] in main at /a.c:12\n"},
	{"a program after the place of a message", "/src/log.go:12: app(+0x201) [0x55aa]\n",
		"/src/log.go:12: app(+0x201) [0x55aa] in main at /a.c:12\n"},
	{"titles of processes", "postgres: me db [local] SELECT(+0x201) [0x55aa]\napp: checkpointer (+0x201) [0x55aa]\napp: me db [local] SELECT(+0x201) [0x55aa]\n\tapp *:6399(main+0x201)[0x55aa]\n/bin/app 127.0.0.1:6379(+0x201)[0x55aa]\n\t/bin/app(+0x201) [0x55aa]\n" +
		"app: /lib/libc.so.6(+0x201) [0x55aa]\n 3: (main()+0x201) [0x55aa]\n\"(+0x201) [0x55aa]\n/bin/my tool(+0x201) [0x55aa]\n",
		"postgres: me db [local] SELECT(+0x201) [0x55aa]\napp: checkpointer (+0x201) [0x55aa] in main at /a.c:12\napp: me db [local] SELECT(+0x201) [0x55aa] in main at /a.c:12\n\tapp *:6399(main+0x201)[0x55aa] in main at /a.c:12\n/bin/app 127.0.0.1:6379(+0x201)[0x55aa] in main at /a.c:12\n" +
			"\t/bin/app(+0x201) [0x55aa] in main at /a.c:12\napp: /lib/libc.so.6(+0x201) [0x55aa]\n 3: (main()+0x201) [0x55aa]\n\"(+0x201) [0x55aa]\n/bin/my tool(+0x201) [0x55aa] in main at /a.c:12\n"},
	{"named returns from signal handlers", maps + "#0 0x7f01 __restore_rt\n#1 0x55c000001100 <unknown>\n#2 0x55c000001201 <unknown>\nlinux-vdso.so.1(__kernel_rt_sigreturn+0x0) [0x7f01]\n/bin/app(+0x200)[0x1]\n",
		maps + "#0 0x7f01 __restore_rt\n#1 0x55c000001100 inner [/a.c:3:5]\n#2 0x55c000001100 outer [/a.c:8:1]\n#3 0x55c000001201 main [/a.c:12]\nlinux-vdso.so.1(__kernel_rt_sigreturn+0x0) [0x7f01]\n" +
			"/bin/app(+0x200)[0x1] in main at /a.c:12\n"},
	{"list in JSON", "  \"backtrace\": [\n    \"/bin/app(+0x101) [0x55aa]\",\n    \"/bin/app(+0x201) [0x55aa]\"\n  ]\n",
		"  \"backtrace\": [\n    \"/bin/app(+0x101) [0x55aa] in inner at /a.c:3:5, outer at /a.c:8:1\",\n    \"/bin/app(+0x201) [0x55aa] in main at /a.c:12\"\n  ]\n"},
	{"stack of strace", " > /bin/app(main+0x1) [0x201]\n > /bin/app() [0x301]\n", " > /bin/app(main+0x1) [0x201] in main at /a.c:12\n > /bin/app() [0x301] in _start\n"},
	{"address of more than 64 bits", "    #0 0x1  (app+0x10000000000000100)\n", ""},
	{"noise", "\x00\xff#0 0x#1 (#2 0x1  (+0x)\n#\n#1\n   #1 \n\r\r\n(+0x1)\n#0 0x1 (BuildId: )\n", ""},
}

// Lines that arrive one by one belong to those before them.
func TestStacksOfElfutilsArriveInParts(t *testing.T) {
	in := "#0  0x000055c000001201 - /bin/app\n    [0123456789abcdef]@0x55c000000000+0x200\nx\n    [0123456789abcdef]@0x55c000000000+0x200\n"
	asked := &filter.Run{Names: filtertest.Names{}}
	if err := text.Filter(t.Context(), asked, bufio.NewReader(iotest.OneByteReader(strings.NewReader(in))), bufio.NewWriter(io.Discard)); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range asked.Missing() {
		names = append(names, m.Name)
	}
	if slices.Sort(names); !slices.Equal(names, []string{"0123456789abcdef", "app"}) {
		t.Errorf("asked for %q", names)
	}
}

func TestLines(t *testing.T) {
	for _, c := range lines {
		t.Run(c.name, func(t *testing.T) {
			want := c.out
			if want == "" {
				want = c.in
			}
			got := run(t, &filter.Run{}, c.in)
			if got != want {
				t.Errorf("got\n%swant\n%s", got, want)
			}
			if again := run(t, &filter.Run{}, got); again != got {
				t.Errorf("the second run returns\n%sfor\n%s", again, got)
			}
		})
	}
}

// asked remembers the addresses of a query.
type asked struct {
	filtertest.Names
	list []filter.Address
}

func (a *asked) Look(ctx context.Context, q *filter.Query) (filter.Answer, error) {
	a.list = append(a.list, q.Addresses...)
	return a.Names.Look(ctx, q)
}

func TestAddressesOfEachWriter(t *testing.T) {
	for in, want := range map[string]filter.Address{
		"#0 0x1  (app+0x200)":                                {Space: filter.Linked, Addr: 0x200},
		"#0 0x200  (app+0x200)":                              {Space: filter.Linked, Addr: 0x200},
		"#0 0x400200  (app+0x400200)":                        {Space: filter.Fixed, Addr: 0x400200},
		"#1 <null> <null> (app+0x200)":                       {Space: filter.Linked, Addr: 0x200},
		"#1 0x1  (app:arm64+0x100000200)":                    {Space: filter.Linked, Addr: 0x100000200},
		"#1 0x1  (app:x86_64h+0x200)":                        {Space: filter.Relative, Addr: 0x200},
		"SUMMARY: x: y (app+0x200)":                          {Space: filter.Linked, Addr: 0x200},
		"#01 pc 0200  app":                                   {Space: filter.Linked, Addr: 0x200},
		"#0  0x1 n/a (app + 0x200)":                          {Space: filter.Relative, Addr: 0x200},
		"#1  0x1 n/a (app + 0x200)":                          {Space: filter.Relative, IsReturn: true, Addr: 0x200},
		"./app(+0x200)[0x1]":                                 {Space: filter.Linked, IsReturn: true, Addr: 0x200},
		"./app[0x200]":                                       {Space: filter.Fixed, IsReturn: true, Addr: 0x200},
		"C  [app+0x200]":                                     {Space: filter.Relative, Addr: 0x200},
		"#0 0x1 (/bin/app+0x200)":                            {Space: filter.Linked, IsReturn: true, Addr: 0x200},
		"app(f+0x200)[0x1]":                                  {Space: filter.Named, IsReturn: true},
		" f+0x2/0x8 [app]":                                   {Space: filter.Named, IsReturn: true},
		"RIP: 0010:f+0x2/0x8 [app]":                          {Space: filter.Named},
		"pc : f+0x2/0x8 [app " + id + "]":                    {Space: filter.Named},
		"epc   : 80123456 f+0x2/0x8 [app]":                   {Space: filter.Named},
		"  ERA: 90000001 f+0x2/0x8 [app]":                    {Space: filter.Named},
		"Krnl PSW : 07 01 (f+0x2/0x8 [app])":                 {Space: filter.Named},
		"   RA: 90000001 f+0x2/0x8 [app]":                    {Space: filter.Named, IsReturn: true},
		maps + "#0 0x55c000001200 <unknown>":                 {Space: filter.Offset, IsReturn: true, Addr: 0x200},
		maps + "@ 0x55c000001200 (unknown)":                  {Space: filter.Offset, IsReturn: true, Addr: 0x200},
		maps + "PC: @ 0x55c000001200 (unknown)":              {Space: filter.Offset, Addr: 0x200},
		maps + "app(0x55c000001200) [0x55c000001200]":        {Space: filter.Offset, IsReturn: true, Addr: 0x200},
		"app(0x200) [0x55c000001200]":                        {Space: filter.Linked, IsReturn: true, Addr: 0x200},
		"[" + id + "]@0x55c000000000+0x200":                  {Space: filter.Relative, Addr: 0x200},
		" ip 1200 in app[1000+1000]":                         {Space: filter.Mapped},
		" in app[200,1000+1000]":                             {Space: filter.Offset, Addr: 0x200},
		" trap int3 in app[200,1000+1000]":                   {Space: filter.Offset, Addr: 0x1ff},
		"<unknown function> + 0x200 (0x1 in app)":            {Space: filter.Linked, IsReturn: true, Addr: 0x200},
		"Binary file \"app\", at +0x200 [0x1]":               {Space: filter.Linked, IsReturn: true, Addr: 0x200},
		" 1: 0x1200  [app]":                                  {Space: filter.Fixed, IsReturn: true, Addr: 0x1200},
		"=>0 0x1200 in app (+0x200) (0x1)":                   {Space: filter.Relative, Addr: 0x200},
		"  1 0x1200 in app (+0x200) (0x1)":                   {Space: filter.Relative, IsReturn: true, Addr: 0x200},
		"  10 0x1200 in app (+0x200) (0x1)":                  {Space: filter.Relative, IsReturn: true, Addr: 0x200},
		"build_id: '" + id + "'\n#1 abs 1 virt 200 _kDartVm": {Space: filter.Linked, Addr: 0x200},
		" > /bin/app(f+0x2) [0x200]":                         {Space: filter.Offset, IsReturn: true, Addr: 0x200},
	} {
		a := &asked{}
		if run(t, &filter.Run{Names: a}, in); len(a.list) == 0 || a.list[0] != want { // the others are alternatives
			t.Errorf("%q: got %v, want %v", in, a.list, want)
		}
	}
}

// TestCallersOfSignalHandlers has a frame that is not a call, before the one after it.
func TestCallersOfSignalHandlers(t *testing.T) {
	n := names()
	n["libc"] = map[uint64][]filter.Frame{
		0x49: {frame("other", "/c.c", 1, 0)}, 0x50: {frame("__restore_rt", "", 0, 0)}, 0x5f: {frame("f", "/c.c", 2, 0)}, 0x60: {frame("g", "/c.c", 3, 0)},
	}
	known := map[string]ident.Module{"app": {CodeFile: "app", CodeID: id}, "libc.so.6": {CodeFile: "libc"}}
	const in = "app(+0x201)[0x1]\n/lib/libc.so.6(+0x50)[0x1]\napp(+0x100)[0x1]\napp(+0x200)[0x1]\n/lib/libc.so.6(+0x60)[0x1]\napp(+0x201)[0x1]\n/lib/libc.so.6(+0x61)[0x1]\n" +
		"/lib/libc.so.6(+0x50)[0x1]\nother(+0x1)[0x1]\napp(+0x201)[0x1]\n/lib/libc.so.6(+0x50)[0x1]\nnext\napp(+0x201)[0x1]\n"
	const want = "app(+0x201)[0x1] in main at /a.c:12\n/lib/libc.so.6(+0x50)[0x1] in __restore_rt\napp(+0x100)[0x1] in inner at /a.c:3:5\napp(+0x100)[0x1] in outer at /a.c:8:1\n" +
		"app(+0x200)[0x1] in main at /a.c:12\n/lib/libc.so.6(+0x60)[0x1] in f at /c.c:2\napp(+0x201)[0x1] in main at /a.c:12\n/lib/libc.so.6(+0x61)[0x1] in g at /c.c:3\n" +
		"/lib/libc.so.6(+0x50)[0x1] in __restore_rt\nother(+0x1)[0x1]\napp(+0x201)[0x1] in main at /a.c:12\n" +
		"/lib/libc.so.6(+0x50)[0x1] in __restore_rt\nnext\napp(+0x201)[0x1] in main at /a.c:12\n"
	r := &filter.Run{Names: n, Known: known}
	if got := run(t, r, in); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if c := r.Counts(); c.Addresses != 11 {
		t.Errorf("%d addresses are counted, want 11", c.Addresses)
	}
}

func TestModulesOfElfutilsHaveThePathOfTheLineBefore(t *testing.T) {
	const address = "    [" + id + "]@0x55c000000000+0x999\n"
	for in, want := range map[string]string{
		"#1  0x000055c000001201 - 1 f - /bin/app\n" + address:     "app",
		"#1  0x000055c000001201 - /bin/app\nnext\n" + address:     id,
		"#1  0x000055c000001201 f\n" + address + "next" + address: id,
	} {
		r := &filter.Run{Names: filtertest.Names{}}
		if run(t, r, in); len(r.Missing()) != 1 || r.Missing()[0].Name != want {
			t.Errorf("%q: missing are %v, want %s", in, r.Missing(), want)
		}
	}
}

func TestForceReplacesNames(t *testing.T) {
	for in, want := range map[string]string{
		"    #0 0x1 in f(int) (app+0x200)\n":                   "    #0 0x1 in main /a.c:12\n",
		"    #0 f <null> (app+0x200)\n":                        "    #0 main /a.c:12 (app+0x200)\n",
		"SUMMARY: ThreadSanitizer: data race (app+0x300) in f": "SUMMARY: ThreadSanitizer: data race (app+0x300) in _start",
		"#00 pc 00000200  /lib/app (foo(int)+4)":               "#00 pc 00000200  /lib/app (main) at /a.c:12",
		"C  [app+0x200]  f+0x1":                                "C  [app+0x200]  main  (/a.c:12)",
		"#0  0x1 f(int) (app + 0x200)":                         "#0  0x1 main (app + 0x200) at /a.c:12",
	} {
		if got := run(t, &filter.Run{Force: true}, in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestNamesWithLineFeedsStayOnTheLine(t *testing.T) {
	n := filtertest.Names{id: {1: {frame("a\nb", "c\x1bd", 1, 0)}}}
	if got, want := run(t, &filter.Run{Names: n}, "#0 0x1  (app+0x1)\n"), "#0 0x1 in a?b c?d:1\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestLongLinesAreCopied(t *testing.T) {
	long := strings.Repeat("#0 0x1  (app+0x200) ", 500_000)
	in := "#0 0x1  (app+0x200)\n" + long + "\n#0 0x1  (app+0x200)\n" + long
	want := "#0 0x1 in main /a.c:12\n" + long + "\n#0 0x1 in main /a.c:12\n" + long
	if got := run(t, &filter.Run{}, in); got != want {
		t.Errorf("%d bytes are not the expected %d", len(got), len(want))
	}
}

func TestLinesAreWrittenBeforeTheNextOnes(t *testing.T) {
	in, feed := io.Pipe()
	result, out := io.Pipe()
	go func() {
		err := text.Filter(context.Background(), &filter.Run{Names: names()}, bufio.NewReader(in), bufio.NewWriter(out))
		out.CloseWithError(err)
	}()
	r := bufio.NewReader(result)
	for range 3 {
		io.WriteString(feed, "    #0 0x1  (/app+0x200) (BuildId: "+id+")\n    #1 0x")
		if got, err := r.ReadString('\n'); got != "    #0 0x1 in main /a.c:12\n" {
			t.Fatalf("got %q, %v", got, err)
		}
		io.WriteString(feed, "1\n")
		if got, err := r.ReadString('\n'); got != "    #1 0x1\n" {
			t.Fatalf("got %q, %v", got, err)
		}
	}
	feed.Close()
	if rest, err := io.ReadAll(r); err != nil || len(rest) > 0 {
		t.Errorf("the end is %q, %v", rest, err)
	}
}

func TestCanceledRunEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err := text.Filter(ctx, &filter.Run{Names: names()}, bufio.NewReader(strings.NewReader("x\n")), bufio.NewWriter(io.Discard))
	if err != context.Canceled {
		t.Errorf("got %v", err)
	}
}

func FuzzFilter(f *testing.F) {
	for _, c := range lines {
		f.Add(c.in)
	}
	f.Fuzz(func(t *testing.T, in string) {
		once := run(t, &filter.Run{}, in)
		if strings.Count(once, "\n") < strings.Count(in, "\n") {
			t.Errorf("%q: lines are missing in %q", in, once)
		}
		if twice := run(t, &filter.Run{}, once); twice != once {
			t.Errorf("%q: the second run returns %q for %q", in, twice, once)
		}
		if same := run(t, &filter.Run{Names: filtertest.Names{}}, in); same != in {
			t.Errorf("%q: without names it is %q", in, same)
		}
	})
}

func BenchmarkLines(b *testing.B) {
	for name, line := range map[string]string{
		"access":  "2026-11-23T10:00:00.123Z web-1 INFO request id=4711 path=/api/v1/things status=200 took 12 ms\n",
		"frames":  "    #12 0x55aa  (/srv/app+0x100) (BuildId: " + id + ")\n    #13 0x55aa  (/srv/app+0x200) (BuildId: " + id + ")\n",
		"numbers": strings.Repeat(" ", 30_000) + "#x " + strings.Repeat("#1 ", 10_000) + "\n",
	} {
		b.Run(name, func(b *testing.B) { benchmark(b, line) })
	}
}

func benchmark(b *testing.B, line string) {
	in := []byte(strings.Repeat(line, 10<<20/len(line)))
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	for b.Loop() {
		err := text.Filter(context.Background(), &filter.Run{Names: names()}, bufio.NewReader(bytes.NewReader(in)), bufio.NewWriter(io.Discard))
		if err != nil {
			b.Fatal(err)
		}
	}
}
