package disk_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"symbolon/internal/cache"
	"symbolon/internal/cache/disk"
	"symbolon/internal/fault"
)

// grown makes a directory whose index has records of all forms, some of which were
// replaced.
func grown(t *testing.T, w *world) {
	t.Helper()
	s := w.open()
	for i := range 40 {
		put(t, s, cache.Kinds()[i%3], fmt.Sprint(i), 10+i)
	}
	for i := range 200 {
		f := fault.New(fault.Denied, fmt.Sprint(i, strings.Repeat("/place", i%50)), "%s", strings.Repeat("x", i*i%300))
		s.Remember(t.Context(), cache.Meta, key("fault"+fmt.Sprint(i)), f, time.Hour)
	}
	for i := range 3 {
		if err := s.Save(); err != nil {
			t.Fatal(err)
		}
		for j := range 25 {
			s.Forget(t.Context(), cache.Meta, key("fault"+fmt.Sprint(25*i+j)))
		}
	}
	w.close(s)
}

const faultsLeft = 125

// sound opens a directory that was grown and then damaged, and fails when it
// answers wrongly. It tells how many faults are left. Without its last
// transaction the index has more of them.
func sound(t *testing.T, w *world, what string) int64 {
	t.Helper()
	s, err := w.tryOpen()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	defer w.close(s)
	for i := range 40 {
		if !has(t, s, cache.Kinds()[i%3], fmt.Sprint(i), 10+i) {
			t.Fatalf("%s: entry %d is lost", what, i)
		}
	}
	for i := range 200 {
		_, err := s.Get(t.Context(), cache.Meta, key("fault"+fmt.Sprint(i)))
		var f *fault.Error
		if err == nil {
			continue
		}
		if !errors.As(err, &f) || f.Kind != fault.Denied || f.Place != fmt.Sprint(i, strings.Repeat("/place", i%50)) ||
			f.Detail != strings.Repeat("x", i*i%300) || !cache.Expires(err).Equal(w.Now().Add(time.Hour)) {
			t.Fatalf("%s: fault %d is %v", what, i, err)
		}
	}
	return s.Stat().Faults
}

func TestDamagedIndexIsBuiltAnew(t *testing.T) {
	w := newWorld(t, disk.Config{})
	grown(t, w)
	path := filepath.Join(w.dir, "index.db")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := sound(t, w, "undamaged"); n != faultsLeft || w.warnings() != "" {
		t.Fatalf("undamaged: %d faults", n)
	}
	write := func(b []byte) {
		t.Helper()
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range []int{1, 16, 80, 100, 4095, 4096, 8191, 8192, 12288, 16384, len(whole) - 1} {
		write(whole[:n])
		sound(t, w, fmt.Sprint("cut to ", n))
		if log := w.warnings(); log != "" { // as after a crash
			t.Errorf("cut to %d: %s", n, log)
		}
		if n := sound(t, w, "opened again"); w.warnings() != "" {
			t.Errorf("cut to %d: the next start finds damage, and %d faults", n, n)
		}
	}
	for name, b := range map[string][]byte{
		"text": []byte(strings.Repeat("this is not an index\n", 5000)), "zeros": make([]byte, len(whole)),
		"halves": append(bytes.Clone(whole[len(whole)/2:]), whole[:len(whole)/2]...),
	} {
		write(b)
		if left, log := sound(t, w, name), w.warnings(); left != 0 || strings.Count(log, "WARN") != 1 || !strings.Contains(log, "damaged") {
			t.Errorf("%s: %d faults, log: %s", name, left, log)
		}
		if sound(t, w, "opened again"); w.warnings() != "" {
			t.Errorf("%s: the next start finds damage", name)
		}
	}
	write(nil)
	if left := sound(t, w, "empty"); left != 0 || w.warnings() != "" {
		t.Errorf("empty: %d faults", left)
	}
}

func TestFlippedBitsGiveNoWrongAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, disk.Config{})
	grown(t, w)
	path := filepath.Join(w.dir, "index.db")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	seed := rand.Uint64()
	t.Logf("seed %d, index of %d bytes", seed, len(whole))
	random := rand.New(rand.NewPCG(seed, 0))
	for range 150 {
		at, bit := random.IntN(len(whole)), byte(1)<<random.IntN(8)
		b := bytes.Clone(whole)
		b[at] ^= bit
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		what := fmt.Sprintf("bit %#x of byte %d", bit, at)
		left, log := sound(t, w, what), w.warnings()
		if left == faultsLeft && log == "" && at < len(whole)-4096 { // the last record may look incomplete
			t.Errorf("%s: not noticed", what)
		}
	}
}

func TestIndexThatCannotBeOpenedIsAnError(t *testing.T) {
	w := newWorld(t, disk.Config{})
	if err := os.Mkdir(filepath.Join(w.dir, "index.db"), 0o700); err != nil {
		t.Fatal(err)
	}
	const advice = "; choose another with --data"
	if _, err := w.tryOpen(); err == nil || !strings.HasSuffix(err.Error(), "is a directory"+advice) {
		t.Errorf("a folder as the index: %v", err)
	}
	w = newWorld(t, disk.Config{})
	w.dir = filepath.Join(w.dir, "file")
	if err := os.WriteFile(w.dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := w.tryOpen(); err == nil || !strings.HasSuffix(err.Error(), "not a directory"+advice) {
		t.Errorf("a file as the directory: %v", err)
	}
	w = newWorld(t, disk.Config{})
	for _, folder := range []string{"cache", "cache/meta"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(w.dir, folder)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(w.dir, folder), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := w.tryOpen(); !internal(err) {
			t.Errorf("a file as %s: %v", folder, err)
		}
		if err := os.Remove(filepath.Join(w.dir, folder)); err != nil {
			t.Fatal(err)
		}
	}
	w.close(w.open()) // nothing has kept the lock
}

func TestIndexThatIsCutUnderAStoreIsBuiltAnew(t *testing.T) {
	w := newWorld(t, disk.Config{})
	grown(t, w)
	s := w.open()
	if err := os.Truncate(filepath.Join(w.dir, "index.db"), 4096); err != nil {
		t.Fatal(err)
	}
	put(t, s, cache.Meta, "new", 10)
	w.close(s)
	s = w.open()
	if log := w.warnings(); strings.Count(log, "WARN") != 1 || !strings.Contains(log, "damaged") {
		t.Errorf("log: %s", log)
	}
	if !has(t, s, cache.Meta, "new", 10) || !has(t, s, cache.Meta, "1", 11) {
		t.Error("a restart does not find the files")
	}
}
