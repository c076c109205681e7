package api_test

import (
	"net/http"
	"strings"
	"testing"

	"symbolon/internal/api"
)

// values answers with the pattern and the path values of a route.
func values(pattern string, names ...string) api.Route {
	return get(pattern, func(w http.ResponseWriter, r *http.Request) {
		text := pattern
		for _, n := range names {
			text += " " + n + "=" + r.PathValue(n)
		}
		say(text)(w, r)
	})
}

func TestPathsMatchTheirRoute(t *testing.T) {
	f := newFront(api.Config{}, first(),
		values("/{file}/{id:hex}/{sym}", "file", "id", "sym"),
		values("/{file}/{kind}/{sym}", "file", "kind", "sym"),
		values("/{file}/{n:hex}/{bin:.bin}", "file", "n", "bin"),
		values("/try/{file}/{id:hex}/{sym}", "file", "id", "sym"),
		values("/symbolicate/v5"),
		values("/symbolicate"),
		values("/proxy/", "rest"),
		values("/proxy/deep/", "rest"),
		values("/upload/{$}"),
		values("/upload/{name}/files/{$}", "name"),
	)
	for path, want := range map[string]string{
		"/symbolicate/v5":               "/symbolicate/v5",
		"//symbolicate///v5":            "/symbolicate/v5",
		"/symbolicate/%765":             "/symbolicate/v5",
		"/symbolicate/v5?x=1":           "/symbolicate/v5",
		"/symbolicate":                  "/symbolicate",
		"/symbolicate/v5/":              "404",
		"/symbolicate/v5//":             "404",
		"/symbolicate/v6":               "404",
		"/SYMBOLICATE/V5":               "404",
		"/symbolicate%2Fv5":             "404",
		"/symbolicate/ab/x.sym":         "404",
		"/metrics/ab/x.sym":             "404",
		"/try/ab/x.sym":                 "404",
		"/proxy":                        "404",
		"/proxy/":                       "404",
		"/proxy/a/b":                    "/proxy/ rest=a/b",
		"/proxy//a":                     "/proxy/ rest=a",
		"/proxy/a/":                     "404",
		"/proxy/deep/a":                 "/proxy/deep/ rest=a",
		"/proxy/deep":                   "/proxy/ rest=deep",
		"/a.so/AB12/a.so.sym":           "/{file}/{id:hex}/{sym} file=a.so id=AB12 sym=a.so.sym",
		"/a%20b/ab/c%25.sym":            "/{file}/{id:hex}/{sym} file=a b id=ab sym=c%.sym",
		"/a.so/AB1G/a.so.sym":           "/{file}/{kind}/{sym} file=a.so kind=AB1G sym=a.so.sym",
		"/a%2Fb/ab/c.sym":               "404",
		"/a.so/AB12/":                   "404",
		"/a.so/AB12":                    "404",
		"/a.so/AB12/a.so.sym/x":         "404",
		"/try/a.so/AB12/a.so.sym":       "/try/{file}/{id:hex}/{sym} file=a.so id=AB12 sym=a.so.sym",
		"/a/ab/x.bin":                   "/{file}/{n:hex}/{bin:.bin} file=a n=ab bin=x.bin",
		"/a/zz/x.bin":                   "/{file}/{kind}/{sym} file=a kind=zz sym=x.bin",
		"/a/ab/.bin":                    "/{file}/{n:hex}/{bin:.bin} file=a n=ab bin=.bin",
		"/try/a.so/zz/a.so.sym":         "404",
		"/upload/":                      "/upload/{$}",
		"/upload//":                     "/upload/{$}",
		"/upload":                       "404",
		"/upload/x/files/":              "/upload/{name}/files/{$} name=x",
		"/upload/x/files":               "404",
		"/upload/files/":                "404",
		"/upload//files/":               "404",
		"/a.so/AB12//":                  "404",
		"/nothing":                      "404",
		"/favicon.ico":                  "404",
		"/static/nope.css":              "404",
		"/%C3%BC/ab/c%00.sym":           "/{file}/{id:hex}/{sym} file=\u00fc id=ab sym=c\x00.sym",
		"/healthz":                      "ok\n",
		"/" + strings.Repeat("a/", 100): "404",
	} {
		w := do(f, "GET", path, "")
		got := w.Body.String()
		if w.Code == 404 && got == `{"title":"404 Not Found"}` {
			got = "404"
		}
		if got != want {
			t.Errorf("GET %s: got %d %q, want %q", path, w.Code, got, want)
		}
	}
	for _, path := range []string{"/", "//"} {
		if w := do(f, "GET", path, ""); w.Code != 200 || w.Body.String() != "the page" {
			t.Errorf("GET %s: got %d %s, want the page", path, w.Code, w.Body)
		}
	}
}

func TestNarrowShapesComeBeforeWideOnesInAnyOrderOfRegistration(t *testing.T) {
	narrow, wide, fixed := values("/{a:hex}/{b}"), values("/{a}/{b}"), values("/{a}/x")
	for _, routes := range [][]api.Route{{narrow, wide, fixed}, {wide, fixed, narrow}, {fixed, narrow, wide}} {
		f := newFront(api.Config{}, routes...)
		for path, want := range map[string]string{"/ab/y": "/{a:hex}/{b}", "/zz/y": "/{a}/{b}", "/zz/x": "/{a}/x", "/ab/x": "/{a:hex}/{b}"} {
			if got := do(f, "GET", path, "").Body.String(); got != want {
				t.Errorf("GET %s: got %q, want %q", path, got, want)
			}
		}
	}
}

func TestOnePathIsNotRegisteredTwice(t *testing.T) {
	for _, pair := range [][2]api.Route{
		{values("/a"), values("/a")},
		{values("/a/"), values("/a/")},
		{values("/{a}/b"), values("/{a}/b")},
		{values("/{a}/b"), values("/{other}/b")},
		{values("/metrics"), values("/b")},
		{values("/a/{x:oct}"), values("/b")},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s and %s: both are registered", pair[0].Pattern, pair[1].Pattern)
				}
			}()
			newFront(api.Config{}, pair[:]...)
		}()
	}
}

func TestTwoMethodsMayShareAPath(t *testing.T) {
	for _, pattern := range []string{"/", "/a", "/a/b/", "/{x}/y"} {
		one := post(pattern, say("posted"))
		two := api.Route{Methods: []string{"PUT"}, Pattern: pattern, Handle: say("put")}
		f := newFront(api.Config{}, one, two)
		path := strings.NewReplacer("{x}", "z", "b/", "b/c").Replace(pattern)
		if got := do(f, "POST", path, "").Body.String() + do(f, "PUT", path, "").Body.String(); got != "postedput" {
			t.Errorf("%s: got %q", pattern, got)
		}
		if got := do(f, "DELETE", path, "").Header().Get("Allow"); got != "POST, PUT, OPTIONS" {
			t.Errorf("%s: Allow is %q", pattern, got)
		}
	}
}

func TestWrongMethodsGetTheAllowedOnes(t *testing.T) {
	f := newFront(api.Config{}, first(), post("/symbolicate/v5", echo),
		api.Route{Methods: []string{"GET", "HEAD"}, Pattern: "/{file}/{id:hex}/{sym}", Handle: say("x"), Fail: api.FailError})
	for _, c := range []struct{ path, methods, allow, body string }{
		{"/symbolicate/v5", "GET HEAD PUT PATCH DELETE TRACE FOO", "POST, OPTIONS", `{"title":"405 Method Not Allowed"}`},
		{"/__version__", "POST HEAD PUT", "GET, OPTIONS", `{"title":"405 Method Not Allowed"}`},
		{"/__heartbeat__", "POST HEAD", "GET, OPTIONS", `{"title":"405 Method Not Allowed"}`},
		{"/__lbheartbeat__", "POST HEAD", "GET, OPTIONS", `{"title":"405 Method Not Allowed"}`},
		{"/", "POST HEAD", "GET, OPTIONS", `{"title":"405 Method Not Allowed"}`},
		{"/healthz", "POST", "GET, HEAD, OPTIONS", `{"title":"405 Method Not Allowed"}`},
		{"/a/ab/c.sym", "POST PUT", "GET, HEAD, OPTIONS", `{"error":"405 Method Not Allowed"}`},
	} {
		for method := range strings.FieldsSeq(c.methods) {
			w := do(f, method, c.path, "")
			if w.Code != 405 || w.Header().Get("Allow") != c.allow || w.Body.String() != c.body || w.Header().Get("Content-Type") != "application/json" {
				t.Errorf("%s %s: got %d, Allow %q, %s %s", method, c.path, w.Code, w.Header().Get("Allow"), w.Header().Get("Content-Type"), w.Body)
			}
		}
	}
}

func TestUnknownPathsBelowAPrefixOrAShapeHaveItsErrors(t *testing.T) {
	below, shape := get("/below/", say("ok")), get("/shape/{x}/files/{$}", say("ok"))
	below.Fail, shape.Fail = api.FailBare, api.FailError
	f := newFront(api.Config{}, below, shape, get("/{x}/{y}", say("ok")))
	for path, body := range map[string]string{
		"/below/": "", "/below/x/": "", "/below": `{"title":"404 Not Found"}`, "/other": `{"title":"404 Not Found"}`,
		"/shape/x/other/": `{"error":"404 Not Found"}`, "/shape/": `{"error":"404 Not Found"}`, "/shape": `{"title":"404 Not Found"}`,
	} {
		if w := do(f, "GET", path, ""); w.Code != 404 || w.Body.String() != body {
			t.Errorf("%s: got %d %s", path, w.Code, w.Body)
		}
	}
}
