package store_test

import (
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"symbolon/internal/bucket"
	"symbolon/internal/bucket/buckettest"
	"symbolon/internal/bucket/mem"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/store"
)

// failing fails requests of a process, or crashes it: from the kth request on, or for
// that one.
type failing struct {
	mu      sync.Mutex
	random  *rand.Rand
	left    int                 // requests until the failure
	crashed bool                // all requests fail from then on
	isFatal bool                // the failure is a crash
	step    func(time.Duration) // of other processes
}

// suspend suspends the process for two days, sometimes. It fails no more: a crash just
// after that leaves a record whose copies are not looked at again.
func (f *failing) suspend() {
	if !f.crashed && f.random.IntN(8) == 0 {
		f.left = 0
		for range 24 {
			f.step(2 * time.Hour)
		}
	}
}

func (f *failing) fails(method, key string) (fails, happens bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if method == "Put" && strings.HasPrefix(key, "upload/") {
		f.suspend()
	}
	if f.random.IntN(2) == 0 {
		f.step(time.Minute)
	}
	if f.crashed {
		return true, false
	}
	f.left--
	if f.left != 0 {
		return false, true
	}
	f.crashed = f.isFatal
	return true, f.random.IntN(2) == 0
}

// world is a bucket, its collector and the time.
type world struct {
	t      *testing.T
	bucket *mem.Bucket
	random *rand.Rand
	mu     sync.Mutex
	now    time.Time
	marked map[string]time.Time // by key of the bytes
	unused []string             // copies that it is about to mark
	doomed []string             // copies that the collector has found unused a day after their mark
}

func (w *world) list(prefix string) (keys []string) {
	keys, more, err := w.bucket.List(context.Background(), prefix, "", bucket.MaxPage)
	if err != nil || more {
		w.t.Fatal("too many keys: ", err)
	}
	return keys
}

// reader returns a store that does not fail.
func (w *world) reader() *store.Store { return w.process(w.bucket) }

func (w *world) process(b bucket.Bucket) *store.Store {
	s := open(w.t, b)
	s.SetNow(w.time)
	return s
}

// live returns the copies that uploads name which are not deleted.
func (w *world) live() map[string]string {
	names := map[string]string{}
	for last := ""; ; {
		list, err := w.reader().List(context.Background(), []string{"a", "b"}, last, 100)
		if err != nil {
			w.t.Fatal(err)
		}
		if len(list) == 0 {
			return names
		}
		for _, u := range list {
			last = u.ID
			for i := range u.Files {
				names[u.Files[i].Stored().BlobKey()] = u.ID
			}
		}
	}
}

// collect does one step of a collector: it removes copies that it has found unused, finds
// such copies, or marks unused ones. Other processes run between its steps.
func (w *world) collect() {
	ctx := context.Background()
	switch w.random.IntN(3) {
	case 0:
		for _, key := range w.doomed {
			if err := w.bucket.Delete(ctx, key); err != nil {
				w.t.Fatal(err)
			}
		}
		w.doomed = nil
	case 1:
		live := w.live()
		for key, at := range w.marked {
			if live[key] == "" && w.now.Sub(at) >= 24*time.Hour {
				w.doomed = append(w.doomed, key)
			}
		}
	case 2:
		for _, key := range w.unused {
			if _, err := w.bucket.Put(ctx, "dead"+strings.TrimPrefix(key, "blob"), strings.NewReader(""), bucket.Attrs{}); err != nil {
				w.t.Fatal(err)
			}
			w.marked[key] = w.now
		}
		w.unused = nil
		live := w.live()
		for _, key := range w.list("blob/") {
			if _, isMarked := w.marked[key]; live[key] == "" && !isMarked {
				w.unused = append(w.unused, key)
			}
		}
	}
}

// step lets time pass and the collector work.
func (w *world) step(d time.Duration) {
	w.mu.Lock()
	w.now = w.now.Add(d)
	w.mu.Unlock()
	w.collect()
}

func (w *world) time() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

// check reports uploads that name missing bytes, and accepted ones that are not found.
func (w *world) check(accepted map[string][]int) {
	w.t.Helper()
	for key, id := range w.live() {
		if _, err := w.bucket.Stat(context.Background(), key); err != nil {
			w.t.Fatalf("the upload %s names missing bytes %s: %v", id, key, err)
		}
	}
	s := w.reader()
	for id, files := range accepted {
		project, _, _ := strings.Cut(id, ".")
		for _, n := range files {
			for _, asker := range []string{"a", "b"} {
				found := find(w.t, s, store.Question{Module: module(n)}, asker)
				isFound := len(found) > 0
				if asker == project && !isFound {
					w.t.Fatalf("file %d of the accepted upload %s is not found", n, id)
				}
				if isFound && found[0].Project != asker {
					w.t.Fatalf("%s finds a file of %s", asker, found[0].Project)
				}
				if isFound && content(w.t, s, &found[0]) != symbols(n, code) {
					w.t.Fatalf("file %d has another content", n)
				}
			}
		}
	}
}

// Uploads, deletions, crashes and a collector run in any order, each at any step of the
// others. Still no upload names bytes that are missing, and an accepted upload is found
// until it is deleted.
func TestNoUploadNamesMissingBytes(t *testing.T) {
	t.Parallel()
	for seed := range uint64(100) {
		w := &world{
			t: t, bucket: mem.New(), random: rand.New(rand.NewPCG(1, seed)), now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
			marked: map[string]time.Time{},
		}
		accepted := map[string][]int{}
		for range 20 {
			f := &failing{random: w.random, left: w.random.IntN(60) - 20, isFatal: w.random.IntN(2) == 0, step: w.step}
			s := w.process(&buckettest.Failing{Bucket: w.bucket, Fails: f.fails})
			if ids := sortedKeys(accepted); w.random.IntN(3) == 0 && len(ids) > 0 {
				id := ids[w.random.IntN(len(ids))]
				if err := s.Delete(t.Context(), id, "", ""); err == nil || isGone(t, w.reader(), id) {
					delete(accepted, id)
				}
			} else if u, files := w.upload(s); u != nil {
				accepted[u.ID] = files
			}
			w.check(accepted)
			if w.random.IntN(4) == 0 {
				w.step(24 * time.Hour)
			}
			w.collect()
		}
		w.check(accepted)
		if t.Failed() {
			t.Fatal("seed ", seed)
		}
	}
}

// upload uploads some files, and returns nil if that failed.
func (w *world) upload(s *store.Store) (*store.Upload, []int) {
	ctx := context.Background()
	project := []string{"a", "b"}[w.random.IntN(2)]
	d := s.Begin(project, nil, "")
	defer d.Close()
	var files []int
	for range 1 + w.random.IntN(2) {
		n := 1 + w.random.IntN(3)
		text := symbols(n, code)
		var known []store.Found
		var err error
		if w.random.IntN(2) == 0 {
			known, err = s.Find(ctx, []string{project}, store.Question{SHA1: sha1Of(text)})
		}
		switch {
		case len(known) > 0:
			err = d.Reuse(&known[0], "again")
		case err == nil:
			_, err = d.Add(ctx, fmt.Sprint(n), strings.NewReader(text))
		}
		if err != nil {
			return nil, nil
		}
		files = append(files, n)
	}
	if w.random.IntN(3) == 0 { // the client is slow
		for range 20 {
			w.step(2 * time.Hour)
		}
	}
	u, err := d.Commit(ctx)
	var failed *fault.Error
	if err != nil && !errors.As(err, &failed) {
		w.t.Fatal(err)
	}
	return u, files
}

func isGone(t *testing.T, s *store.Store, id string) bool {
	_, err := s.Upload(t.Context(), id)
	return err != nil
}

func sortedKeys(m map[string][]int) (keys []string) {
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func sha1Of(text string) ident.SHA1 { return sha1.Sum([]byte(text)) }
