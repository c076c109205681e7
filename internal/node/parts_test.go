package node_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/companion"
	"symbolon/internal/debugfile"
	"symbolon/internal/explain"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
	"symbolon/internal/object"
	"symbolon/internal/proctest"
	"symbolon/internal/trial"
	"symbolon/internal/waittest"
)

// kilns has two programs whose debug files share names.
const (
	kilnHeader = `struct kiln { int heat; long shelves; };
static inline __attribute__((always_inline)) int stoke_the_kiln(volatile struct kiln *k, int logs) {
	k->heat += logs;
	return k->heat * 3;
}
`
	kilnProgram = `#include "kiln.h"
static volatile struct kiln k;
int fire_%[1]s(int n) { return stoke_the_kiln(&k, n) + 1; }
int main(int c, char **v) { return fire_%[1]s(c); }
`
)

// compileKilns returns a folder with the programs one and two.
func compileKilns(t *testing.T, flags ...string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	files := map[string]string{"kiln.h": kilnHeader, "oven.c": "int bake(int n) { return n / 7; }\n"}
	for _, name := range []string{"one", "two"} {
		files[name+".c"] = fmt.Sprintf(kilnProgram, name)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"one", "two"} {
		proctest.Run(t, dir, "gcc", append([]string{"-g", "-O1", "-Wl,--build-id", "-o", name, name + ".c"}, flags...)...)
	}
	return dir
}

// shareKilns returns a folder with the debug files one.debug and two.debug, which name
// a file of dwz that is in the folder as well.
func shareKilns(t *testing.T, name string) (dir string) {
	t.Helper()
	dir = compileKilns(t)
	for _, program := range []string{"one", "two"} {
		proctest.Run(t, dir, "objcopy", "--only-keep-debug", program, program+".debug")
	}
	proctest.Run(t, dir, "dwz", "-m", path.Base(name), "-M", name, "one.debug", "two.debug")
	return dir
}

// kilnFile is a debug file and the module that it is of.
type kilnFile struct {
	bytes  []byte
	module ident.Module
	fire   uint64 // address of the function with an inlined call
}

func readKiln(t *testing.T, path string) (f kilnFile) {
	t.Helper()
	var err error
	if f.bytes, err = os.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	open, err := debugfile.Open(bin.Bytes(f.bytes), object.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o := open.Objects()[0]
	f.module = o.Info().Module
	if places := o.Named("fire_one"); len(places) == 1 {
		f.fire = places[0].Addr
	}
	return f
}

// place puts content at a path below root.
func place(t *testing.T, root, at string, content []byte) {
	t.Helper()
	at = filepath.Join(root, at)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, content, 0o644); err != nil {
		t.Fatal(err)
	}
}

// resolved returns the frames of the addresses of a file by the command line.
func resolved(t *testing.T, file string, from, to uint64) (all []string) {
	t.Helper()
	f, err := companion.Open(file, companion.Options{Dirs: []string{filepath.Dir(file)}})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for addr := from; addr < to; addr++ {
		var line []string
		for _, x := range f.Object().Lookup(nil, addr) {
			text := func(t []byte) string { return string(t) }
			line = append(line, fmt.Sprintf("%s %s:%d", text(f.Object().AppendText(nil, x.Func)), text(f.Object().AppendText(nil, x.File)), x.Line))
		}
		all = append(all, strings.Join(line, ", "))
	}
	return all
}

// inSentry returns the frames of the same addresses by Sentry's interface.
func (s *station) inSentry(t *testing.T, f kilnFile, from, to uint64) (all []string) {
	t.Helper()
	var frames []string
	for addr := from; addr < to; addr++ {
		frames = append(frames, fmt.Sprintf(`{"instruction_addr":"%#x","addr_mode":"rel:0","adjust_instruction_addr":false}`, addr))
	}
	r := sendTo(t, http.MethodPost, s.url+"/symbolicate", fmt.Sprintf(
		`{"stacktraces":[{"frames":[%s]}],"modules":[{"type":"elf","debug_id":%q,"code_id":%q,"image_addr":0,"image_size":65536}]}`,
		strings.Join(frames, ","), f.module.DebugID, f.module.CodeID), "")
	var a struct {
		Stacktraces []struct {
			Frames []struct {
				Index    int `json:"original_index"`
				Function string
				AbsPath  string `json:"abs_path"`
				Lineno   int
			}
		}
	}
	if err := json.Unmarshal([]byte(r.Text), &a); err != nil || len(a.Stacktraces) != 1 {
		t.Fatal(err, r.Text)
	}
	lines := make([][]string, to-from)
	for _, x := range a.Stacktraces[0].Frames {
		if x.Function != "" || x.Lineno > 0 {
			lines[x.Index] = append(lines[x.Index], fmt.Sprintf("%s %s:%d", x.Function, x.AbsPath, x.Lineno))
		}
	}
	for _, line := range lines {
		all = append(all, strings.Join(line, ", "))
	}
	return all
}

// inMozilla returns the frames of the same addresses by v5.
func (s *station) inMozilla(t *testing.T, f kilnFile, from, to uint64) (all []string) {
	t.Helper()
	var stack []string
	for addr := from; addr < to; addr++ {
		stack = append(stack, fmt.Sprintf("[0,%d]", addr))
	}
	codeID := ""
	if !f.module.CodeID.IsZero() {
		codeID = fmt.Sprintf(",%q", f.module.CodeID)
	}
	_, text := s.call(t, http.MethodPost, "/symbolicate/v5", fmt.Sprintf(
		`{"extensions":true,"memoryMap":[["one",%q%s]],"stacks":[[%s]]}`, f.module.DebugID.Breakpad(), codeID, strings.Join(stack, ",")))
	type frame struct {
		Function, File string
		Line           int
		Inlines        []frame
	}
	var a struct {
		Results []struct{ Stacks [][]frame }
	}
	if err := json.Unmarshal([]byte(text), &a); err != nil || len(a.Results) != 1 {
		t.Fatal(err, text)
	}
	for _, x := range a.Results[0].Stacks[0] {
		var line []string
		for _, y := range append(x.Inlines, x) {
			if y.Function != "" {
				line = append(line, fmt.Sprintf("%s %s:%d", y.Function, y.File, y.Line))
			}
		}
		all = append(all, strings.Join(line, ", "))
	}
	return all
}

// wantFrames checks that both interfaces have the frames of the command line, from the
// file and after a restart from its table.
func wantFrames(t *testing.T, config string, f kilnFile, want []string) {
	t.Helper()
	if !strings.Contains(strings.Join(want, "\n"), "stoke_the_kiln") {
		t.Fatalf("the command line does not find the inlined call:\n%s", strings.Join(want, "\n"))
	}
	data := t.TempDir()
	for _, from := range []string{"file", "table"} {
		s := open(t, data, config)
		for door, ask := range map[string]func(*testing.T, kilnFile, uint64, uint64) []string{"Sentry": s.inSentry, "Mozilla": s.inMozilla} {
			got := ask(t, f, f.fire, f.fire+uint64(len(want)))
			for i := range want {
				if got[i] != want[i] {
					t.Errorf("%s, from the %s: %#x is %q, want %q", door, from, f.fire+uint64(i), got[i], want[i])
					break
				}
			}
		}
		built(t, data, 1)
		s.stop()
	}
}

// withKiln returns a debug file that dwz made, the file that it shares with another
// one under a name, and its frames.
func withKiln(t *testing.T, name string) (own, shared kilnFile, want []string) {
	t.Helper()
	dir := shareKilns(t, name)
	own, shared = readKiln(t, filepath.Join(dir, "one.debug")), readKiln(t, filepath.Join(dir, path.Base(name)))
	own.fire = readKiln(t, filepath.Join(dir, "one")).fire
	return own, shared, resolved(t, filepath.Join(dir, "one.debug"), own.fire, own.fire+24)
}

func TestSharedDebugInformationIsFoundByBuildID(t *testing.T) {
	t.Parallel()
	own, shared, want := withKiln(t, "common.dwz")
	for layout, paths := range map[string][2]string{
		"debuginfod": {"/" + string(own.module.CodeID) + "/debuginfo", "/" + string(shared.module.CodeID) + "/debuginfo"},
		"unified":    {unifiedPath(own.module), unifiedPath(shared.module)},
	} {
		a, b := trial.NewUpstream(t), trial.NewUpstream(t)
		a.Do(paths[0], trial.File(own.bytes))
		b.Do(paths[1], trial.File(shared.bytes))
		wantFrames(t, sourcesOf(", layout: {type: "+layout+"}", a, b), own, want)
		// The second interface fetches files again if the table was stored meanwhile, but
		// not yet in their description.
		if n, m := a.Count(paths[1]), b.Count(paths[1]); n != 1 || m > 2 {
			t.Errorf("%s: the sources were asked %d and %d times for the shared file, want once, and at most twice", layout, n, m)
		}
	}
}

func unifiedPath(m ident.Module) string {
	return "/" + string(m.CodeID[:2]) + "/" + string(m.CodeID[2:]) + "/debuginfo"
}

// buildIDPath returns the path of the debug file of m in a tree of build ids.
func buildIDPath(m ident.Module) string {
	return ".build-id/" + string(m.CodeID[:2]) + "/" + string(m.CodeID[2:]) + ".debug"
}

func TestSharedDebugInformationIsFoundInFolders(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, path string }{
		{"common.dwz", "beside"},
		{"../../.dwz/common.dwz", ".dwz/common.dwz"},
		{"../../../../../usr/lib/debug/.dwz/common.dwz", "usr/lib/debug/.dwz/common.dwz"},
		{"/usr/lib/debug/.dwz/x86_64-linux-gnu/one.dwz", "usr/lib/debug/.dwz/x86_64-linux-gnu/one.dwz"},
		{"/usr/lib/debug/.dwz/x86_64-linux-gnu/gone.dwz", ".dwz/gone.dwz"},
		{"/somewhere/else/common.dwz", "by build id"},
	} {
		own, shared, want := withKiln(t, c.name)
		switch c.path {
		case "beside":
			c.path = path.Dir(buildIDPath(own.module)) + "/common.dwz"
		case "by build id":
			c.path = buildIDPath(shared.module)
		}
		root := t.TempDir()
		place(t, root, buildIDPath(own.module), own.bytes)
		place(t, root, c.path, shared.bytes)
		wantFrames(t, "sources: [{id: a, type: filesystem, path: '"+root+"'}]\n", own, want)
	}
}

// hasNames reports whether the inlined call, whose name is shared, has its name.
func (s *station) hasNames(t *testing.T, f kilnFile) bool {
	t.Helper()
	got := s.inSentry(t, f, f.fire, f.fire+1)[0]
	if !strings.Contains(got, "fire_one") {
		t.Fatalf("got %q", got)
	}
	return strings.Contains(got, "stoke_the_kiln")
}

// verdicts returns those on the places of the shared file.
func (s *station) verdicts(t *testing.T, f kilnFile) string {
	t.Helper()
	x, err := s.Explain(t.Context(), explain.Question{Module: ident.Module{Type: ident.TypeELF, CodeID: f.module.CodeID},
		Purpose: locate.Debug})
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, a := range x.Tried {
		if a.Kind == "dwz" {
			told = append(told, fmt.Sprint(a.Source, " ", a.Verdict, " ", a.Chosen, " ", a.Expires != ""))
		}
	}
	return strings.Join(told, ", ")
}

func TestSharedFileThatAppearsLaterReplacesTheTable(t *testing.T) {
	t.Parallel()
	own, shared, _ := withKiln(t, "common.dwz")
	for _, forgotten := range []kilnFile{own, shared} {
		u := trial.NewUpstream(t)
		u.Do(unifiedPath(own.module), trial.File(own.bytes))
		data := t.TempDir()
		s := open(t, data, sourcesOf(", layout: {type: unified}", u))
		for range 2 {
			if s.hasNames(t, own) {
				t.Fatal("the name is known without the shared file")
			}
			built(t, data, 1)
		}
		if got := s.verdicts(t, own); got != "a not found false true" {
			t.Errorf("without the shared file: %s", got)
		}
		u.Do(unifiedPath(shared.module), trial.File(shared.bytes))
		if s.hasNames(t, own) || u.Count(unifiedPath(shared.module)) != 1 {
			t.Error("the miss is not remembered")
		}
		s.forget(t, `"type":"elf","code_id":"`+string(forgotten.module.CodeID)+`"`)
		waittest.Until(t, "the shared file is used", func() bool { return s.hasNames(t, own) })
		built(t, data, 2)
		if got := s.verdicts(t, own); got != "a usable true false" {
			t.Errorf("with the shared file: %s", got)
		}
		if n := u.Count(unifiedPath(shared.module)); n != 2 {
			t.Errorf("the shared file was asked for %d times, want 2", n)
		}
	}
}

func TestSharedFileOfAnotherBuildIDIsRefused(t *testing.T) {
	t.Parallel()
	own, shared, _ := withKiln(t, "common.dwz")
	_, other, _ := withKiln(t, "other.dwz")
	for what, content := range map[string][]byte{"another one": other.bytes, "a page": []byte("<html>"), "a program": own.bytes} {
		a, b := trial.NewUpstream(t), trial.NewUpstream(t)
		a.Do(unifiedPath(own.module), trial.File(own.bytes))
		a.Do(unifiedPath(shared.module), trial.File(content))
		data := t.TempDir()
		config := sourcesOf(", layout: {type: unified}", a, b)
		s := open(t, data, config)
		if s.hasNames(t, own) {
			t.Errorf("%s is used", what)
		}
		built(t, data, 1)
		if got := s.verdicts(t, own); got != "a malformed false true, b not found false true" {
			t.Errorf("%s: %s", what, got)
		}
		s.stop()
		if s = open(t, data, config); s.hasNames(t, own) || a.Count(unifiedPath(shared.module)) != 1 || a.Count(unifiedPath(own.module)) != 1 {
			t.Errorf("%s: it is fetched again after a restart", what)
		}
		b.Do(unifiedPath(shared.module), trial.File(shared.bytes))
		s.forget(t, `"type":"elf","code_id":"`+string(own.module.CodeID)+`"`)
		if !s.hasNames(t, own) {
			t.Errorf("%s: the file of the second source is not used", what)
		}
	}
}

func TestUnitsInFilesOfTheirOwnAreFoundInTheFolder(t *testing.T) {
	t.Parallel()
	dir := compileKilns(t, "-gsplit-dwarf", "oven.c")
	proctest.Run(t, dir, "llvm-dwp", "-e", "one", "-o", "one.dwp")
	proctest.Run(t, dir, "llvm-dwp", "-e", "two", "-o", "two.dwp")
	want := resolved(t, filepath.Join(dir, "one"), 0x1000, 0x1200)
	f := readKiln(t, filepath.Join(dir, "one"))
	f.fire = 0x1000
	content := func(name string) []byte {
		all, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	for name, files := range map[string]map[string]string{
		"package":              {"one": "one", "one.dwp": "one.dwp"},
		"package by extension": {"one.debug": "one", "one.dwp": "one.dwp"},
		"beside":               {"one": "one", "one-one.dwo": "one-one.dwo", "one-oven.dwo": "one-oven.dwo"},
		"by path":              {"one": "one", dir + "/one-one.dwo": "one-one.dwo", dir + "/one-oven.dwo": "one-oven.dwo"},
		"after a package of another program": {
			"one": "one", "one.dwp": "two.dwp", "one-one.dwo": "one-one.dwo", "one-oven.dwo": "one-oven.dwo",
		},
		"by build id": {buildIDPath(f.module): "one", strings.TrimSuffix(buildIDPath(f.module), ".debug") + ".dwp": "one.dwp"},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			for at, file := range files {
				place(t, root, at, content(file))
			}
			wantFrames(t, "sources: [{id: a, type: filesystem, path: '"+root+"'}]\n", f, want)
		})
	}
}

func TestSplitUnitThatAppearsLaterReplacesTheTable(t *testing.T) {
	t.Parallel()
	dir := compileKilns(t, "-gsplit-dwarf", "oven.c")
	want := resolved(t, filepath.Join(dir, "one"), 0x1000, 0x1200)
	f := readKiln(t, filepath.Join(dir, "one"))
	root := t.TempDir()
	for _, name := range []string{"one", "one-oven.dwo", "one-one.dwo"} {
		all, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		place(t, root, name, all)
		if name != "one-oven.dwo" {
			continue
		}
		data := t.TempDir()
		s := open(t, data, "sources: [{id: a, type: filesystem, path: '"+root+"'}]\n")
		ask := func() string { return strings.Join(s.inSentry(t, f, 0x1000, 0x1200), "\n") }
		if got := ask(); strings.Contains(got, "stoke_the_kiln") || !strings.Contains(got, "bake") {
			t.Fatalf("with one of two units: %s", got)
		}
		built(t, data, 1)
		defer func() {
			s.forget(t, `"type":"elf","code_id":"`+string(f.module.CodeID)+`"`)
			waittest.Until(t, "the unit is used", func() bool { return ask() == strings.Join(want, "\n") })
		}()
	}
}

// manySkeletons is a library with so many units in files of their own, whose names
// begin with prefix.
func manySkeletons(prefix string, n int) string {
	var b strings.Builder
	b.WriteString(".section .debug_addr,\"\",@progbits\n.quad 0\n.section .debug_abbrev,\"\",@progbits\n.Labbrev:\n.uleb128 1,0x11\n.byte 0\n" +
		".uleb128 0x11,1, 0x12,7, 0x1b,8, 0x2130,8, 0x2131,7, 0,0\n.byte 0\n")
	for i := range n {
		fmt.Fprintf(&b, ".text\n.Lt%[1]d: .fill 16,1,0x90\n.section .debug_info,\"\",@progbits\n.long .Le%[1]d-.Ls%[1]d\n.Ls%[1]d: .short 4\n.long .Labbrev\n.byte 8\n"+
			".uleb128 1\n.quad .Lt%[1]d, 16\n.asciz \"/build\"\n.asciz \"%[2]s%[1]d.dwo\"\n.quad %[3]d\n.Le%[1]d:\n", i, prefix, i+1)
	}
	return b.String()
}

func TestSplitUnitsAreBoundedAndStayInTheFolder(t *testing.T) {
	t.Parallel()
	dir, root := t.TempDir(), t.TempDir()
	place(t, dir, "many.s", []byte(manySkeletons("../../../../../../../../../../etc/x", 5000)))
	proctest.Run(t, dir, "gcc", "-shared", "-nostdlib", "-Wl,--build-id", "-o", "many", "many.s")
	f := readKiln(t, filepath.Join(dir, "many"))
	place(t, root, "deep/in/the/folder/many", nil)
	place(t, root, "many", f.bytes)
	place(t, root, "etc/x7.dwo", []byte("not a debug file"))
	s := open(t, t.TempDir(), "sources: [{id: a, type: filesystem, path: '"+root+"'}]\n")
	x, err := s.Explain(t.Context(), explain.Question{Module: ident.Module{Type: ident.TypeELF, CodeID: f.module.CodeID},
		Purpose: locate.Debug})
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, a := range x.Tried {
		if a.Location != "" && !strings.HasPrefix(a.Location, "file://"+root+"/") {
			t.Errorf("%s is looked at", a.Location)
		}
		if a.Kind == "dwo" {
			told = append(told, a.Verdict+" "+a.Detail)
		}
	}
	all := strings.Join(told, "\n")
	if len(told) > 40 || !strings.Contains(all, "the file needs more than 4096 files") || !strings.Contains(all, "not the needed file") {
		t.Errorf("%d attempts are listed: %.1000s", len(told), all)
	}
}

func TestDebugLinksAreFollowedInFolders(t *testing.T) {
	t.Parallel()
	for _, buildID := range []string{"none", "sha1"} {
		dir := compileKilns(t, "-Wl,--build-id="+buildID)
		proctest.Run(t, dir, "objcopy", "--only-keep-debug", "one", "kiln.debug")
		proctest.Run(t, dir, "objcopy", "--only-keep-debug", "two", "two.debug")
		proctest.Run(t, dir, "strip", "one")
		proctest.Run(t, dir, "objcopy", "--add-gnu-debuglink=kiln.debug", "one")
		want := resolved(t, filepath.Join(dir, "one"), 0x1000, 0x1200)
		f := readKiln(t, filepath.Join(dir, "one"))
		f.fire = 0x1000
		debug, other := readKiln(t, filepath.Join(dir, "kiln.debug")).bytes, readKiln(t, filepath.Join(dir, "two.debug")).bytes
		for _, at := range []string{"a/.debug/kiln.debug", "a/usr/lib/debug/kiln.debug", "b/kiln.debug"} {
			t.Run(buildID+" "+at, func(t *testing.T) {
				root := t.TempDir()
				place(t, root, "a/one", f.bytes)
				if at != "b/kiln.debug" || buildID == "none" { // else it has another build id and is not asked for
					place(t, root, "a/kiln.debug", other)
				}
				place(t, root, "b/x", nil)
				place(t, root, at, debug)
				wantFrames(t, "sources: [{id: a, type: filesystem, path: '"+root+"/a'}, {id: b, type: filesystem, path: '"+root+"/b'}]\n", f, want)
			})
		}
	}
}

func TestLookupsOfAFileInUseFindItsParts(t *testing.T) {
	t.Parallel()
	own, shared, _ := withKiln(t, "common.dwz")
	root := t.TempDir()
	place(t, root, buildIDPath(own.module), own.bytes)
	place(t, root, buildIDPath(shared.module), shared.bytes)
	s := open(t, t.TempDir(), "sources: [{id: a, type: filesystem, path: '"+root+"'}]\n")
	m := ident.Module{Type: ident.TypeELF, CodeID: own.module.CodeID, DebugFile: "one"}
	var keys [][32]byte
	var before *locate.Found
	for _, p := range []locate.Purpose{locate.Debug, locate.SymFirst, locate.Symbols} {
		found, _, err := s.Locator().Best(t.Context(), m, p)
		if err != nil {
			t.Fatal(err)
		}
		obj, _, err := found.File(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if before != nil {
			before.Close()
		}
		before = found
		name := ""
		if frames := obj.Lookup(nil, own.fire); len(frames) > 0 {
			name = string(obj.AppendText(nil, frames[0].Func))
		}
		if keys = append(keys, found.Aux()); name != "stoke_the_kiln" || keys[0] != found.Aux() {
			t.Errorf("%v: the inlined call is %q, its table has the key %x, want that of %x", p, name, found.Aux(), keys[0])
		}
	}
	before.Close()
}
