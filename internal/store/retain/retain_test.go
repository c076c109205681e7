package retain_test

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"symbolon/internal/bucket"
	"symbolon/internal/bucket/buckettest"
	"symbolon/internal/bucket/mem"
	"symbolon/internal/ident"
	"symbolon/internal/store"
	"symbolon/internal/store/retain"
)

// symbols returns a Breakpad file with the nth debug id.
func symbols(n int) string {
	return fmt.Sprintf("MODULE Linux x86_64 %032X0 kettle.so\nFUNC 1000 10 0 boil\n1000 10 3 0\n", n+1)
}

func module(n int) ident.Module {
	id, err := ident.ParseBreakpadID(fmt.Sprintf("%032X0", n+1))
	if err != nil {
		panic(err)
	}
	return ident.Module{DebugID: id}
}

// world is a bucket, its processes and the time.
type world struct {
	t      *testing.T
	bucket *mem.Bucket
	random *rand.Rand
	cfg    store.Config
	depth  int // of processes that run while another one waits

	mu      sync.Mutex
	now     time.Time
	commits []time.Time // when those that wait began
}

func newWorld(t *testing.T, seed uint64) *world {
	return &world{t: t, bucket: mem.New(), random: rand.New(rand.NewPCG(7, seed)), now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
}

func (w *world) time() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

// pass lets time pass, unless a Commit would take almost a day: then its record may name
// removed bytes until it looks at them again, which it cannot after a crash.
func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.commits) == 0 || w.now.Add(d).Sub(w.commits[0]) < 20*time.Hour {
		w.now = w.now.Add(d)
	}
}

// began notes that a Commit begins, until the result is called.
func (w *world) began() (end func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.commits = append(w.commits, w.now)
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.commits = w.commits[:len(w.commits)-1]
	}
}

// process returns a store and its keeper.
func (w *world) process(b bucket.Bucket) (*store.Store, *retain.Keeper) {
	log := slog.New(slog.DiscardHandler)
	s := store.New(w.cfg, store.Deps{Bucket: b, Now: w.time, Log: log})
	return s, retain.New(w.cfg, retain.Deps{Store: s, Bucket: b, Now: w.time, Log: log})
}

func (w *world) collect(dry bool) *retain.Report {
	w.t.Helper()
	_, k := w.process(w.bucket)
	r, err := k.Collect(context.Background(), dry)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// upload uploads files, or reuses those that are there.
func (w *world) upload(s *store.Store, files ...int) (*store.Upload, error) {
	return w.uploadAs(s, nil, files...)
}

func (w *world) uploadAs(s *store.Store, labels map[string]string, files ...int) (*store.Upload, error) {
	ctx := context.Background()
	d := s.Begin("a", labels, "")
	defer d.Close()
	for _, n := range files {
		known, err := s.Find(ctx, []string{"a"}, store.Question{SHA1: sha1.Sum([]byte(symbols(n)))})
		switch {
		case len(known) > 0:
			err = d.Reuse(&known[0], fmt.Sprint(n))
		case err == nil:
			_, err = d.Add(ctx, fmt.Sprint(n), strings.NewReader(symbols(n)))
		}
		if err != nil {
			return nil, err
		}
	}
	defer w.began()()
	return d.Commit(ctx)
}

// keys returns the keys with a prefix.
func (w *world) keys(prefix string) []string {
	keys, _, err := w.bucket.List(context.Background(), prefix, "", bucket.MaxPage)
	if err != nil {
		w.t.Fatal(err)
	}
	return keys
}

// check reports uploads that are not deleted and name missing bytes, and accepted files
// that are not found.
func (w *world) check(accepted map[string][]int) {
	w.t.Helper()
	ctx := context.Background()
	s, _ := w.process(w.bucket)
	list, err := s.List(ctx, []string{"a"}, "", 1000)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, u := range list {
		for i := range u.Files {
			if _, err := w.bucket.Stat(ctx, u.Files[i].Stored().BlobKey()); err != nil {
				w.t.Fatalf("the upload %s names missing bytes: %v", u.ID, err)
			}
		}
	}
	for id, files := range accepted {
		for _, n := range files {
			found, err := s.Find(ctx, []string{"a"}, store.Question{Module: module(n)})
			if err != nil || len(found) == 0 {
				w.t.Fatalf("file %d of the accepted upload %s is not found: %v", n, id, err)
			}
			r, err := s.Open(ctx, &found[0])
			if err != nil {
				w.t.Fatal(err)
			}
			text, err := io.ReadAll(io.NewSectionReader(r, 0, r.Size()))
			r.Close()
			if err != nil || string(text) != symbols(n) {
				w.t.Fatalf("file %d has another content, %v", n, err)
			}
		}
	}
}

// crash lets a process crash at a request, which may have happened. Other processes
// work between its requests. Its disk is full at some of them.
type crash struct {
	random *rand.Rand
	other  func() // another process, for a while

	mu      sync.Mutex
	left    int // requests until the crash
	crashed bool
}

func (c *crash) fails(string, string) (fails, happens bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.crashed {
		return true, false
	}
	if c.random.IntN(8) == 0 {
		c.other()
	}
	c.left--
	c.crashed = c.left == 0
	return c.crashed, !c.crashed || c.random.IntN(2) == 0
}

func (c *crash) isFull(string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.random.IntN(50) == 0
}

// choose returns the id of an accepted upload, "" without one.
func (w *world) choose(accepted map[string][]int) string {
	ids := slices.DeleteFunc(slices.Sorted(maps.Keys(accepted)), func(id string) bool { return strings.HasPrefix(id, "others of ") })
	if len(ids) == 0 {
		return ""
	}
	return ids[w.random.IntN(len(ids))]
}

// act lets a process upload, delete or collect, until it is done or crashes. Others act
// between its requests.
func (w *world) act(accepted map[string][]int) {
	if w.depth == 3 {
		return
	}
	w.depth++
	defer func() { w.depth-- }()
	c := &crash{random: w.random, left: w.random.IntN(200) - 100}
	c.other = func() {
		w.pass(time.Duration(w.random.IntN(13)) * time.Hour / 4)
		w.act(accepted)
	}
	s, k := w.process(&buckettest.Full{Bucket: &buckettest.Failing{Bucket: w.bucket, Fails: c.fails}, IsFull: c.isFull})
	switch w.random.IntN(4) {
	case 0:
		if id := w.choose(accepted); id != "" {
			delete(accepted, id) // if the deletion fails, it may have happened
			_ = s.Delete(context.Background(), id, "someone", "old")
		}
	case 1:
		files := []int{w.random.IntN(3), w.random.IntN(3)}
		if u, err := w.upload(s, files...); err == nil {
			accepted[u.ID] = files
		}
	case 2:
		_, _ = k.Collect(context.Background(), false)
	case 3:
		if id := w.choose(accepted); id != "" {
			n, others := accepted[id][0], accepted[id][1:]
			delete(accepted, id)
			end := w.began()
			err := s.DeleteFile(context.Background(), id, sha256.Sum256([]byte(symbols(n))), "someone", "old")
			if end(); err == nil && !slices.Contains(others, n) {
				accepted["others of "+id] = others
			}
		}
	}
}

// Uploads, deletions and collections run beside each other, and crash at any request.
// Still no upload names bytes that are missing, and accepted files are found until their
// upload is deleted. In the end nothing is left that no upload names.
func TestNoUploadLosesItsBytes(t *testing.T) {
	for seed := range uint64(40) {
		w := newWorld(t, seed)
		accepted := map[string][]int{}
		for range 25 {
			w.act(accepted)
			w.check(accepted)
			w.pass(time.Duration(w.random.IntN(30)) * time.Hour)
		}
		w.pass(7 * 24 * time.Hour)
		for range 3 {
			w.collect(false)
			w.pass(25 * time.Hour)
			w.check(accepted)
		}
		s, _ := w.process(w.bucket)
		list, err := s.List(t.Context(), []string{"a"}, "", 1000)
		if err != nil {
			t.Fatal(err)
		}
		copies, entries := map[string]bool{}, 0
		for _, u := range list {
			entries += len(u.Entries())
			for i := range u.Files {
				copies[u.Files[i].Stored().BlobKey()] = true
			}
		}
		if n := len(w.keys("blob/")); n != len(copies) {
			t.Fatalf("seed %d: %d copies are left, and uploads name %d", seed, n, len(copies))
		}
		if n := len(w.keys("id/")); n != entries {
			t.Fatalf("seed %d: %d identifiers are left, and uploads have %d", seed, n, entries)
		}
		if n := len(w.keys("gone/")); n != 0 {
			t.Fatalf("seed %d: %d marks of deleted uploads are left", seed, n)
		}
	}
}

func TestDeletedUploadIsRemovedAfterADay(t *testing.T) {
	w := newWorld(t, 1)
	s, _ := w.process(w.bucket)
	u, err := w.upload(s, 1)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := w.upload(s, 2)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(t.Context(), u.ID, "someone", "old"); err != nil {
		t.Fatal(err)
	}
	if r := w.collect(false); r.Erased != 0 || r.Marked != 1 || r.Removed != 0 {
		t.Errorf("at once: %+v", r)
	}
	w.pass(25 * time.Hour)
	before := fmt.Sprint(w.keys(""))
	dry := w.collect(true)
	if fmt.Sprint(w.keys("")) != before {
		t.Error("a dry run changed the bucket")
	}
	r := w.collect(false)
	if r.Erased != 1 || r.Removed != 1 || r.Bytes == 0 || r.Uploads != 1 {
		t.Errorf("after a day: %+v", r)
	}
	if dry.Dry = false; fmt.Sprint(dry) != fmt.Sprint(r) {
		t.Errorf("the dry run counted %+v, and the collection %+v", dry, r)
	}
	want := append(kept.Entries(), kept.Key(), kept.Files[0].Stored().BlobKey(), kept.Files[0].Stored().RecordKey(),
		u.Files[0].Stored().DeadKey(), "change/1", "change/2", "change/3", "project/a/1", "used/since/2026-01-01")
	slices.Sort(want)
	if got := w.keys(""); !slices.Equal(got, want) {
		t.Errorf("left are\n%q, want\n%q", got, want)
	}
	if _, err := w.upload(s, 1); err != nil {
		t.Fatal(err)
	}
	if copies := w.keys("blob/"); !slices.ContainsFunc(copies, func(key string) bool { return strings.HasSuffix(key, ".2") }) {
		t.Errorf("the name of a removed copy is used again: %q", copies)
	}
}

func TestCollectionOnAFullDiskRemovesWhatItCan(t *testing.T) {
	w := newWorld(t, 1)
	s, _ := w.process(w.bucket)
	var ids []string
	for n := range 2 {
		u, err := w.upload(s, n)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, u.ID)
	}
	for _, id := range ids {
		if err := s.Delete(t.Context(), id, "someone", "old"); err != nil {
			t.Fatal(err)
		}
		if id == ids[0] {
			w.collect(false) // marks its file
		}
	}
	w.pass(25 * time.Hour)
	_, k := w.process(&buckettest.Full{Bucket: w.bucket, IsFull: func(string) bool { return true }})
	if _, err := k.Collect(t.Context(), false); !bucket.IsFull(err) {
		t.Errorf("got %v, want the reason", err)
	}
	if n := len(w.keys("blob/")); n != 1 {
		t.Errorf("%d copies are left, want the one that was not marked", n)
	}
	if r := w.collect(false); r.Marked != 1 {
		t.Errorf("with space: %+v, want a mark", r)
	}
}

func TestPiecesAreKeptForADay(t *testing.T) {
	w := newWorld(t, 1)
	s, _ := w.process(w.bucket)
	sum := ident.SHA1(sha1.Sum([]byte("piece")))
	if err := s.PutChunk(t.Context(), "h", sum, strings.NewReader("piece")); err != nil {
		t.Fatal(err)
	}
	w.pass(47 * time.Hour)
	w.collect(false)
	if missing, err := s.MissingChunks(t.Context(), "h", []ident.SHA1{sum}); err != nil || len(missing) != 0 {
		t.Errorf("missing on the next day: %v, %v", missing, err)
	}
	w.pass(time.Hour)
	if r := w.collect(false); r.Chunks != 1 || len(w.keys("chunk/")) != 0 {
		t.Errorf("removed %d pieces", r.Chunks)
	}
}

func TestDamagedRecordKeepsItsFiles(t *testing.T) {
	w := newWorld(t, 1)
	s, _ := w.process(w.bucket)
	u, err := w.upload(s, 1)
	if err != nil {
		t.Fatal(err)
	}
	deleted, err := w.upload(s, 2)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(t.Context(), deleted.ID, "someone", "old"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.bucket.Put(t.Context(), u.Key(), strings.NewReader("{"), bucket.Attrs{}); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		if r := w.collect(false); !slices.Equal(r.Broken, []string{u.ID}) {
			t.Errorf("the report names %q, want the upload", r.Broken)
		}
		w.pass(25 * time.Hour)
	}
	if got := w.keys("blob/"); !slices.Equal(got, []string{u.Files[0].Stored().BlobKey()}) {
		t.Errorf("left are %q, want the file of the damaged record only", got)
	}
}

func TestLostRecordKeepsItsFilesForAWeek(t *testing.T) {
	w := newWorld(t, 1)
	s, _ := w.process(w.bucket)
	u, err := w.upload(s, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.bucket.Delete(t.Context(), u.Key()); err != nil {
		t.Fatal(err)
	}
	for day := range 10 {
		r := w.collect(false)
		if isNamed := slices.Equal(r.Broken, []string{u.ID}); isNamed != (day > 0 && day < 8) {
			t.Errorf("day %d: the report names %q", day, r.Broken)
		}
		if n := len(w.keys("blob/")); day < 8 && n != 1 {
			t.Errorf("day %d: %d files are left", day, n)
		}
		w.pass(24 * time.Hour)
	}
	if left := w.keys("blob/"); len(left) > 0 {
		t.Errorf("left are %q", left)
	}
}
