package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"symbolon/internal/proctest"
)

// viewing runs symbolon profile until the test ends, and returns the base of its paths.
func viewing(t *testing.T, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	out, to := io.Pipe()
	var errs bytes.Buffer
	e := &env{stdin: strings.NewReader(""), stdout: to, stderr: &errs, environ: []string{"PROFILER_URL=http://page.test/"}}
	ended := make(chan int, 1)
	go func() {
		code := run(ctx, append([]string{"profile", "--no-open"}, args...), e)
		to.Close()
		ended <- code
	}()
	t.Cleanup(func() {
		cancel()
		if code := <-ended; code != exitFailed || errs.String() != "symbolon: interrupted\n" {
			t.Errorf("exit %d, %s", code, errs.String())
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		cancel()
		<-ended
		t.Fatal(errs.String())
	}
	address, err := url.Parse(strings.TrimSpace(line))
	if err != nil || !strings.HasPrefix(line, "http://page.test/from-url/http%3A%2F%2F127.0.0.1%3A3") {
		t.Fatalf("printed %q, %v", line, err)
	}
	return address.Query().Get("symbolServer")
}

// request sends a request and returns the answer.
func request(t *testing.T, method, address, body string) string {
	t.Helper()
	r, err := http.NewRequest(method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	if err != nil || got.StatusCode != http.StatusOK {
		t.Fatal(got.Status, err)
	}
	return string(text)
}

func TestAProfileIsServedWithItsNames(t *testing.T) {
	const file = "testdata/profiler/glaze.profile.json.gz"
	base := viewing(t, "--source", "testdata/profiler/store", file)
	packed, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	z, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	want, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	if got := request(t, "GET", base+"/profile.json", ""); got != string(want) {
		t.Errorf("the profile has %d bytes, want %d", len(got), len(want))
	}
	asked, err := os.ReadFile("testdata/profiler/glaze.request.json")
	if err != nil {
		t.Fatal(err)
	}
	answer := request(t, "POST", base+"/symbolicate/v5", string(asked))
	if n := strings.Count(answer, `"function":`); n < 30 || !strings.Contains(answer, `"function_size":`) {
		t.Errorf("%d functions in %.400s", n, answer)
	}
}

// local compiles the program heron, and returns a profile of it, its debug id, its
// source file, and the address of its function main.
func local(t *testing.T) (file, id, source, address string) {
	t.Helper()
	gcc := proctest.Program(t, "gcc")
	dir := t.TempDir()
	source = filepath.Join(dir, "heron.c")
	code := "int sink;\n\nint main(int n, char **v) {\n\tsink = n;\n\treturn 0;\n}\n"
	if err := os.WriteFile(source, []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(gcc, "-g", "-O1", "-Wl,--build-id=sha1", "-o", filepath.Join(dir, "heron"), source).CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	id = regexp.MustCompile(`Breakpad: (\w+)`).FindStringSubmatch(doing(t, "inspect", filepath.Join(dir, "heron")))[1]
	for line := range strings.Lines(doing(t, "sym", filepath.Join(dir, "heron"))) {
		if f := strings.Fields(line); len(f) == 5 && f[0] == "FUNC" && f[4] == "main" {
			address = "0x" + f[1]
		}
	}
	file = filepath.Join(dir, "heron.json")
	text := fmt.Sprintf(`{"meta":{"preprocessedProfileVersion":66,"symbolicated":false},"libs":[{"path":%q,"name":"heron","debugName":"heron","breakpadId":%q}]}`,
		filepath.Join(dir, "heron"), id)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file, id, source, address
}

func TestAProfileOfThisMachineHasSourceAndDisassembly(t *testing.T) {
	file, id, source, address := local(t)
	base := viewing(t, "--local", file)
	answer := request(t, "POST", base+"/source/v1",
		fmt.Sprintf(`{"debugName":"heron","debugId":%q,"moduleOffset":%q,"file":%q}`, id, address, source))
	if !strings.Contains(answer, `sink = n;\n`) {
		t.Errorf("source: %s", answer)
	}
	answer = request(t, "POST", base+"/asm/v1",
		fmt.Sprintf(`{"debugName":"heron","debugId":%q,"name":"heron","codeId":null,"startAddress":%q,"size":"0x1","continueUntilFunctionEnd":true}`, id, address))
	if !strings.Contains(answer, `"startAddress":"`+address+`"`) || !regexp.MustCompile(`\[\d+,"ret"\]\]`).MatchString(answer) {
		t.Errorf("disassembly: %s", answer)
	}
}

func TestFilesThatAreNotProfilesAreNotServed(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(log, []byte("text\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{log}, exitFailed, "is not a profile of the Firefox Profiler"},
		{[]string{log + "missing"}, exitFailed, "no such file"},
		{nil, exitUsage, "exactly one FILE is required"},
	} {
		var out, errs bytes.Buffer
		e := &env{stdin: strings.NewReader(""), stdout: &out, stderr: &errs}
		if code := run(t.Context(), append([]string{"profile", "--no-open"}, c.args...), e); code != c.code || !strings.Contains(errs.String(), c.want) || out.Len() > 0 {
			t.Errorf("%q: exit %d, %s", c.args, code, errs.String())
		}
	}
}

func TestPagesAndPortsOfProfilesAreChecked(t *testing.T) {
	const file = "testdata/profiler/glaze.profile.json.gz"
	for _, c := range []struct{ port, page, want string }{
		{"-1", "", "invalid --port -1: must be 0 to 65535"},
		{"70000", "", "invalid --port 70000: must be 0 to 65535"},
		{"0", "javascript:alert(1)", `invalid PROFILER_URL "javascript:alert(1)": must be http://HOST or https://HOST`},
	} {
		var out, errs bytes.Buffer
		e := &env{stdin: strings.NewReader(""), stdout: &out, stderr: &errs, environ: []string{"PROFILER_URL=" + c.page}}
		code := run(t.Context(), []string{"profile", "--no-open", "--port", c.port, file}, e)
		if code != exitUsage || !strings.Contains(errs.String(), c.want) || out.Len() > 0 {
			t.Errorf("port %s, page %q: exit %d, %s, want %s", c.port, c.page, code, errs.String(), c.want)
		}
	}
}

// page is a page of another origin that asks as the Firefox Profiler does, and writes
// the answers, or the errors, into itself.
const page = `<!DOCTYPE html><pre id="out">waiting</pre><script>
const base = %q;
async function ask(path, body) {
  const response = await fetch(base + path, {method: 'POST', mode: 'cors', credentials: 'omit', body: JSON.stringify(body),
    headers: path === '/symbolicate/v5' ? {'X-Preflight': 'yes'} : {}});
  return response.status + ' ' + await response.text();
}
async function all() {
  const lines = [];
  const add = async (name, work) => { try { lines.push(name + ': ' + await work()); } catch (e) { lines.push(name + ': failed: ' + e); } };
  await add('profile', async () => (await (await fetch(base + '/profile.json', {credentials: 'omit'})).json()).libs[0].name);
  await add('names', () => ask('/symbolicate/v5', {jobs: [{memoryMap: [['heron', %[2]q]], stacks: [[[0, %[3]s]]]}]}));
  await add('source', () => ask('/source/v1', {debugName: 'heron', debugId: %[2]q, moduleOffset: '%[3]s', file: %[4]q}));
  await add('secret', () => ask('/source/v1', {debugName: 'heron', debugId: %[2]q, moduleOffset: '%[3]s', file: '/etc/passwd'}));
  await add('assembly', () => ask('/asm/v1', {debugName: 'heron', debugId: %[2]q, name: 'heron', codeId: null,
    startAddress: '%[3]s', size: '0x1', continueUntilFunctionEnd: true}));
  await add('guess', async () => (await fetch(base.slice(0, base.lastIndexOf('/')) + '/profile.json')).status);
  document.getElementById('out').textContent = lines.join('\n') + '\nend';
}
all();
</script>`

// TestABrowserReadsAProfileFromAnotherOrigin opens a page of another port in Chromium.
func TestABrowserReadsAProfileFromAnotherOrigin(t *testing.T) {
	t.Parallel()
	browser := proctest.Program(t, "chromium")
	file, id, source, address := local(t)
	base := viewing(t, "--local", file)
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=UTF-8")
		fmt.Fprintf(w, page, base, id, address, source)
	}))
	defer origin.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--user-data-dir="+t.TempDir(),
		"--virtual-time-budget=30000", "--dump-dom", origin.URL)
	var errs bytes.Buffer
	c.Stderr = &errs
	out, err := c.Output()
	if err != nil {
		t.Fatal(err, errs.String())
	}
	dom := string(out)
	for _, want := range []string{
		"profile: heron\n", `names: 200 {"results":[{"stacks":[[{"frame":0,"module":"heron","module_offset":"` + address + `","function":"main"`,
		`source: 200 {"symbolsLastModified":null,"sourceLastModified":null,"file":"` + source + `","source":"int sink;\n\nint main`,
		`secret: 200 {"error":"invalid file \"/etc/passwd\"`, `assembly: 200 {"startAddress":"` + address + `"`, "guess: failed: TypeError", "\nend<",
	} {
		if !strings.Contains(dom, want) {
			t.Errorf("%q is missing in %s", want, dom)
		}
	}
}
