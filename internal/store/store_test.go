package store_test

import (
	"bytes"
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/bucket"
	"symbolon/internal/bucket/buckettest"
	"symbolon/internal/bucket/mem"
	"symbolon/internal/cache"
	"symbolon/internal/cache/cachetest"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/scratch"
	"symbolon/internal/source"
	"symbolon/internal/store"
)

func TestUploadedFileIsFound(t *testing.T) {
	buckettest.Each(t, func(t *testing.T, shared bucket.Bucket) {
		s := open(t, shared)
		text := symbols(1, code)
		u := upload(t, s, "kettle", text, symbols(2, code))
		for _, node := range []*store.Store{s, open(t, shared)} {
			found := find(t, node, store.Question{Module: module(1)}, "kettle")
			if len(found) != 1 {
				t.Fatalf("found %d files", len(found))
			}
			f := &found[0]
			if f.Upload != u.ID || f.Project != "kettle" || f.Name != "file0.sym" || !f.Time.Equal(u.Time) {
				t.Errorf("found %+v", f)
			}
			if o := f.Record.Objects[f.Object]; o.Kind != source.Breakpad || o.Module.DebugFile != "kettle.so" {
				t.Errorf("found the object %+v", o)
			}
			if got := content(t, node, f); got != text {
				t.Errorf("it has the content %q", got)
			}
			if found := find(t, node, store.Question{SHA1: f.Record.SHA1}, "kettle"); len(found) != 1 {
				t.Errorf("found %d files by SHA-1", len(found))
			}
			if found := find(t, node, store.Question{Module: module(1), Kinds: []string{source.PDB}}, "kettle"); len(found) != 0 {
				t.Errorf("found %d files of another kind", len(found))
			}
		}
	})
}

// The blob of a larger file than most is in a temporary file until it is stored.
func TestLargeFileIsStored(t *testing.T) {
	spools := 0
	s := store.New(store.Config{}, store.Deps{
		Bucket: buckettest.Folder(t), Now: time.Now, Log: slog.New(slog.DiscardHandler),
		Spool: func() (cache.Spool, error) {
			spools++
			return cachetest.Spool(t)
		},
	})
	upload(t, s, "p", symbols(2, code))
	if spools != 0 {
		t.Error("a small file is in a temporary file")
	}
	noise := make([]byte, 3<<20)
	rand.NewChaCha8([32]byte{}).Read(noise)
	text := symbols(1, fmt.Sprintf("INFO NOISE %x\n", noise))
	upload(t, s, "p", text)
	if spools != 1 {
		t.Errorf("a large file is in %d temporary files, want 1", spools)
	}
	found := find(t, s, store.Question{Module: module(1)}, "p")
	if len(found) != 1 || content(t, s, &found[0]) != text {
		t.Errorf("found %d files, or another content", len(found))
	}
}

func TestOtherProjectsDoNotFindAFile(t *testing.T) {
	s := open(t, mem.New())
	upload(t, s, "secret", symbols(1, code))
	rec := find(t, s, store.Question{Module: module(1)}, "secret")[0].Record
	for _, projects := range [][]string{nil, {"default"}, {"secre"}, {"secret2", "a", "b", "c", "d", "e"}} {
		for _, q := range []store.Question{{Module: module(1)}, {SHA1: rec.SHA1}} {
			if found := find(t, s, q, projects...); len(found) != 0 {
				t.Errorf("%q find %+v", projects, found)
			}
		}
		if list, err := s.List(t.Context(), projects, "", 10); err != nil || len(list) != 0 {
			t.Errorf("%q list %d uploads, %v", projects, len(list), err)
		}
	}
}

func TestEqualBytesAreStoredOnce(t *testing.T) {
	b := mem.New()
	s := open(t, b)
	for range 3 {
		upload(t, s, "a", symbols(1, code))
		upload(t, s, "b", symbols(1, code))
	}
	blobs, _, err := b.List(t.Context(), "blob/", "", 10)
	if err != nil || len(blobs) != 1 {
		t.Errorf("%d blobs, %v", len(blobs), err)
	}
	if found := find(t, s, store.Question{Module: module(1)}, "a", "b"); len(found) != 1 {
		t.Errorf("found %d files", len(found))
	}
}

// Each build of a project may upload the same file, such as a library of the system.
func TestFileOfManyUploadsIsFoundAtOnce(t *testing.T) {
	h := &hanging{Bucket: mem.New()}
	s := open(t, h)
	var last *store.Upload
	for range 2100 {
		upload(t, s, "a", symbols(1, code))
		last = upload(t, s, "c", symbols(1, code))
	}
	for projects, pages := range map[string]int32{"a": 1, "c": 1, "c a": 4, "a b c d e f": 4} {
		h.lists.Store(0)
		found := find(t, s, store.Question{Module: ident.Module{Type: ident.TypePE, DebugID: debugID(1)}}, strings.Fields(projects)...)
		if len(found) != 1 || strings.Contains(projects, "c") && found[0].Upload != last.ID {
			t.Errorf("%s: found %+v", projects, found)
		}
		if n := h.lists.Load(); n > pages {
			t.Errorf("%s: %d pages were listed", projects, n)
		}
	}
}

func TestConcurrentUploadsOfOneFileAreAllAccepted(t *testing.T) {
	t.Parallel()
	buckettest.Each(t, func(t *testing.T, shared bucket.Bucket) {
		ids := make([]string, 8)
		var all sync.WaitGroup
		for i := range ids {
			s := open(t, shared)
			all.Go(func() { ids[i] = upload(t, s, "a", symbols(1, code), symbols(i+2, code)).ID })
		}
		all.Wait()
		s := open(t, shared)
		for i := range ids {
			if found := find(t, s, store.Question{Module: module(i + 2)}, "a"); len(found) != 1 || found[0].Upload != ids[i] {
				t.Errorf("upload %d: found %+v", i, found)
			}
		}
		if found := find(t, s, store.Question{Module: module(1)}, "a"); len(found) != 1 || content(t, s, &found[0]) != symbols(1, code) {
			t.Errorf("found %+v", found)
		}
		if blobs, _, err := shared.List(t.Context(), "blob/", "", 100); err != nil || len(blobs) != 9 {
			t.Errorf("%d blobs of 9 files, %v", len(blobs), err)
		}
		if changes, _, err := shared.List(t.Context(), "change/", "", 100); err != nil || len(changes) != 8 {
			t.Errorf("%d changes of 8 uploads, %v", len(changes), err)
		}
	})
}

func TestBestFileIsFirst(t *testing.T) {
	s := open(t, mem.New())
	upload(t, s, "a", symbols(1, code))
	upload(t, s, "a", symbols(1, code+"FUNC 2000 10 0 pour\n"))
	upload(t, s, "a", symbols(1, "PUBLIC 1000 0 boil\n"))
	found := find(t, s, store.Question{Module: module(1)}, "a")
	if len(found) != 3 {
		t.Fatalf("found %d files", len(found))
	}
	if got := content(t, s, &found[0]); !strings.Contains(got, "pour") {
		t.Errorf("the first file is not the newest with functions: %q", got)
	}
	if got := content(t, s, &found[2]); !strings.Contains(got, "PUBLIC") {
		t.Errorf("the last file is not the one without functions: %q", got)
	}
}

func TestDeletedUploadIsNotFound(t *testing.T) {
	b := mem.New()
	s, node := open(t, b), open(t, b)
	u := upload(t, s, "a", symbols(1, code))
	second := upload(t, s, "a", symbols(1, code), symbols(2, code))
	if err := s.Delete(t.Context(), u.ID, "someone", "old"); err != nil {
		t.Fatal(err)
	}
	if found := find(t, node, store.Question{Module: module(1)}, "a"); len(found) != 1 || found[0].Upload != second.ID {
		t.Errorf("found %+v", found)
	}
	if err := s.Delete(t.Context(), second.ID, "someone", "old"); err != nil {
		t.Fatal(err)
	}
	if found := find(t, node, store.Question{Module: module(1)}, "a"); len(found) != 0 {
		t.Errorf("found %+v", found)
	}
	if _, err := node.Upload(t.Context(), u.ID); fault.KindOf(err) != fault.NotFound {
		t.Errorf("Upload: %v", err)
	}
	if err := node.Delete(t.Context(), u.ID, "", ""); fault.KindOf(err) != fault.NotFound {
		t.Errorf("Delete again: %v", err)
	}
	if list, err := node.List(t.Context(), []string{"a"}, "", 10); err != nil || len(list) != 0 {
		t.Errorf("List: %d uploads, %v", len(list), err)
	}
	upload(t, s, "a", symbols(1, code))
	if found := find(t, node, store.Question{Module: module(1)}, "a"); len(found) != 1 {
		t.Errorf("found %d files after another upload", len(found))
	}
}

func TestUploadsAreListedNewestFirst(t *testing.T) {
	s := open(t, mem.New())
	var want []string
	for i := range 7 {
		u := upload(t, s, []string{"a", "b"}[i%2], symbols(i+1, code))
		want = append([]string{u.ID}, want...)
	}
	var got []string
	for before := ""; ; before = got[len(got)-1] {
		list, err := s.List(t.Context(), []string{"a", "b"}, before, 3)
		if err != nil {
			t.Fatal(err)
		}
		if len(list) == 0 {
			break
		}
		for _, u := range list {
			got = append(got, u.ID)
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("listed %q, want %q", got, want)
	}
}

func TestFilesThatCannotBeUsedAreRefused(t *testing.T) {
	s := openWith(t, mem.New(), store.Config{MaxFile: 1000})
	for name, c := range map[string]struct {
		text, want string
	}{
		"text":      {"hello", "unknown format"},
		"empty":     {"", "empty file"},
		"archive":   {"PK\x03\x04.................", "packed, or an archive"},
		"no id":     {"MODULE Linux x86_64 000000000000000000000000000000000 a\n", "id"},
		"damaged":   {"\x7fELF\x02\x01\x01", ""},
		"too large": {symbols(1, strings.Repeat(code, 100)), "uploads.max_file"},
	} {
		d := s.Begin("a", nil, "")
		_, err := d.Add(t.Context(), name, strings.NewReader(c.text))
		var refused *store.Refusal
		if !errors.As(err, &refused) || !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if isLarge := errors.Is(err, bin.ErrLimit); isLarge != (name == "too large") {
			t.Errorf("%s: too large: %v", name, isLarge)
		}
		if _, err := d.Commit(t.Context()); !errors.As(err, &refused) {
			t.Errorf("%s: Commit without files: %v", name, err)
		}
	}
	if _, err := s.Begin("Bad Name", nil, "").Add(t.Context(), "x", strings.NewReader(symbols(1, code))); err == nil {
		t.Error("a project with this name is accepted")
	}
}

// Clients may send a file that the linker is still writing.
func TestProgramThatIsCutOffIsRefused(t *testing.T) {
	data, err := os.ReadFile("../object/testdata/corpus/debuglink.debug")
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, mem.New())
	for _, n := range []int{len(data) / 2, len(data) - 1, len(data)} {
		_, err := s.Begin("a", nil, "").Add(t.Context(), "x.debug", bytes.NewReader(data[:n]))
		if isCut := err != nil && strings.Contains(err.Error(), "x.debug: elf: the file is cut off"); isCut != (n < len(data)) {
			t.Errorf("%d bytes of %d: %v", n, len(data), err)
		}
	}
}

func TestFailureOfTheSenderIsReturned(t *testing.T) {
	s := open(t, mem.New())
	broken := errors.New("the connection broke")
	d := s.Begin("a", nil, "")
	_, err := d.Add(t.Context(), "x", io.MultiReader(strings.NewReader(symbols(1, code)), iotest.ErrReader(broken)))
	if !errors.Is(err, broken) {
		t.Error(err)
	}
}

func TestFilesOfOtherKindsAreKept(t *testing.T) {
	s := open(t, mem.New())
	d := s.Begin("a", nil, "")
	for _, c := range []struct {
		claim store.Claim
		text  string
	}{{store.Claim{Kind: "proguard"}, "a.b -> c:\n"}, {store.Claim{Kind: source.BCSymbolMap, DebugID: debugID(7)}, "BCSymbolMap Version: 2.0\n"}} {
		if _, err := d.Receive(t.Context(), store.Sent{Name: c.claim.Kind, Claim: &c.claim}, strings.NewReader(c.text)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := d.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	found := find(t, s, store.Question{Module: module(7), Kinds: []string{source.BCSymbolMap}}, "a")
	if len(found) != 1 || found[0].Object != -1 || found[0].Claim.DebugID != debugID(7) {
		t.Fatalf("found %+v", found)
	}
	if found := find(t, s, store.Question{Module: module(7), Kinds: []string{source.Breakpad}}, "a"); len(found) != 0 {
		t.Errorf("found %+v", found)
	}
	list, err := s.List(t.Context(), []string{"a"}, "", 1)
	if err != nil || len(list) != 1 || len(list[0].Files) != 2 || list[0].Files[1].Claim.Kind != "proguard" {
		t.Errorf("listed %+v, %v", list, err)
	}
}

func TestReusedFileIsPartOfTheUpload(t *testing.T) {
	s := open(t, mem.New())
	upload(t, s, "a", symbols(1, code))
	known := find(t, s, store.Question{Module: module(1)}, "a")[0]
	d := s.Begin("a", nil, "")
	if err := d.Reuse(&known, "again.sym"); err != nil {
		t.Fatal(err)
	}
	u, err := d.Commit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if f := find(t, s, store.Question{Module: module(1)}, "a")[0]; f.Upload != u.ID || f.Name != "again.sym" {
		t.Errorf("found %+v", f)
	}
}

func TestFileOfTodayWithTheLabelsIsCurrent(t *testing.T) {
	now := time.Now()
	s := store.New(store.Config{}, store.Deps{
		Bucket: mem.New(), Now: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler),
		Spool: func() (cache.Spool, error) { return scratch.NewSpool(t.TempDir()) },
	})
	labels := map[string]string{"version": "1"}
	d := s.Begin("a", labels, "")
	if _, err := d.Add(t.Context(), "x.sym", strings.NewReader(symbols(1, code))); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	known := find(t, s, store.Question{Module: module(1)}, "a")[0]
	for _, c := range []struct {
		after  time.Duration
		labels map[string]string
		want   bool
	}{
		{time.Hour, labels, true}, {time.Hour, nil, true}, {time.Hour, map[string]string{"version": "2"}, false}, {24 * time.Hour, labels, false},
	} {
		now = now.Add(c.after)
		if got, err := s.Begin("a", c.labels, "").IsCurrent(t.Context(), &known); err != nil || got != c.want {
			t.Errorf("after %v with %v: got %v, %v, want %v", c.after, c.labels, got, err, c.want)
		}
	}
}

func TestFileWithAnotherSumIsRefused(t *testing.T) {
	s := open(t, mem.New())
	_, err := s.Begin("a", nil, "").Receive(t.Context(), store.Sent{Name: "x.sym", SHA1: ident.SHA1{1}}, strings.NewReader(symbols(1, code)))
	if refusal := (*store.Refusal)(nil); !errors.As(err, &refusal) || !errors.Is(err, store.ErrSum) {
		t.Errorf("got %v, want the refusal of the sum", err)
	}
}

func TestMarkedCopyIsNotReliedOn(t *testing.T) {
	b := mem.New()
	s := open(t, b)
	text := symbols(1, code)
	first := upload(t, s, "a", text).Files[0].Stored()
	if _, err := b.Put(t.Context(), first.DeadKey(), strings.NewReader(""), bucket.Attrs{}); err != nil {
		t.Fatal(err)
	}
	if found := find(t, s, store.Question{SHA1: sha1.Sum([]byte(text))}, "a"); len(found) != 0 {
		t.Errorf("a marked copy is found for reuse: %+v", found)
	}
	if second := upload(t, s, "a", text).Files[0]; second.Copy != 2 {
		t.Errorf("another upload relies on copy %d", second.Copy)
	}
}

func TestDamagedCopyIsNotReliedOn(t *testing.T) {
	b := mem.New()
	s := open(t, b)
	text := symbols(1, code)
	first := upload(t, s, "a", text).Files[0].Stored()
	for _, key := range []string{first.BlobKey(), "file" + strings.TrimPrefix(first.BlobKey(), "blob")} { // a crash of the system left them
		if _, err := b.Put(t.Context(), key, strings.NewReader("{"), bucket.Attrs{}); err != nil {
			t.Fatal(err)
		}
	}
	u := upload(t, s, "a", text)
	found := find(t, s, store.Question{Module: module(1)}, "a")
	if len(found) != 1 || found[0].Upload != u.ID || content(t, s, &found[0]) != text {
		t.Errorf("found %+v", found)
	}
}

func TestLostRecordOfAFileIsMadeAgain(t *testing.T) {
	b := mem.New()
	s := open(t, b)
	first := upload(t, s, "a", symbols(1, code)).Files[0].Stored()
	key := "file" + strings.TrimPrefix(first.BlobKey(), "blob")
	want := find(t, s, store.Question{Module: module(1)}, "a")
	if err := b.Delete(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	if found := find(t, s, store.Question{Module: module(1)}, "a"); !reflect.DeepEqual(found, want) {
		t.Errorf("found %+v, want %+v", found, want)
	}
	if _, err := b.Stat(t.Context(), key); err != nil {
		t.Error(err)
	}
}

func TestSourceDeliversFilesOfItsProjects(t *testing.T) {
	s := open(t, mem.New())
	text := symbols(1, code)
	upload(t, s, "a", text)
	src := s.Source([]string{"b", "a"})
	list, err := src.Candidates(t.Context(), module(1), []string{source.PDB, source.Breakpad})
	if err != nil || len(list) != 1 || list[0].Kind != source.Breakpad || !list[0].Local {
		t.Fatal(list, err)
	}
	var out bytes.Buffer
	a, err := src.Fetch(t.Context(), list[0], &out)
	if err != nil || out.String() != text || a.Bytes != int64(len(text)) {
		t.Errorf("fetched %q, %+v, %v", out.String(), a, err)
	}
	again := list[0]
	again.Validator = a.Validator
	if a, err := src.Fetch(t.Context(), again, io.Discard); err != nil || !a.Same {
		t.Errorf("fetched again: %+v, %v", a, err)
	}
	for _, other := range []source.Source{s.Source([]string{"b"}), s.Source(nil)} {
		if list, err := other.Candidates(t.Context(), module(1), []string{source.Breakpad}); err != source.ErrNothing {
			t.Errorf("another project has %v, %v", list, err)
		}
		if other.Identity() == src.Identity() {
			t.Error("sources with other projects have one identity")
		}
	}
}

func TestProjects(t *testing.T) {
	b := mem.New()
	s, node := open(t, b), open(t, b)
	check := func(s *store.Store, want string) {
		t.Helper()
		got, err := s.Projects(t.Context())
		if err != nil || fmt.Sprint(got) != want {
			t.Errorf("projects %v, %v; want %s", got, err, want)
		}
	}
	check(s, "map[default:true]")
	upload(t, s, "a", symbols(1, code))
	check(s, "map[a:false default:true]")
	for _, isPublic := range []bool{true, false, true} {
		if err := s.SetProject(t.Context(), "a", isPublic); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.SetProject(t.Context(), "default", false); err != nil {
		t.Fatal(err)
	}
	if err := s.EnsureProject(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	check(s, "map[a:true default:false]")
	check(node, "map[a:true default:false]")
}

// hanging is a bucket whose lists take until their context ends.
type hanging struct {
	bucket.Bucket
	isDown atomic.Bool
	lists  atomic.Int32
}

func (h *hanging) List(ctx context.Context, prefix, after string, n int) ([]string, bool, error) {
	h.lists.Add(1)
	if h.isDown.Load() {
		<-ctx.Done()
		return nil, false, ctx.Err()
	}
	return h.Bucket.List(ctx, prefix, after, n)
}

func TestProjectsOfTheLastReadCountWhileTheBucketHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &hanging{Bucket: mem.New()}
		s := open(t, h)
		if err := s.EnsureProject(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Projects(t.Context()); err != nil {
			t.Fatal(err)
		}
		h.isDown.Store(true)
		time.Sleep(6 * time.Second)
		h.lists.Store(0)
		began := time.Now()
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				if got, err := s.Projects(t.Context()); err != nil || len(got) != 2 {
					t.Errorf("projects %v, %v", got, err)
				}
			})
		}
		all.Wait()
		if took := time.Since(began); took > 3*time.Second || h.lists.Load() != 1 {
			t.Errorf("20 callers made %d lists in %v", h.lists.Load(), took)
		}
		if _, err := open(t, h).Projects(t.Context()); err == nil {
			t.Error("a process that never read the projects has some")
		}
	})
}

func TestChunks(t *testing.T) {
	b := mem.New()
	s := open(t, b)
	var sums []ident.SHA1
	for i := range 5 {
		text := strings.Repeat(fmt.Sprint(i), 10_000)
		sums = append(sums, sha1.Sum([]byte(text)))
		if i == 3 {
			continue
		}
		if err := s.PutChunk(t.Context(), "h", sums[i], strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
	}
	missing, err := s.MissingChunks(t.Context(), "h", append(sums, sums...))
	if err != nil || len(missing) != 1 || missing[0] != sums[3] {
		t.Errorf("missing %v, %v", missing, err)
	}
	if missing, err := s.MissingChunks(t.Context(), "other", sums); err != nil || len(missing) != 5 {
		t.Errorf("another holder misses %v, %v", missing, err)
	}
	var refused *store.Refusal
	if err := s.PutChunk(t.Context(), "h", sums[3], strings.NewReader("x")); !errors.As(err, &refused) {
		t.Errorf("another content is accepted: %v", err)
	}
	r := s.OpenChunks(t.Context(), "h", sums[:3])
	text, err := io.ReadAll(r)
	if err != nil || len(text) != 30_000 || text[0] != '0' || text[29_999] != '2' {
		t.Errorf("read %d bytes, %v", len(text), err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if _, err := io.ReadAll(s.OpenChunks(t.Context(), "h", sums)); fault.KindOf(err) != fault.NotFound {
		t.Errorf("reading a missing piece: %v", err)
	}
	sum := sums[0].String()
	if _, err := b.Put(t.Context(), store.ChunkFolder(time.Now())+"h/"+sum[:2]+"/"+sum, strings.NewReader("damaged"), bucket.Attrs{}); err != nil {
		t.Fatal(err)
	}
	if err := s.CheckChunks(t.Context(), "h", sums[1:3]); err != nil {
		t.Errorf("whole pieces are damaged: %v", err)
	}
	if err := s.CheckChunks(t.Context(), "h", sums[:3]); fault.KindOf(err) != fault.NotFound {
		t.Errorf("a damaged piece is whole: %v", err)
	}
	if missing, err := s.MissingChunks(t.Context(), "h", sums[:1]); err != nil || len(missing) != 1 {
		t.Errorf("a damaged piece is not missing: %v", err)
	}
}
