package disk_test

import (
	"context"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"symbolon/internal/cache"
	"symbolon/internal/cache/disk"
	"symbolon/internal/fault"
)

func nothing() error { return nil }

func TestHeldBytesCountWithinTheBound(t *testing.T) {
	w := newWorld(t, disk.Config{MaxBytes: 10 * blockSize})
	s := w.open()
	put(t, s, cache.Meta, "entry", 5*blockSize)
	release, err := s.Hold(t.Context(), 8*blockSize, nothing)
	if err != nil {
		t.Fatal(err)
	}
	if st := s.Stat(); st.Held != 8*blockSize || st.Files != 0 {
		t.Errorf("%+v; want 8 blocks held, and the entry evicted", st)
	}
	release()
	release()
	if st := s.Stat(); st.Held != 0 {
		t.Errorf("%d bytes are held after the release", st.Held)
	}
	if _, err := s.Hold(context.Background(), 11*blockSize, nothing); fault.KindOf(err) != fault.Internal || !strings.Contains(err.Error(), "max_bytes") {
		t.Errorf("more than the bound: %v", err)
	}
}

func TestHoldWaitsForARelease(t *testing.T) {
	w := newWorld(t, disk.Config{MaxBytes: 10 * blockSize})
	s := w.open()
	first, err := s.Hold(t.Context(), 8*blockSize, nothing)
	if err != nil {
		t.Fatal(err)
	}
	var left atomic.Bool
	done := make(chan error)
	for range 3 { // one after the other, as two do not fit either
		go func() {
			release, err := s.Hold(context.Background(), 6*blockSize, func() error {
				if !left.Load() {
					t.Error("Hold did not wait")
				}
				return nil
			})
			if err == nil {
				release()
			}
			done <- err
		}()
	}
	left.Store(true)
	first()
	for range 3 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func TestHoldGivesUpWithItsContext(t *testing.T) {
	w := newWorld(t, disk.Config{MaxBytes: 10 * blockSize})
	s := w.open()
	release, err := s.Hold(t.Context(), 8*blockSize, nothing)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := s.Hold(ctx, 6*blockSize, nothing); fault.KindOf(err) != fault.Internal || !strings.Contains(err.Error(), "other files are in use") {
		t.Errorf("%v; want that others are in the way", err)
	}
	if st := s.Stat(); st.Held != 8*blockSize {
		t.Errorf("%d bytes are held", st.Held)
	}
}

func TestHoldEvictsWhenTheDiskIsFull(t *testing.T) {
	w := newWorld(t, disk.Config{})
	s := w.open()
	put(t, s, cache.Meta, "entry", blockSize)
	tries := 0
	full := func() error {
		if tries++; tries == 1 {
			return syscall.ENOSPC
		}
		return nil
	}
	if _, err := s.Hold(t.Context(), blockSize, full); err != nil || tries != 2 || s.Stat().Files != 0 {
		t.Errorf("%v after %d tries, %+v", err, tries, s.Stat())
	}
	_, err := s.Hold(t.Context(), blockSize, func() error { return syscall.ENOSPC })
	if fault.KindOf(err) != fault.Internal || s.Stat().Held != blockSize {
		t.Errorf("%v, %d bytes held", err, s.Stat().Held)
	}
}
