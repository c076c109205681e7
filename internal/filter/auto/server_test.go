package auto_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"symbolon/internal/bin"
	"symbolon/internal/filter"
	"symbolon/internal/filter/auto"
	"symbolon/internal/filter/filtertest"
)

// The identifiers of the module in serverInputs.
const (
	buildID = "00112233445566778899aabbccddeeff"
	uuid    = "00112233-4455-6677-8899-AABBCCDDEEFF"
	debugID = "00112233445566778899AABBCCDDEEFF0"
)

// serverInputs has a file of each format that a server can be asked for.
func serverInputs() map[string]string {
	message := filtertest.Message
	frame := `{"debug_file":"a.so","debug_id":"` + debugID + `","offset":"0x1973"}`
	return map[string]string{
		"sanitizer": "x\n    #0 0x5594d1c0deaa  (/srv/app+0xddeaa) (BuildId: " + buildID + ")\nSUMMARY: AddressSanitizer: SEGV (/srv/app+0xddeaa) (BuildId: " + buildID + ")\n",
		"tombstone": "      #00 pc 0000000000001973  /system/lib64/libfoo.so (BuildId: " + buildID + ")\n",
		"coredump":  "Process 4242 (app) of user 0 dumped core.\nModule app, build-id=" + buildID + "\n#0  0x00005594d1c0deaa n/a (app + 0x3c6a5)\n",
		"markup":    "{{{module:0:app:elf:" + buildID + "}}}{{{mmap:0x700000:0x1000:load:0:rx:0x2000}}}\n{{{bt:0:0x700010:pc}}}\nat {{{pc:0x700020}}}\n",
		"crash": "Incident Identifier: 7E1C\nThread 0:\n0   Quince \t0x0000000100000100 0x100000000 + 256\n\nBinary Images:\n" +
			"0x100000000 - 0x100007fff +Quince x86_64 <" + uuid + "> /Applications/Quince\n",
		"ips": `{"bug_type":"309"}` + "\n" + `{"usedImages":[{"uuid":"` + uuid + `","name":"App"}],"threads":[{"frames":[{"imageOffset":16,"imageIndex":0}]}]}`,
		"sample": "Analysis of sampling Quince (pid 4242) every 1 millisecond\nCall graph:\n    +   9 ???  (in Quince)  load address 0x100000000 + 0x301  [0x100000301]\n\n" +
			"Binary Images:\n0x100000000 - 0x100007fff +Quince (1.2.3 - 45) <" + uuid + "> /Applications/Quince\n",
		"pprof": string(message(1, message(1, 1, 2, 2), 2, message(1, 1, 2, 1), 3, message(1, 1, 5, 3, 6, 4), 4, message(1, 1, 2, 1, 3, 0x1973),
			6, "", 6, "cpu", 6, "ns", 6, "/bin/app", 6, buildID)),
		"otlp": string(message(1, message(1, "", 2, message(2, message(1, ""))), 2, message(1, "", 1, message(5, "\x01"), 2, "", 2, message(1, 1, 2, 0xddeaa),
			3, "", 6, "", 6, message(1, 1, 2, message(8, 2)), 5, "", 5, "process.executable.build_id.gnu", 5, buildID))),
		"perfetto": string(message(1, message(8, 5, 10, 1, 12, message(6, message(1, 1, 3, 7, 4, 0x1973), 16, message(1, 1, 2, "\x00\x11\x22\x33\x44\x55\x66\x77"),
			17, message(1, 1, 2, "a.so"), 19, message(1, 7, 2, 1, 7, 1))))),
		"ping": `{"crash_type":"SIGSEGV","crash_address":"0x0","crash_thread":0,"modules":[{"base_address":"0x7f0000000000","filename":"a.so","debug_file":"a.so","debug_id":"` +
			debugID + `"}],"threads":[{"frames":[{"ip":"0x7f0000001973","module_index":0}]}]}` + "\n",
		"frames": `{"frames":[` + frame + `]}` + "\n",
		"firefox": `{"meta":{"preprocessedProfileVersion":48},"libs":[{"name":"app","path":"/bin/app","debugName":"app","breakpadId":"` + debugID + `","codeId":null}],"threads":[{
			"samples":{"length":1,"stack":[0],"time":[1]},"markers":{"data":[],"length":0},"stringArray":["0x1973","app"],
			"frameTable":{"length":1,"address":[6515],"inlineDepth":[0],"func":[0],"category":[1],"nativeSymbol":[null],"line":[null],"column":[null],"innerWindowID":[0]},
			"funcTable":{"length":1,"name":[0],"isJS":[false],"relevantForJS":[false],"resource":[0],"lineNumber":[null],"fileName":[null]},
			"resourceTable":{"length":1,"name":[1],"host":[null],"type":[1],"lib":[0]},"stackTable":{"length":1,"frame":[0],"prefix":[null],"category":[1]},
			"nativeSymbols":{"length":0,"libIndex":[],"address":[],"name":[],"functionSize":[]}}]}`,
	}
}

// asking returns a run that asks a server.
func asking(t *testing.T, answer http.HandlerFunc) *filter.Run {
	t.Helper()
	r := filtertest.Remote(t, answer)
	r.Log = io.Discard
	return &filter.Run{Names: r, Answer: r.Answer}
}

func TestFilesStayUnchangedWhileTheServerFails(t *testing.T) {
	for name, in := range serverInputs() {
		run := asking(t, http.NotFound)
		var out bytes.Buffer
		if err := auto.Filter(t.Context(), run, auto.Options{Format: "auto"}, auto.Input{Data: bin.Bytes([]byte(in))}, &out); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if out.String() != in || !run.HasFailed() {
			t.Errorf("%s: failed %t, got %q, want %q", name, run.HasFailed(), &out, in)
		}
	}
}

// hostileName has what ends a line, and what a terminal would obey.
const hostileName = "evil\x00\x1b[31m\r\n\t\u009b31m\"\\"

func TestNamesOfAServerDoNotBreakFiles(t *testing.T) {
	answer := func(w http.ResponseWriter, r *http.Request) {
		var q struct {
			Jobs []struct {
				MemoryMap [][]string
				Stacks    [][][2]uint64
			}
		}
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil || len(q.Jobs) != 1 {
			t.Errorf("the request is %v, %v", q, err)
			return
		}
		var frames []map[string]any
		for i, f := range q.Jobs[0].Stacks[0] {
			frames = append(frames, map[string]any{"frame": i, "module_offset": fmt.Sprintf("%#x", f[1]), "function": hostileName, "file": hostileName, "line": 7})
		}
		m := q.Jobs[0].MemoryMap[0]
		_ = json.NewEncoder(w).Encode(map[string]any{"results": []any{map[string]any{"stacks": []any{frames}, "found_modules": map[string]bool{m[0] + "/" + m[1]: true}}}})
	}
	for name, in := range serverInputs() {
		run := asking(t, answer)
		var out bytes.Buffer
		if err := auto.Filter(t.Context(), run, auto.Options{Format: "auto"}, auto.Input{Data: bin.Bytes([]byte(in))}, &out); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		got := out.String()
		if !strings.Contains(got, "evil") || run.HasFailed() {
			t.Errorf("%s: failed %t, got %q, want names", name, run.HasFailed(), got)
		}
		isText := !strings.ContainsFunc(in, func(r rune) bool { return r == utf8.RuneError || r != '\n' && r != '\t' && unicode.IsControl(r) })
		isBroken := func(r rune) bool { return r != '\n' && r != '\t' && unicode.IsControl(r) && r != '\u009b' } // JSON may have the last one
		if isText && (strings.ContainsFunc(got, isBroken) || strings.Count(got, "\n") != strings.Count(in, "\n")) {
			t.Errorf("%s: got %q", name, got)
		}
		if in[0] != '{' || strings.HasPrefix(in, "{{") {
			if isText && strings.ContainsRune(got, '\u009b') {
				t.Errorf("%s: got %q", name, got)
			}
			continue
		}
		for d := json.NewDecoder(&out); ; {
			var v any
			if err := d.Decode(&v); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v in %s", name, err, got)
			}
		}
	}
}
