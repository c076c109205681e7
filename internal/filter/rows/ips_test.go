package rows_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"symbolon/internal/filter"
	"symbolon/internal/filter/filtertest"
	"symbolon/internal/filter/rows"
	"symbolon/internal/format/applecrash"
)

const appUUID = "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"

// reportNames has a call at 0x40, and one with an inlined call before it.
var reportNames = filtertest.Names{strings.ReplaceAll(appUUID, "-", ""): {
	0x40: {{Function: []byte("main"), File: []byte("/src/main.m"), Line: 9, Entry: 0x30}},
	0x3f: {
		{Function: []byte("-[A b]"), File: []byte("/src/A.h"), Line: 3, Entry: 0x30, Inlined: true},
		{Function: []byte("main"), File: []byte("/src/main.m"), Line: 8, Entry: 0x30},
	},
}}

const report = `{"app_name":"App","bug_type":"309"}
{
  "usedImages" : [ {"uuid" : "` + appUUID + `", "base" : 4294967296, "size" : 4096, "arch" : "arm64", "name" : "App", "path" : "\/Applications\/App"},
    {"size":0, "source":"A", "base":0} ],
  "lastExceptionBacktrace" : [{"imageOffset":64,"imageIndex":0}],
  "threads" : [{"triggered":true,"id":1,"frames":[{"imageOffset":64,"imageIndex":0},{"imageIndex":0,"imageOffset":64},
    {"imageOffset":1,"symbol":"known","symbolLocation":0,"imageIndex":0},{"imageOffset":1,"imageIndex":0},{"imageOffset":2,"imageIndex":1},{"imageOffset":2,"imageIndex":7},7]},{"id":2}],
  "x" : 1.50
}
`

func rewriteReport(t *testing.T, r *filter.Run, text string) string {
	t.Helper()
	var out bytes.Buffer
	if err := rows.RewriteReport(context.Background(), r, []byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestFramesOfReportAreNamed(t *testing.T) {
	caller := `{"imageOffset":64,"imageIndex":0,"symbol":"-[A b]","sourceFile":"A.h","sourceLine":3,"inline":true},`
	const named = `,"symbol":"main","symbolLocation":16,"sourceFile":"main.m","sourceLine":8}`
	want := strings.NewReplacer(
		`[{"imageOffset":64,"imageIndex":0}],`, `[`+caller+`{"imageOffset":64,"imageIndex":0`+named+`],`,
		`{"imageOffset":64,"imageIndex":0},`, `{"imageOffset":64,"imageIndex":0,"symbol":"main","symbolLocation":16,"sourceFile":"main.m","sourceLine":9},`,
		`{"imageIndex":0,"imageOffset":64}`, caller+`{"imageIndex":0,"imageOffset":64`+named,
	).Replace(report)
	got := rewriteReport(t, &filter.Run{Names: reportNames}, report)
	if got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
	for _, force := range []bool{false, true} {
		if again := rewriteReport(t, &filter.Run{Names: reportNames, Force: force}, got); again != got {
			t.Errorf("a second run, forced %v, changed it to\n%s", force, again)
		}
	}
	r, err := applecrash.Read([]byte(got))
	if err != nil {
		t.Fatal(err)
	}
	if f := r.Threads[0].Frames[1]; f.Symbol != "-[A b]" || !f.Inline || f.Line != 3 {
		t.Errorf("the second frame is read as %+v", f)
	}
}

func TestHeaderIsNotAFunctionOfAReport(t *testing.T) {
	for symbol, want := range map[string]string{"_mh_execute_header": "main", "known": "known"} {
		in := strings.Replace(report, `[{"imageOffset":64,`, `[{"symbol":"`+symbol+`","symbolLocation":64,"imageOffset":64,`, 2)
		r, err := applecrash.Read([]byte(rewriteReport(t, &filter.Run{Names: reportNames}, in)))
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Threads[0].Frames[0]; got.Symbol != want {
			t.Errorf("%s: %+v", symbol, got)
		}
	}
}

func TestOtherReportsAreCopied(t *testing.T) {
	for _, text := range []string{"", "{}", "x\n", report[:len(report)-4], "{\"bug_type\":\"1\"}\nProcess: a\n", "{}\n[]", "{}\n{\"threads\":[{\"frames\":[{}]}]}"} {
		if got := rewriteReport(t, &filter.Run{Names: reportNames}, text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestReportsAreRecognized(t *testing.T) {
	for head, want := range map[string]bool{
		report: true, report[:60]: true, `{"bug_type":"309"}`: false, "{\"a\":1}\n{": false, "x\n": false, "{\"bug_type\"}\n": false, "": false,
	} {
		if got := rows.IsReport([]byte(head)); got != want {
			t.Errorf("%.60q: got %v", head, got)
		}
	}
}

func FuzzRewriteReport(f *testing.F) {
	f.Add([]byte(report))
	f.Add([]byte("{}\n{\"threads\":[{\"frames\":[{\"imageIndex\":0,\"imageOffset\":\"40\"}]}],\"usedImages\":[{\"name\":\"a\"}]}"))
	f.Add([]byte("{}\n{\"usedImages\":"))
	f.Fuzz(func(t *testing.T, text []byte) {
		rows.IsReport(text)
		got := rewriteReport(t, &filter.Run{Names: reportNames}, string(text))
		body := text[bytes.IndexByte(text, '\n')+1:]
		if json.Valid(body) && !json.Valid([]byte(got[len(text)-len(body):])) {
			t.Errorf("%q became %q", text, got)
		}
	})
}
