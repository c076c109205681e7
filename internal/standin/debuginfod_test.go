package standin_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symbolon/internal/standin"
)

// corpusID is the build id of the programs of the corpus.
const corpusID = "caeeab3dac563879c0a40e7bbc2a2ad961b2aa8d"

// runWith runs a tool in an environment.
func runWith(t *testing.T, environ map[string]string, args ...string) (out, stderr string, status int) {
	t.Helper()
	return runOn(t, environ, "", args...)
}

// runOn runs a tool with standard input in an environment.
func runOn(t *testing.T, environ map[string]string, in string, args ...string) (out, stderr string, status int) {
	t.Helper()
	var o, e bytes.Buffer
	env := &standin.Env{Getenv: func(name string) string { return environ[name] }, Stdin: strings.NewReader(in), Stdout: &o, Stderr: &e}
	status = standin.For(args[0])(t.Context(), env, args)
	return o.String(), e.String(), status
}

// debuginfodServer serves a file of the corpus, and counts requests.
func debuginfodServer(t *testing.T, name string, count *int) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../object/testdata/corpus", name))
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*count++
		if r.URL.Path != "/buildid/"+corpusID+"/debuginfo" {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(text)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func TestDebugFilesComeFromDebuginfod(t *testing.T) {
	requests := 0
	dir := t.TempDir()
	environ := map[string]string{"DEBUGINFOD_URLS": debuginfodServer(t, "debuglink.debug", &requests), "DEBUGINFOD_CACHE_PATH": dir}
	for _, args := range [][]string{{"--build-id=" + corpusID, "0x401000"}, {"BUILDID:" + corpusID + " 0x401000"}} {
		out, stderr, status := runWith(t, environ, append([]string{"llvm-symbolizer"}, args...)...)
		if !strings.HasPrefix(out, "crack\n/corpus/src/tile.c:6:") || stderr != "" || status != 0 {
			t.Errorf("%v: got %d, %s%s", args, status, out, stderr)
		}
	}
	if requests != 1 {
		t.Errorf("%d requests, want 1: the file is kept", requests)
	}
	if _, err := os.Stat(filepath.Join(dir, ".build-id", corpusID[:2], corpusID[2:]+".debug")); err != nil {
		t.Error(err)
	}
}

func TestFilesOfMarkupComeFromDebuginfod(t *testing.T) {
	requests := 0
	environ := map[string]string{"DEBUGINFOD_URLS": debuginfodServer(t, "debuglink.debug", &requests), "DEBUGINFOD_CACHE_PATH": t.TempDir()}
	log := "{{{module:0:x:elf:" + corpusID + "}}}\n{{{mmap:0x1000:0x1000:load:0:rx:0x401000}}}\n{{{bt:0:0x1001}}}\n"
	out, stderr, status := runOn(t, environ, log, "llvm-symbolizer", "--filter-markup")
	if !strings.Contains(out, "    #0    0x0000000000001000 crack /corpus/src/tile.c:6:") || stderr != "" || status != 0 {
		t.Errorf("got %d, %s%s", status, out, stderr)
	}
	if _, stderr, _ := runOn(t, environ, log, "llvm-symbolizer", "--filter-markup", "--llvm=14"); stderr != "error: unknown argument '--filter-markup'\n" {
		t.Errorf("--llvm=14: got %s", stderr)
	}
}

func TestOtherWordsAmongTheServersOfDebuginfodAreSkipped(t *testing.T) {
	requests := 0
	servers := "ima:enforcing file:///nowhere " + debuginfodServer(t, "debuglink.debug", &requests) + " ima:ignore"
	environ := map[string]string{"DEBUGINFOD_URLS": servers, "DEBUGINFOD_CACHE_PATH": t.TempDir()}
	out, stderr, status := runWith(t, environ, "llvm-symbolizer", "--build-id="+corpusID, "0x401000")
	if !strings.HasPrefix(out, "crack\n") || stderr != "" || status != 0 {
		t.Errorf("got %d, %s%s", status, out, stderr)
	}
}

func TestDebuginfodIsNotAskedUnlessSelected(t *testing.T) {
	requests := 0
	environ := map[string]string{"DEBUGINFOD_URLS": debuginfodServer(t, "debuglink.debug", &requests), "DEBUGINFOD_CACHE_PATH": t.TempDir()}
	out, stderr, status := runWith(t, environ, "llvm-symbolizer", "--no-debuginfod", "--build-id="+corpusID, "0x401000")
	if out != "??\n??:0:0\n\n" || !strings.Contains(stderr, "error: '"+strings.ToUpper(corpusID)+"': could not find build ID") || status != 0 {
		t.Errorf("got %d, %s%s", status, out, stderr)
	}
	if requests != 0 {
		t.Errorf("%d requests, want none", requests)
	}
}

func TestStrippedProgramIsCompletedByDebuginfod(t *testing.T) {
	requests := 0
	text, err := os.ReadFile("../object/testdata/corpus/debuglink")
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "program") // without its debug file
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
	environ := map[string]string{"DEBUGINFOD_URLS": debuginfodServer(t, "debuglink.debug", &requests), "DEBUGINFOD_CACHE_PATH": t.TempDir()}
	out, _, _ := runWith(t, environ, "llvm-symbolizer", "-e", name, "0x401000")
	if !strings.HasPrefix(out, "crack\n/corpus/src/tile.c:6:") {
		t.Errorf("got %s", out)
	}
}

func TestBuildIDIsNotGivenWithAFile(t *testing.T) {
	for _, id := range []string{corpusID, "abc"} {
		_, stderr, status := runWith(t, nil, "llvm-symbolizer", "--build-id="+id, "-e", "x", "1")
		if stderr != "error: cannot specify both --build-id and --obj\n" || status != 1 {
			t.Errorf("%s: got %d, %s", id, status, stderr)
		}
	}
}
