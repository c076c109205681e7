package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symbolon/internal/companion"
	"symbolon/internal/trial"
)

// standInTool writes a shell script as a program.
func standInTool(t *testing.T, dir, name, script string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

// strippedOf writes a program without debug information, whose debug link leads
// nowhere.
func strippedOf(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "debuglink")
	if err := os.WriteFile(path, trial.Corpus(t, "debuglink"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAPackageIsPushed(t *testing.T) {
	s := newReceiver(t)
	dir, tools := t.TempDir(), t.TempDir()
	fill(t, dir, "gcc-dwarf5", "aarch64", "object.o")
	bare := strippedOf(t, dir)
	if err := os.Symlink("gcc-dwarf5", dir+"/link"); err != nil {
		t.Fatal(err)
	}
	files := strings.Join([]string{"/.", dir, dir + "/gcc-dwarf5", dir + "/link", dir + "/object.o", dir + "/removed", bare, dir + "/aarch64"}, `\n`)
	t.Setenv("PATH", tools)
	if _, errs, code := s.push("-p", "kiln"); code != exitFailed || !strings.Contains(errs, "the package is unknown to dpkg") {
		t.Error(errs)
	}
	debug := map[string]string{"dpkg": "kiln-dbgsym", "rpm": "kiln-debuginfo", "apk": "kiln-dbg"}
	for tool, script := range map[string]string{
		"dpkg": `[ "$1 $2 $3" = "-L kiln " ] || exit 9; printf '` + files + `\npackage diverts others to: /x\n'`,
		"rpm":  `[ "$1 $2 $3" = "-ql kiln " ] || exit 9; printf '` + files + `\n'`,
		"apk":  `[ "$1 $2 $3 $4" = "info -L kiln " ] || exit 9; printf 'kiln-1.0 contains:\n` + strings.ReplaceAll(files, `\n/`, `\n`)[1:] + `\n\n'`,
	} {
		clear(s.published)
		standInTool(t, tools, tool, script)
		out, errs, code := s.push("-p", "kiln")
		if code != 0 || strings.Count(out, " sent\n") != 2 || !strings.Contains(errs, "no debug information found for "+bare+", skipping\n") {
			t.Errorf("%s: %d, %s%s", tool, code, out, errs)
		}
		if hint := "install " + debug[tool] + ", or name a debuginfod server with --debuginfod URL\n"; strings.Count(errs, hint) != 1 {
			t.Errorf("%s: no hint %q in %s", tool, hint, errs)
		}
		standInTool(t, tools, tool, "echo "+tool+" has no such thing >&2; exit 1")
		if _, errs, code := s.push("-p", "kiln"); code != exitFailed || !strings.Contains(errs, "; "+tool+" has no such thing") {
			t.Errorf("%s: %s", tool, errs)
		}
	}
	standInTool(t, tools, "dpkg", "printf '"+dir+`/gcc-dwarf5\n'`)
	if _, errs, code := s.push("-p", "kiln"); code != 0 || strings.Contains(errs, "--debuginfod") {
		t.Errorf("a package with debug information: %s", errs)
	}
	standInTool(t, tools, "dpkg", "printf '"+bare+`\n'`)
	if _, errs, _ := s.push("-p", "kiln:arm64"); !strings.Contains(errs, "install kiln-dbgsym:arm64, or") {
		t.Errorf("a package of another architecture: %s", errs)
	}
	if _, errs, code := s.push("--package", "kiln"); code != exitFailed || !strings.Contains(errs, "nothing was sent") {
		t.Error(errs)
	}
	if _, errs, code := s.push("-p", "--root=x"); code != exitFailed || !strings.Contains(errs, "invalid name of a package") {
		t.Error(errs)
	}
	out, code := runHere(t, nil, "push-symbols", "package", "-p", "kiln", "-u", s.url(), "-t", pushKey)
	if code != exitFailed || !strings.Contains(out, "no debug information found") {
		t.Error(out)
	}
}

func TestAPushFetchesDebugFiles(t *testing.T) {
	s := newReceiver(t)
	u := trial.NewUpstream(t)
	bare := strippedOf(t, t.TempDir())
	const path = "/buildid/caeeab3dac563879c0a40e7bbc2a2ad961b2aa8d/debuginfo"
	debug := trial.Corpus(t, "debuglink.debug")
	urls := "ima:enforcing " + u.URL + "none " + u.URL
	records := func(environ ...string) string {
		t.Helper()
		dir := t.TempDir()
		if out, code := runHere(t, environ, "push", bare, "--dry-run", "--out", dir); code != 0 {
			t.Fatal(out)
		}
		b, err := os.ReadFile(dir + "/AIktGpDrSHmbsC9g_8jwJg/ranges.0of1.symbfile")
		if err != nil {
			t.Fatal(err)
		}
		return recordsOf(t, b)
	}
	want, _ := extracted(t, corpusPath("debuglink"))
	if _, errs, code := s.push(bare); code != exitFailed || !strings.HasSuffix(errs, "no symbols found for "+bare+", skipping\nnothing was sent: no file has symbols; install the packages with the debug information, or name a debuginfod server with --debuginfod URL\n") {
		t.Errorf("it has debug information of its own: %q", errs)
	}
	u.Do(path, trial.File(debug))
	if records("DEBUGINFOD_URLS="+urls) != want {
		t.Error("other records")
	}
	if u.Count("/none"+path) != 1 || u.Count(path) != 1 {
		t.Error("the servers were not asked in their order")
	}
	for name, answer := range map[string]http.Handler{
		"of another build": trial.File(trial.Corpus(t, "no-build-id")), "no file": trial.File([]byte("text")),
		"broken": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }), "cut": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Length", "100"); say(w, "x") }),
	} {
		u.Do(path, answer)
		if out, errs, code := s.push(bare, "--debuginfod", u.URL); code != exitFailed || !strings.Contains(errs, "debuginfo") {
			t.Errorf("%s: %s%s", name, out, errs)
		}
	}
	u.Do(path, trial.File(debug))
	if out, errs, code := s.push("-e", bare, "--debuginfod", u.URL); code != 0 {
		t.Errorf("%s%s", out, errs)
	}
}

// Debug information that several files share is fetched too.
func TestAPushFetchesSharedDebugInformation(t *testing.T) {
	u := trial.NewUpstream(t)
	newReceiver(t)
	dir := t.TempDir()
	fill(t, dir, "dwz-multi")
	before, _ := runHere(t, nil, "push", dir, "--dry-run")
	o, err := companion.OpenAlone(dir+"/dwz-multi", companion.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	need := o.Object().Needs()
	if len(need) != 1 {
		t.Fatal(need)
	}
	u.Do(fmt.Sprintf("/buildid/%x/debuginfo", need[0].ID), trial.File(trial.Corpus(t, "dwz-multi.alt")))
	after, code := runHere(t, []string{"DEBUGINFOD_URLS=" + u.URL}, "push", dir, "--dry-run")
	want, _ := runHere(t, nil, "push", corpusPath("dwz-multi"), "--dry-run")
	if code != 0 || after == before || strings.TrimPrefix(after, dir) != strings.TrimPrefix(want, filepath.Dir(corpusPath("x"))) {
		t.Errorf("%s, and then %s, which is not %s", before, after, want)
	}
}
