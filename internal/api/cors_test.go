package api_test

import (
	"net/http"
	"testing"

	"symbolon/internal/api"
)

const exposed = "accept, accept-encoding, authorization, content-type, dnt, origin, user-agent, x-csrftoken, x-requested-with"

func TestOtherOriginsMayReadEverything(t *testing.T) {
	f := newFront(api.Config{}, post("/v5", func(http.ResponseWriter, *http.Request) { panic("boom") }),
		api.Route{Methods: []string{"GET", "HEAD"}, Pattern: "/sym", Handle: say("x")})
	const origin, method, headers = "Origin", "Access-Control-Request-Method", "Access-Control-Request-Headers"
	type want map[string]string
	open := want{"Allow-Origin": "*", "Expose-Headers": exposed}
	flight := func(methods, headers string) want {
		return want{"Allow-Origin": "*", "Expose-Headers": exposed, "Allow-Methods": methods, "Allow-Headers": headers, "Max-Age": "86400"}
	}
	for _, c := range []struct {
		name, method, path string
		send               []string
		status             int
		allow              string
		cors               want
	}{
		{"no origin", "GET", "/sym", nil, 200, "", nil},
		{"origin", "GET", "/sym", []string{origin, "https://a.example"}, 200, "", open},
		{"null origin", "GET", "/sym", []string{origin, "null"}, 200, "", open},
		{"unknown path", "GET", "/nope", []string{origin, "x"}, 404, "", open},
		{"wrong method", "GET", "/v5", []string{origin, "x"}, 405, "POST, OPTIONS", open},
		{"our own failure", "POST", "/v5", []string{origin, "x"}, 500, "", open},
		{"preflight", "OPTIONS", "/v5", []string{origin, "x", method, "POST", headers, "content-type"}, 200, "", flight("POST", "content-type")},
		{"preflight of the profiler", "OPTIONS", "/v5", []string{origin, "x", method, "POST", headers, "user-agent"}, 200, "", flight("POST", "user-agent")},
		{"preflight, several lines", "OPTIONS", "/v5", []string{origin, "x", method, "POST", headers, "debug", headers, "x-foo"}, 200, "", flight("POST", "debug, x-foo")},
		{"preflight without headers", "OPTIONS", "/v5", []string{origin, "x", method, "POST"}, 200, "", flight("POST", "*")},
		{"preflight for a wrong method", "OPTIONS", "/v5", []string{origin, "x", method, "GET"}, 200, "", flight("POST", "*")},
		{"preflight of two methods", "OPTIONS", "/sym", []string{origin, "x", method, "GET"}, 200, "", flight("GET, HEAD", "*")},
		{"preflight of an unknown path", "OPTIONS", "/nope", []string{origin, "x", method, "POST"}, 404, "", open},
		{"options", "OPTIONS", "/v5", nil, 200, "POST", nil},
		{"options with origin", "OPTIONS", "/v5", []string{origin, "x"}, 200, "POST", open},
		{"preflight without origin", "OPTIONS", "/v5", []string{method, "POST"}, 200, "POST", nil},
	} {
		w := do(f, c.method, c.path, "", c.send...)
		if w.Code != c.status {
			t.Errorf("%s: status %d, want %d", c.name, w.Code, c.status)
		}
		if got := w.Header().Get("Allow"); got != c.allow {
			t.Errorf("%s: Allow %q, want %q", c.name, got, c.allow)
		}
		for _, h := range []string{"Allow-Origin", "Expose-Headers", "Allow-Methods", "Allow-Headers", "Max-Age", "Allow-Credentials"} {
			if got := w.Header().Get("Access-Control-" + h); got != c.cors[h] {
				t.Errorf("%s: Access-Control-%s is %q, want %q", c.name, h, got, c.cors[h])
			}
		}
		if c.method == "OPTIONS" && c.status == 200 && w.Body.Len() > 0 {
			t.Errorf("%s: a body of %q", c.name, w.Body)
		}
	}
}
