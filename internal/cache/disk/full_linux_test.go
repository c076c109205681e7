package disk_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"symbolon/internal/cache"
	"symbolon/internal/cache/disk"
	"symbolon/internal/fault"
)

// TestReallyFullDisk fills a real file system of one megabyte. Where mounting
// is not permitted, TestFullDiskEvictsAndTriesOnce and
// TestFullDiskCostsNothingButMemory, which let the writing fail, are what
// there is.
func TestReallyFullDisk(t *testing.T) {
	const size = 40 << 10
	w := newWorld(t, disk.Config{})
	if err := unix.Mount("tmpfs", w.dir, "tmpfs", 0, "size=1m,mode=0700"); err != nil {
		if !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.EACCES) {
			t.Fatalf("mount: %v", err)
		}
		t.Logf("mounting is not permitted here (%v), so only the failures that are made by hand were tested", err)
		return
	}
	t.Cleanup(func() {
		if err := unix.Unmount(w.dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	s := w.open()
	for i := range 100 { // four times what fits
		put(t, s, cache.Objects, fmt.Sprint(i), size)
		if !has(t, s, cache.Objects, fmt.Sprint(i), size) {
			t.Fatalf("entry %d is not there", i)
		}
	}
	left := 0
	for i := range 100 {
		if has(t, s, cache.Objects, fmt.Sprint(i), size) {
			left++
		}
	}
	t.Logf("%d of 100 entries are left on the full disk", left)
	if left < 5 || left > 26 || !has(t, s, cache.Objects, "99", size) {
		t.Errorf("%d entries are left", left)
	}

	put(t, s, cache.Objects, "big", 2<<20) // larger than the disk
	spool, err := s.Temp()
	if err != nil {
		t.Fatal(err)
	}
	text := body("spool", 2<<20)
	if _, err := io.WriteString(spool, text); err != nil {
		t.Errorf("a spool larger than the disk: %v", err)
	}
	got := make([]byte, len(text))
	if _, err := spool.ReadAt(got, 0); err != nil || string(got) != text {
		t.Errorf("reading it: %v", err)
	}
	if err := spool.Close(); err != nil {
		t.Error(err)
	}
	if st := s.Stat(); st.Held != 0 || len(files(t, filepath.Join(w.dir, "tmp"))) != 0 {
		t.Errorf("unfinished files are left: %+v", st)
	}

	// Others fill the disk: nothing can be put, and what is there works.
	put(t, s, cache.Meta, "last", 100)
	hog, err := os.Create(filepath.Join(w.dir, "hog"))
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = hog.Write(make([]byte, 4096))
	}
	hog.Close()
	for i := range 2000 {
		s.Remember(t.Context(), cache.Meta, key(fmt.Sprint(i)), fault.New(fault.Denied, "", "no"), time.Hour)
	}
	if err := s.Save(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("saving the index: %v", err)
	}
	blob, err := s.Get(t.Context(), cache.Meta, key("last"))
	if err != nil || blob == nil {
		t.Fatalf("Get: %v, %v", blob, err)
	}
	put(t, s, cache.Meta, "more", 20<<10)
	if has(t, s, cache.Meta, "more", 20<<10) {
		t.Error("there was room")
	}
	got = make([]byte, 100)
	if _, err := blob.ReadAt(got, 0); err != nil || string(got) != body("last", 100) {
		t.Errorf("the open blob: %v", err)
	}
	blob.Close()
	if err := os.Remove(hog.Name()); err != nil {
		t.Fatal(err)
	}
	put(t, s, cache.Meta, "more", 20<<10)
	w.close(s)
	if s = w.open(); !has(t, s, cache.Meta, "more", 20<<10) || s.Stat().Faults != 2000 {
		t.Errorf("a restart does not find everything: %+v", s.Stat())
	}
	w.close(s)
	if log := w.warnings(); strings.Count(log, "WARN") != 1 || !strings.Contains(log, "is full") {
		t.Errorf("log: %s", log)
	}
}

// TestLackOfFilesLosesNothing opens an entry when the process may open no more
// files.
func TestLackOfFilesLosesNothing(t *testing.T) {
	w := newWorld(t, disk.Config{})
	s := w.open()
	put(t, s, cache.Meta, "a", 10)
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	few := before
	few.Cur = 0
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &few); err != nil {
		t.Fatal(err)
	}
	there := false
	for range 3 {
		there = there || has(t, s, cache.Meta, "a", 10)
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	if log := w.warnings(); there || strings.Count(log, "WARN") != 1 {
		t.Errorf("it is there: %v; log: %s", there, log)
	}
	if !has(t, s, cache.Meta, "a", 10) {
		t.Error("it is lost")
	}
}
