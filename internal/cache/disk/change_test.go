package disk_test

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"symbolon/internal/cache"
	"symbolon/internal/cache/disk"
	"symbolon/internal/fault"
)

// TestOpenEntriesDoNotNoticeWhatHappensToTheirFiles cuts and changes files in
// place, under those who use them.
func TestOpenEntriesDoNotNoticeWhatHappensToTheirFiles(t *testing.T) {
	w := newWorld(t, disk.Config{})
	s := w.open()
	for _, kind := range []cache.Kind{cache.Meta, cache.Symcache} {
		for _, size := range []int{5000, 300 << 10} {
			name := fmt.Sprint(size)
			put(t, s, kind, name, size)
			b, err := s.Get(t.Context(), kind, key(name))
			if err != nil {
				t.Fatal(err)
			}
			whole := b.(interface{ Bytes() []byte }).Bytes()
			path := w.path(kind, name)
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.WriteAt([]byte("changed"), 2000); err != nil {
				t.Fatal(err)
			}
			if string(whole) != body(name, size) {
				t.Errorf("%s of %d bytes: it has changed", kind, size)
			}
			if err := f.Truncate(0); err != nil {
				t.Fatal(err)
			}
			f.Close()
			if string(whole) != body(name, size) {
				t.Errorf("%s of %d bytes: it is cut", kind, size)
			}
			b.Close()
			if has(t, s, kind, name, size) {
				t.Errorf("%s of %d bytes: the cut file is there", kind, size)
			}
		}
	}
}

// TestObjectsAndSpoolsThatAreCutAreErrors cuts what is read from its file.
func TestObjectsAndSpoolsThatAreCutAreErrors(t *testing.T) {
	w := newWorld(t, disk.Config{})
	s := w.open()
	put(t, s, cache.Objects, "a", 100<<10)
	b, err := s.Get(t.Context(), cache.Objects, key("a"))
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if err := os.Truncate(w.path(cache.Objects, "a"), 5000); err != nil {
		t.Fatal(err)
	}
	if n, err := b.ReadAt(make([]byte, 10), 50<<10); n != 0 || err != io.EOF {
		t.Errorf("an object: %d, %v", n, err)
	}

	spool, err := s.Temp()
	if err != nil {
		t.Fatal(err)
	}
	defer spool.Close()
	if _, err := spool.Write(make([]byte, 100<<10)); err != nil {
		t.Fatal(err)
	}
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("only where /proc leads to a file without a name can a spool be cut")
	}
	cut := 0
	for _, fd := range fds {
		path := "/proc/self/fd/" + fd.Name()
		if to, err := os.Readlink(path); err == nil && strings.HasPrefix(to, w.dir+"/tmp/") {
			if err := os.Truncate(path, 5000); err != nil {
				t.Fatal(err)
			}
			cut++
		}
	}
	if n, err := spool.ReadAt(make([]byte, 10), 50<<10); cut != 1 || n != 0 || err != io.EOF {
		t.Errorf("%d spools were cut: %d, %v", cut, n, err)
	}
}

// TestClockThatJumps sets the clock by years, in a running store and between two.
// Faults expire too early and not too late, the order of use holds, and used
// entries stay. A jump forward looks like years without use: entries that are
// not used in the next minute are removed.
func TestClockThatJumps(t *testing.T) {
	const years = 5 * 365 * 24 * time.Hour
	holds := func(s *disk.Store) bool {
		b, err := s.Get(t.Context(), cache.Meta, key("fault"))
		if b != nil {
			t.Fatal("a file")
		}
		return err != nil
	}
	for _, jump := range []time.Duration{years, -years} {
		for _, restart := range []bool{false, true} {
			w := newWorld(t, disk.Config{MaxBytes: 4 * blockSize})
			s := w.open()
			put(t, s, cache.Meta, "old", blockSize)
			w.pass(2 * time.Minute)
			put(t, s, cache.Meta, "used", blockSize)
			s.Remember(t.Context(), cache.Meta, key("fault"), fault.New(fault.Denied, "", "no"), time.Hour)
			if !holds(s) {
				t.Fatal("nothing is remembered")
			}
			w.pass(jump)
			if restart {
				w.close(s)
				s = w.open()
			}
			if holds(s) {
				t.Errorf("jump %v, restart %v: the fault holds", jump, restart)
			}
			if !has(t, s, cache.Meta, "used", blockSize) {
				t.Errorf("jump %v, restart %v: a file that is used is gone", jump, restart)
			}
			s.Sweep()
			if !has(t, s, cache.Meta, "used", blockSize) {
				t.Errorf("jump %v, restart %v: what was used just now is swept", jump, restart)
			}
			if got := has(t, s, cache.Meta, "old", blockSize); got != (jump < 0) {
				t.Errorf("jump %v, restart %v: an unused entry is there: %v", jump, restart, got)
			}
			s.Remember(t.Context(), cache.Meta, key("fault"), fault.New(fault.Denied, "", "no"), time.Hour)
			put(t, s, cache.Meta, "new", blockSize)
			w.pass(-jump)
			if holds(s) {
				t.Errorf("jump %v and back, restart %v: the fault holds", jump, restart)
			}
			for _, name := range []string{"a", "b"} {
				has(t, s, cache.Meta, "used", blockSize)
				put(t, s, cache.Meta, name, blockSize)
			}
			if !has(t, s, cache.Meta, "used", blockSize) || !has(t, s, cache.Meta, "b", blockSize) {
				t.Errorf("jump %v and back, restart %v: not the one that was not used for longest went", jump, restart)
			}
			w.close(s)
		}
	}
}
