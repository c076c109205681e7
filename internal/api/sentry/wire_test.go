package sentry_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"symbolon/internal/api/sentry"
	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
	"symbolon/internal/object"
	"symbolon/internal/sym"
	"symbolon/internal/table"
)

var update = flag.Bool("update", false, "write the answers of testdata/wire")

// demo has the modules of testdata/wire, by code id.
func demo() engine {
	long := strings.Repeat("é", 100)
	lib := &library{
		arch: ident.ArchX86_64, features: object.HasDebug | object.HasSymbols | object.HasSources,
		texts: []string{"", "_ZN3pub5innerEv", "_ZN3pub5outerEv", "/src/pub/inner.h", `c:\src\outer.c`, "_start", `odd"name`, "/src/linked.c"},
		frames: map[uint64][]sym.Frame{
			0x1000: {{Func: 2, File: 4, Line: 3, Entry: 0x1000}},
			0x1004: {{Func: 1, File: 3, Line: 7, Entry: 0x1000, Inlined: true}, {Func: 2, File: 4, Line: 12, Entry: 0x1000}},
			0x2000: {{Func: 5, Entry: 0x2000}},
			0x3000: {{Func: 6, File: 3, Line: 0, Entry: 0x3000}},
			0x4000: {{Func: 2, File: 7, Line: 2, Entry: 0x4000}, {Func: 6, File: 3, Line: 99, Entry: 0x4000}},
		},
		sources: map[string]string{
			"/src/pub/inner.h": "one\ntwo\nthree\r\nfour\n" + strings.Repeat("x", 151) + "\n" + long + "\nseven\n" + strings.Repeat("y", 150) + "\nnine\n\neleven\ntwelve\n13",
		},
		links: map[string]string{"/src/linked.c": "http://example.test/linked.c"},
		sourceReport: table.Report{Tried: []locate.Tried{
			{Source: "web", Location: "http://example.test/lib.src.zip", Features: object.HasSources, Chosen: true},
			{Source: "web", Location: "http://example.test/lib.debug", Features: object.HasDebug | object.HasSymbols},
		}},
		report: table.Report{Tried: []locate.Tried{
			{Source: "web", Location: "http://example.test/lib.debug", Features: object.HasDebug | object.HasSymbols, Chosen: true},
			{Source: "web", Location: "http://example.test/lib", Fault: fault.New(fault.NotFound, "", "404 Not Found")},
			{Source: "store", Fault: fault.New(fault.NotFound, "", "it has no place for it")},
			{Source: "a", Location: "http://a.test/lib", Fault: fault.New(fault.Denied, "", "403 Forbidden")},
			{Source: "a", Location: "http://a.test/busy", Fault: fault.New(fault.Transport, "", "503 Service Unavailable")},
			{Source: "a", Location: "http://a.test/slow", Fault: fault.New(fault.Timeout, "", "no answer within 1s")},
			{Source: "a", Location: "http://a.test/bad", Fault: fault.New(fault.Malformed, "", "garbage")},
		}},
	}
	dotnet := &library{
		texts:  []string{"", "Quay.M1", "/_/src/Quay/Crane.cs"},
		frames: map[uint64][]sym.Frame{0x06000001<<32 | 5: {{Func: 1, File: 2, Line: 5}}},
	}
	fail := func(kind fault.Kind, tried ...locate.Tried) *library {
		return &library{missing: true, report: table.Report{Fault: fault.New(kind, "", "the reason"), Tried: tried}}
	}
	bad := fault.New(fault.Malformed, "", "garbage")
	return engine{
		"aa01": lib, "aa02": dotnet,
		"bb01": fail(fault.Malformed, locate.Tried{Source: "w", Location: "b", Fault: bad}, locate.Tried{Source: "w", Location: "a", Fault: bad}),
		"bb02": fail(fault.Denied), "bb03": fail(fault.Transport), "bb04": fail(fault.Timeout), "bb06": fail(fault.Internal),
		"bb05": fail(fault.Unsupported, locate.Tried{Source: "w", Location: "x", Chosen: true, Features: object.HasDebug}),
	}
}

// Each file of testdata/wire is a request and the answer to it.
func TestWire(t *testing.T) {
	files, err := filepath.Glob("testdata/wire/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no files in testdata/wire", err)
	}
	fetch := func(_ context.Context, url string, headers map[string]bin.Secret, verify bool) ([]byte, error) {
		return []byte("linked 1\nlinked 2, got with " + headers["token"].Reveal()), nil
	}
	f, _ := door(t, sentry.Config{}, sentry.Deps{Fetch: fetch}, demo().run)
	for _, name := range files {
		var c struct {
			Request  json.RawMessage `json:"request"`
			Response json.RawMessage `json:"response"`
		}
		text, err := os.ReadFile(name)
		if err == nil {
			err = json.Unmarshal(text, &c)
		}
		if err != nil {
			t.Fatal(name, err)
		}
		w := do(f, "POST", "/symbolicate", string(c.Request))
		if *update {
			var out bytes.Buffer
			enc := json.NewEncoder(&out)
			enc.SetEscapeHTML(false)
			enc.SetIndent("", " ")
			c.Response = w.Body.Bytes()
			if err := enc.Encode(c); err != nil {
				t.Fatal(name, err)
			}
			if err := os.WriteFile(name, out.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		var got, want any
		_ = json.Unmarshal(c.Response, &want)
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v\n%s", name, err, w.Body)
		}
	}
}
