//go:build unix

// Package debuggers_test runs debuggers against the server: gdb, the tools of elfutils
// and of LLVM, and valgrind.
package debuggers_test

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"symbolon/internal/proctest"
	"symbolon/internal/trial"
)

func TestMain(m *testing.M) { os.Exit(trial.Main(m)) }

// build is a program without debug information, and a server with its files.
type build struct {
	t       *testing.T
	server  *trial.Server
	dir     string // of the program and of the caches of clients
	program string
	debug   string // its debug file
	url     string // of the server, for clients
	id      string
	boil    uint64 // address of a function
}

// inFolder and inProject run a test with a server that has the files of a program in a
// folder, and with one to whose private project they were uploaded.
func inFolder(t *testing.T, test func(t *testing.T, b *build)) {
	t.Run("folder", func(t *testing.T) { test(t, compile(t, func(*build) {})) })
}

func inProject(t *testing.T, test func(t *testing.T, b *build)) {
	t.Run("project", func(t *testing.T) { test(t, compile(t, (*build).upload)) })
}

// upload moves the files of the server to a private project. Clients have a token for it.
func (b *build) upload() {
	b.t.Helper()
	b.server = trial.Start(b.t, trial.Options{})
	must := func(args ...string) string {
		out, errs, code := b.server.Run(append(args, "--data", b.server.Data)...)
		if code != 0 {
			b.t.Fatal(args, errs)
		}
		return strings.TrimSpace(out)
	}
	must("upload", "--project", "tea", "--sources", filepath.Join(b.dir, "src"), b.program, b.debug)
	b.url = b.server.URL + "/t/" + must("token", "add", "--right", "read", "--project", "tea")
}

// compile builds a program and starts a server with its debug file and its sources,
// which are nowhere else after move.
func compile(t *testing.T, move func(*build)) *build {
	t.Helper()
	proctest.Program(t, "gcc")
	proctest.Program(t, "objcopy")
	b := &build{t: t, dir: t.TempDir()}
	store := t.TempDir()
	source, whole := filepath.Join(b.dir, "src", "kiln.c"), filepath.Join(b.dir, "whole")
	text, err := os.ReadFile("testdata/kiln.c")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Dir(source), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(source, text, 0o600); err != nil {
		t.Fatal(err)
	}
	b.program, b.debug = filepath.Join(b.dir, "kiln"), filepath.Join(store, "kiln.debug")
	b.run(nil, "gcc", "-g", "-O1", "-no-pie", "-Wl,--build-id=sha1", "-o", whole, source)
	b.run(nil, "objcopy", "--only-keep-debug", whole, b.debug)
	b.run(nil, "objcopy", "--strip-all", whole, b.program)
	if err := os.WriteFile(filepath.Join(store, "kiln"), read(t, b.program), 0o600); err != nil {
		t.Fatal(err)
	}
	b.server = trial.Start(t, trial.Options{Sources: []string{store}})
	b.id, b.boil = describe(t, whole)
	bundle := filepath.Join(store, b.id[:2], b.id[2:]+".src.zip")
	if err := os.Mkdir(filepath.Dir(bundle), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, errs, code := b.server.Run("bundle", whole, b.dir, "--out", bundle); code != 0 {
		t.Fatal(errs)
	}
	b.url = b.server.URL
	move(b)
	for _, path := range []string{whole, source} {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// describe returns the build id of a program and the address of its function boil.
func describe(t *testing.T, path string) (id string, boil uint64) {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	note, err := f.Section(".note.gnu.build-id").Data()
	if err != nil {
		t.Fatal(err)
	}
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range symbols {
		if s.Name == "boil" {
			boil = s.Value
		}
	}
	return fmt.Sprintf("%x", note[16:]), boil
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// run runs a program with the server in its environment, and returns its output.
func (b *build) run(env []string, name string, args ...string) string {
	b.t.Helper()
	cmd := exec.CommandContext(b.t.Context(), name, args...)
	cmd.Dir = b.dir
	cmd.Env = append(os.Environ(), append(env, "HOME="+b.dir, "XDG_CACHE_HOME=", "LC_ALL=C")...)
	if b.server != nil {
		cmd.Env = append(cmd.Env, "DEBUGINFOD_URLS="+b.url, "DEBUGINFOD_CACHE_PATH="+filepath.Join(b.dir, "cache"))
	}
	cmd.WaitDelay = time.Minute
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// expect checks that an output has all texts.
func (b *build) expect(output string, texts ...string) {
	b.t.Helper()
	for _, text := range texts {
		if !strings.Contains(output, text) {
			b.t.Errorf("the output has no %q:\n%s", text, output)
		}
	}
}

func TestDebuginfodFind(t *testing.T) {
	proctest.Program(t, "debuginfod-find")
	inFolder(t, withDebuginfodFind)
	inProject(t, withDebuginfodFind)
}

func withDebuginfodFind(t *testing.T, b *build) {
	for word, want := range map[string][]byte{"debuginfo": read(t, b.debug), "executable": read(t, b.program)} {
		path := strings.TrimSpace(b.run(nil, "debuginfod-find", word, b.id))
		if !bytes.Equal(read(t, path), want) {
			t.Errorf("%s: got another file", word)
		}
	}
	path := b.run(nil, "debuginfod-find", "source", b.id, filepath.Join(b.dir, "src", "kiln.c"))
	if !bytes.Equal(read(t, strings.TrimSpace(path)), read(t, "testdata/kiln.c")) {
		t.Error("source: got another file")
	}
	whole, err := elf.Open(b.debug)
	if err != nil {
		t.Fatal(err)
	}
	defer whole.Close()
	section, err := whole.Section(".debug_line").Data()
	if err != nil {
		t.Fatal(err)
	}
	path = b.run(nil, "debuginfod-find", "section", b.id, ".debug_line")
	if !bytes.Equal(read(t, strings.TrimSpace(path)), section) {
		t.Error("section: got other bytes")
	}
}

func TestDebuginfodFindOfMetadata(t *testing.T) {
	proctest.Program(t, "debuginfod-find")
	inProject(t, withDebuginfodFindOfMetadata)
}

func withDebuginfodFindOfMetadata(t *testing.T, b *build) {
	if !strings.Contains(b.run(nil, "debuginfod-find", "--help"), "metadata") {
		t.Skip("this debuginfod-find is older than elfutils 0.192, the first with metadata")
	}
	for key, value := range map[string]string{"glob": "/usr/bin/kil*", "file": "/usr/bin/kiln.debug", "buildid": b.id} {
		b.expect(b.run(nil, "debuginfod-find", "metadata", key, value), b.id, `"kiln.debug"`, `"debuginfo"`, `"complete":true`)
	}
}

func TestGDB(t *testing.T) {
	proctest.Program(t, "gdb")
	inFolder(t, withGDB)
	inProject(t, withGDB)
}

func withGDB(t *testing.T, b *build) {
	out := b.run(nil, "gdb", "-nx", "-batch", "-ex", "set debuginfod enabled on", "-ex", "file "+b.program,
		"-ex", "info line boil", "-ex", "list boil")
	b.expect(out, `Line 4 of "`+filepath.Join(b.dir, "src", "kiln.c")+`"`, "return water * 2;")
}

func TestAddr2lineOfElfutils(t *testing.T) {
	proctest.Program(t, "eu-addr2line")
	inProject(t, withAddr2lineOfElfutils)
}

func withAddr2lineOfElfutils(t *testing.T, b *build) {
	b.expect(b.run(nil, "eu-addr2line", "-f", "-e", b.program, fmt.Sprintf("%#x", b.boil)), "boil", "src/kiln.c:4")
}

func TestSymbolizerOfLLVM(t *testing.T) {
	proctest.Program(t, "llvm-symbolizer")
	inProject(t, withSymbolizerOfLLVM)
}

func withSymbolizerOfLLVM(t *testing.T, b *build) {
	out := b.run(nil, "llvm-symbolizer", "--help")
	if !strings.Contains(out, "--debuginfod") {
		t.Skip("this llvm-symbolizer was built without debuginfod")
	}
	b.expect(b.run(nil, "llvm-symbolizer", "--debuginfod", "--obj="+b.program, fmt.Sprintf("%#x", b.boil)), "boil", "src/kiln.c:4")
}

// TestValgrind has valgrind print the stack of a leak. Valgrind finds the debug file with
// debuginfod-find.
func TestValgrind(t *testing.T) {
	proctest.Program(t, "valgrind")
	proctest.Program(t, "debuginfod-find")
	inProject(t, withValgrind)
}

func withValgrind(t *testing.T, b *build) {
	b.expect(b.run(nil, "valgrind", "--tool=none", "--trace-symtab=yes", "--trace-symtab-patt=*kiln", b.program), "boil")
}

// TestPerf has perf list the variables of a function. perf finds the debug file with
// libdw, even if it was built without debuginfod.
func TestPerf(t *testing.T) {
	proctest.Program(t, "perf")
	inProject(t, withPerf)
}

func withPerf(t *testing.T, b *build) {
	b.expect(b.run(nil, "perf", "probe", "-x", b.program, "-V", "boil"), "boil+0", "water")
}

// lldbName returns the name of the installed LLDB.
func lldbName() string {
	if _, err := exec.LookPath("lldb"); err != nil {
		return "lldb-19"
	}
	return "lldb"
}

func TestLLDB(t *testing.T) {
	proctest.Program(t, lldbName())
	inProject(t, withLLDB)
}

func withLLDB(t *testing.T, b *build) {
	lldb := lldbName()
	out := b.run(nil, lldb, "--no-lldbinit", "--batch",
		"-o", "settings set plugin.symbol-locator.debuginfod.server-urls "+b.url,
		"-o", "settings set symbols.enable-external-lookup true",
		"-o", "target create "+b.program, "-o", "image lookup -v -n boil")
	b.expect(out, "kiln.c:4")
}
