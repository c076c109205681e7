package triage_test

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"symbolon/internal/format/applecrash"
	"symbolon/internal/triage"
)

func TestKindIsThatOfTheBeginning(t *testing.T) {
	for _, c := range []struct {
		name, head string
		isFile     bool
		want       string // "" for an error
	}{
		{"a minidump", "MDMP\x93\xa7\x00\x00", true, triage.CrashFile},
		{"a program", "\x7fELF\x02\x01\x01\x00", true, triage.DebugFile},
		{"a pasted .sym file", "MODULE Linux x86_64 0123 kettle.so\n", false, "text"},
		{"the same as a file", "MODULE Linux x86_64 0123 kettle.so\n", true, triage.DebugFile},
		{"a report of Apple", "Incident Identifier: 1\nProcess:         Kettle [12]\n", false, triage.CrashFile},
		{"a report of sample", "Analysis of sampling Kettle (pid 12) every 1 millisecond\nReport Version:  7\n", false, "sample"},
		{"a log", "    #0 0x1000 (/lib/kettle.so+0x1000)\n", false, "text"},
		{"noise", "ab\x00cd", true, ""},
		{"pasted noise", "ab\x00cd", false, "text"},
	} {
		kind, err := triage.Kind([]byte(c.head), c.isFile)
		if kind != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%s: kind %q, error %v, want %q", c.name, kind, err, c.want)
		}
	}
}

func TestFormatsOfText(t *testing.T) {
	for format, want := range map[string]bool{"text": true, "perf": true, "rows": true, "sample": true, "firefox": false, triage.CrashFile: false} {
		if got := triage.IsText(format); got != want {
			t.Errorf("%s: is text: %v, want %v", format, got, want)
		}
	}
}

func TestRequestsAreOfTheInterfaceOfTheirMembers(t *testing.T) {
	for text, want := range map[string]string{
		`{"memoryMap": [], "stacks": [], "version": 4}`:             "/symbolicate/v4",
		`{"memoryMap": [], "stacks": [], "version": 5}`:             "/symbolicate/v5",
		`{"jobs": [{"memoryMap": [], "stacks": []}]}`:               "/symbolicate/v5",
		`{"stacktraces": [], "modules": []}`:                        "/symbolicate",
		`{"stacktraces": [], "modules": [], "status": "completed"}`: "", // an answer
		`{"memoryMap": []}`:                                         "",
		`{"jobs": [`:                                                "",
		`[]`:                                                        "",
		`{"stacktraces": [], "modules": []} {"stacktraces": [], "mod": 1}`: "",
	} {
		if got := triage.InterfaceOf([]byte(text)); got != want {
			t.Errorf("%s: interface %q, want %q", text, got, want)
		}
	}
}

func TestLongReportsAreCut(t *testing.T) {
	r := &applecrash.Report{Metadata: map[string]string{applecrash.KeyException: "EXC_BAD_ACCESS"}}
	for n := range 100 {
		frames := make([]applecrash.Frame, 50)
		for i := range frames {
			frames[i] = applecrash.Frame{Symbol: strings.Repeat("boil", 200), Module: "Kettle"}
		}
		r.Threads = append(r.Threads, applecrash.Thread{ID: uint64(n), Crashed: n == 7, Frames: frames})
	}
	x := triage.NewCrash(r, time.Unix(0, 0))
	if !x.IsCut || !x.IsTextCut {
		t.Errorf("stacks are cut: %v, text is cut: %v, want both", x.IsCut, x.IsTextCut)
	}
	if len(x.Text) > triage.MaxStacks {
		t.Errorf("the text has %d bytes, want at most %d", len(x.Text), triage.MaxStacks)
	}
	if first := x.Stacks[0].Title; first != "Thread 7, crashed" {
		t.Errorf("the first stack is %q, want that of the thread that crashed", first)
	}
	frames := 0
	for _, s := range x.Stacks {
		frames += len(s.Frames)
	}
	if most := triage.MaxStacks / triage.MaxText; frames == 0 || frames > most {
		t.Errorf("%d frames, want 1 to %d", frames, most)
	}
}

func TestACutterKeepsTheBeginning(t *testing.T) {
	c := triage.Cutter{Most: 6}
	for _, text := range []string{"a\r\n", "\x1b[1mb"} {
		_, _ = io.WriteString(&c, text)
	}
	if got := c.String(); !c.IsCut || strings.ContainsRune(got, 0x1b) || !strings.HasPrefix(got, "a\n") {
		t.Errorf("kept %q, cut: %v, want the beginning as printable text", got, c.IsCut)
	}
	if _, err := fmt.Fprint(&c, "more"); err == nil {
		t.Error("a write after the end succeeds, want an error that ends the work")
	}
}

// FuzzReport reads any text as people paste it, and any report of Apple.
func FuzzReport(f *testing.F) {
	f.Add([]byte("Incident Identifier: 1\nProcess: Kettle [12]\n\nThread 0 Crashed:\n0   Kettle  0x0000000100001000 boil + 16\n"))
	f.Add([]byte(`{"app_name":"Kettle"}` + "\n" + `{"threads":[{"triggered":true,"frames":[{"imageIndex":0,"imageOffset":1}]}],"usedImages":[{"base":1}]}`))
	f.Add([]byte(`{"stacktraces": [], "modules": []}`))
	f.Add([]byte("MDMP"))
	f.Fuzz(func(t *testing.T, text []byte) {
		_ = triage.InterfaceOf(text)
		for _, isFile := range []bool{false, true} {
			if kind, err := triage.Kind(text, isFile); (kind == "") != (err != nil) {
				t.Fatalf("kind %q and error %v", kind, err)
			}
		}
		r, err := applecrash.Read(text)
		if err != nil {
			return
		}
		if x := triage.NewCrash(r, time.Unix(0, 0)); len(x.Text) > 4*triage.MaxStacks {
			t.Fatalf("a text of %d bytes for a report of %d", len(x.Text), len(text))
		}
	})
}
