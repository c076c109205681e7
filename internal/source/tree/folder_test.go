package tree_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/bucket"
	"symbolon/internal/bucket/dir"
	"symbolon/internal/bucket/mem"
	"symbolon/internal/debugfile"
	"symbolon/internal/fault"
	"symbolon/internal/fixture"
	"symbolon/internal/format/bundle"
	"symbolon/internal/ident"
	"symbolon/internal/source"
	"symbolon/internal/source/tree"
)

// buildID is that of the programs of the corpus.
const buildID = "caeeab3dac563879c0a40e7bbc2a2ad961b2aa8d"

func corpus(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../object/testdata/corpus", name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// byDebugID is the module of the programs, known by its debug id alone.
func byDebugID() ident.Module {
	return ident.Module{DebugFile: "kiln", DebugID: ident.BuildID(buildID).DebugID(false)}
}

// byCodeID is the module of the programs, known by its build id.
func byCodeID() ident.Module {
	m := byDebugID()
	m.Type, m.CodeFile, m.CodeID = ident.TypeELF, "kiln", buildID
	return m
}

// local is a source of a folder, with a clock that stands still.
func local(t *testing.T, c source.Config, b bucket.Bucket) *tree.Source {
	t.Helper()
	c.ID, c.Type = "disk", source.Filesystem
	now := time.Now()
	s, err := tree.New(c, b, source.NewDecoder(bin.Limit{}, nil), func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func bucketOf(t *testing.T, root string) *dir.Bucket {
	t.Helper()
	b, err := dir.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

var allKinds = []string{source.Breakpad, source.Beside, source.PDB, source.PE, source.ELFDebug, source.ELFCode, source.MachDebug, source.SourceBundle}

// there are the files for m that a source names and that it has.
func there(t *testing.T, s source.Source, m ident.Module) (list []string) {
	t.Helper()
	all, err := s.Candidates(t.Context(), m, allKinds)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		if _, err := s.Fetch(t.Context(), c, io.Discard); err == nil && !slices.Contains(list, c.Path) {
			list = append(list, c.Path)
		}
	}
	return list
}

func TestFolderWithoutALayoutIsRecognised(t *testing.T) {
	rest := buildID[2:]
	uuid, err := ident.ParseBreakpadID("4C4C448355553144A157A1FFD82887C00")
	if err != nil {
		t.Fatal(err)
	}
	byUUID := ident.Module{Type: ident.TypeMachO, DebugFile: "Kiln", DebugID: uuid}
	for _, c := range []struct {
		name  string
		files map[string][]byte
		m     ident.Module
		want  string
	}{
		{"build ids below", map[string][]byte{".build-id/ca/" + rest + ".debug": nil, "usr/bin/x.debug": nil}, byCodeID(), ".build-id/ca/" + rest + ".debug"},
		{"code by build id", map[string][]byte{".build-id/ca/" + rest: nil}, byCodeID(), ".build-id/ca/" + rest},
		{"build ids", map[string][]byte{"ca/" + rest + ".debug": nil}, byCodeID(), "ca/" + rest + ".debug"},
		{"symstore", map[string][]byte{"_.debug/elf-buildid-sym-" + buildID + "/_.debug": nil}, byCodeID(), "_.debug/elf-buildid-sym-" + buildID + "/_.debug"},
		{"symstore of two tiers", map[string][]byte{"index2.txt": nil, "_/_.debug/elf-buildid-sym-" + buildID + "/_.debug": nil}, byCodeID(), "_/_.debug/elf-buildid-sym-" + buildID + "/_.debug"},
		{"unified", map[string][]byte{"ca/" + rest + "/debuginfo": nil}, byCodeID(), "ca/" + rest + "/debuginfo"},
		{"name and id", map[string][]byte{"kiln/3DABEECA56AC7938C0A40E7BBC2A2AD90/kiln": nil}, byDebugID(), "kiln/3DABEECA56AC7938C0A40E7BBC2A2AD90/kiln"},
		{"program by debug id", map[string][]byte{"a.out": corpus(t, "gcc-dwarf5"), "notes.txt": []byte("-")}, byDebugID(), "a.out"},
		{"companion by code id", map[string][]byte{"b.debug": corpus(t, "debuglink.debug")}, ident.Module{CodeID: buildID}, "b.debug"},
		{".sym by debug id", map[string][]byte{"x.sym": []byte("MODULE Linux x86_64 3DABEECA56AC7938C0A40E7BBC2A2AD90 kiln\nFUNC 10 10 0 f\n")}, byDebugID(), "x.sym"},
		{"bundle among others", map[string][]byte{"Kiln.app.dSYM/Contents/Resources/DWARF/Kiln": corpus(t, "macho-arm64.dsym"), "Pip.dSYM/Contents/Info.plist": nil}, byUUID,
			"Kiln.app.dSYM/Contents/Resources/DWARF/Kiln"},
		{"bundle itself", map[string][]byte{"Contents/Resources/DWARF/Kiln": corpus(t, "macho-arm64.dsym"), "Contents/Resources/DWARF/x/y": nil}, byUUID, "Contents/Resources/DWARF/Kiln"},
		{"sources by build id", map[string][]byte{"kiln.src.zip": sources(t)}, byCodeID(), "kiln.src.zip"},
	} {
		root := folder(t, c.files)
		if got := there(t, local(t, source.Config{Path: root}, bucketOf(t, root)), c.m); len(got) != 1 || got[0] != c.want {
			t.Errorf("%s: found %q, want %s", c.name, got, c.want)
		}
	}
}

// sources returns a bundle of no sources of the programs.
func sources(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	attributes := map[string]string{"arch": "x86_64", "debug_id": byDebugID().DebugID.String(), "code_id": buildID}
	if _, err := bundle.Write(&b, bundle.Manifest{Attributes: attributes}, func(func(bundle.File, []byte) bool) {}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// flat is a folder with a program in it.
func flat(t *testing.T) string {
	return folder(t, map[string][]byte{"a.out": corpus(t, "gcc-dwarf5"), ".build-id/ca/" + buildID[2:] + ".debug": nil})
}

func TestProgramsWithOneTimestampAreToldApartByTheirNames(t *testing.T) {
	program := fixture.NewPE(fixture.PEX64).Bytes()
	root := folder(t, map[string][]byte{"ladle.exe": program, "whisk.exe": program})
	s := local(t, source.Config{Path: root}, bucketOf(t, root))
	_, modules, err := debugfile.Identify(bin.Bytes(program))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]string{`C:\kitchen\WHISK.EXE`: {"whisk.exe"}, "ladle.exe": {"ladle.exe"}, "spoon.exe": nil, "": {"ladle.exe", "whisk.exe"}} {
		got := there(t, s, ident.Module{Type: ident.TypePE, CodeFile: name, CodeID: modules[0].CodeID})
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%q: found %q, want %q", name, got, want)
		}
	}
}

func TestLayoutThatIsSetIsAllThatAFolderHas(t *testing.T) {
	root := flat(t)
	s := local(t, source.Config{Path: root, Layout: source.Layout{Type: source.Native}}, bucketOf(t, root))
	if got := there(t, s, byCodeID()); len(got) > 0 {
		t.Errorf("found %q", got)
	}
}

func TestFolderOfARequestIsNotRecognised(t *testing.T) {
	root := flat(t)
	s, err := tree.NewGuarded(source.Config{ID: "s", Type: source.Filesystem, Path: root}, bucketOf(t, root), source.NewDecoder(bin.Limit{}, nil), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if got := there(t, s, byCodeID()); len(got) > 0 {
		t.Errorf("found %q", got)
	}
}

func TestFolderIsIndexedAgainWhenItChanges(t *testing.T) {
	root := folder(t, map[string][]byte{"a.out": []byte("not yet linked")})
	s := local(t, source.Config{Path: root}, bucketOf(t, root))
	if got := there(t, s, byDebugID()); len(got) > 0 {
		t.Fatalf("found %q", got)
	}
	write := func(name, from string) {
		if err := os.WriteFile(filepath.Join(root, name), corpus(t, from), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a.out", "gcc-dwarf5") // in place, which does not change the folder
	if got := there(t, s, byDebugID()); len(got) != 1 {
		t.Errorf("after the file changed: found %q", got)
	}
	write("b.debug", "debuglink.debug")
	if got := there(t, s, byDebugID()); len(got) != 2 {
		t.Errorf("after a file was added: found %q", got)
	}
	if err := os.Remove(filepath.Join(root, "a.out")); err != nil {
		t.Fatal(err)
	}
	if got := there(t, s, byDebugID()); len(got) != 1 || got[0] != "b.debug" {
		t.Errorf("after a file was removed: found %q", got)
	}
}

// held is a folder whose files cannot be read until it is released.
type held struct {
	*dir.Bucket
	released chan struct{}
}

func (b held) Get(ctx context.Context, key string, off, n int64) (io.ReadCloser, bucket.Attrs, error) {
	<-b.released
	return b.Bucket.Get(ctx, key, off, n)
}

func TestQuestionGoesOnWithoutAnIndexThatTakesLong(t *testing.T) {
	root := flat(t)
	b := held{bucketOf(t, root), make(chan struct{})}
	s := local(t, source.Config{Path: root}, b)
	tree.SetWait(s, time.Millisecond)
	list, err := s.Candidates(t.Context(), byCodeID(), allKinds)
	if len(list) == 0 || fault.KindOf(err) != fault.Timeout || !strings.Contains(err.Error(), "still being indexed: try again") {
		t.Fatalf("%d candidates, error %v", len(list), err)
	}
	tree.SetWait(s, time.Minute)
	close(b.released)
	if got := there(t, s, byDebugID()); !slices.Contains(got, "a.out") {
		t.Errorf("with the index: found %q", got)
	}
}

// Many files that say to be one are not all opened.
func TestFilesWithOneIDAreBounded(t *testing.T) {
	root := flat(t)
	text, err := os.ReadFile(filepath.Join(root, "a.out"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 200 {
		if err := os.WriteFile(filepath.Join(root, fmt.Sprint("copy", i)), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list, err := local(t, source.Config{Path: root}, bucketOf(t, root)).Candidates(t.Context(), byCodeID(), allKinds)
	if len(list) > 64+20 {
		t.Errorf("there are %d candidates", len(list))
	}
	if fault.KindOf(err) != fault.NotFound || !strings.Contains(err.Error(), "more than 64 files with one id") {
		t.Errorf("error %v", err)
	}
}

// crowd is a folder of very many files.
type crowd struct{ *mem.Bucket }

func (crowd) ReadFolder(at string, yield func(string, bool) bool) error {
	for i := 0; at == "" && i <= 100_000 && yield(fmt.Sprint(i), false); i++ {
	}
	return nil
}

func (crowd) Stat(context.Context, string) (bucket.Attrs, error) { return bucket.Attrs{}, nil }

func TestFilesBeyondTheBoundAreSaidToBeLeftOut(t *testing.T) {
	_, err := local(t, source.Config{Path: "/crowd"}, crowd{mem.New()}).Candidates(t.Context(), byDebugID(), allKinds)
	if fault.KindOf(err) != fault.NotFound || !strings.Contains(err.Error(), "more than 100000 files") {
		t.Errorf("error %v", err)
	}
}

func TestFolderIsIndexedAgainWhenItIsReplaced(t *testing.T) {
	root := flat(t)
	s := local(t, source.Config{Path: root}, bucketOf(t, root))
	if got := there(t, s, byDebugID()); len(got) == 0 {
		t.Fatal("found nothing")
	}
	if err := os.RemoveAll(root); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(root, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "b.debug"), corpus(t, "debuglink.debug"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := there(t, s, byDebugID()); len(got) != 1 || got[0] != "b.debug" {
		t.Errorf("found %q", got)
	}
}

func TestFileIsIndexedAgainWhenItsSuccessorIsAsLongAndAsOld(t *testing.T) {
	root, then := t.TempDir(), time.Unix(1, 0)
	put := func(build string) {
		t.Helper()
		at := filepath.Join(root, "x.sym")
		text := "MODULE Linux x86_64 " + build + " kiln\nFUNC 10 10 0 f\n"
		if err := os.WriteFile(at+".new", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(at+".new", then, then); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(at+".new", at); err != nil {
			t.Fatal(err)
		}
	}
	s := local(t, source.Config{Path: root}, bucketOf(t, root))
	put("0DABEECA56AC7938C0A40E7BBC2A2AD90")
	if got := there(t, s, byDebugID()); len(got) > 0 {
		t.Fatalf("found %q", got)
	}
	put("3DABEECA56AC7938C0A40E7BBC2A2AD90")
	if got := there(t, s, byDebugID()); len(got) != 1 {
		t.Errorf("found %q", got)
	}
}

// unreadable is a folder whose files cannot be read at first.
type unreadable struct {
	*dir.Bucket
	healed *atomic.Bool
}

func (b unreadable) Get(ctx context.Context, key string, off, n int64) (io.ReadCloser, bucket.Attrs, error) {
	if !b.healed.Load() {
		return nil, bucket.Attrs{}, fault.New(fault.Denied, key, "permission denied")
	}
	return b.Bucket.Get(ctx, key, off, n)
}

func TestFileThatCouldNotBeReadIsReportedAndReadAgain(t *testing.T) {
	root := folder(t, map[string][]byte{"a.out": corpus(t, "gcc-dwarf5")})
	b := unreadable{bucketOf(t, root), new(atomic.Bool)}
	s := local(t, source.Config{Path: root}, b)
	if _, err := s.Candidates(t.Context(), byDebugID(), allKinds); fault.KindOf(err) != fault.NotFound || !strings.Contains(err.Error(), "a.out: denied: permission denied") {
		t.Errorf("error %v", err)
	}
	b.healed.Store(true)
	if got := there(t, s, byDebugID()); len(got) != 1 {
		t.Errorf("when it could be read: found %q", got)
	}
}
