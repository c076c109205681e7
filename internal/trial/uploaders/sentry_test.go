package uploaders_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"symbolon/internal/trial"
)

// regexpID matches the ids of a file in a list.
var regexpID = regexp.MustCompile(`"id":"([^"]*)","uuid":"[^"]*","debugId":"([^"]*)"`)

// corpus has debug files of all kinds.
const corpus = "../../object/testdata/corpus"

// sentryCLIs returns the paths of sentry-cli: those in SYMBOLON_SENTRY_CLI, separated
// as in PATH, or the installed one.
func sentryCLIs(t *testing.T) []string {
	t.Helper()
	if list := filepath.SplitList(os.Getenv("SYMBOLON_SENTRY_CLI")); len(list) > 0 {
		return list
	}
	path, err := exec.LookPath("sentry-cli")
	if err != nil {
		t.Skip("sentry-cli is not installed; bench/clients/sentry-cli.sh installs it")
	}
	return []string{path}
}

// sentryCLI runs sentry-cli as its user does.
type sentryCLI struct {
	t    *testing.T
	path string
	env  []string
}

// run returns the output, and whether the client reports success.
func (c *sentryCLI) run(args ...string) (out string, ok bool) {
	c.t.Helper()
	cmd := exec.Command(c.path, args...)
	cmd.Env = append([]string{"HOME=" + c.t.TempDir(), "PATH=" + os.Getenv("PATH"), "SENTRY_LOG_LEVEL=warn"}, c.env...)
	text, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		c.t.Fatal(err)
	}
	return string(text), err == nil
}

// upload fails the test unless debug-files upload succeeds and prints a text.
func (c *sentryCLI) upload(want string, args ...string) (out string) {
	c.t.Helper()
	out, ok := c.run(append([]string{"debug-files", "upload", "--project", "tea"}, args...)...)
	if !ok || !strings.Contains(out, want) {
		c.t.Fatalf("debug-files upload %q: want %q in\n%s", args, want, out)
	}
	return out
}

func eachSentryCLI(t *testing.T, do func(t *testing.T, c *sentryCLI, s *trial.Server)) {
	for _, path := range sentryCLIs(t) {
		version, err := exec.Command(path, "--version").Output()
		if err != nil {
			t.Fatal(err)
		}
		t.Run(strings.TrimSpace(string(version)), func(t *testing.T) {
			s := trial.Start(t, trial.Options{})
			do(t, &sentryCLI{t, path, []string{"SENTRY_URL=" + s.URL, "SENTRY_AUTH_TOKEN=any", "SENTRY_ORG=acme"}}, s)
		})
	}
}

func TestSentryCLIUploadsEachFileOnce(t *testing.T) {
	eachSentryCLI(t, func(t *testing.T, c *sentryCLI, s *trial.Server) {
		dir := goProgram(t)
		if out, ok := c.run("info"); !ok || !strings.Contains(out, "project:releases") {
			t.Errorf("info: got %s", out)
		}
		c.upload("skipping upload", "--no-upload", corpus)
		c.upload("Uploaded 7 missing", "--wait", "--type", "pdb", "--type", "pe", corpus)
		first := c.upload("File processing complete", "--wait", corpus)
		c.upload("Nothing to upload", "--wait", corpus)
		// Both slices of the fat file, and others.
		for _, text := range []string{"arm64 debug companion", "x86_64 debug companion", "mips-be", "s390x-be"} {
			if !strings.Contains(first, text) {
				t.Errorf("%s: not uploaded:\n%s", text, first)
			}
		}
		c.upload("sources)", "--wait", "--include-sources", dir)
		again := c.upload("Nothing to upload", "--include-sources", dir)
		if !strings.Contains(again, "Resolved source code for 1") {
			t.Errorf("got %s", again)
		}
		if refused := s.Lines("refused"); len(refused) > 0 {
			t.Errorf("refused: %s", refused[0])
		}
	})
}

// goProgram builds a program with its sources in place.
func goProgram(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte("package main\n\nfunc main() { println(\"tea\") }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "tea"), filepath.Join(dir, "main.go"))
	build.Env = append(os.Environ(), "GOFLAGS=", "GOOS=linux", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return dir
}

// The token has the address of the server. Another server reads the project with a token
// of its own.
func TestTokenTellsSentryCLITheServer(t *testing.T) {
	eachSentryCLI(t, func(t *testing.T, c *sentryCLI, s *trial.Server) {
		add := func(args ...string) string {
			out, errs, code := s.Run(append([]string{"token", "add", "--data", s.Data}, args...)...)
			if code != 0 {
				t.Fatal(errs)
			}
			return strings.TrimSpace(out)
		}
		ours := add("--project", "tea", "--sentry-url", s.URL, "--sentry-org", "acme")
		others := add("--project", "coffee")
		c.env = []string{"SENTRY_AUTH_TOKEN=" + ours}
		folder := kettleFolder(t)
		c.upload("Uploaded 1", "--wait", folder)
		for name, r := range map[string]struct{ token, want string }{
			"an unknown token":           {"any", "token"},
			"a token of another project": {others, `the token lacks the right "upload" in the project "tea"`},
		} {
			c.env = []string{"SENTRY_URL=" + s.URL, "SENTRY_ORG=acme", "SENTRY_AUTH_TOKEN=" + r.token}
			if out, ok := c.run("debug-files", "upload", "--project", "tea", folder); ok || !strings.Contains(out, r.want) {
				t.Errorf("%s: want an error with %q, got\n%s", name, r.want, out)
			}
		}
		reader := trial.Start(t, trial.Options{Config: fmt.Sprintf(
			"sources: [{id: tea, type: sentry, url: %q, token: %q}]", s.URL+"/api/0/projects/acme/tea/files/dsyms/",
			add("--project", "tea", "--read"))})
		if got := reader.V5([]trial.Module{kettle}, trial.Frame{Offset: 0x1004}).Text(0); got != "boil kettle.c:7" {
			t.Errorf("got %q, want the function of the uploaded file", got)
		}
	})
}

var kettle = trial.Module{File: "kettle.so", ID: trial.KettleID}

// kettleFolder returns a folder with the symbols of the module.
func kettleFolder(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "kettle.so.sym"), []byte(trial.KettleSym), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestSentryCLIResumesAnInterruptedUpload(t *testing.T) {
	eachSentryCLI(t, func(t *testing.T, c *sentryCLI, s *trial.Server) {
		file := filepath.Join(t.TempDir(), "big.so.sym")
		var big bytes.Buffer
		if err := trial.NewSym(1, 500_000).Write(&big); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, big.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		proxy := newProxy(t, s.URL)
		c.env[0] = "SENTRY_URL=" + proxy.URL
		proxy.allow(1)
		if out, ok := c.run("debug-files", "upload", "--project", "tea", file); ok {
			t.Fatalf("an interrupted upload: got success\n%s", out)
		}
		proxy.allow(100)
		c.upload("OK", "--wait", file)
		if before, after := proxy.sent[0], proxy.sent[1]; before == 0 || before+after > proxy.whole+proxy.whole/50 {
			t.Errorf("sent %d and %d bytes of chunks, want %d in all", before, after, proxy.whole)
		}
		c.upload("Nothing to upload", file)
	})
}

// proxy forwards requests to a server, and breaks connections with chunks after a
// number of requests.
type proxy struct {
	*httptest.Server
	mu    sync.Mutex
	left  int
	whole int64    // bytes of the first requests for chunks, forwarded or not
	sent  [2]int64 // forwarded bytes: of the first run, of the second
	run   int
}

func newProxy(t *testing.T, to string) *proxy {
	at, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{run: -1}
	forward := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(at) }}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client has left
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/chunk-upload/") && !p.count(int64(len(body))) {
			panic(http.ErrAbortHandler)
		}
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(p.Close)
	return p
}

// allow begins the next run, in which n requests with chunks are forwarded.
func (p *proxy) allow(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left = n
	p.run++
}

// count reports whether a request with chunks may be forwarded.
func (p *proxy) count(n int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.run == 0 {
		p.whole += n
	}
	if p.left--; p.left < 0 {
		return false
	}
	p.sent[p.run] += n
	return true
}

// Two nodes over one folder get the requests in turn.
func TestSentryCLIMayReachAnotherNodeWithEachRequest(t *testing.T) {
	eachSentryCLI(t, func(t *testing.T, c *sentryCLI, _ *trial.Server) {
		state := "state=" + t.TempDir()
		nodes := []*trial.Server{trial.Start(t, trial.Options{Set: []string{state}}), trial.Start(t, trial.Options{Set: []string{state}})}
		var turn atomic.Int64
		forward := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
			to, err := url.Parse(nodes[turn.Add(1)%2].URL)
			if err != nil {
				t.Error(err)
				return
			}
			r.SetURL(to)
		}}
		both := httptest.NewServer(forward)
		t.Cleanup(both.Close)
		c.env[0] = "SENTRY_URL=" + both.URL
		c.upload("File processing complete", "--wait", corpus)
		for range 2 {
			c.upload("Nothing to upload", corpus)
		}
		for _, node := range nodes {
			status, body := node.Get("/api/0/projects/acme/tea/files/dsyms/?query=s390x-be")
			if status != http.StatusOK || !strings.Contains(body, `"objectName":"s390x-be"`) {
				t.Errorf("got %d %s, want the file", status, body)
			}
		}
	})
}

func TestSentryCLIUploadsFilesThatAreNotRead(t *testing.T) {
	eachSentryCLI(t, func(t *testing.T, c *sentryCLI, s *trial.Server) {
		dir := t.TempDir()
		for name, text := range map[string]string{
			"tea.js":      "console.log(1);\n//# sourceMappingURL=tea.js.map\n",
			"tea.js.map":  `{"version":3,"sources":["tea.ts"],"names":[],"mappings":"AAAA","sourcesContent":["console.log(1)"]}`,
			"mapping.txt": "com.example.Tea -> a.a:\n    1:3:void pour():10:12 -> b\n",
		} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for _, line := range []string{"sourcemaps inject " + dir, "sourcemaps upload -p tea --wait " + dir,
			"upload-proguard -p tea " + dir + "/mapping.txt"} {
			out, ok := c.run(strings.Fields(line)...)
			if !ok && strings.Contains(out, "unrecognized subcommand") { // its name in version 3
				out, ok = c.run(strings.Fields(strings.Replace(line, "upload-proguard", "proguard upload", 1))...)
			}
			if !ok {
				t.Errorf("%s: got\n%s", line, out)
			}
		}
		if _, body := s.Get("/api/0/projects/acme/tea/files/dsyms/"); !strings.Contains(body, `"unused":"kept as it is`) {
			t.Errorf("the list is %s, want an unused mapping", body)
		}
	})
}

// The requests of a Symbolicator, as recorded: a list for all kinds of file, then the
// files that it needs.
func TestSymbolicatorReadsAProject(t *testing.T) {
	eachSentryCLI(t, func(t *testing.T, c *sentryCLI, s *trial.Server) {
		c.upload("Uploaded", "--wait", "--type", "pdb", corpus)
		status, body := s.Get("/api/0/projects/acme/tea/files/dsyms/?file_formats=pdb")
		id := regexpID.FindStringSubmatch(body)
		if status != http.StatusOK || id == nil {
			t.Fatalf("got %d %s", status, body)
		}
		status, body = s.Get("/api/0/projects/acme/tea/files/dsyms/?debug_id=" + id[2] + "&code_id=deadbeef")
		if status != http.StatusOK || !strings.Contains(body, `"id":"`+id[1]+`"`) || !strings.Contains(body, `"symbolType":"pdb"`) {
			t.Fatalf("got %d %s, want the file %s", status, body, id[1])
		}
		status, body = s.Get("/api/0/projects/acme/tea/files/dsyms/?id=" + id[1])
		if status != http.StatusOK || !strings.HasPrefix(body, "Microsoft C/C++ MSF 7.00") {
			t.Errorf("got %d %.100s, want the PDB", status, body)
		}
	})
}
