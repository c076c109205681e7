package node_test

import (
	"encoding/base64"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"symbolon/internal/node"
	"symbolon/internal/source"
	"symbolon/internal/token"
	"symbolon/internal/trial"
	"symbolon/internal/waittest"
)

// costumes are the forms and the places in which clients send a token.
var costumes = map[string]func(r *http.Request, text string){
	"bearer":         func(r *http.Request, text string) { r.Header.Set("Authorization", "Bearer "+text) },
	"api key":        func(r *http.Request, text string) { r.Header.Set("Authorization", "ApiKey "+text) },
	"unknown scheme": func(r *http.Request, text string) { r.Header.Set("Authorization", text) },
	"password": func(r *http.Request, text string) {
		r.Header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(":"+text)))
	},
	"auth token":        func(r *http.Request, text string) { r.Header.Set("Auth-Token", text+"-of-ci") },
	"t/":                func(r *http.Request, text string) { r.URL.Path = "/t/" + text + r.URL.Path },
	"T/ for t/":         func(r *http.Request, text string) { r.URL.Path = "/T/" + text + r.URL.Path },
	"t/t/":              func(r *http.Request, text string) { r.URL.Path = "/t/t/" + text + r.URL.Path },
	"t/ below a prefix": func(r *http.Request, text string) { r.URL.Path = "/symbols/t/" + text + r.URL.Path },
	"t/ after dots":     func(r *http.Request, text string) { r.URL.Path = "/x/../t/" + text + r.URL.Path },
	"t// with slashes":  func(r *http.Request, text string) { r.URL.Path = "//t//" + text + "/" + r.URL.Path },
	"t/ at the end":     func(r *http.Request, text string) { r.URL.Path += "/t/" + text },
	"last segment":      func(r *http.Request, text string) { r.URL.Path += "/" + text },
	"first segment":     func(r *http.Request, text string) { r.URL.Path = "/" + text + r.URL.Path },
	"t/ with an escaped slash": func(r *http.Request, text string) {
		r.URL.RawPath, r.URL.Path = "/t%2F"+text+r.URL.Path, "/t/"+text+r.URL.Path
	},
	"t/ escaped": func(r *http.Request, text string) {
		r.URL.RawPath, r.URL.Path = "/%74/"+text+r.URL.Path, "/t/"+text+r.URL.Path
	},
	"query":      func(r *http.Request, text string) { r.URL.RawQuery = "key=" + text + "&token=" + text },
	"user agent": func(r *http.Request, text string) { r.Header.Set("User-Agent", "client/1 "+text) },
	"request id": func(r *http.Request, text string) { r.Header.Set("X-Request-ID", text) },
	"referer":    func(r *http.Request, text string) { r.Header.Set("Referer", "https://symbols.example/t/"+text+"/") },
	"cookie":     func(r *http.Request, text string) { r.Header.Set("Cookie", "token="+text) },
}

// A token is in no log line, answer or metric, wherever a client of any interface puts it.
func TestTokensAreNotRepeated(t *testing.T) {
	t.Parallel()
	cfg, _, err := readConfig(`access: {clients: [{token: a-token-of-the-configuration, scopes: ["*"]}]}`)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Data = t.TempDir()
	log := &waittest.Log{}
	n, err := node.New(cfg, nil, slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	if err != nil {
		t.Fatal(err)
	}
	front, err := n.Front(cfg)
	if err != nil {
		t.Fatal(err)
	}
	reader := addToken(t, n, token.Grant{Rights: []token.Right{token.Read}, Projects: []string{"tea"}})
	admin := addToken(t, n, token.Grant{Rights: []token.Right{token.Admin}, Projects: []string{"tea"}})
	const id = "/kettle.so/" + trial.KettleID + "/kettle.so"
	doors := []struct{ method, path, body string }{
		{"GET", "/", ""},
		{"GET", "/metrics", ""},
		{"GET", id + ".sym", ""},
		{"GET", "/try" + id + ".sym", ""},
		{"GET", "/proxy" + id + ".sym", ""},
		{"GET", "/app.pdb/" + trial.KettleID + "/app.pdb", ""},
		{"GET", "/buildid/" + strings.ToLower(trial.KettleID) + "/debuginfo", ""},
		{"GET", "/buildid/" + strings.ToLower(trial.KettleID) + "/source/x.c", ""},
		{"GET", "/api/explain" + "/kettle.so/" + trial.KettleID, ""},
		{"GET", "/api/missing", ""},
		{"POST", "/api/forget", `{"debug_file":"kettle.so","debug_id":"` + trial.KettleID + `"}`},
		{"GET", "/api/syminfo/kettle.so/" + trial.KettleID, ""},
		{"GET", "/missingsymbols.csv", ""},
		{"GET", "/api/tokens/", ""},
		{"GET", "/api/uploads/", ""},
		{"POST", "/upload/", ""},
		{"POST", "/upload/v2/", `{"files":[]}`},
		{"PUT", "/upload/v2/" + strings.Repeat("0f", 20) + "/0", "x"},
		{"GET", "/api/0/projects/acme/tea/files/dsyms/", ""},
		{"POST", "/api/0/projects/acme/tea/files/difs/assemble/", `{}`},
		{"POST", "/symbolicate", `{"stacktraces":[],"modules":[]}`},
		{"GET", "/requests/7", ""},
		{"POST", "/symbolicate/v5", `{"memoryMap":[["kettle.so","` + trial.KettleID + `"]],"stacks":[[[0,4100]]]}`},
		{"POST", "/symbolicate/v4", `{"version":4,"memoryMap":[],"stacks":[]}`},
		{"GET", "/api/symbols/lookup", ""},
		{"PUT", "/api/symbols-ranges", "x"},
		{"POST", "/api/symbols/lookup", `{}`},
	}
	texts := []string{reader, admin, "QUJDREVGR0g6QUJDREVGR0hJSktMTU5PUFFSU1RVVlc", "a-token-of-the-configuration"}
	check := func(when, out string) {
		t.Helper()
		for _, text := range texts {
			if strings.Contains(out, text) {
				t.Errorf("%s: the output has the token: %.400s", when, out)
			}
		}
	}
	send := func(r *http.Request) string {
		w := httptest.NewRecorder()
		defer func() { _ = recover() }() // a reset of the connection
		front.ServeHTTP(w, r)
		return fmt.Sprint(w.Header()) + w.Body.String()
	}
	for i, text := range texts {
		for name, wear := range costumes {
			if i == len(texts)-1 && !strings.Contains(name, "t/") {
				continue // a token of the configuration is any text: it is hidden by its place only
			}
			for _, d := range doors {
				r := httptest.NewRequest(d.method, d.path, strings.NewReader(d.body))
				r.Header.Set("Content-Type", "application/json")
				wear(r, text)
				check(name+" for "+d.path, send(r))
			}
		}
	}
	for _, path := range []string{"/metrics", "/api/missing"} {
		r := httptest.NewRequest("GET", path, nil)
		r.Header.Set("Authorization", "Bearer "+admin)
		check(path, send(r))
	}
	n.Close() // writes the last lines of the log
	for line := range strings.Lines(log.String()) {
		check("log", line)
	}
}

// The token in the address of a source is in no output either.
func TestTokensOfSourcesAreNotRepeated(t *testing.T) {
	t.Parallel()
	const text = "QUJDREVGR0g6QUJDREVGR0hJSktMTU5PUFFSU1RVVlc"
	spec, err := source.ParseSpec("http://127.0.0.1:1/t/" + text + "/")
	if err != nil {
		t.Fatal(err)
	}
	cfg, _, err := readConfig(`mozilla: {extensions: true}`)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Data, cfg.Sources = t.TempDir(), []source.Config{spec}
	log := &waittest.Log{}
	n, err := node.New(cfg, nil, slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	if err != nil {
		t.Fatal(err)
	}
	front, err := n.Front(cfg)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []struct{ method, path, body string }{
		{"POST", "/symbolicate/v5", `{"memoryMap":[["kettle.so","` + trial.KettleID + `"]],"stacks":[[[0,4100]]]}`},
		{"POST", "/symbolicate", `{"stacktraces":[{"frames":[{"instruction_addr":4100,"addr_mode":"rel:0"}]}],"modules":[{` + trial.Kettle + `,"image_addr":0}]}`},
		{"GET", "/api/explain/kettle.so/" + trial.KettleID, ""},
		{"GET", "/api/missing", ""},
		{"GET", "/metrics", ""},
	} {
		r := httptest.NewRequest(d.method, "http://localhost"+d.path, strings.NewReader(d.body))
		r.Header.Set("Content-Type", "application/json")
		r.RemoteAddr = "127.0.0.1:1"
		w := httptest.NewRecorder()
		front.ServeHTTP(w, r)
		if w.Code != 200 || strings.Contains(w.Body.String(), text) {
			t.Errorf("%s: got %d, and the answer should have no token: %.400s", d.path, w.Code, w.Body)
		}
	}
	n.Close()
	if strings.Contains(log.String(), text) || !strings.Contains(log.String(), "127.0.0.1:1/t/[redacted]") {
		t.Errorf("the log should name the source without the token: %.800s", log)
	}
}
