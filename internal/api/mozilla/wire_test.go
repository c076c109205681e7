package mozilla_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"symbolon/internal/api/mozilla"
	"symbolon/internal/fault"
	"symbolon/internal/locate"
	"symbolon/internal/symbolicate"
)

const (
	toolID = "0123456789ABCDEF0123456789ABCDEF1"
	libID  = "00112233445566778899AABBCCDDEEFF0"
	badID  = "FFEEDDCCBBAA998877665544332211000"
)

// demo is the library that the wire tests ask.
var demo = library{
	"tool.pdb/" + toolID: {code: "tool.exe", fns: []fn{
		{0x1000, 0x40, []call{{"inner()", `c:\src\util.h`, 31}, {"middle()", `c:\src\util.h`, 20}, {"main", `c:\src\main.c`, 10}}},
		{0x1040, 0x10, []call{{"no_lines", "", 7}}},
		{0x1050, 0x10, []call{{`odd "name" <T>` + "\x01\u00fc\U0001F600\xff", "/a\\b", 0}}},
	}},
	"spaced.pdb/" + toolID: {code: "my tool.exe", fns: []fn{{0x100, 0x10, []call{{"fn", "", 0}}}}},
	"libcold.so/" + libID: {fns: []fn{{0x100, 0, []call{{"cold_fn", "", 0}}}}, cost: func(m *symbolicate.Module) {
		m.Report.Tried = []locate.Tried{
			tried(0, 2*time.Second, fault.New(fault.NotFound, "http://one/", "404")),
			tried(111, time.Second, nil),
		}
		m.Report.Parse = 500 * time.Millisecond
	}},
	"junk.so/" + badID: {cost: func(m *symbolicate.Module) {
		m.Report.Fault = fault.New(fault.Malformed, "http://one/junk.so.sym", "no MODULE record")
		m.Report.Tried = []locate.Tried{tried(52, time.Second, m.Report.Fault)}
		m.Report.ParseBad = 250 * time.Millisecond
	}},
	"oldjunk.so/" + badID: {cost: func(m *symbolicate.Module) {
		m.Report.Fault = fault.New(fault.Unsupported, "http://one/oldjunk.so.sym", "is a picture")
		m.Report.Tried = []locate.Tried{tried(0, 0, m.Report.Fault)}
		m.Report.Tried[0].Cached = true
	}},
	"slow.so/" + libID: {cost: func(m *symbolicate.Module) {
		m.Report.Late, m.Report.Fault = true, fault.New(fault.Timeout, "", "not ready within 1m0s")
	}},
	"gone.so/" + libID: {cost: func(m *symbolicate.Module) {
		m.Report.Fault = fault.New(fault.NotFound, "", "no source has the file")
		known := tried(0, 0, fault.New(fault.NotFound, "http://one/gone.so.sym", "404"))
		known.Cached = true
		m.Report.Tried = []locate.Tried{known}
	}},
}

// exchange is a file of testdata/wire.
type exchange struct {
	Note        string
	Config      mozilla.Config
	Method      string
	Path        string
	Headers     map[string]string
	Body        json.RawMessage // sent as it stands, or the text in it if it is one
	Status      int
	WantHeaders map[string]string `json:"want_headers"`
	Want        any
}

// Times are those of the reports; the clock of the door stands still.
func TestWire(t *testing.T) {
	files, _ := filepath.Glob("testdata/wire/*.json")
	if len(files) == 0 {
		t.Fatal("no files")
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var x exchange
		dec := json.NewDecoder(strings.NewReader(string(text)))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&x); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		body := string(x.Body)
		if strings.HasPrefix(body, `"`) {
			_ = json.Unmarshal(x.Body, &body)
		}
		var headers []string
		for name, value := range x.Headers {
			headers = append(headers, name, value)
		}
		d := mozilla.NewWith(x.Config, mozilla.Deps{Now: func() time.Time { return time.Time{} }, Log: quiet}, demo.run)
		w := do(front(d), x.Method, x.Path, body, headers...)
		var got any
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
			t.Errorf("%s: %v in %s", file, err, w.Body)
			continue
		}
		if w.Code != x.Status || !reflect.DeepEqual(got, x.Want) {
			want, _ := json.Marshal(x.Want)
			t.Errorf("%s (%s)\ngot  %d %s\nwant %d %s", file, x.Note, w.Code, w.Body, x.Status, want)
		}
		for name, want := range x.WantHeaders {
			if got := w.Header().Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", file, name, got, want)
			}
		}
	}
}
