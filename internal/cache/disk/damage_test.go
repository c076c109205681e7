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

	"go.etcd.io/bbolt"

	"symbolon/internal/cache"
	"symbolon/internal/cache/disk"
	"symbolon/internal/fault"
)

// grown makes a directory whose index has branch pages, overflow pages and free
// pages.
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
	for i := range 3 { // some transactions, so that pages become free
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
	for _, n := range []int{1, 16, 80, 100, 4095, 4096, 8191, 8192, 12288, 16384, 24 << 10} {
		write(whole[:n])
		left := sound(t, w, fmt.Sprint("cut to ", n))
		if log := w.warnings(); left != 0 || strings.Count(log, "WARN") != 1 || !strings.Contains(log, "damaged") {
			t.Errorf("cut to %d: %d faults, log: %s", n, left, log)
		}
		if kept, err := os.ReadFile(path + ".damaged"); err != nil || !bytes.Equal(kept, whole[:n]) {
			t.Errorf("cut to %d: the damaged file is not kept: %v", n, err)
		}
	}
	for name, b := range map[string][]byte{
		"text": []byte(strings.Repeat("this is not an index\n", 5000)), "zeros": make([]byte, len(whole)),
		"halves": append(bytes.Clone(whole[len(whole)/2:]), whole[:len(whole)/2]...),
	} {
		write(b)
		if left := sound(t, w, name); left != 0 || strings.Count(w.warnings(), "WARN") != 1 {
			t.Errorf("%s: %d faults", name, left)
		}
	}
	write(nil)
	if left := sound(t, w, "empty"); left != 0 || w.warnings() != "" {
		t.Errorf("empty: %d faults", left)
	}
}

// TestFlippedBitsGiveNoWrongAnswer flips bits in the structure, and at random.
// Whether the index survives, loses a record or is rebuilt, the answers are
// right.
func TestFlippedBitsGiveNoWrongAnswer(t *testing.T) {
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
	var places []int
	for page := 0; page < len(whole); page += 4096 {
		for range 3 {
			if bytes.Equal(whole[page:page+4096], make([]byte, 4096)) {
				break // never used
			}
			places = append(places, page+random.IntN(16), page+16+random.IntN(64), page+random.IntN(4096))
		}
	}
	random.Shuffle(len(places), func(i, j int) { places[i], places[j] = places[j], places[i] })
	rebuilt, partly := 0, 0
	for _, at := range places[:min(len(places), 150)] {
		bit := byte(1) << random.IntN(8)
		b := bytes.Clone(whole)
		b[at] ^= bit
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		left := sound(t, w, fmt.Sprintf("bit %#x of byte %d", bit, at))
		switch log := w.warnings(); {
		case log != "":
			rebuilt++
		case left != faultsLeft:
			partly++
		}
	}
	t.Logf("rebuilt %d times, %d times with other records", rebuilt, partly)
	if rebuilt == 0 {
		t.Error("no flip was noticed")
	}
}

// TestCheckAgreesWithBbolt lets an index live through many transactions: what
// bbolt writes must never look damaged.
func TestCheckAgreesWithBbolt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index.db")
	random := rand.New(rand.NewPCG(5, 6))
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	for round := range 150 {
		err := db.Update(func(tx *bbolt.Tx) error {
			for range 1 + random.IntN(200) {
				b, err := tx.CreateBucketIfNotExists([]byte(cache.Kinds()[random.IntN(3)]))
				if err != nil {
					return err
				}
				k := key(fmt.Sprint(random.IntN(2000)))
				if random.IntN(3) == 0 || round%50 > 40 {
					err = b.Delete(k[:])
				} else {
					err = b.Put(k[:], make([]byte, random.IntN(3000)/(1+random.IntN(20))))
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := disk.CheckIndex(bytes.NewReader(b), int64(len(b))); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestIndexThatCannotBeOpenedIsAnError(t *testing.T) {
	w := newWorld(t, disk.Config{})
	if err := os.Mkdir(filepath.Join(w.dir, "index.db"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := w.tryOpen(); !internal(err) {
		t.Errorf("a folder as the index: %v", err)
	}
	w = newWorld(t, disk.Config{})
	w.dir = filepath.Join(w.dir, "file")
	if err := os.WriteFile(w.dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := w.tryOpen(); !internal(err) {
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

// TestIndexOfALiveStoreThatBreaksIsTold cuts the index under a running store.
func TestIndexOfALiveStoreThatBreaksIsTold(t *testing.T) {
	w := newWorld(t, disk.Config{})
	grown(t, w)
	s := w.open()
	if err := os.Truncate(filepath.Join(w.dir, "index.db"), 4096); err != nil {
		t.Fatal(err)
	}
	put(t, s, cache.Meta, "new", 10)
	if err := s.Save(); err == nil {
		t.Error("saving into a broken index succeeds")
	}
	if !has(t, s, cache.Meta, "new", 10) || !has(t, s, cache.Meta, "1", 11) {
		t.Error("the cache does not work without its index")
	}
	s.Close()
	if s = w.open(); !has(t, s, cache.Meta, "new", 10) {
		t.Error("a restart does not find the files")
	}
}
