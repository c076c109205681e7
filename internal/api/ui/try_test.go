package ui_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"symbolon/internal/api/ui"
	"symbolon/internal/bin"
	"symbolon/internal/bucket/mem"
	"symbolon/internal/cache"
	"symbolon/internal/crash"
	"symbolon/internal/filter"
	"symbolon/internal/filter/filtertest"
	"symbolon/internal/ident"
	"symbolon/internal/scratch"
	"symbolon/internal/symbolicate"
	"symbolon/internal/token"
	layers "symbolon/internal/trial/rig"
	"symbolon/internal/waittest"
)

const (
	asan = "    #0 0x5594d1c0deaa  (/srv/app+0xddeaa) (BuildId: 0011223344556677)\n" +
		"    #1 0x5594d1c0deaa  (/srv/gone+0xddeaa) (BuildId: 8811223344556677)\n"
	named    = "#0 0x5594d1c0deaa in parse /src/parse.c:41\n"
	profile  = `{"meta":{"version":27,"libs":[]},"threads":[]}`
	jsonType = "application/json"
)

// opened counts the temporary files that are open.
type opened struct {
	cache.Spool
	n *atomic.Int64
}

func (o opened) Close() error {
	o.n.Add(-1)
	return o.Spool.Close()
}

// newTryRig returns a rig in which the address of asan has a name, and requests have an
// answer. It counts the temporary files that are open.
func newTryRig(t *testing.T, answer string) (*rig, *atomic.Int64) {
	var open atomic.Int64
	processor := func() *crash.Processor {
		l := layers.Open(t, layers.Options{})
		return crash.New(crash.Deps{Engine: symbolicate.New(symbolicate.Config{}, l.Tables, time.Now), Tables: l.Tables})
	}
	return newRig(t, mem.New(), func(d *ui.Deps) {
		d.Spool = func() (cache.Spool, error) {
			open.Add(1)
			spool, err := scratch.NewSpool(t.TempDir())
			return opened{spool, &open}, err
		}
		d.Space = func(context.Context) bin.Space { return scratch.NewSpace(t.TempDir(), nil) }
		d.MaxDump, d.MaxText, d.MaxModules = 1<<20, 512<<10, 100
		d.Naming = func(*http.Request, *token.Grant) *filter.Run {
			return &filter.Run{
				Names: filtertest.Names{"0011223344556677": {0xddeaa: {{Function: []byte("parse"), File: []byte("/src/parse.c"), Line: 41}}}},
				Answer: func(context.Context, string, []byte) ([]byte, error) {
					if answer == "" {
						return nil, &filter.StatusError{Status: http.StatusBadRequest, Reason: "the request is damaged"}
					}
					return []byte(answer), nil
				},
			}
		}
		d.Crashes = func(context.Context, *token.Grant, func(ident.Module, error)) *crash.Processor { return processor() }
	}), &open
}

// send sends a form with pairs of fields and contents. A field with a slash has the name
// of a file after it.
func (r *rig) send(path, accept string, fields ...string) *http.Response {
	r.t.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for i := 0; i < len(fields); i += 2 {
		name, file, isFile := strings.Cut(fields[i], "/")
		part, err := w.CreateFormField(name)
		if isFile {
			part, err = w.CreateFormFile(name, file)
		}
		if err == nil {
			_, err = part.Write([]byte(fields[i+1]))
		}
		if err != nil {
			r.t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		r.t.Fatal(err)
	}
	return r.do("POST", path, body.String(), "Content-Type", w.FormDataContentType(), "Accept", accept)
}

func TestATextHasNamesAndReasons(t *testing.T) {
	r, open := newTryRig(t, "")
	for _, field := range []string{"text", "file/app.log"} {
		text := r.expect(r.send("/ui/try?do=show", jsonType, field, asan), 200)
		var got struct {
			Kind, Text       string
			Addresses, Named int
			Missing          []struct{ Name, ID, Code, Why string }
		}
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Fatal(err)
		}
		if got.Kind != "text" || !strings.Contains(got.Text, named) || got.Addresses != 2 || got.Named != 1 {
			t.Errorf("%s: got %+v", field, got)
		}
		if len(got.Missing) != 1 || got.Missing[0].Code != "gone/8811223344556677" || got.Missing[0].Why != "no source has the file" {
			t.Errorf("%s: the missing modules are %+v", field, got.Missing)
		}
	}
	r.expect(r.send("/ui/try?do=show", "text/html", "text", asan), 200, named, `href="../ui/modules/gone/`, "?code=gone%2F8811223344556677")
	if n := open.Load(); n != 0 {
		t.Errorf("%d temporary files are left open", n)
	}
}

func TestAResultHasAdviceForItsReader(t *testing.T) {
	r, _ := newTryRig(t, "")
	const (
		noID     = "not identify the file"
		upload   = `upload them</a> and try again`
		isBuild  = "<code>--module NAME=FILE</code> names them"
		noLookup = "No addresses were looked up."
		memory   = "<code>/proc/PID/maps</code>"
	)
	all := []string{noID, upload, isBuild, noLookup, memory, "0 of 0", "filter has"}
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"a missing module":        {asan, []string{upload}},
		"only paths":              {"    #0 0x5594d1c0deaa  (/srv/app+0xddeaa)\n", []string{noID, isBuild, noLookup}},
		"only absolute addresses": {"   4:     0x5594d1c0deaa - <unknown>\n", []string{noLookup, memory}},
	} {
		got := r.expect(r.send("/ui/try?do=show", "text/html", "text", c.text), 200, c.want...)
		for _, text := range all {
			if !slices.Contains(c.want, text) && strings.Contains(got, text) {
				t.Errorf("%s: the page has %q", name, text)
			}
		}
	}
}

func TestFormsAreRefusedWithAReason(t *testing.T) {
	r, open := newTryRig(t, "")
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write(make([]byte, 2<<20)) // to memory
	_ = w.Close()
	for _, c := range []struct {
		status  int
		want    string
		fields  []string
		isShown bool // other actions have other answers
	}{
		{400, "paste a text or choose a file", []string{"text", "", "file/", ""}, false},
		{400, "not both", []string{"text", asan, "file/a.log", asan}, false},
		{413, "the limit of a text is 512KiB (http.max_body)", []string{"text", strings.Repeat("x", 600<<10)}, false},
		{413, "the limit of a file is 1MiB (crash.max_dump)", []string{"file/a", strings.Repeat("x", 2<<20)}, false},
		{413, "the limit of a file is 1MiB (crash.max_dump)", []string{"file/a.gz", packed.String()}, false},
		{413, "512KiB (http.max_body; the command symbolon filter has none)", []string{"file/a", strings.Repeat("x", 600<<10)}, false},
		{422, "a: malformed: the file is empty", []string{"file/a", ""}, false},
		{422, "a.gz: malformed", []string{"file/a.gz", packed.String()[:100]}, false},
		{422, "neither a text nor a profile", []string{"file/a", "\x00\x01\x02"}, false},
		{422, "a.dmp: minidump", []string{"file/a.dmp", "MDMP\x93\xa7"}, true},
		{422, "symbolon filter", []string{"file/perf.data", "PERFILE2" + strings.Repeat("x", 100)}, false},
		{400, "the request is damaged", []string{"text", `{"jobs": []}`}, true},
	} {
		for _, do := range []string{"show", "download"} {
			if do == "download" && c.isShown {
				continue
			}
			r.expect(r.send("/ui/try?do="+do, jsonType, c.fields...), c.status, c.want)
		}
	}
	r.expect(r.do("POST", "/ui/try?do=show", "text=x"), 400, "multipart/form-data")
	if n := open.Load(); n != 0 {
		t.Errorf("%d temporary files are left open", n)
	}
}

func TestDownloadsHaveNames(t *testing.T) {
	r, _ := newTryRig(t, "")
	long := strings.Repeat("x", 400<<10) + "\n" + asan
	text := r.expect(r.send("/ui/try?do=show", "text/html", "text", long), 200, "Only the first")
	if strings.Contains(text, named) || len(text) > 300<<10 {
		t.Errorf("the page has %d bytes of a long text", len(text))
	}
	resp := r.send("/ui/try?do=download", "text/html", `file/a"b.log`, long)
	if got := resp.Header.Get("Content-Disposition"); got != `attachment; filename="named-a_b.log"` {
		t.Errorf("the name of the download is in %s", got)
	}
	r.expect(resp, 200, named)
	resp = r.send("/ui/try?do=download", jsonType, "file/a.dmp", "MDMP")
	if resp.Header.Get("Content-Disposition") != "" {
		t.Error("an error is a download")
	}
	r.expect(resp, 422, "a crash has no place for names")
}

func TestRequestsAreAnsweredByTheirInterface(t *testing.T) {
	for _, c := range []struct {
		request, answer string
		want            []string
	}{
		{
			`{"jobs": []}`,
			`{"results":[{"stacks":[[{"module":"a","module_offset":"0x1","function":"outer","file":"o.c","line":3,"inlines":[{"function":"inner","file":"i.c","line":4}]}]]}]}`,
			[]string{"outer", "o.c:3", "inner", "i.c:4", "inlined"},
		},
		{`{"memoryMap": [], "stacks": [], "version": 4}`, `{"symbolicatedStacks":[["outer (in a)"]]}`, []string{"outer (in a)"}},
		{
			`{"modules": [], "stacktraces": []}`,
			`{"stacktraces":[{"thread_id":7,"thread_name":"pool","frames":[{"function":"inner","lineno":4,"abs_path":"/i.c","context_line":"x = y;"},{"function":"outer"}]}]}`,
			[]string{"Thread 7 pool", "inner", "/i.c:4", "x = y;", "outer", "inlined"},
		},
	} {
		r, _ := newTryRig(t, c.answer)
		r.expect(r.send("/ui/try?do=show", "text/html", "text", c.request), 200, append(c.want, "curl -s &#39;http://localhost:3021/symbolicate")...)
	}
}

func TestLongAndHostileStacksAreShownHarmlessly(t *testing.T) {
	for _, text := range hostile {
		name, err := json.Marshal(strings.ToValidUTF8(text, "?"))
		if err != nil {
			t.Fatal(err)
		}
		frame := fmt.Sprintf(`{"module":%s,"function":%[1]s,"file":%[1]s,"line":1}`, name)
		r, _ := newTryRig(t, `{"results":[{"stacks":[[`+frame+strings.Repeat(`,`+frame, 600)+`]]}]}`)
		page := r.expect(r.send("/ui/try?do=show", "text/html", "text", `{"jobs": []}`), 200, "of the stacks are shown")
		if len(page) > 400<<10 { // before compression: quotes and tags are escaped
			t.Errorf("the page has %d bytes", len(page))
		}
		checkShown(t, page)
		r, _ = newTryRig(t, "")
		checkHarmless(t, r.expect(r.send("/ui/try?do=show", "text/html", "text", text[:min(len(text), 8<<10)]), 200))
	}
}

func TestTryingNeedsARightAndHealthIsForOperators(t *testing.T) {
	r, _ := newTryRig(t, "")
	as := func(right token.Right) string { return "Bearer " + r.token(right) }
	admin, reader, deleter := as(token.Admin), as(token.Symbolicate), as(token.Delete)
	r.expect(r.do("GET", "/", "", "Authorization", admin), 200, "Health")
	if text := r.expect(r.do("GET", "/", "", "Authorization", reader), 200); strings.Contains(text, "Health") {
		t.Error("a client that may only symbolicate sees the health")
	}
	for _, path := range []string{"/", "/ui/try", "/ui/crash", "/ui/profile"} {
		r.expect(r.do("GET", path, "", "Authorization", deleter), 403, "needs a token with the right symbolicate")
	}
}

func TestProfilesAreReadByTheirKeyForAnHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, open := newTryRig(t, "")
		keep := func() string {
			t.Helper()
			to := r.send("/ui/profile?do=keep", "text/html", "file/app.json", profile).Header.Get("Location")
			_, key, ok := strings.Cut(to, "../ui/profile?key=")
			if !ok {
				t.Fatalf("the browser goes to %q", to)
			}
			return key
		}
		read := func(key string) *http.Response {
			req := httptest.NewRequest("GET", "https://other.example/ui/profile/file?key="+key, nil)
			req.Header.Set("Origin", "https://profiler.firefox.com")
			w := httptest.NewRecorder()
			r.front.ServeHTTP(w, req)
			return w.Result()
		}
		first := keep()
		resp := read(first)
		if resp.Header.Get("Access-Control-Allow-Origin") != "*" {
			t.Error("pages of other origins cannot read the profile")
		}
		r.expect(resp, 200, profile)
		r.expect(r.do("GET", "/ui/profile?key="+first, ""), 200, "https://profiler.firefox.com/from-url/http%3A%2F%2Flocalhost%3A3021%2Fui%2Fprofile%2Ffile%3Fkey%3D"+first)
		r.expect(r.do("POST", "/ui/profile?do=download&key="+first, "x=y"), 200, `"libs":[]`)
		r.expect(read("x"), 404)
		var keys []string
		for range 4 {
			keys = append(keys, keep())
		}
		r.expect(read(first), 404)
		synctest.Wait()
		if n := open.Load(); n != 4 {
			t.Errorf("%d temporary files are open, want 4", n)
		}
		time.Sleep(time.Hour + time.Second)
		synctest.Wait()
		for _, key := range keys {
			r.expect(read(key), 404)
		}
		if n := open.Load(); n != 0 {
			t.Errorf("%d temporary files are left open", n)
		}
		r.expect(r.send("/ui/profile?do=keep", jsonType, "file/a.log", asan), 422, "not a profile of the Firefox Profiler")
	})
}

func TestDownloadsAreReleasedWithoutBeingSent(t *testing.T) {
	r, open := newTryRig(t, "")
	for _, path := range []string{"/ui/try?do=download", "/ui/crash?do=json", "/ui/crash?do=text"} {
		r.expect(r.send(path, "text/event-stream", "file/app.log", asan), 200, "this action sends a file, and no events")
	}
	if n := open.Load(); n != 0 {
		t.Errorf("%d temporary files are left open", n)
	}
}

func TestADownloadReleasesAKeptProfile(t *testing.T) {
	r, open := newTryRig(t, "")
	for range 2 * 4 { // twice as many as are kept
		var kept struct{ To string }
		text := r.expect(r.send("/ui/profile?do=keep", jsonType, "file/p.json", profile), 200)
		if err := json.Unmarshal([]byte(text), &kept); err != nil || !strings.Contains(kept.To, "?key=") {
			t.Fatalf("%s: %v", text, err)
		}
		_, key, _ := strings.Cut(kept.To, "?key=")
		r.expect(r.do("POST", "/ui/profile?do=download&key="+key, "", "Accept", "text/event-stream"), 200, "this action sends a file")
	}
	waittest.Until(t, "no more than four files to be open", func() bool { return open.Load() <= 4 })
}
