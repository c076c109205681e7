package tree_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/bucket"
	"symbolon/internal/bucket/dir"
	"symbolon/internal/bucket/mem"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/source"
	"symbolon/internal/source/sourcetest"
	"symbolon/internal/source/tree"
	"symbolon/internal/transfer"
)

const (
	id   = "0F1E2D3C4B5A69788796A5B4C3D2E1F01"
	path = "a.so/" + id + "/a.so.sym"
)

func folder(t *testing.T, files map[string][]byte) string {
	t.Helper()
	root := t.TempDir()
	for name, data := range files {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func open(t *testing.T, root string, limit bin.Limit) source.Source {
	t.Helper()
	b, err := dir.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return over(t, root, b, limit)
}

func over(t *testing.T, root string, b bucket.Bucket, limit bin.Limit) source.Source {
	t.Helper()
	s, err := tree.New(source.Config{ID: "disk", Type: source.Filesystem, Path: root}, b, source.NewDecoder(limit, nil), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSource(t *testing.T) {
	sourcetest.Run(t, func(t *testing.T, files map[string][]byte) source.Source {
		return open(t, folder(t, files), bin.Limit{})
	})
}

// get fetches the file of a.so.
func get(t *testing.T, s source.Source) (string, source.Attempt, error) {
	t.Helper()
	debugID, err := ident.ParseBreakpadID(id)
	if err != nil {
		t.Fatal(err)
	}
	list, err := s.Candidates(t.Context(), ident.Module{DebugFile: "a.so", DebugID: debugID}, []string{source.Breakpad})
	if err != nil || len(list) == 0 || list[0].Kind != source.Breakpad {
		t.Fatalf("candidates %v, error %v", list, err)
	}
	var got bytes.Buffer
	a, err := s.Fetch(t.Context(), list[0], &got)
	return got.String(), a, err
}

func TestCompressedSiblingIsFoundAfterThePlainName(t *testing.T) {
	gz, zst := sourcetest.Gzip([]byte("gz")), sourcetest.Zstd([]byte("zst"))
	for _, c := range []struct {
		files map[string][]byte
		want  string
		end   string
	}{
		{map[string][]byte{path: []byte("plain"), path + ".gz": gz, path + ".zst": zst}, "plain", ".sym"},
		{map[string][]byte{path + ".gz": gz, path + ".zst": zst}, "gz", ".sym.gz"},
		{map[string][]byte{path + ".zst": zst}, "zst", ".sym.zst"},
	} {
		got, a, err := get(t, open(t, folder(t, c.files), bin.Limit{}))
		if err != nil || got != c.want || !strings.HasSuffix(a.URL, c.end) {
			t.Errorf("got %q from %s, error %v; want %q from ...%s", got, a.URL, err, c.want, c.end)
		}
	}
}

func TestEncodingOfTheBucketIsDecoded(t *testing.T) {
	b := mem.New()
	if _, err := b.Put(t.Context(), path, bytes.NewReader(sourcetest.Gzip([]byte("text"))), bucket.Attrs{Encoding: "gzip"}); err != nil {
		t.Fatal(err)
	}
	if got, _, err := get(t, over(t, "/symbols", b, bin.Limit{})); err != nil || got != "text" {
		t.Errorf("got %q, error %v", got, err)
	}
}

func TestFileOverTheLimitIsMalformed(t *testing.T) {
	files := map[string][]byte{path: sourcetest.Gzip(make([]byte, 1000))}
	_, _, err := get(t, open(t, folder(t, files), bin.Limit{Bytes: 999}))
	if fault.KindOf(err) != fault.Malformed || !strings.Contains(err.Error(), "larger than the limit of 999") {
		t.Errorf("got %v", err)
	}
}

func TestLocationNamesTheFileFromTheRootOfTheSystem(t *testing.T) {
	root := folder(t, nil)
	_, a, err := get(t, open(t, root, bin.Limit{}))
	if want := "file://" + transfer.EscapePath(filepath.ToSlash(root)) + "/" + path; a.URL != want {
		t.Errorf("asked at %s, want %s", a.URL, want)
	}
	if fault.KindOf(err) != fault.NotFound || !strings.HasPrefix(err.Error(), "file://") {
		t.Errorf("got %v", err)
	}
}

func TestLinkOutOfTheFolderIsDenied(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(outside, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	root := folder(t, map[string][]byte{filepath.Dir(path) + "/x": nil})
	if err := os.Symlink(outside, filepath.Join(root, path)); err != nil {
		t.Fatal(err)
	}
	const why = "a symbolic link leads out of the folder"
	got, _, err := get(t, open(t, root, bin.Limit{}))
	if fault.KindOf(err) != fault.Denied || got != "" || !strings.HasSuffix(err.Error(), why+"; follow_symlinks of the source would allow that") {
		t.Errorf("got %q, error %v", got, err)
	}
	guarded, err := tree.NewGuarded(source.Config{ID: "s", Type: source.Filesystem, Path: root}, bucketOf(t, root), source.NewDecoder(bin.Limit{}, nil), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if got, _, err := get(t, guarded); fault.KindOf(err) != fault.Denied || got != "" || !strings.HasSuffix(err.Error(), why) {
		t.Errorf("of a request: got %q, error %v", got, err)
	}
}

// TestLinksOfBuildIDsWithinTheFolderAreFollowed has /usr/lib/debug as some systems
// lay it out.
func TestLinksOfBuildIDsWithinTheFolderAreFollowed(t *testing.T) {
	root := folder(t, map[string][]byte{"usr/bin/kiln.debug": nil, ".build-id/ca/README": nil})
	if err := os.Symlink("../../usr/bin/kiln.debug", filepath.Join(root, ".build-id/ca", buildID[2:]+".debug")); err != nil {
		t.Fatal(err)
	}
	s := local(t, source.Config{Path: root}, bucketOf(t, root))
	if got := there(t, s, byDebugID()); len(got) != 1 {
		t.Errorf("found %q", got)
	}
}

func TestWrongConfigurationIsRefused(t *testing.T) {
	if _, err := tree.New(source.Config{ID: "disk", Type: source.Filesystem}, mem.New(), source.NewDecoder(bin.Limit{}, nil), time.Now); err == nil {
		t.Error("a folder without a path was taken")
	}
}

// pdb fetches the file of app.pdb.
func pdb(t *testing.T, s source.Source) string {
	t.Helper()
	debugID, err := ident.ParseBreakpadID(id)
	if err != nil {
		t.Fatal(err)
	}
	list, err := s.Candidates(t.Context(), ident.Module{DebugFile: "app.pdb", DebugID: debugID}, []string{source.PDB})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range list {
		var got bytes.Buffer
		if _, err := s.Fetch(t.Context(), c, &got); err == nil {
			return c.Kind + " " + got.String()
		}
	}
	return ""
}

func TestFilesOfWindowsAreFoundHoweverTheyAreWritten(t *testing.T) {
	low := strings.ToLower(id)
	for name, files := range map[string]map[string][]byte{
		"as asked":         {"app.pdb/" + id + "/app.pdb": []byte("x"), "App.pdb/" + id + "/app.pdb": []byte("y")},
		"other case":       {"APP.pdb/" + low + "/App.PDB": []byte("x")},
		"cabinet":          {"App.pdb/" + low + "/App.pd_": []byte("x")},
		"two tiers":        {"index2.txt": nil, "ap/app.pdb/" + id + "/app.pdb": []byte("x")},
		"two tiers, as is": {"Index2.TXT": nil, "AP/APP.PDB/" + id + "/app.pd_": []byte("x")},
		"not in two tiers": {"index2.txt": nil, "app.pdb/" + id + "/app.pdb": []byte("x")},
	} {
		t.Run(name, func(t *testing.T) {
			if got := pdb(t, open(t, folder(t, files), bin.Limit{})); got != "pdb x" {
				t.Errorf("in a folder %q", got)
			}
			b := mem.New()
			for key, data := range files {
				if _, err := b.Put(t.Context(), key, bytes.NewReader(data), bucket.Attrs{}); err != nil {
					t.Fatal(err)
				}
			}
			if got := pdb(t, over(t, t.TempDir(), b, bin.Limit{})); got != "pdb x" {
				t.Errorf("in memory %q", got)
			}
		})
	}
}

func TestANameOfDotsHasOneTier(t *testing.T) {
	s := open(t, folder(t, map[string][]byte{"index2.txt": nil}), bin.Limit{})
	debug, err := ident.ParseDebugID(id)
	if err != nil {
		t.Fatal(err)
	}
	list, err := s.Candidates(t.Context(), ident.Module{DebugFile: "...", DebugID: debug}, []string{source.PDB})
	if err != nil || len(list) != 2 {
		t.Errorf("%v, %v", list, err)
	}
}

// The names at the top of a folder are kept, but not beyond a change of it.
func TestAFileThatAppearsIsFound(t *testing.T) {
	root := folder(t, map[string][]byte{"other/a": nil})
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(root, old, old); err != nil {
		t.Fatal(err)
	}
	s := open(t, root, bin.Limit{})
	for range 2 {
		if got := pdb(t, s); got != "" {
			t.Fatal(got)
		}
	}
	dir := filepath.Join(root, "APP.PDB", id)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "app.pdb"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := pdb(t, s); got != "pdb x" {
		t.Errorf("%q", got)
	}
}

func TestFilesThatAreKnownAreNotReadAgain(t *testing.T) {
	root := folder(t, map[string][]byte{path: []byte("one")})
	s := open(t, root, bin.Limit{})
	c := source.Candidate{Path: path}
	var b bytes.Buffer
	first, err := s.Fetch(t.Context(), c, &b)
	if err != nil || b.String() != "one" || first.Validator == "" {
		t.Fatalf("%q, %+v, %v", b.String(), first, err)
	}
	c.Validator = first.Validator
	b.Reset()
	if again, err := s.Fetch(t.Context(), c, &b); err != nil || !again.Same || b.Len() > 0 {
		t.Errorf("the same file: %q, %+v, %v", b.String(), again, err)
	}
	if err := os.WriteFile(filepath.Join(root, filepath.FromSlash(path)), []byte("another"), 0o600); err != nil {
		t.Fatal(err)
	}
	other, err := s.Fetch(t.Context(), c, &b)
	if err != nil || b.String() != "another" {
		t.Errorf("another file: %q, %v", b.String(), err)
	}
	if other.Same {
		t.Error("another file is reported as the same")
	}
	if other.Validator == first.Validator {
		t.Errorf("another file has the same validator %q", other.Validator)
	}
}
