package disk_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"symbolon/internal/cache"
	"symbolon/internal/cache/cachetest"
	"symbolon/internal/cache/disk"
	"symbolon/internal/fault"
)

const blockSize = 4 << 10

func TestTier(t *testing.T) {
	cachetest.Run(t, func(t *testing.T) cache.Tier {
		s, err := disk.Open(disk.Config{}, t.TempDir(), time.Now, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
		return s
	})
}

func TestTemporaryFolderHasNoDescriptions(t *testing.T) {
	w := newWorld(t, disk.Config{Temporary: true})
	s := w.open()
	put(t, s, cache.Meta, "description", 100)
	if has(t, s, cache.Meta, "description", 100) {
		t.Error("a description is an entry")
	}
	put(t, s, cache.Objects, "file", 100)
	if !has(t, s, cache.Objects, "file", 100) {
		t.Error("a file is not an entry")
	}
}

// world is a data directory with its own time and its own log.
type world struct {
	t   *testing.T
	dir string
	cfg disk.Config

	mu  sync.Mutex
	now time.Time
	log bytes.Buffer
}

func newWorld(t *testing.T, cfg disk.Config) *world {
	return &world{t: t, dir: t.TempDir(), cfg: cfg, now: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)}
}

func (w *world) Now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

// Write takes the log.
func (w *world) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.Write(p)
}

// warnings returns what was logged since the last call.
func (w *world) warnings() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer w.log.Reset()
	return w.log.String()
}

func (w *world) tryOpen() (*disk.Store, error) {
	return disk.Open(w.cfg, w.dir, w.Now, slog.New(slog.NewTextHandler(w, nil)))
}

func (w *world) open() *disk.Store {
	w.t.Helper()
	s, err := w.tryOpen()
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { s.Close() })
	return s
}

func (w *world) close(s *disk.Store) {
	w.t.Helper()
	if err := s.Close(); err != nil {
		w.t.Fatal(err)
	}
}

// path is where an entry must be.
func (w *world) path(kind cache.Kind, name string) string {
	hex := key(name).String()
	return filepath.Join(w.dir, "cache", string(kind), hex[:2], hex)
}

func key(name string) cache.Key { return cache.KeyOf(name) }

// body is what the tests put under a name.
func body(name string, size int) string {
	return strings.Repeat(name+"/", size/(len(name)+1)+1)[:size]
}

func fill(text string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	}
}

func put(t *testing.T, s *disk.Store, kind cache.Kind, name string, size int) {
	t.Helper()
	b, err := s.Put(t.Context(), kind, key(name), fill(body(name, size)))
	if err != nil {
		t.Fatalf("Put(%s): %v", name, err)
	}
	defer b.Close()
	got := make([]byte, size)
	if n, err := b.ReadAt(got, 0); b.Size() != int64(size) || n != size || string(got) != body(name, size) {
		t.Fatalf("Put(%s): the opened entry has %d bytes, %d can be read: %v", name, b.Size(), n, err)
	}
}

// has tells whether an entry is there, and fails when it is another one.
func has(t *testing.T, s *disk.Store, kind cache.Kind, name string, size int) bool {
	t.Helper()
	b, err := s.Get(t.Context(), kind, key(name))
	if err != nil {
		t.Fatalf("Get(%s): %v", name, err)
	}
	if b == nil {
		return false
	}
	defer b.Close()
	got := make([]byte, b.Size())
	if _, err := b.ReadAt(got, 0); err != nil && err != io.EOF || string(got) != body(name, size) {
		t.Fatalf("%s has %d bytes %.20q, %v", name, len(got), got, err)
	}
	return true
}

func files(t *testing.T, dir string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, path)
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return names
}

func internal(err error) bool {
	var f *fault.Error
	return errors.As(err, &f) && f.Kind == fault.Internal
}

func TestKindsHaveTheirNumbers(t *testing.T) {
	s := newWorld(t, disk.Config{}).open()
	kinds := s.Stat().Kinds
	if len(kinds) != len(cache.Kinds()) {
		t.Fatalf("%d kinds, want %d", len(kinds), len(cache.Kinds()))
	}
	for i, k := range cache.Kinds() {
		if kinds[i].Kind != k {
			t.Errorf("kind %d is %s, want %s", i, kinds[i].Kind, k)
		}
	}
}

func TestFilesArePrivateAndInTheirPlace(t *testing.T) {
	w := newWorld(t, disk.Config{})
	w.dir = filepath.Join(w.dir, "made/by/open")
	s := w.open()
	put(t, s, cache.Symcache, "a", 10)
	for path, mode := range map[string]fs.FileMode{
		w.dir:                                 0o700 | fs.ModeDir,
		filepath.Join(w.dir, "tmp"):           0o700 | fs.ModeDir,
		filepath.Join(w.dir, "index.db"):      0o600,
		filepath.Dir(w.path("symcache", "a")): 0o700 | fs.ModeDir,
		w.path("symcache", "a"):               0o600,
	} {
		if info, err := os.Stat(path); err != nil || info.Mode() != mode {
			t.Errorf("%s: %v, %v; want %v", path, info, err, mode)
		}
	}
}

func TestWhatIsUsedInPlaceIsInMemory(t *testing.T) {
	s := newWorld(t, disk.Config{}).open()
	for _, kind := range cache.Kinds() {
		for _, size := range []int{0, 1, 5000, 64 << 10, 1 << 20} {
			name := fmt.Sprint(size)
			put(t, s, kind, name, size)
			b, err := s.Get(t.Context(), kind, key(name))
			if err != nil {
				t.Fatal(err)
			}
			whole, ok := b.(interface{ Bytes() []byte })
			if ok != (kind != cache.Objects) || ok && string(whole.Bytes()) != body(name, size) {
				t.Errorf("%s of %d bytes: in memory is %v", kind, size, ok)
			}
			b.Close()
			b.Close()
			if _, err := b.ReadAt(make([]byte, 1), 0); size > 0 && !errors.Is(err, os.ErrClosed) {
				t.Errorf("reading after Close: %v", err)
			}
		}
	}
}

func TestSecondOpenerIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, disk.Config{})
	s := w.open()
	_, err := w.tryOpen()
	want := fmt.Sprintf("data directory %s is in use by another symbolon (lock on %s); stop it or choose another --data",
		w.dir, filepath.Join(w.dir, "index.db"))
	if !errors.Is(err, disk.ErrInUse) || err.Error() != want {
		t.Errorf("second opener: %v\nwant: %s", err, want)
	}
	w.close(s)
	w.close(w.open())
	if log := w.warnings(); log != "" {
		t.Errorf("log: %s", log)
	}
}

func TestClosedStoreKnowsAndKeepsNothing(t *testing.T) {
	w := newWorld(t, disk.Config{})
	s := w.open()
	put(t, s, cache.Meta, "a", 10)
	spool, err := s.Temp()
	if err != nil {
		t.Fatal(err)
	}
	blob, err := s.Put(t.Context(), cache.Meta, key("b"), func(out io.Writer) error {
		w.close(s)
		w.close(s) // of no effect
		_, err := io.WriteString(out, "late")
		return err
	})
	if blob != nil || !internal(err) || !strings.Contains(err.Error(), "closed") {
		t.Errorf("Put: %v, %v", blob, err)
	}
	s.Remember(t.Context(), cache.Meta, key("a"), fault.New(fault.Denied, "", "no"), time.Hour)
	if b, err := s.Get(t.Context(), cache.Meta, key("a")); b != nil || err != nil {
		t.Errorf("Get: %v, %v", b, err)
	}
	s.Forget(t.Context(), cache.Meta, key("a"))
	if n, _ := s.Purge(disk.Filter{}); n != 0 {
		t.Errorf("%d entries are purged", n)
	}
	if _, err := io.WriteString(spool, "x"); err != nil || spool.Close() != nil {
		t.Errorf("a spool that was open: %v", err)
	}
	s = w.open()
	if !has(t, s, cache.Meta, "a", 10) || has(t, s, cache.Meta, "b", 4) {
		t.Error("the wrong entries are there")
	}
}

func TestEntriesAndFaultsSurviveARestart(t *testing.T) {
	w := newWorld(t, disk.Config{})
	s := w.open()
	put(t, s, cache.Objects, "a", 10)
	put(t, s, cache.Symcache, "b", 5000)
	s.Remember(t.Context(), cache.Meta, key("c"), fault.New(fault.Denied, "https://x/y", "no"), time.Hour)
	s.Remember(t.Context(), cache.Meta, key("d"), fault.New(fault.NotFound, "", "never"), time.Minute)
	put(t, s, cache.Meta, "e", 10)
	s.Forget(t.Context(), cache.Meta, key("e"))
	before := s.Stat()
	w.close(s)
	w.pass(2 * time.Minute)

	s = w.open()
	if !has(t, s, cache.Objects, "a", 10) || !has(t, s, cache.Symcache, "b", 5000) || has(t, s, cache.Meta, "e", 10) {
		t.Error("the wrong entries are there")
	}
	_, err := s.Get(t.Context(), cache.Meta, key("c"))
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Denied || f.Place != "https://x/y" || f.Detail != "no" {
		t.Errorf("fault: %v", err)
	}
	if want := w.Now().Add(58 * time.Minute); !cache.Expires(err).Equal(want) {
		t.Errorf("expires %v, want %v", cache.Expires(err), want)
	}
	after := s.Stat()
	if before.Faults != 2 || after.Faults != 1 || after.Files != before.Files || after.Bytes != before.Bytes {
		t.Errorf("before %+v\nafter  %+v", before, after)
	}
	if log := w.warnings(); log != "" {
		t.Errorf("log: %s", log)
	}
}

func TestFaultHoldsUntilItsEnd(t *testing.T) {
	w := newWorld(t, disk.Config{})
	s := w.open()
	holds := func() bool {
		_, err := s.Get(t.Context(), cache.Meta, key("a"))
		return err != nil
	}
	remember := func() {
		s.Remember(t.Context(), cache.Meta, key("a"), fault.New(fault.NotFound, "", "no"), time.Hour)
	}
	remember()
	w.pass(time.Hour - 1)
	if !holds() {
		t.Error("it ended too early")
	}
	w.pass(1)
	if holds() {
		t.Error("it did not end")
	}
	if n := s.Stat().Faults; n != 0 {
		t.Errorf("%d faults are left", n)
	}
	remember()
	w.pass(-30 * 24 * time.Hour)
	if holds() {
		t.Error("a clock that was set back keeps it")
	}
}

func TestLongTextsOfFaultsAreClipped(t *testing.T) {
	s := newWorld(t, disk.Config{}).open()
	long := strings.Repeat("ä", 5000)
	s.Remember(t.Context(), cache.Meta, key("a"), &fault.Error{Kind: fault.Denied, Place: long, Detail: "x" + long}, time.Hour)
	_, err := s.Get(t.Context(), cache.Meta, key("a"))
	var f *fault.Error
	if !errors.As(err, &f) || f.Place != long[:1024] || f.Detail != "x"+long[:1022] {
		t.Fatalf("place of %d bytes, detail of %d", len(f.Place), len(f.Detail))
	}
}

func TestNumberOfFaultsIsBounded(t *testing.T) {
	s := newWorld(t, disk.Config{}).open()
	put(t, s, cache.Meta, "file", 10)
	f := fault.New(fault.NotFound, "", "no")
	for i := range 1<<16 + 10 {
		s.Remember(t.Context(), cache.Meta, key(fmt.Sprint(i)), f, time.Hour)
	}
	if n := s.Stat().Faults; n != 1<<16 {
		t.Errorf("%d faults", n)
	}
	if _, err := s.Get(t.Context(), cache.Meta, key("9")); err != nil {
		t.Error("the oldest fault is still there")
	}
	if _, err := s.Get(t.Context(), cache.Meta, key("10")); err == nil {
		t.Error("a fault that is not the oldest is gone")
	}
	if !has(t, s, cache.Meta, "file", 10) {
		t.Error("faults have evicted a file")
	}
}

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }
