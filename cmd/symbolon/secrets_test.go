package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/api/sentry"
	"symbolon/internal/bin"
	"symbolon/internal/config"
	"symbolon/internal/fault"
	"symbolon/internal/trial"
)

// forms are texts that hold a secret; what a key takes is one of them.
var forms = []string{
	"aWQ6C", "aWQ6CA", "aWQ6CAA", // base64 that begins with id:
	"https://u:C@127.0.0.1:1/p?sig=C#C", "redis://u:C@127.0.0.1:1/0?sig=C", "C", "Bearer C",
	"https://C@%zz/", "u:C@127.0.0.1:1", "C\nC", "://C", "ftp://u:C@h/C", "https://u:C@h:port/", "C@", "[C, C]", "{C: C}", "${C", "&a C", "!C C", "*C",
}

// secretKeys are the keys of the configuration whose values are secrets,
// whichever package has them.
func secretKeys(t *testing.T) (keys []config.Key) {
	t.Helper()
	for _, k := range config.Keys(config.Config{}) {
		if k.Secret {
			keys = append(keys, k)
		}
	}
	if len(keys) < 2 {
		t.Fatalf("there must be more keys that hold secrets than %v", keys)
	}
	return keys
}

// planted is a configuration file with this text as the value of a key, and
// what must stand beside it.
func planted(k config.Key, text string) string {
	beside := map[string]string{
		"access.clients[].token": "scopes: [a], ",
		"sources[].url":          "id: a, type: http, ",
		"sources[].headers":      "id: a, type: http, url: 'http://127.0.0.1:1/', ",
		"otlp.headers":           "forward: 'http://127.0.0.1:1/', ",

		"sources[].access_key":       "id: a, type: s3, bucket: b, secret_key: x, ",
		"sources[].secret_key":       "id: a, type: s3, bucket: b, access_key: x, ",
		"sources[].session_token":    "id: a, type: s3, bucket: b, access_key: x, secret_key: x, ",
		"sources[].private_key":      "id: a, type: gcs, bucket: b, client_email: x, ",
		"sources[].bearer_token":     "id: a, type: gcs, bucket: b, ",
		"sources[].token":            "id: a, type: sentry, url: 'http://127.0.0.1:1/', ",
		"sources[].cookies":          "id: a, type: sentry, url: 'http://127.0.0.1:1/', ",
		"cache.shared.access_key":    "type: s3, bucket: b, secret_key: x, ",
		"cache.shared.secret_key":    "type: s3, bucket: b, access_key: x, ",
		"cache.shared.session_token": "type: s3, bucket: b, access_key: x, secret_key: x, ",
		"cache.shared.private_key":   "type: gcs, bucket: b, client_email: x, ",
		"cache.shared.bearer_token":  "type: gcs, bucket: b, ",
	}
	value := text
	if !strings.ContainsAny(text[:1], "[{&!*") {
		value = fmt.Sprintf("%q", text)
	}
	switch {
	case strings.HasPrefix(k.Type, "map of"):
		value = "{X-Key: " + value + "}"
	case strings.HasPrefix(k.Type, "list of"):
		value = "[" + value + "]"
	}
	parts := strings.Split(k.Path, ".")
	last := len(parts) - 1
	out := "{" + beside[k.Path] + parts[last] + ": " + value + "}"
	for i := last - 1; i >= 0; i-- {
		if name, isList := strings.CutSuffix(parts[i], "[]"); isList {
			out = "{" + name + ": [" + out + "]}"
		} else {
			out = "{" + parts[i] + ": " + out + "}"
		}
	}
	return out
}

// runHere runs a command line in this process.
func runHere(t *testing.T, environ []string, args ...string) (out string, code int) {
	t.Helper()
	var all bytes.Buffer
	code = run(t.Context(), args, &env{stdin: strings.NewReader(""), stdout: &all, stderr: &all, environ: environ})
	return all.String(), code
}

// TestNoCommandTellsAConfiguredSecret puts secrets, good and bad ones, into
// every key that holds any, by file, variable and flag.
func TestNoCommandTellsAConfiguredSecret(t *testing.T) {
	for _, k := range secretKeys(t) {
		t.Run(k.Path, func(t *testing.T) {
			t.Parallel()
			tryForms(t, k)
		})
	}
}

// tryForms puts all forms of a secret into a key.
func tryForms(t *testing.T, k config.Key) {
	file := filepath.Join(t.TempDir(), "c.yaml")
	accepted := 0
	for i, form := range forms {
		text := strings.ReplaceAll(form, "C", fmt.Sprint(trial.Canary, i))
		if err := os.WriteFile(file, []byte(planted(k, text)), 0o600); err != nil {
			t.Fatal(err)
		}
		top, value, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(planted(k, text), "{"), "}"), ": ")
		runs := map[string]struct{ environ, args []string }{
			"file":            {nil, []string{"--config", file}},
			"set":             {nil, []string{"--set", k.Path + "=" + text}},
			"set, whole":      {nil, []string{"--set", top + "=" + value}},
			"variable":        {[]string{k.Env + "=" + text}, nil},
			"variable, whole": {[]string{"SYMBOLON_" + strings.ToUpper(top) + "=" + value}, nil},
			"expanded":        {[]string{"T=" + text}, []string{"--config", file + "2"}},
		}
		if strings.Contains(text, "://") || strings.Contains(text, "@") { // what else would stand there as a secret
			runs["source"] = struct{ environ, args []string }{nil, []string{"--source", text}}
		}
		if err := os.WriteFile(file+"2", []byte(planted(k, "${T}")), 0o600); err != nil {
			t.Fatal(err)
		}
		for way, r := range runs {
			for _, verb := range []string{"print", "check"} {
				out, code := runHere(t, r.environ, append([]string{"config", verb}, r.args...)...)
				if found := trial.Leaks(out); found != nil {
					t.Errorf("%s as %q by %s: config %s tells %s", k.Path, form, way, verb, found)
				}
				if code == exitDone && way == "file" && verb == "print" {
					accepted++
					if !strings.Contains(out, "its secrets left out") {
						t.Errorf("%s as %s: the secret is not in the configuration:\n%s", k.Path, form, out)
					}
				}
				if code != exitDone && way != "file" {
					break // both read the configuration by the same function
				}
			}
		}
	}
	if accepted == 0 {
		t.Errorf("%s takes none of the forms of a secret: add one that it takes", k.Path)
	}
}

// TestNoTypingMistakeTellsASecret breaks a good file at every byte.
func TestNoTypingMistakeTellsASecret(t *testing.T) {
	t.Parallel()
	good := "log: {level: warn}\nsources:\n- id: a\n  type: http\n  url: https://u:" + trial.Canary + "1@h/p?sig=" + trial.Canary + "2\n" +
		"  headers:\n    Authorization: Bearer " + trial.Canary + "3\n    X-Key: '" + trial.Canary + "4'\n  filters: {filetypes: [breakpad]}\n"
	wrong := 0
	check := func(text string) {
		_, loaded, err := readText(text)
		told := fmt.Sprint(err)
		if err == nil {
			told = strings.Join(loaded.Notices, "\n")
		}
		if found := trial.Leaks(told); found != nil {
			if wrong++; wrong <= 20 {
				t.Errorf("%s\nof the file\n%s", found, text)
			}
		}
	}
	check(good)
	inside := func(i int) bool {
		n := len(trial.Canary) + 1
		at := strings.LastIndex(good[:min(i+n-1, len(good))], trial.Canary)
		return at >= 0 && i > at && i < at+n
	}
	for i := range len(good) + 1 {
		if inside(i) {
			continue
		}
		for _, c := range []string{"\n", " ", ":", ": ", "\"", "'", "{", "[", "]", "}", ",", "&", "*", "!", "|", "#", "- ", "? ", "${", "\t", "%", "\x00", "é"} {
			check(good[:i] + c + good[i:])
		}
		if i < len(good) {
			check(good[:i] + good[i+1:])
		}
		check(good[:i])
	}
}

func readText(text string) (*config.Config, *config.Loaded, error) {
	return config.Read(config.Options{File: "c.yaml", Data: []byte(text)})
}

// echo is all that a request has brought, decoded.
func echo(r *http.Request) string {
	user, password, _ := r.BasicAuth()
	return strings.Join([]string{user, password, r.Header.Get("Authorization"), r.Header.Get("Proxy-Authorization"), r.Header.Get("X-Key"), r.URL.RawQuery}, "|")
}

// talkers are servers that fail, each in its way, and say the secrets that
// they were given wherever there is place.
var talkers = map[string]http.HandlerFunc{
	"401": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("WWW-Authenticate", echo(r))
		http.Error(w, echo(r), 401)
	},
	"403": func(w http.ResponseWriter, r *http.Request) { http.Error(w, echo(r), 403) },
	"404": func(w http.ResponseWriter, r *http.Request) { http.Error(w, echo(r), 404) },
	"429": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", echo(r))
		http.Error(w, echo(r), 429)
	},
	"500": func(w http.ResponseWriter, r *http.Request) { http.Error(w, echo(r), 500) },
	"status line": func(w http.ResponseWriter, r *http.Request) {
		trial.Raw("HTTP/1.1 599 "+echo(r)+"\r\nContent-Length: 0\r\n\r\n", false).ServeHTTP(w, r)
	},
	"no HTTP":  func(w http.ResponseWriter, r *http.Request) { trial.Raw(echo(r)+"\r\n\r\n", false).ServeHTTP(w, r) },
	"reset":    func(w http.ResponseWriter, r *http.Request) { trial.Raw(echo(r), true).ServeHTTP(w, r) },
	"encoding": func(w http.ResponseWriter, r *http.Request) { w.Header().Set("Content-Encoding", echo(r)) },
	"page":     func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, echo(r)) },
	"another file": func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "MODULE Linux x86_64 %s %[1]s\n", echo(r))
	},
	"loop": func(w http.ResponseWriter, r *http.Request) { redirect(w, "?"+r.URL.RawQuery+"#"+echo(r)) },
	"to a user": func(w http.ResponseWriter, r *http.Request) {
		redirect(w, "http://"+secretOf(r)+"@127.0.0.1:1/?"+echo(r))
	},
	"to a path":     func(w http.ResponseWriter, r *http.Request) { redirect(w, "http://127.0.0.1:1/"+secretOf(r)+"/x") },
	"to a host":     func(w http.ResponseWriter, r *http.Request) { redirect(w, "http://"+secretOf(r)+".invalid./") },
	"to no address": func(w http.ResponseWriter, r *http.Request) { redirect(w, "http://h/%zz"+secretOf(r)) },
	"to a scheme":   func(w http.ResponseWriter, r *http.Request) { redirect(w, secretOf(r)+"://h/"+secretOf(r)) },
}

func redirect(w http.ResponseWriter, to string) {
	w.Header().Set("Location", to)
	w.WriteHeader(http.StatusFound)
}

// secretOf is one of the secrets of a request.
func secretOf(r *http.Request) string { return r.URL.Query().Get("sig") }

// failing makes a configuration whose sources all fail, with secrets in all
// that they have, and tells their ids.
func failing(t *testing.T) (text string, ids []string) {
	up := trial.NewUpstream(t)
	at := map[string]string{
		"no host":    "http://" + strings.Repeat("a", 70) + ".invalid/", // too long to be asked for
		"no server":  "http://127.0.0.1:1/",
		"bad TLS":    trial.NewStranger(t).URL,
		"no TLS":     strings.Replace(up.URL, "http:", "https:", 1),
		"broken TLS": "https://" + trial.NewListener(t, func(c net.Conn) { _, _ = io.CopyN(c, c, 5) }) + "/",
		"by proxy":   "http://symbols.invalid/", "by proxy, TLS": "https://symbols.invalid/",
	}
	for name, h := range talkers {
		for _, how := range []string{"", " by password"} {
			path := "/" + strings.ReplaceAll(name+how, " ", "-")
			at[name+how] = up.URL + path[1:] + "/"
			up.Do(path+modulePath, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.Count(echo(r), trial.Canary) < 3 {
					t.Errorf("%s: the secrets did not arrive: %s", name, echo(r))
				}
				h(w, r)
			}))
		}
	}
	n := 0
	next := func() string { n++; return fmt.Sprint(trial.Canary, n) }
	var b strings.Builder
	b.WriteString("network: {max_tries: 2, connect_timeout: 2s, deny_list_threshold: 60}\nlog: {level: debug}\nsources:\n")
	for name, address := range at {
		ids = append(ids, name)
		scheme, rest, _ := strings.Cut(address, "://")
		fmt.Fprintf(&b, "- id: %s\n  type: http\n  url: %s://user:%s@%s?sig=%s\n", name, scheme, next(), rest, next())
		if strings.HasSuffix(name, "password") {
			fmt.Fprintf(&b, "  headers: {X-Key: %s}\n", next())
		} else {
			fmt.Fprintf(&b, "  headers: {X-Key: %s, Authorization: 'Bearer ${TOKEN}'}\n", next())
		}
	}
	for _, k := range secretKeys(t) { // of other parts than these
		if !strings.HasPrefix(k.Path, "sources[]") && !strings.HasPrefix(k.Path, "cache.") && !strings.HasPrefix(k.Path, "elastic.") && !strings.HasPrefix(k.Path, "otlp.") {
			b.WriteString(accept(t, b.String(), k, next))
		}
	}
	fmt.Fprintf(&b, "elastic: {api_keys: [aWQ6%s], read_keys: [aWQ6%s]}\n", next(), next())
	fmt.Fprintf(&b, "otlp: {forward: 'http://u:%s@127.0.0.1:1/?sig=%s', headers: {X-Key: %s}}\n", next(), next(), next())
	fmt.Fprintf(&b, "cache:\n  redis: {url: 'redis://u:%s@127.0.0.1:1/0'}\n  shared: {type: s3, bucket: b, endpoint: '%s', access_key: %s, secret_key: %s, session_token: %s}\n",
		next(), teller(t), next(), next(), next())
	return b.String(), ids
}

// teller is an object store that refuses everything and repeats the request.
func teller(t *testing.T) string {
	up := trial.NewUpstream(t)
	up.Do("", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent := echo(r) + r.Header.Get("X-Amz-Security-Token")
		if strings.Count(sent, trial.Canary) < 2 {
			t.Errorf("the secrets of the shared cache did not arrive: %s", sent)
		}
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprintf(w, "<Error><Code>AccessDenied</Code><Message>%s</Message></Error>", sent)
	}))
	return up.URL
}

// accept plants a secret in a key outside of the sources: the first form that
// the configuration takes.
func accept(t *testing.T, head string, k config.Key, next func() string) string {
	for _, form := range forms {
		line := strings.TrimSuffix(strings.TrimPrefix(planted(k, strings.ReplaceAll(form, "C", next())), "{"), "}") + "\n"
		if _, _, err := readText(strings.ReplaceAll(head, "${TOKEN}", "x") + line); err == nil {
			return line
		}
	}
	t.Errorf("no form of a secret is right for %s: add one", k.Path)
	return ""
}

const (
	moduleName = "a.so"
	moduleID   = "0F1E2D3C4B5A69788796A5B4C3D2E1F01"
	modulePath = "/" + moduleName + "/" + moduleID + "/" + moduleName + ".sym"
)

// TestRunningServerTellsNoSecret asks a server, whose sources all fail, in every
// way, and looks at all that comes out of it.
func TestRunningServerTellsNoSecret(t *testing.T) {
	t.Parallel()
	self, err := exec.LookPath("symbolon") // this test, under the name of the command
	if err != nil {
		t.Fatal(err)
	}
	text, ids := failing(t)
	proxy := trial.NewUpstream(t)
	proxy.Do("", talkers["status line"])
	environ := []string{"TOKEN=" + trial.Canary + "998", "no_proxy=", "NO_PROXY="}
	for _, name := range []string{"http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"} {
		environ = append(environ, name+"="+strings.Replace(proxy.URL, "://", "://user:"+trial.Canary+"999@", 1))
	}
	s := trial.Start(t, trial.Options{Config: text, Env: environ, Binary: self})
	told := map[string]string{}
	for _, body := range []string{
		`{"memoryMap":[["a.so","` + moduleID + `"]],"stacks":[[[0,1]]],"extensions":true,"debug":true}`,
		`{"jobs":[{"memoryMap":[["a.so","` + moduleID + `"]],"stacks":[[[0,1]]]}]}`, `{`,
	} {
		for _, path := range []string{"/symbolicate/v5", "/symbolicate/v4", "/"} {
			told["POST "+path+body] = ask(t, http.MethodPost, s.URL+path+"?token="+trial.Canary+"0", body)
		}
	}
	for _, path := range []string{modulePath, "/metrics", "/__heartbeat__", "/__version__", "/__broken__", "/", "/gone", "/symbolicate/v5"} {
		told["GET "+path] = ask(t, http.MethodGet, s.URL+path+"?token="+trial.Canary+"0", "")
	}
	module := moduleName + "/" + moduleID
	commands := func(when string) {
		for _, args := range [][]string{
			{"explain", "--all", module}, {"explain", "--json", module}, {"cache", "ls"}, {"cache", "ls", "--json"}, {"cache", "stat"},
			{"cache", "ls", "--faults"}, {"config", "print"}, {"config", "check"}, {"serve", "--listen", "127.0.0.1:0"},
		} {
			args = append(args, "--config", configOf(t, text), "--data", s.Data)
			if args[0] == "serve" && when == "ended" {
				continue
			}
			out, errs, _ := s.Run(args...)
			told[when+": "+strings.Join(args[:2], " ")] += out + errs
		}
	}
	commands("running")
	s.Terminate()
	commands("ended")
	told["log"] = s.Log()
	told["data"] = filesBelow(t, s.Data)
	for _, file := range []string{"explain"} { // without a data directory nothing is remembered, and the sources are asked
		out, errs, _ := s.Run(file, module, "--source", "http://user:"+trial.Canary+"1@127.0.0.1:1/?sig="+trial.Canary+"2")
		told["explain --source"] = out + errs
	}
	for what, text := range told {
		if found := trial.Leaks(text); found != nil {
			t.Errorf("%s tells %s", what, found)
		}
	}
	for _, id := range ids {
		if !strings.Contains(told["running: explain --all"], id) || !strings.Contains(told["log"], "source="+quoted(id)) {
			t.Errorf("source %s was not asked", id)
		}
	}
	if !strings.Contains(told["log"], "shared bucket unavailable") {
		t.Error("the shared bucket was not asked")
	}
	if !strings.Contains(told["ended: explain --all"], "; remembered") || proxy.Count("") == 0 {
		t.Error("the commands did not see what the server has remembered, or the proxy was not asked")
	}
}

// filesBelow is the content of all files of a folder.
func filesBelow(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		fmt.Fprintf(&all, "%s: %s\n", path, b)
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return all.String()
}

// quoted is an id as the log writes it.
func quoted(id string) string {
	if strings.Contains(id, " ") {
		return `"` + id + `"`
	}
	return id
}

func configOf(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// ask makes a request with secrets of its own and returns the whole answer.
func ask(t *testing.T, method, address, body string) string {
	t.Helper()
	r, err := http.NewRequest(method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+trial.Canary+"0")
	r.Header.Set("Cookie", "session="+trial.Canary+"0")
	r.Header.Set("Debug", "1")
	r.SetBasicAuth("user", trial.Canary+"0")
	return wholeAnswer(t, r)
}

func wholeAnswer(t *testing.T, r *http.Request) string {
	t.Helper()
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Error(err)
		return ""
	}
	defer resp.Body.Close()
	text, err := httputil.DumpResponse(resp, true)
	if err != nil {
		t.Error(err)
	}
	return string(text)
}

// TestNoPanicTellsASecret throws what holds secrets.
func TestNoPanicTellsASecret(t *testing.T) {
	text, _ := failing(t)
	cfg, _, err := readText(strings.ReplaceAll(text, "${TOKEN}", trial.Canary+"0"))
	if err != nil {
		t.Fatal(err)
	}
	marshalled, err := json.Marshal(cfg.Sources)
	if err != nil {
		t.Fatal(err)
	}
	told := string(marshalled)
	for _, thrown := range []any{
		*cfg, cfg, cfg.Access, sentry.Search{Scope: "s", Named: cfg.Sources}, cfg.Sources, cfg.Sources[0], cfg.Sources[0].URL, cfg.Sources[0].Headers, &cfg.Sources[0].URL, cfg.Cache,
		fmt.Errorf("open: %w", errors.Join(fault.New(fault.Internal, cfg.Sources[0].URL.String(), "%v %+v", cfg.Sources, cfg))),
	} {
		told += fmt.Sprintf("%v %+v %#v %s %q %x\n", thrown, thrown, thrown, thrown, thrown, thrown)
		for _, format := range []func(io.Writer) slog.Handler{
			func(w io.Writer) slog.Handler { return slog.NewTextHandler(w, nil) },
			func(w io.Writer) slog.Handler { return slog.NewJSONHandler(w, nil) },
		} {
			var log bytes.Buffer
			front := api.New(api.Config{}, api.Options{Log: slog.New(format(&log)), Now: time.Now}, []api.Route{{
				Methods: []string{http.MethodGet}, Pattern: "/panic", Handle: func(http.ResponseWriter, *http.Request) { panic(thrown) },
			}})
			w := httptest.NewRecorder()
			front.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/panic", nil))
			if w.Code != http.StatusInternalServerError || !strings.Contains(log.String(), "panicked") {
				t.Errorf("%d %s", w.Code, log.String())
			}
			told += log.String() + fmt.Sprint(w.Header()) + w.Body.String()
		}
	}
	if found := trial.Leaks(told); found != nil {
		t.Errorf("told: %s", found)
	}
	if secret := bin.NewSecret(trial.Canary + "1"); trial.Leaks(secret.Reveal()) == nil || trial.Leaks(base64.StdEncoding.EncodeToString([]byte("user:"+secret.Reveal()))) == nil {
		t.Error("a leak would not be seen")
	}
}
