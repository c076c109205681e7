package disk_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"symbolon/internal/cache"
	"symbolon/internal/cache/disk"
	"symbolon/internal/fault"
)

// known is what the model holds under a name: a file of a size, or a fault.
type known struct {
	size  int
	until time.Time // zero for a file
	used  time.Time
}

// TestAgainstAModel compares random operations, and restarts, with a map.
func TestAgainstAModel(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	w := newWorld(t, disk.Config{MaxBytes: -1, MetaIdle: time.Hour})
	s := w.open()
	model := map[string]known{}
	for step := range 3000 {
		name := fmt.Sprint(random.IntN(40))
		entry, there := model[name]
		if there && !entry.until.IsZero() && !w.Now().Before(entry.until) {
			there = false
			delete(model, name)
		}
		switch random.IntN(12) {
		case 0, 1, 2:
			size := random.IntN(3 * blockSize)
			put(t, s, cache.Meta, name, size)
			model[name] = known{size: size, used: w.Now()}
		case 3:
			life := time.Duration(1+random.IntN(60)) * time.Minute
			s.Remember(t.Context(), cache.Meta, key(name), fault.New(fault.Denied, name, "no"), life)
			model[name] = known{until: w.Now().Add(life)}
		case 4:
			s.Forget(t.Context(), cache.Meta, key(name))
			delete(model, name)
		case 5:
			w.pass(time.Duration(random.IntN(10)) * time.Minute)
		case 6:
			s.Sweep()
			for name, e := range model {
				if e.until.IsZero() && w.Now().Sub(e.used) > time.Hour {
					delete(model, name)
				}
			}
		case 7:
			if random.IntN(15) == 0 {
				w.close(s)
				s = w.open()
			}
		default:
			_, err := s.Get(t.Context(), cache.Meta, key(name))
			switch {
			case there && !entry.until.IsZero():
				if fault.KindOf(err) != fault.Denied || !cache.Expires(err).Equal(entry.until) {
					t.Fatalf("step %d: %s is a fault, got %v", step, name, err)
				}
			case err != nil || has(t, s, cache.Meta, name, entry.size) != there:
				t.Fatalf("step %d: %s is there: %v, got %v", step, name, there, err)
			case there:
				entry.used = w.Now()
				model[name] = entry
			}
		}
		var count, bytes int64
		for _, e := range model {
			if e.until.IsZero() {
				count++
				bytes += int64((e.size + blockSize - 1) / blockSize * blockSize)
			}
		}
		if st := s.Stat(); st.Files != count || st.Bytes != bytes || st.Held != 0 {
			t.Fatalf("step %d: %+v, model %d files of %d bytes", step, st, count, bytes)
		}
	}
	if log := w.warnings(); log != "" {
		t.Errorf("log: %s", log)
	}
}

// TestHammer uses everything at once in a store that is too small.
func TestHammer(t *testing.T) {
	t.Parallel()
	const bound = 64 * blockSize
	w := newWorld(t, disk.Config{MaxBytes: bound, MaxFiles: 50})
	s := w.open()
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			random := rand.New(rand.NewPCG(uint64(g), 7))
			for range 150 {
				i := random.IntN(60)
				kind, name := cache.Kinds()[i%3], fmt.Sprint(i)
				size := (i % 5) * 3000
				switch random.IntN(10) {
				case 0:
					s.Forget(t.Context(), kind, key(name))
				case 1:
					s.Remember(t.Context(), kind, key(name), fault.New(fault.Denied, "", "no"), time.Minute)
				case 2:
					s.Purge(disk.Filter{Kind: kind, Idle: time.Minute})
					s.Sweep()
					w.pass(time.Second)
				case 3:
					spool, err := s.Temp()
					if err != nil {
						t.Errorf("Temp: %v", err)
						continue
					}
					if _, err := io.WriteString(spool, body(name, 10_000)); err != nil {
						t.Errorf("spool: %v", err)
					}
					spool.Close()
				case 4:
					if err := s.Save(); err != nil {
						t.Errorf("Save: %v", err)
					}
					s.List(func(disk.Entry) bool { return random.IntN(20) > 0 })
				case 5, 6, 7:
					b, err := s.Put(t.Context(), kind, key(name), fill(body(name, size)))
					if err != nil {
						t.Errorf("Put: %v", err)
						continue
					}
					check(t, b, name, size)
				default:
					b, err := s.Get(t.Context(), kind, key(name))
					if err != nil && fault.KindOf(err) != fault.Denied {
						t.Errorf("Get: %v", err)
					}
					if b != nil {
						check(t, b, name, size)
					}
				}
				// Each goroutine may have counted what it is about to write, and be
				// making room for it.
				if st := s.Stat(); st.Bytes+st.Held > bound+8*3*blockSize {
					t.Errorf("over the bound: %+v", st)
				}
			}
		})
	}
	all.Wait()
	st := s.Stat()
	if st.Held != 0 || st.Bytes > bound || st.Files > 50 {
		t.Errorf("at the end: %+v", st)
	}
	if n := len(files(t, w.dir+"/cache")); int64(n) != st.Files {
		t.Errorf("%d files, %d entries", n, st.Files)
	}
	if n := len(files(t, w.dir+"/tmp")); n != 0 {
		t.Errorf("%d unfinished files", n)
	}
	if log := w.warnings(); log != "" {
		t.Errorf("log: %s", log)
	}
}

func check(t *testing.T, b cache.Blob, name string, size int) {
	defer b.Close()
	got := make([]byte, b.Size())
	if _, err := b.ReadAt(got, 0); err != nil && err != io.EOF || string(got) != body(name, size) {
		t.Errorf("%s has %d bytes %.20q, %v", name, len(got), got, err)
	}
}

func BenchmarkGet(b *testing.B) {
	s, err := disk.Open(disk.Config{}, b.TempDir(), time.Now, discard())
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	blob, err := s.Put(b.Context(), cache.Symcache, key("k"), fill(body("k", 1<<20)))
	if err != nil {
		b.Fatal(err)
	}
	blob.Close()
	b.ReportAllocs()
	for b.Loop() {
		blob, err := s.Get(b.Context(), cache.Symcache, key("k"))
		if err != nil {
			b.Fatal(err)
		}
		blob.Close()
	}
}

func BenchmarkPut(b *testing.B) {
	s, err := disk.Open(disk.Config{MaxBytes: 64 << 20}, b.TempDir(), time.Now, discard())
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	text := body("k", 64<<10)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		i++
		blob, err := s.Put(b.Context(), cache.Symcache, key(fmt.Sprint(i)), fill(text))
		if err != nil {
			b.Fatal(err)
		}
		blob.Close()
	}
}
