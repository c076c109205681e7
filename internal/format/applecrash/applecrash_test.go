package applecrash_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"symbolon/internal/fault"
	"symbolon/internal/format/applecrash"
)

const text = `Incident Identifier: 0F1E2D3C-4B5A-6978-8796-A5B4C3D2E1F0
Hardware Model:      MacBookPro16,1
Path:                /Applications/Plum.app/Plum
Code Type:           ARM-64 (Native)
Date/Time:           2022-11-30 23:30:00.75 -0130
OS Version:          macOS 12.6 (21G115)
Report Version:      12
Exception Type:  EXC_CRASH (SIGABRT)
Empty:
no field

Application Specific Information: abort
  in plum: 1

Filtered syslog:
None found

Last Exception Backtrace:
0   CoreFoundation                0x180000010 -[NSException raise] + 10
(0x180000020 junk 0x180000030)

Thread 0::  Dispatch queue: com.apple.main-thread
0   libsystem_kernel.dylib        	       0x180001234 mach_msg_trap + 8
1   Plum Helper (Renderer)        	       0x10000a2b -[Plum eat: with:] + 43
2   ???                           	       0x42 0x0 + 66
3   Plum                          	       0x10000a30

Thread 1 name:  picker   Dispatch queue: com.example.picker
Thread 1 Crashed:
0   Plum                          	0x0000000010002000 pit (in Plum) (pit.mm:77)
1   Plum                          	0x0000000010002004 stone<int, (char)0>(char) + 12 (/src/stone.cc:9)
2   Plum                          	0x0000000010002008 juice(char) (in Plum) + 4
not a frame: but a field

Thread 2:
Thread x is not a thread
Thread 99999999999999999999:
Thread 3 without a colon

Thread 1 crashed with ARM Thread State (64-bit):
    x0: 0x0000000000000010   x1: 0xffffffffffffffff   bad: 0xg  lone
   far: 0x0000000000000010  esr: 0x92000006 (Data Abort) byte read Translation fault

Logical CPU:     6
Hardware Model:  Other

Binary Images:
        0x10000000 -         0x1000ffff +Plum arm64  (1.2 - 3) <0f1e2d3c4b5a69788796a5b4c3d2e1f1> /Applications/Plum.app/Plum

       0x180000000 -        0x18000ffff com.apple.Fruit (*) <0F1E2D3C-4B5A-6978-8796-A5B4C3D2E1F2> /System/A Fruit
       0x190000000 -        0x190000fff libold.dylib ppc /usr/lib/libold.dylib
               0x0 - 0xffffffffffffffff ??? (*) <00000000-0000-0000-0000-000000000000> ???
0x2 - 0x1 wrong arm64 <0F1E2D3C-4B5A-6978-8796-A5B4C3D2E1F2> /x
VM Region:   4 KB
`

// answer is the JSON of text.
const answer = `{
 "incident_identifier": "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0",
 "timestamp": "2022-12-01T01:00:00Z",
 "report_version": 12,
 "code_type": "ARM-64 (Native)",
 "path": "/Applications/Plum.app/Plum",
 "application_specific_information": "abort\n  in plum: 1",
 "filtered_syslog": "None found",
 "metadata": {
  "Exception Type": "EXC_CRASH (SIGABRT)",
  "Hardware Model": "MacBookPro16,1",
  "Logical CPU": "6",
  "OS Version": "macOS 12.6 (21G115)",
  "VM Region": "4 KB",
  "not a frame": "but a field"
 },
 "threads": [
  {"id": 0, "dispatch_queue": "com.apple.main-thread", "crashed": false, "frames": [
   {"module": "libsystem_kernel.dylib", "instruction_addr": "0x180001234", "symbol": "mach_msg_trap"},
   {"module": "Plum Helper (Renderer)", "instruction_addr": "0x10000a2b", "symbol": "-[Plum eat: with:]"},
   {"instruction_addr": "0x42"},
   {"module": "Plum", "instruction_addr": "0x10000a30"}
  ]},
  {"id": 1, "name": "picker", "dispatch_queue": "com.example.picker", "crashed": true, "frames": [
   {"module": "Plum", "instruction_addr": "0x10002000", "symbol": "pit", "file": "pit.mm", "line": 77},
   {"module": "Plum", "instruction_addr": "0x10002004", "symbol": "stone<int, (char)0>(char)", "file": "/src/stone.cc", "line": 9},
   {"module": "Plum", "instruction_addr": "0x10002008", "symbol": "juice(char)"}
  ], "registers": {"esr": "0x92000006", "far": "0x10", "x0": "0x10", "x1": "0xffffffffffffffff"}},
  {"id": 2, "crashed": false, "frames": []}
 ],
 "last_exception_backtrace": [
  {"module": "CoreFoundation", "instruction_addr": "0x180000010", "symbol": "-[NSException raise]"},
  {"instruction_addr": "0x180000020"},
  {"instruction_addr": "0x180000030"}
 ],
 "binary_images": [
  {"addr": "0x10000000", "size": 65535, "uuid": "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f1", "name": "Plum", "arch": "arm64", "version": "1.2 - 3", "path": "/Applications/Plum.app/Plum"},
  {"addr": "0x180000000", "size": 65535, "uuid": "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f2", "name": "com.apple.Fruit", "version": "*", "path": "/System/A Fruit"},
  {"addr": "0x190000000", "size": 4095, "name": "libold.dylib", "arch": "ppc", "path": "/usr/lib/libold.dylib"}
 ]
}`

const header = `{"incident_id": "0F1E2D3C-4B5A-6978-8796-A5B4C3D2E1F0", "timestamp": "2022-11-30 23:30:00.00 -0130", "os_version": "iPhone OS 14.1 (18A8395)", "bundleID": "com.example.plum", "bug_type": "309"}
`

const body = `{"cpuType": "X86-64", "translated": true, "procPath": "/Plum", "procName": "Plum", "pid": 7, "modelCode": "Mac14,7",
 "bundleInfo": {"CFBundleShortVersionString": "1.2", "CFBundleVersion": "3"}, "osVersion": "odd",
 "exception": {"type": "EXC_CRASH", "signal": "SIGABRT", "codes": "0x0, 0x0", "subtype": "sub", "message": "note"},
 "termination": {"namespace": "SIGNAL", "indicator": "Abort trap: 6"},
 "asi": {"libB": ["second"], "libA": ["first", "line"]}, "faultingThread": 1,
 "lastExceptionBacktrace": [{"imageIndex": 0, "imageOffset": 1}],
 "threads": [
  {"id": 70, "frames": [{"imageIndex": 0, "imageOffset": 16, "symbol": "f", "sourceFile": "a.c", "sourceLine": 4, "inline": true}, {"imageIndex": 1, "imageOffset": 66}, {"imageIndex": 9}]},
  {"id": 71, "name": "picker", "queue": "q", "frames": [], "threadState": {"flavor": "x86", "x": [{"value": 3}, {}, {"value": 18446744073709551615}],
   "rip": {"value": 16, "matchesCrashFrame": 1}, "rsp": {"description": "none"}}}],
 "usedImages": [
  {"base": 4096, "size": 32, "uuid": "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f1", "name": "Plum", "arch": "x86_64", "path": "/Plum", "CFBundleVersion": "3"},
  {"base": 0, "size": 0, "source": "A", "uuid": "00000000-0000-0000-0000-000000000000"}]}`

const bodyAnswer = `{
 "incident_identifier": "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0",
 "timestamp": "2022-12-01T01:00:00Z",
 "code_type": "X86-64 (Translated)",
 "path": "/Plum",
 "application_specific_information": "first\nline\nsecond",
 "metadata": {
  "Exception Codes": "0x0, 0x0",
  "Exception Message": "note",
  "Exception Subtype": "sub",
  "Exception Type": "EXC_CRASH (SIGABRT)",
  "Hardware Model": "Mac14,7",
  "Identifier": "com.example.plum",
  "OS Version": "iPhone OS 14.1 (18A8395)",
  "Process": "Plum [7]",
  "Termination Reason": "SIGNAL, Abort trap: 6",
  "Version": "1.2 (3)"
 },
 "threads": [
  {"id": 0, "crashed": false, "frames": [
   {"module": "Plum", "instruction_addr": "0x1010", "symbol": "f", "file": "a.c", "line": 4, "inline": true},
   {"instruction_addr": "0x42"},
   {"instruction_addr": "0x0"}
  ]},
  {"id": 1, "name": "picker", "dispatch_queue": "q", "crashed": true, "frames": [],
   "registers": {"rip": "0x10", "x0": "0x3", "x2": "0xffffffffffffffff"}}
 ],
 "last_exception_backtrace": [{"module": "Plum", "instruction_addr": "0x1001"}],
 "binary_images": [
  {"addr": "0x1000", "size": 32, "uuid": "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f1", "name": "Plum", "arch": "x86_64", "version": "3", "path": "/Plum"}
 ]
}`

// indented returns JSON with indents.
func indented(t *testing.T, text []byte) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func check(t *testing.T, report, want string) {
	t.Helper()
	r, err := applecrash.Read([]byte(report))
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := indented(t, got), indented(t, []byte(want)); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestReadText(t *testing.T) { check(t, text, answer) }

func TestReadTextWithCRLFAndByteOrderMark(t *testing.T) {
	check(t, "\ufeff"+strings.ReplaceAll(text, "\n", "\r\n"), answer)
}

func TestReadTextAfterLineOfJSON(t *testing.T) { check(t, header+text, answer) }

func TestReadJSON(t *testing.T) { check(t, header+body, bodyAnswer) }

func TestReadJSONWithoutHeader(t *testing.T) {
	check(t, `{"usedImages": [], "threads": [{}], "bug_type": "309"}`,
		`{"metadata": {}, "threads": [{"id": 0, "crashed": false, "frames": []}], "binary_images": []}`)
}

func TestReadUnknownTextIsEmpty(t *testing.T) {
	check(t, "nothing of use\n", `{"metadata": {}, "threads": [], "binary_images": []}`)
}

func TestReadRefusesInvalidReports(t *testing.T) {
	for _, c := range []struct{ report, want string }{
		{"\nIncident Identifier: plum", `line 2: malformed: invalid incident identifier "plum": must be a UUID`},
		{"Report Version: -1", "line 1: malformed: invalid report version"},
		{header + "\nReport Version: twelve", "line 3: malformed: invalid report version"},
		{`{"usedImages": [], "incident": "plum"}`, "incident: malformed: invalid incident identifier"},
		{`{"threads": [`, "invalid report: unexpected EOF"},
		{header + `{"threads": [`, "JSON, offset 13: malformed: invalid report: unexpected end of JSON input"},
		{header, "has no usedImages"},
		{`{"crash_info": {}, "threads": [{"frames": [{"module": "a"}]}]}`, "has no usedImages"},
		{`{"threads": "none"}`, "cannot unmarshal"},
		{`{"threads": [` + strings.Repeat("{},", 1<<18) + "{}]}", "more than 524288 values"},
		{strings.Repeat("\n", 1<<19+1), "more than 524288 lines"},
		{strings.Repeat(" ", applecrash.MaxSize+1), "more than 16777216"},
		{strings.Repeat("[", 1<<20), ""}, // is a text
		{"Thread 0:\n0 \xff", ""},
		{"Thread 0:\n0 \x00", ""},
		{"PK\x03\x04\x00\x00\xff", "must be UTF-8"},
		{header + `{"threads":` + strings.Repeat("[", 20000), "exceeded max depth"},
	} {
		_, err := applecrash.Read([]byte(c.report))
		if c.want == "" {
			if err != nil {
				t.Errorf("%.40q: %v", c.report, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || fault.KindOf(err) != fault.Malformed {
			t.Errorf("%.40q: error %v, want %q", c.report, err, c.want)
		}
	}
}

func TestReadSkipsInvalidFields(t *testing.T) {
	const rest = `"threads": [{"id": 0, "crashed": false, "frames": []}], `
	for report, want := range map[string]string{
		"Date/Time: yesterday\nThread 0:\nBinary Images:\n0x1 - 0x2 a arm64 <plum> /a\n0x3 - 0x4 b arm64 <0f1e2d": `{"metadata": {}, ` + rest +
			`"binary_images": [{"addr": "0x1", "size": 1, "name": "a", "arch": "arm64", "path": "/a"}, {"addr": "0x3", "size": 1, "name": "b", "arch": "arm64"}]}`,
		`{"threads": [{}], "captureTime": "plum", "usedImages": [{"base": 1, "uuid": "plum"}]}`: `{"metadata": {}, ` + rest + `"binary_images": [{"addr": "0x1", "size": 0}]}`,
	} {
		check(t, report, want)
	}
}

func TestReadOtherSpellingsOfNumbers(t *testing.T) {
	for _, id := range []string{"{0F1E2D3C-4B5A-6978-8796-A5B4C3D2E1F0}", "urn:uuid:0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0", "0F1E2D3C4B5A69788796A5B4C3D2E1F0"} {
		check(t, "Incident Identifier: "+id+"\nReport Version: +12", `{"incident_identifier": "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0",
			"report_version": 12, "metadata": {}, "threads": [], "binary_images": []}`)
	}
}

func TestReadTimesOfOtherWriters(t *testing.T) {
	for text, want := range map[string]string{
		"2022-11-30 23:30:00 -0130":         "2022-12-01T01:00:00Z",
		"2022-11-30 23:30:00.123456 -01:30": "2022-12-01T01:00:00Z",
		"2022-11-30 23:30:00.75-0130":       "2022-12-01T01:00:00Z",
		"2022-11-30 23:30:00-01:30":         "2022-12-01T01:00:00Z",
		"2022-12-01T01:00:00Z":              "2022-12-01T01:00:00Z",
		"2022-11-30T23:30:00.75-01:30":      "2022-12-01T01:00:00Z",
		"2022-11-30T23:30:00-0130":          "2022-12-01T01:00:00Z",
		"2022-12-01 01:00:00 Z":             "2022-12-01T01:00:00Z",
		"2022-2-3  4:5:6 +0000":             "2022-02-03T04:05:06Z",
		"1969-12-31 23:59:59.9 +0000":       "1969-12-31T23:59:59Z",
		"9999-12-31 23:59:59 -0100":         "0001-01-01T00:00:00Z", // has no JSON
		"2022-11-30 23:30:00":               "0001-01-01T00:00:00Z",
	} {
		r, err := applecrash.Read([]byte("Date/Time: " + text))
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Time.Format(time.RFC3339); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

func TestReadImagesWithBrackets(t *testing.T) {
	const id = "0f1e2d3c4b5a69788796a5b4c3d2e1f1"
	for line, want := range map[string]applecrash.Image{
		"0x1 - 0x2 a<b> arm64 (1 <2>) <" + id + "> /a": {Name: "a<b>", Arch: "arm64", Version: "1 <2>", Path: "/a"},
		"0x1 - 0x2 a arm64 <" + id + "> /a<b>":         {Name: "a", Arch: "arm64", Path: "/a<b>"},
		"0x1 - 0x2 ??? arm64 <" + id + "> /a":          {Name: "???", Arch: "arm64", Path: "/a"},
	} {
		want.Addr, want.Size, want.UUID = 1, 1, "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f1"
		r, err := applecrash.Read([]byte("Binary Images:\n" + line))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(r.Images, []applecrash.Image{want}) {
			t.Errorf("%s: got %+v", line, r.Images)
		}
	}
	const none = "Binary Images:\n0x0 - 0xffff ??? unknown-arch <00000000000000000000000000000000> ???\n0x0 - 0xffff ??? (*) <> ???"
	if r, err := applecrash.Read([]byte(none)); err != nil || len(r.Images) > 0 {
		t.Errorf("memory without an image: got %v, %v", r.Images, err)
	}
}

func TestImageWithADamagedRangeIsSkipped(t *testing.T) {
	for _, line := range []string{"0x2 - 0x1 a <> /a", " 0x1 - ??? a <> /a", "0x1 - 0x10000000000000000 a <> /a", "0x1"} {
		r, err := applecrash.Read([]byte("Binary Images:\n" + line + "\n0x3 - 0x4 b <> /b\n"))
		if err != nil {
			t.Fatal(err)
		}
		if want := []applecrash.Image{{Addr: 3, Size: 1, Name: "b", Path: "/b"}}; !slices.Equal(r.Images, want) {
			t.Errorf("%s: got %+v, want %+v", line, r.Images, want)
		}
	}
}

func TestInformationHasNoEmptyLinesAround(t *testing.T) {
	r, err := applecrash.Read([]byte("Application Specific Information:\n\nabort\n\nagain\n\n"))
	if err != nil {
		t.Fatal(err)
	}
	if want := "abort\n\nagain"; r.Info != want {
		t.Errorf("got %q, want %q", r.Info, want)
	}
}

// FuzzReport reads a report and prints it.
func FuzzReport(f *testing.F) {
	for _, s := range []string{text, header + text, header + body, body, header, "0x1 - 0x2 a <b> c"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := applecrash.Read(b)
		if err != nil {
			if kind := fault.KindOf(err); kind != fault.Malformed {
				t.Fatalf("%v: %v", kind, err)
			}
			return
		}
		frames := len(r.Exception)
		for _, thread := range r.Threads {
			frames += len(thread.Frames)
		}
		if frames+len(r.Threads)+len(r.Images) > len(b) {
			t.Fatalf("%d frames, %d threads, %d images of %d bytes", frames, len(r.Threads), len(r.Images), len(b))
		}
		if _, err := json.Marshal(r); err != nil {
			t.Fatal(err)
		}
	})
}

func TestReadInlinedFrames(t *testing.T) {
	r, err := applecrash.Read([]byte("Thread 0 Crashed:\n0   Quince   0x1234 fall (/src/fall.mm:77) [inlined]\n1   Quince   0x1234 main + 4 [inlined] x\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := []applecrash.Frame{{Module: "Quince", Addr: 0x1234, Symbol: "fall", File: "/src/fall.mm", Line: 77, Inline: true}, {Module: "Quince", Addr: 0x1234, Symbol: "main + 4 [inlined] x"}}
	if !slices.Equal(r.Threads[0].Frames, want) {
		t.Errorf("got %v, want %v", r.Threads[0].Frames, want)
	}
}

func TestImageHasTheNameOfItsFile(t *testing.T) {
	for line, want := range map[string]string{
		"0x1 - 0x2 +com.example.Quince (1.0) <0F1E2D3C-4B5A-6978-8796-A5B4C3D2E1F0> /Quince.app/Quince 2": "Quince 2",
		"0x1 - 0x2 +com.example.Quince (1.0) <0F1E2D3C-4B5A-6978-8796-A5B4C3D2E1F0>":                      "com.example.Quince",
		"0x1 - 0x2 Quince arm64 <0f1e2d3c4b5a69788796a5b4c3d2e1f0> /Applications/":                        "Quince",
	} {
		if i, ok := applecrash.ParseImage(line); !ok || i.File() != want {
			t.Errorf("%s: the file is %q (%t), want %q", line, i.File(), ok, want)
		}
	}
}
