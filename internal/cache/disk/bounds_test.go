package disk_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"symbolon/internal/cache"
	"symbolon/internal/cache/disk"
	"symbolon/internal/fault"
	"symbolon/internal/metric"
)

func TestIdleEntriesAreSweptByKind(t *testing.T) {
	const hour = time.Hour
	w := newWorld(t, disk.Config{SymcacheIdle: -1})
	s := w.open()
	for _, k := range cache.Kinds() {
		put(t, s, k, "idle", 10)
		put(t, s, k, "used", 10)
	}
	left := func() string {
		var names []string
		s.List(func(e disk.Entry) bool {
			name := "used"
			if e.Key == key("idle") {
				name = "idle"
			}
			names = append(names, string(e.Kind)+" "+name)
			return true
		})
		return strings.Join(names, ", ")
	}
	w.pass(23 * hour)
	for _, k := range cache.Kinds() {
		has(t, s, k, "used", 10)
	}
	w.pass(hour)
	s.Sweep()
	if n := s.Stat().Files; n != 8 {
		t.Errorf("after a day exactly: %s", left())
	}
	w.pass(1)
	if n, bytes := s.Sweep(); n != 1 || bytes != blockSize || strings.Contains(left(), "objects idle") {
		t.Errorf("after a day: %d entries of %d bytes went, left: %s", n, bytes, left())
	}
	w.pass(6*24*hour + hour)
	s.Sweep()
	if got, want := left(), "symcache idle, cficache idle, meta used, symcache used, cficache used"; got != want {
		t.Errorf("after a week: %s, want %s", got, want)
	}
	w.close(s)
	w.pass(1000 * 24 * hour)
	s = w.open()
	s.Sweep()
	if got, want := left(), "symcache idle, cficache idle, symcache used, cficache used"; got != want {
		t.Errorf("after a restart: %s, want %s", got, want)
	}
	if n := len(files(t, w.dir+"/cache")); n != 4 {
		t.Errorf("%d files are left", n)
	}
}

func TestLeastRecentlyUsedIsEvictedAtTheBound(t *testing.T) {
	w := newWorld(t, disk.Config{MaxBytes: 10 * blockSize})
	s := w.open()
	evictions := metric.CacheEvictions.Value("disk", "meta")
	for i := range 10 {
		put(t, s, cache.Kinds()[i%3], fmt.Sprint(i), blockSize)
	}
	if st := s.Stat(); st.Files != 10 || st.Bytes != 10*blockSize {
		t.Fatalf("full: %+v", st)
	}
	has(t, s, cache.Kinds()[0], "0", blockSize) // the clock stands still, and the order counts all the same
	put(t, s, cache.Objects, "new", 100)
	for i := range 10 {
		if got, want := has(t, s, cache.Kinds()[i%3], fmt.Sprint(i), blockSize), i != 1 && i != 2; got != want {
			t.Errorf("%d is there: %v, want %v", i, got, want)
		}
	}
	if st := s.Stat(); st.Files != 9 || st.Bytes != 9*blockSize || st.Held != 0 {
		t.Errorf("after eviction: %+v", st)
	}
	if n := metric.CacheEvictions.Value("disk", "meta") - evictions; n != 1 {
		t.Errorf("%d evictions of meta are counted", n)
	}
	if n := len(files(t, w.dir+"/cache")); n != 9 {
		t.Errorf("%d files are left", n)
	}
}

func TestOrderOfUseSurvivesARestart(t *testing.T) {
	w := newWorld(t, disk.Config{MaxBytes: 4 * blockSize})
	s := w.open()
	for _, name := range []string{"a", "b", "c"} {
		put(t, s, cache.Meta, name, blockSize)
		w.pass(2 * time.Minute)
	}
	has(t, s, cache.Meta, "a", blockSize)
	w.close(s)
	s = w.open()
	w.cfg.MaxBytes = 3 * blockSize
	put(t, s, cache.Meta, "d", blockSize)
	put(t, s, cache.Meta, "e", blockSize)
	if has(t, s, cache.Meta, "b", blockSize) || !has(t, s, cache.Meta, "a", blockSize) {
		t.Error("not the one that was not used for longest is gone")
	}
}

func TestLowerBoundIsEnforcedAtTheStart(t *testing.T) {
	w := newWorld(t, disk.Config{})
	s := w.open()
	for i := range 20 {
		put(t, s, cache.Meta, fmt.Sprint(i), blockSize)
	}
	w.close(s)
	w.cfg.MaxBytes = 10 * blockSize
	if st := w.open().Stat(); st.Files != 9 {
		t.Errorf("%+v", st)
	}
}

func TestNumberOfFilesIsBounded(t *testing.T) {
	w := newWorld(t, disk.Config{MaxFiles: 10, MaxBytes: -1})
	s := w.open()
	for i := range 11 {
		put(t, s, cache.Meta, fmt.Sprint(i), 10)
	}
	if st := s.Stat(); st.Files != 9 || has(t, s, cache.Meta, "1", 10) || !has(t, s, cache.Meta, "2", 10) {
		t.Errorf("%+v", st)
	}
}

func TestEntryOverTheBoundIsRefused(t *testing.T) {
	w := newWorld(t, disk.Config{MaxBytes: 64 << 10})
	s := w.open()
	_, err := s.Put(t.Context(), cache.Objects, key("big"), func(out io.Writer) error {
		for range 17 {
			if _, err := out.Write(make([]byte, 4<<10)); err != nil {
				return fmt.Errorf("fetch: %w", err)
			}
		}
		return nil
	})
	if !internal(err) || !strings.Contains(err.Error(), "64KiB") {
		t.Errorf("Put: %v", err)
	}
	if st := s.Stat(); st.Held != 0 || len(files(t, w.dir+"/tmp")) != 0 {
		t.Errorf("%+v, files %v", st, files(t, w.dir+"/tmp"))
	}
}

func TestSpoolCountsWithinTheBound(t *testing.T) {
	w := newWorld(t, disk.Config{MaxBytes: 10 * blockSize})
	s := w.open()
	for i := range 8 {
		put(t, s, cache.Meta, fmt.Sprint(i), blockSize)
	}
	spool, err := s.Temp()
	if err != nil {
		t.Fatal(err)
	}
	part := make([]byte, blockSize)
	for range 5 {
		if _, err := spool.Write(part); err != nil {
			t.Fatal(err)
		}
		if st := s.Stat(); st.Bytes+st.Held > 10*blockSize {
			t.Fatalf("over the bound: %+v", st)
		}
	}
	// The third block passed the bound, and so did the fifth; each made room
	// down to nine tenths.
	if st := s.Stat(); st.Held != 5*blockSize || st.Files != 4 || has(t, s, cache.Meta, "3", blockSize) {
		t.Errorf("%+v", st)
	}
	if n := metric.CacheBytes.Value("disk"); n != 9*blockSize {
		t.Errorf("%d bytes are published", n)
	}
	for range 5 {
		if _, err := spool.Write(part); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := spool.Write(part); !internal(err) {
		t.Errorf("writing over the bound: %v", err)
	}
	if _, err := spool.Write(part); !internal(err) {
		t.Errorf("writing after that: %v", err)
	}
	if spool.Size() != 10*blockSize {
		t.Errorf("size %d", spool.Size())
	}
	for range 2 {
		if err := spool.Close(); err != nil {
			t.Error(err)
		}
	}
	if st := s.Stat(); st.Held != 0 || metric.CacheBytes.Value("disk") != 0 {
		t.Errorf("closed: %+v", st)
	}
}

func TestSpoolIsReadAfterItIsWritten(t *testing.T) {
	w := newWorld(t, disk.Config{})
	s := w.open()
	spool, err := s.Temp()
	if err != nil {
		t.Fatal(err)
	}
	text := body("spool", 10_000)
	for at := 0; at < len(text); at += 1000 {
		if _, err := io.WriteString(spool, text[at:at+1000]); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(files(t, w.dir+"/tmp")); n != 0 {
		t.Errorf("it has a name: %v", files(t, w.dir+"/tmp"))
	}
	got := make([]byte, 1200)
	if n, err := spool.ReadAt(got, 9000); n != 1000 || err != io.EOF || string(got[:n]) != text[9000:] {
		t.Errorf("ReadAt: %d, %v", n, err)
	}
	if spool.Size() != 10_000 {
		t.Errorf("size %d", spool.Size())
	}
	for range 2 {
		if err := spool.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestEvictedBlobStaysReadable(t *testing.T) {
	w := newWorld(t, disk.Config{MaxBytes: 10 * blockSize})
	s := w.open()
	put(t, s, cache.Symcache, "old", 5*blockSize)
	b, err := s.Get(t.Context(), cache.Symcache, key("old"))
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	put(t, s, cache.Symcache, "new", 9*blockSize)
	if has(t, s, cache.Symcache, "old", 5*blockSize) {
		t.Fatal("it is not evicted")
	}
	got := make([]byte, b.Size())
	if _, err := b.ReadAt(got, 0); err != nil || string(got) != body("old", 5*blockSize) {
		t.Errorf("read: %v", err)
	}
}

func TestPurgeChooses(t *testing.T) {
	w := newWorld(t, disk.Config{})
	for _, c := range []struct {
		filter disk.Filter
		count  int64
		left   string
	}{
		{disk.Filter{}, 5, ""},
		{disk.Filter{Kind: cache.Meta}, 3, "o1 o2"},
		{disk.Filter{Faults: true}, 1, "m1 m2 o1 o2"},
		{disk.Filter{Kind: cache.Objects, Faults: true}, 0, "f m1 m2 o1 o2"},
		{disk.Filter{Idle: time.Hour}, 3, "m2 o2"},
		{disk.Filter{Kind: cache.Objects, Idle: time.Hour}, 1, "f m1 m2 o2"},
		{disk.Filter{Kind: cache.Symcache}, 0, "f m1 m2 o1 o2"},
		{disk.Filter{Idle: 24 * time.Hour}, 0, "f m1 m2 o1 o2"},
	} {
		s := w.open()
		names := map[cache.Key]string{}
		for _, name := range []string{"f", "m1", "m2", "o1", "o2"} {
			names[key(name)] = name
		}
		s.Remember(t.Context(), cache.Meta, key("f"), fault.New(fault.Denied, "", "no"), 24*time.Hour)
		put(t, s, cache.Meta, "m1", 10)
		put(t, s, cache.Objects, "o1", 10)
		w.pass(2 * time.Hour)
		put(t, s, cache.Meta, "m2", 10)
		put(t, s, cache.Objects, "o2", 10)
		count, _ := s.Purge(c.filter)
		var left []string
		s.List(func(e disk.Entry) bool {
			left = append(left, names[e.Key])
			return true
		})
		if strings.Join(left, " ") != sorted(c.left, left) || count != c.count {
			t.Errorf("%+v: %d went, left %v; want %d, %s", c.filter, count, left, c.count, c.left)
		}
		s.Purge(disk.Filter{})
		w.close(s)
	}
}

// sorted is want in the order of got, if both have the same words.
func sorted(want string, got []string) string {
	words := map[string]bool{}
	for word := range strings.FieldsSeq(want) {
		words[word] = true
	}
	for _, word := range got {
		if !words[word] {
			return want
		}
		delete(words, word)
	}
	if len(words) > 0 {
		return want
	}
	return strings.Join(got, " ")
}

func TestListTellsAllInOrderOfUse(t *testing.T) {
	w := newWorld(t, disk.Config{})
	s := w.open()
	start := w.Now()
	put(t, s, cache.Meta, "a", 10)
	put(t, s, cache.Objects, "b", 20)
	s.Remember(t.Context(), cache.Meta, key("f"), fault.New(fault.Denied, "", "no"), time.Hour)
	w.pass(time.Minute)
	has(t, s, cache.Meta, "a", 10)
	var got []disk.Entry
	s.List(func(e disk.Entry) bool {
		got = append(got, e)
		return len(got) < 3
	})
	if len(got) != 3 || got[0].Key != key("b") || got[1].Key != key("f") || got[2].Key != key("a") {
		t.Fatalf("%+v", got)
	}
	a, f := got[2], got[1]
	if a.Kind != cache.Meta || a.Size != 10 || !a.Created.Equal(start) || !a.Used.Equal(w.Now()) || a.Fault != nil {
		t.Errorf("file: %+v", a)
	}
	if f.Fault == nil || f.Fault.Detail != "no" || !cache.Expires(f.Fault).Equal(start.Add(time.Hour)) {
		t.Errorf("fault: %+v", f)
	}
	got = nil
	w.pass(time.Hour)
	s.List(func(e disk.Entry) bool {
		got = append(got, e)
		return false
	})
	if len(got) != 1 || got[0].Fault != nil {
		t.Errorf("stopped: %+v", got)
	}
	st := s.Stat()
	if st.Kinds[0].Files != 1 || st.Kinds[0].Bytes != blockSize || st.Kinds[1].Files != 1 || st.Kinds[2].Files != 0 {
		t.Errorf("%+v", st)
	}
}

// fullAfter writes n bytes and then fails as a full disk does, until room is
// given.
type fullAfter struct {
	left  int
	tries int
	err   error
}

func (d *fullAfter) write(f *os.File, p []byte) (int, error) {
	d.tries++
	if d.left >= len(p) {
		d.left -= len(p)
		return f.Write(p)
	}
	n, _ := f.Write(p[:d.left])
	d.left = 0
	return n, &os.PathError{Op: "write", Path: f.Name(), Err: d.err}
}

func TestFullDiskEvictsAndTriesOnce(t *testing.T) {
	for _, number := range []error{syscall.ENOSPC, syscall.EDQUOT} {
		w := newWorld(t, disk.Config{})
		s := w.open()
		for i := range 20 {
			put(t, s, cache.Meta, fmt.Sprint(i), blockSize)
		}
		full := &fullAfter{left: 1000, err: number}
		s.SetWrite(func(f *os.File, p []byte) (int, error) {
			if s.Stat().Files < 20 { // something was evicted
				full.left = 1 << 20
			}
			return full.write(f, p)
		})
		put(t, s, cache.Objects, "new", 3000)
		if !has(t, s, cache.Objects, "new", 3000) || full.tries != 2 {
			t.Errorf("%v: %d tries", number, full.tries)
		}
		if st := s.Stat(); st.Files != 19 || st.Held != 0 { // a tenth of 20 went, one came
			t.Errorf("%v: %+v", number, st)
		}
	}
}

// TestFullDiskCostsNothingButMemory lets the disk take a part of what is
// written, or nothing.
func TestFullDiskCostsNothingButMemory(t *testing.T) {
	const size = 3 << 20
	w := newWorld(t, disk.Config{})
	s := w.open()
	put(t, s, cache.Meta, "only", 10)
	full := &fullAfter{err: syscall.ENOSPC}
	s.SetWrite(full.write)
	s.SetMaxMemory(size)
	for _, full.left = range []int{0, 1000, size - 1} {
		full.tries = 0
		for _, kind := range cache.Kinds() {
			put(t, s, kind, "new", size) // and opened
			if has(t, s, kind, "new", size) {
				t.Error("it is there")
			}
		}
		spool, err := s.Temp()
		if err != nil {
			t.Fatal(err)
		}
		text := body("spool", size)
		for at := 0; at < size; at += size / 3 {
			if n, err := io.WriteString(spool, text[at:at+size/3]); n != size/3 || err != nil {
				t.Fatal(n, err)
			}
		}
		got := make([]byte, size)
		for _, at := range []int64{0, 999, 1000, 1<<20 - 1, 2 << 20, size - 1} {
			if n, err := spool.ReadAt(got[at:], at); n != size-int(at) || err != nil || string(got[at:]) != text[at:] {
				t.Fatalf("from %d on: %d bytes, %v", at, n, err)
			}
		}
		if n, err := spool.ReadAt(got, size-5); n != 5 || err != io.EOF {
			t.Errorf("over the end: %d, %v", n, err)
		}
		if _, err := spool.Write(make([]byte, size)); !internal(err) || !strings.Contains(err.Error(), "3MiB of memory") {
			t.Errorf("more than may be lent: %v", err)
		}
		spool.Close()
		spool.Close()
	}
	if st := s.Stat(); st.Held != 0 || st.Files != 0 || len(files(t, w.dir+"/cache")) != 0 || len(files(t, w.dir+"/tmp")) != 0 {
		t.Errorf("%+v, %v", st, files(t, w.dir))
	}
	log := w.warnings()
	if strings.Count(log, "WARN") != 1 || !strings.Contains(log, "is full") || !strings.Contains(log, w.dir) {
		t.Errorf("log: %s", log)
	}
	w.pass(time.Hour)
	full.left = 0
	put(t, s, cache.Meta, "again", 10)
	if log := w.warnings(); strings.Count(log, "WARN") != 1 {
		t.Errorf("an hour later: %s", log)
	}
	full.left = 1 << 20
	put(t, s, cache.Objects, "new", 3000)
	if !has(t, s, cache.Objects, "new", 3000) || w.warnings() != "" {
		t.Error("it does not take part again")
	}
}

// TestFolderThatTakesNoFilesCostsNothingButMemory has a file where the folder
// for unfinished files was.
func TestFolderThatTakesNoFilesCostsNothingButMemory(t *testing.T) {
	w := newWorld(t, disk.Config{})
	s := w.open()
	if err := s.Writable(); err != nil {
		t.Error(err)
	}
	if err := errors.Join(os.Remove(w.dir+"/tmp"), os.WriteFile(w.dir+"/tmp", nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	put(t, s, cache.Symcache, "a", 100<<10)
	if has(t, s, cache.Symcache, "a", 100<<10) {
		t.Error("it is there")
	}
	if err := s.Writable(); !internal(err) {
		t.Errorf("Writable: %v", err)
	}
	if log := w.warnings(); strings.Count(log, "WARN") != 1 {
		t.Errorf("log: %s", log)
	}
}

func TestDefaultsReplaceOnlyZeros(t *testing.T) {
	c := disk.Config{}.Defaults()
	if c.MaxBytes != 20<<30 || c.MaxFiles <= 0 || c.ObjectsIdle != 24*time.Hour || c.SymcacheIdle != 7*24*time.Hour {
		t.Errorf("%+v", c)
	}
	if c := (disk.Config{MaxBytes: -1, MetaIdle: -1}).Defaults(); c.MaxBytes != -1 || c.MetaIdle != -1 {
		t.Errorf("%+v", c)
	}
}

func TestLargestFilesAreListedInOrder(t *testing.T) {
	s := newWorld(t, disk.Config{}).open()
	for i := range 100 {
		put(t, s, cache.Symcache, fmt.Sprint("file ", i), 1+(i*37)%100)
	}
	s.Remember(t.Context(), cache.Meta, key("gone"), fault.New(fault.NotFound, "", "gone"), time.Hour)
	for n, want := range map[int]int{0: 0, 1: 1, 7: 7, 100: 100, 101: 100} {
		list := s.Largest(n)
		if len(list) != want {
			t.Errorf("the largest %d are %d", n, len(list))
		}
		for i, e := range list {
			if e.Size != int64(100-i) || e.Kind != cache.Symcache || e.Fault != nil {
				t.Errorf("the largest %d: number %d is %+v", n, i, e)
			}
		}
	}
}
