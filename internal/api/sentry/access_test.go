package sentry_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"symbolon/internal/api/sentry"
	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/sym"
)

func TestSourcesOfRequestsAreRefusedUnlessAllowed(t *testing.T) {
	f, _ := door(t, sentry.Config{RequestFilesystemRoot: "/"}, sentry.Deps{}, demo().run)
	for body, want := range map[string]int{
		`{}`: 200, `{"sources":null}`: 200, `{"sources":[]}`: 403, `{"sources":[{"id":"x","type":"http","url":"http://127.0.0.1:1/"}]}`: 403,
	} {
		w := do(f, "POST", "/symbolicate", body)
		if w.Code != want || want == 403 && !strings.Contains(w.Body.String(), "sentry.allow_request_sources") {
			t.Errorf("%s: got %d %s", body, w.Code, w.Body)
		}
	}
}

func TestFoldersOfRequestsMustBeBelowTheRoot(t *testing.T) {
	dir := t.TempDir()
	root, outside := filepath.Join(dir, "root"), filepath.Join(dir, "root-not")
	for _, d := range []string{filepath.Join(root, "in"), outside} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"root/out": outside, "root/inner": "in", "root/nowhere": filepath.Join(outside, "later"), "alias": root} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	var opened string
	for _, root := range []string{root, filepath.Join(dir, "alias"), ""} {
		d := sentry.NewWith(sentry.Config{AllowRequestSources: true, RequestFilesystemRoot: root}, sentry.Deps{Now: time.Now, Log: quiet},
			func(a sentry.Search) (sentry.Run, error) {
				opened = a.Named[0].Path
				return demo().run, nil
			})
		f := front(d)
		for path, want := range map[string]string{
			dir + "/root": "root", dir + "/root/in": "root/in", dir + "/root/in/../in/": "root/in", dir + "/root/missing/too": "root/missing/too",
			dir + "/root/inner": "root/in", dir + "/alias/in": "root/in", dir + "/root/inner/missing": "root/in/missing",
			dir + "/root/..": "", dir + "/root/out": "", dir + "/root/out/x": "", dir + "/root/nowhere": "", dir + "/root/nowhere/x": "",
			dir + "/root-not": "", "/": "", "/etc": "", "root": "", dir + "/root/in/../../root-not": "",
		} {
			opened = ""
			body, _ := json.Marshal(map[string]any{"sources": []any{map[string]string{"id": "x", "type": "filesystem", "path": path}}})
			w := do(f, "POST", "/symbolicate", string(body))
			status := 403
			if want != "" && root != "" {
				status, want = 200, filepath.Join(dir, want)
			} else {
				want = ""
			}
			if w.Code != status || opened != want || status == 403 && !strings.Contains(w.Body.String(), "sentry.request_filesystem_root") {
				t.Errorf("root %q, %q: got %d %s, opened %q, want %d, %q", root, path, w.Code, w.Body, opened, status, want)
			}
		}
		d.Close()
	}
}

func TestSourcesAndScopesReachTheEngine(t *testing.T) {
	var got string
	d := sentry.NewWith(sentry.Config{AllowRequestSources: true}, sentry.Deps{Now: time.Now, Log: quiet},
		func(a sentry.Search) (sentry.Run, error) {
			got = fmt.Sprintf("%s %d %v", a.Scope, len(a.Named), a.Named == nil)
			for _, s := range a.Named {
				got += " " + s.ID + " " + s.Headers["a"].Reveal() + " " + fmt.Sprint(len(s.Headers))
			}
			if a.Scope == "broken" {
				return nil, fault.New(fault.Internal, "", "odd")
			}
			return demo().run, nil
		})
	defer d.Close()
	f := front(d)
	for _, c := range []struct {
		query, body, want string
		status            int
	}{
		{"", `{}`, "global 0 true", 200},
		{"?scope=", `{"sources":null}`, "global 0 true", 200},
		{"?scope=42", `{"sources":[]}`, "42 0 false", 200},
		{"", `{"sources":[{"id":"x","type":"http","url":"http://a.test/","headers":{"a":"b","bad name":"c"}}]}`, "global 1 false x b 1", 200},
		{"?scope=broken", `{}`, "broken 0 true", 500},
	} {
		if w := do(f, "POST", "/symbolicate"+c.query, c.body); w.Code != c.status || got != c.want {
			t.Errorf("%s %s: got %d, %q", c.query, c.body, w.Code, got)
		}
	}
}

// Each module is looked for in each source, and something is known of each place
// in the end.
func TestModulesTimesSourcesAreBounded(t *testing.T) {
	engine := func(sentry.Search) (sentry.Run, error) { return demo().run, nil }
	body := func(kind string, modules, frames, sources, long int) string {
		var b strings.Builder
		b.WriteString(`{"modules":[`)
		for i := range modules {
			fmt.Fprintf(&b, `%s{"type":%q,"image_addr":%d}`, ","[:min(i, 1)], kind, i)
		}
		b.WriteString(`],"stacktraces":[{"frames":[`)
		for i := range frames {
			fmt.Fprintf(&b, `%s{"instruction_addr":%d}`, ","[:min(i, 1)], i)
		}
		b.WriteString(`]}]`)
		for i := range sources {
			fmt.Fprintf(&b, `%s{"id":"s%d","type":"http","url":"http://a.test/%s"}`, [2]string{`,"sources":[`, ","}[min(i, 1)], i, strings.Repeat("p", long))
		}
		b.WriteString("]}"[min(1, 1-min(sources, 1)):])
		return b.String()
	}
	for what, c := range map[string]struct {
		body       string
		configured int
		status     int
	}{
		"a crash of a browser":              {body("pe", 1000, 5000, 25, 40), 0, 200},
		"of no known type":                  {body("", 1000, 5000, 40, 40), 0, 413},
		"far too many sources":              {body("elf", 1000, 5000, 100, 0), 0, 413},
		"long addresses":                    {body("elf", 1000, 5000, 30, 2000), 0, 413},
		"most modules are in no frame":      {body("elf", 10_000, 50, 100, 0), 0, 200},
		"configured sources":                {body("elf", 5000, 5000, 0, 0), 6, 200},
		"too many modules for those":        {body("elf", 5000, 5000, 0, 0), 30, 413},
		"no sources, and very many modules": {body("", 50_000, 50_000, 0, 0), 0, 200},
	} {
		d := sentry.NewWith(sentry.Config{AllowRequestSources: true}, sentry.Deps{Now: time.Now, Log: quiet, Sources: c.configured}, engine)
		if w := do(front(d), "POST", "/symbolicate", c.body); w.Code != c.status {
			t.Errorf("%s: %d %.200s", what, w.Code, w.Body)
		}
		d.Close()
	}
}

func TestSecretsOfSourcesAreNotRepeated(t *testing.T) {
	f, _ := door(t, sentry.Config{AllowRequestSources: true}, sentry.Deps{}, demo().run)
	for _, body := range []string{
		`{"sources":[{"id":"x","type":"http","url":"http://u:canary@a.test:bad/"}]}`,
		`{"sources":[{"id":"x","type":"http","url":"canary"}]}`,
		`{"sources":[{"id":"x","type":"canary-not","url":"http://u:canary@a.test/","headers":{"a":["canary"]}}]}`,
		`{"sources":[{"id":"x","type":"http","url":"http://a.test/","headers":["canary"]}]}`,
		`{"sources":[{"id":"x","type":"http","url":{"canary":1}}]}`,
		`{"scraping":{"enabled":true,"allowed_origins":[],"headers":{"a":["canary"]}}}`,
	} {
		w := do(f, "POST", "/symbolicate", body)
		if w.Code != 422 || strings.Contains(strings.ReplaceAll(w.Body.String(), "canary-not", ""), "canary") {
			t.Errorf("%s: got %d %s", body, w.Code, w.Body)
		}
	}
}

func TestInvalidSourcesAre400(t *testing.T) {
	var err error
	d := sentry.NewWith(sentry.Config{AllowRequestSources: true}, sentry.Deps{Now: time.Now, Log: quiet},
		func(sentry.Search) (sentry.Run, error) { return nil, err })
	defer d.Close()
	f := front(d)
	for kind, want := range map[fault.Kind]int{fault.Malformed: 400, fault.Unsupported: 400, fault.Denied: 403, fault.Internal: 500} {
		err = fault.New(kind, "", "why")
		w := do(f, "POST", "/symbolicate", `{"sources":[{"id":"x","type":"http","url":"http://a.test/"}]}`)
		if w.Code != want || strings.Contains(w.Body.String(), "sources: why") != (want != 500) {
			t.Errorf("%v: got %d %s", kind, w.Code, w.Body)
		}
	}
	for source, want := range map[string]string{
		`{"url":5}`: "sources.url: must be a URL, as a string", `{"id":5}`: "sources.id: must be a string", `{"access_key":5}`: "sources.access_key: must be a string",
		`{"headers":5}`: "sources.headers: must be an object", `{"is_public":5}`: "sources.is_public: must be true or false",
		`{"filters":{"filetypes":5}}`: "sources.filters.filetypes: must be an array", `{"layout":5}`: "sources.layout: must be an object", `5`: "sources: must be an object",
	} {
		if w := do(f, "POST", "/symbolicate", `{"sources":[`+source+`]}`); w.Code != 422 || w.Body.String() != want {
			t.Errorf("%s: got %d %s", source, w.Code, w.Body)
		}
	}
}

func TestOrigins(t *testing.T) {
	for _, c := range []struct {
		pattern, address string
		want             bool
	}{
		{"*", "http://a.test/x", true}, {"*", "ftp://a.test/x", false}, {"*", "file:///etc/passwd", false}, {"*", "http:///x", false}, {"*", "a.test/x", false},
		{"http://a.test/x?y", "http://a.test/x?y", true},
		{"a.test", "http://a.test/x", true}, {"A.test", "https://a.TEST/x", true}, {"a.test", "http://b.a.test/x", false}, {"a.test", "http://a.test.evil/x", false},
		{"a.test", "http://a.test:80/x", true}, {"a.test", "http://a.test:8080/x", false}, {"a.test:8080", "http://a.test:8080/x", true},
		{"a.test:80", "http://a.test/x", true}, {"a.test:80", "https://a.test/x", false}, {"a.test:443", "https://a.test/x", true},
		{"*.a.test", "http://a.test/x", true}, {"*.a.test", "http://c.b.a.test:99/x", true}, {"*.a.test", "http://xa.test/x", false}, {"*.", "http://a.test/x", false},
		{"*:99", "http://b.test:99/x", true}, {"*:99", "http://b.test/x", false},
		{"https://a.test", "https://a.test/x", true}, {"https://a.test", "http://a.test/x", false}, {"*://a.test", "http://a.test/x", true},
		{"a.test/x*", "http://a.test/xyz", true}, {"a.test/x*", "http://a.test/yx", false}, {"a.test/x", "http://a.test/x", true}, {"a.test/x", "http://a.test/xy", false},
		{"https://a.test/*", "https://a.test/deep/er", true}, {"*/x", "http://b.test/x", true},
		{"[::1]:99", "http://[::1]:99/x", true}, {"[::1]", "http://[::1]/x", true}, {"[::1]", "http://[::2]/x", false},
		{"a.test/", "http://a.test", true}, {"a.test/", "http://a.test/", true}, {"a.test/*", "http://a.test", true}, {"a.test/x", "http://a.test", false},
		{"a.test/a/*", "http://a.test/a/../x", false}, {"a.test/a/*", "http://a.test/a/b/..", false}, {"a.test/a/*", "http://a.test/a/./x", false},
		{"a.test/a/*", "http://a.test/a/%2e%2E/x", false}, {"a.test/a/*", "http://a.test/a/.%2e%2fx", false}, {"a.test/a/*", "http://a.test/a/%252e%252e/x", false},
		{"a.test/a/*", `http://a.test/a/..\x`, false}, {"a.test/a/*", "http://a.test/a/..%5cx", false}, {"a.test/a/*", "http://a.test/a/..;y/x", false},
		{"a.test/a/*", "http://a.test/a/..x/...", true}, {"a.test/a/*", "http://a.test/a/100%25/.x", true}, {"a.test", "http://a.test/a/../x", true},
		{"", "http://a.test/x", false}, {"a.test", "http://a.test@evil.test/x", false}, {"http://a.test", "http://a.test@evil.test/x", false},
		{"*.løcalhost", "http://xn--lcalhost-54a/x", true}, {"*.xn--lcalhost-54a", "http://løcalhost/x", true}, {"LØCALHOST:99", "http://a.xn--LCALHOST-54A:99/x", false},
		{"LØCALHOST:99", "http://xn--LCALHOST-54A:99/x", true}, {"xn--lcalhost-54a:99", "http://l%C3%B8calhost:99/x", true}, {"*.bücher.test/x", "http://a.xn--bcher-kva.test/x", true},
		{"xn--lcalhost-54b", "http://løcalhost/x", false}, {"localhost", "http://xn--lcalhost-54a/x", false}, {"xn--a_b", "http://xn--a_b/x", true},
	} {
		if got := sentry.Allows(true, []string{"other.test", c.pattern}, c.address); got != c.want {
			t.Errorf("%q, %q: got %v", c.pattern, c.address, got)
		}
		if sentry.Allows(false, []string{c.pattern}, c.address) {
			t.Errorf("%q: it is switched off", c.address)
		}
	}
	if sentry.Allows(true, nil, "http://a.test/") {
		t.Error("no origin is allowed")
	}
}

// links is a library whose addresses have source files with links, each another
// one.
func links(n, addresses int) (engine, string) {
	lib := &library{
		features: demo()["aa01"].features, texts: []string{"", "name"}, frames: map[uint64][]sym.Frame{}, links: map[string]string{},
	}
	var frames []string
	for i := range n {
		path := fmt.Sprintf("/src/%d.c", i)
		lib.texts = append(lib.texts, path)
		lib.links[path] = fmt.Sprintf("http://example.test/%d", i%addresses)
		lib.frames[uint64(i)] = []sym.Frame{{Func: 1, File: sym.Text(i + 2), Line: 1}}
		frames = append(frames, fmt.Sprintf(`{"instruction_addr":%d,"addr_mode":"rel:0"}`, i))
	}
	return engine{"aa01": lib}, `"stacktraces":[{"frames":[` + strings.Join(frames, ",") + `]}],"modules":[{"type":"elf","code_id":"aa01"}],"options":{"dif_candidates":true}}`
}

func TestSourceLinksAreLimited(t *testing.T) { synctest.Test(t, sourceLinksAreLimited) }

func sourceLinksAreLimited(t *testing.T) {
	var mu sync.Mutex
	asked := map[string]int{}
	at, most := 0, 0
	fetch := func(_ context.Context, url string, _ map[string]bin.Secret, verify bool) ([]byte, error) {
		mu.Lock()
		asked[url]++
		at++
		most = max(most, at)
		mu.Unlock()
		time.Sleep(5 * time.Millisecond)
		mu.Lock()
		defer mu.Unlock()
		at--
		if !verify {
			return nil, errors.New("it was not asked to be")
		}
		return []byte("text"), nil
	}
	many, body := links(300, 140)
	f, _ := door(t, sentry.Config{}, sentry.Deps{Fetch: fetch}, many.run)
	w := do(f, "POST", "/symbolicate", `{`+body)
	if n := strings.Count(w.Body.String(), `"context_line":"text"`); n < 200 || n > 220 {
		t.Errorf("%d frames with context, want 200 to 220", n)
	}
	if len(asked) != 100 {
		t.Errorf("%d addresses asked, want 100", len(asked))
	}
	if most != 8 {
		t.Errorf("%d addresses asked at once, want 8", most)
	}
	for url, times := range asked {
		if times != 1 {
			t.Errorf("%s is asked %d times", url, times)
		}
	}
	if n := strings.Count(w.Body.String(), `"source_link":"http://example.test/`); n != 300 {
		t.Errorf("%d links in the answer", n)
	}
	if n := strings.Count(w.Body.String(), `"source":"sourcelink"`); n != 100 {
		t.Errorf("%d candidates in the answer", n)
	}
	do(f, "POST", "/symbolicate", `{`+body)
	for url, times := range asked {
		if times != 1 {
			t.Errorf("%s is asked %d times for two answers", url, times)
		}
	}
	clear(asked)
	if do(f, "POST", "/symbolicate?scope=other", `{`+body); len(asked) != 100 {
		t.Errorf("another scope is answered with what this one got: %d asked", len(asked))
	}
	clear(asked)
	for _, rules := range []string{`{"enabled":false,"allowed_origins":["*"],"headers":{}}`, `{"enabled":true,"allowed_origins":["other.test"],"headers":{}}`} {
		if do(f, "POST", "/symbolicate", `{"scraping":`+rules+`,`+body); len(asked) != 0 {
			t.Errorf("%s: %d addresses are asked", rules, len(asked))
		}
	}
	if do(f, "POST", "/symbolicate", `{`+strings.Replace(body, `"options":{`, `"options":{"apply_source_context":false,`, 1)); len(asked) != 0 {
		t.Errorf("without context %d addresses are asked", len(asked))
	}
}

func TestSourceLinksThatFail(t *testing.T) {
	for want, fetch := range map[string]func() ([]byte, error){
		`{"status":"noperm","details":"403 Forbidden"}`: func() ([]byte, error) { return nil, fault.New(fault.Denied, "", "403 Forbidden") },
		`{"status":"notfound"}`:                         func() ([]byte, error) { return nil, fault.New(fault.NotFound, "", "404") },
		`{"status":"malformed"}`:                        func() ([]byte, error) { return []byte("\xff"), nil },
		`{"status":"error","details":"internal error"}`: func() ([]byte, error) { return nil, errors.New("odd") },
	} {
		one, body := links(1, 1)
		f, _ := door(t, sentry.Config{}, sentry.Deps{Fetch: func(context.Context, string, map[string]bin.Secret, bool) ([]byte, error) { return fetch() }}, one.run)
		w := do(f, "POST", "/symbolicate", `{`+body)
		if !strings.Contains(w.Body.String(), `"download":`+want) || strings.Contains(w.Body.String(), "context_line") {
			t.Errorf("want %s, got %s", want, w.Body)
		}
	}
}

func TestSourceLinksAreWebAddresses(t *testing.T) {
	for address, want := range map[string]string{
		"http://example.test/a b.c?r=ü": `"source_link":"http://example.test/a%20b.c?r=ü"`,
		"HTTPS://example.test/a%20b.c":  `"source_link":"https://example.test/a%20b.c"`,
		"ftp://example.test/a.c":        "",
		"//example.test/a.c":            "",
		"javascript:alert(1)":           "",
		"http:///a.c":                   "",
		"http://example.test:port/":     "",
	} {
		one, body := links(1, 1)
		one["aa01"].links["/src/0.c"] = address
		f, _ := door(t, sentry.Config{}, sentry.Deps{}, one.run)
		got := do(f, "POST", "/symbolicate", `{`+body).Body.String()
		if want == "" && strings.Contains(got, "source_link") || !strings.Contains(got, want) {
			t.Errorf("%s: want %s, got %s", address, want, got)
		}
	}
}

func TestUnsupportedPathsAre501(t *testing.T) {
	f, _ := door(t, sentry.Config{}, sentry.Deps{}, demo().run)
	for _, path := range []string{"/symbolicate-any", "/symbolicate-js", "/symbolicate-jvm"} {
		w := do(f, "POST", path, `{}`)
		var got map[string]string
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != 501 || !strings.HasPrefix(got["detail"], path) {
			t.Errorf("%s: got %d %s", path, w.Code, w.Body)
		}
	}
	for path, allow := range map[string]string{"/symbolicate": "POST", "/requests/00000000-1111-2222-3333-444444444444": "GET, HEAD"} {
		if w := do(f, "PUT", path, ""); w.Code != 405 || w.Body.Len() != 0 || w.Header().Get("Allow") != allow {
			t.Errorf("%s: got %d %s, %v", path, w.Code, w.Body, w.Header())
		}
	}
}

func TestConfig(t *testing.T) {
	want := sentry.Config{MaxBody: 55 << 20, MaxFrames: 2_000_000, MaxModules: 100_000, MaxConcurrentRequests: 200, AnswersMemory: 64 << 20, Retention: 90 * time.Second}
	if c := (sentry.Config{}).Defaults(); c != want {
		t.Errorf("the defaults are %+v", c)
	}
	if err := (sentry.Config{RequestFilesystemRoot: "/a"}).Validate(); err != nil {
		t.Error(err)
	}
	for want, c := range map[string]sentry.Config{
		"max_body": {MaxBody: 1 << 40}, "request_filesystem_root": {RequestFilesystemRoot: "a"},
	} {
		if err := c.Validate(); err == nil || !strings.HasPrefix(err.Error(), want+" is ") {
			t.Errorf("%s: got %v", want, err)
		}
	}
}
