package disk_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"symbolon/internal/cache"
	"symbolon/internal/cache/disk"
	"symbolon/internal/fault"
)

const victimDir = "SYMBOLON_TEST_VICTIM_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(victimDir); dir != "" {
		victim(dir)
	}
	os.Exit(m.Run())
}

// victim puts entries until it is killed, and writes a dot to its output for each.
func victim(dir string) {
	s, err := disk.Open(disk.Config{MaxBytes: 4 << 20}, dir, time.Now, slog.New(slog.NewTextHandler(os.Stderr, nil)))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for g := range 4 {
		go func() {
			for i := 0; ; i++ {
				name := fmt.Sprint(g, ".", i%300)
				b, err := s.Put(context.Background(), cache.Kinds()[i%3], key(name), func(w io.Writer) error {
					text := body(name, 10_000+i%300)
					for at := 0; at < len(text); at += 1000 {
						if _, err := io.WriteString(w, text[at:min(at+1000, len(text))]); err != nil {
							return err
						}
					}
					return nil
				})
				if err != nil {
					fmt.Fprintln(os.Stderr, err)
					os.Exit(1)
				}
				b.Close()
				os.Stdout.WriteString(".")
				s.Remember(context.Background(), cache.Meta, key("fault "+name), fault.New(fault.Denied, name, "no"), time.Hour)
				if i%50 == 0 {
					s.Forget(context.Background(), cache.Meta, key("fault "+name)) // hurries the index
				}
			}
		}()
	}
	select {}
}

// TestKilledProcessLeavesWholeEntries kills a real process at random moments.
func TestKilledProcessLeavesWholeEntries(t *testing.T) {
	t.Parallel()
	w := newWorld(t, disk.Config{})
	w.now = time.Now()
	total := int64(0)
	for range 4 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), victimDir+"="+w.dir)
		var said strings.Builder
		cmd.Stderr = &said
		dots, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		_, err = io.ReadFull(dots, make([]byte, 1+rand.IntN(200)))
		if err := cmd.Process.Kill(); err != nil {
			t.Error(err)
		}
		cmd.Wait()
		if err != nil || said.Len() != 0 {
			t.Fatalf("the victim ended: %v: %s", err, said.String())
		}
		s := w.open()
		if left := files(t, filepath.Join(w.dir, "tmp")); len(left) != 0 {
			t.Errorf("unfinished files: %v", left)
		}
		names := map[cache.Key]string{}
		for g := range 4 {
			for i := range 300 {
				name := fmt.Sprint(g, ".", i)
				names[key(name)] = name
			}
		}
		s.List(func(e disk.Entry) bool {
			if e.Fault != nil {
				return true
			}
			name, ok := names[e.Key]
			if !ok || !has(t, s, e.Kind, name, int(e.Size)) {
				t.Errorf("an entry is not one that was put: %+v", e)
			}
			return true
		})
		st := s.Stat()
		total += st.Files
		if n := len(files(t, filepath.Join(w.dir, "cache"))); int64(n) != st.Files {
			t.Errorf("%d files, %d entries", n, st.Files)
		}
		w.close(s)
		if log := w.warnings(); log != "" {
			t.Errorf("log: %s", log)
		}
	}
	t.Logf("%d entries found after four kills", total)
	if total == 0 {
		t.Error("the victim did nothing")
	}
}

// copyTree copies a data directory as a crash would leave it.
func copyTree(t *testing.T, from string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	return to
}

// TestCrashAtEveryStepOfAPut opens the directory as it was at each step.
func TestCrashAtEveryStepOfAPut(t *testing.T) {
	w := newWorld(t, disk.Config{})
	s := w.open()
	put(t, s, cache.Meta, "before", 5000)
	if err := s.Save(); err != nil {
		t.Fatal(err)
	}
	const size = 9000
	var states []string
	var want []bool
	state := func(there bool) {
		states, want = append(states, copyTree(t, w.dir)), append(want, there)
	}
	b, err := s.Put(t.Context(), cache.Symcache, key("new"), func(out io.Writer) error {
		state(false) // an empty file in tmp
		text := body("new", size)
		io.WriteString(out, text[:4000])
		state(false) // half of it
		_, err := io.WriteString(out, text[4000:])
		state(false) // all of it, but the name
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	b.Close()
	state(true) // renamed, and not in the index
	if err := s.Save(); err != nil {
		t.Fatal(err)
	}
	state(true) // in the index
	put(t, s, cache.Symcache, "new", size)
	state(true) // put again over the first
	s.Forget(t.Context(), cache.Symcache, key("new"))
	state(false) // forgotten, and still in the index

	for i, dir := range states {
		at := &world{t: t, dir: dir, now: w.now.Add(time.Hour)}
		s := at.open()
		if got := has(t, s, cache.Symcache, "new", size); got != want[i] {
			t.Errorf("step %d: the entry is there: %v", i, got)
		}
		if !has(t, s, cache.Meta, "before", 5000) {
			t.Errorf("step %d: another entry is lost", i)
		}
		files1, entries := len(files(t, dir+"/cache")), s.Stat().Files
		if int64(files1) != entries || len(files(t, dir+"/tmp")) != 0 {
			t.Errorf("step %d: %d entries, files %v", i, entries, files(t, dir))
		}
		put(t, s, cache.Symcache, "new", size)
		at.close(s)
		s = at.open()
		if !has(t, s, cache.Symcache, "new", size) {
			t.Errorf("step %d: a new entry is lost", i)
		}
		if log := at.warnings(); log != "" {
			t.Errorf("step %d: %s", i, log)
		}
	}
}

func TestFilesWithoutARecordAreAdopted(t *testing.T) {
	w := newWorld(t, disk.Config{})
	s := w.open()
	put(t, s, cache.Symcache, "a", 5000)
	w.close(s)
	if err := os.Remove(filepath.Join(w.dir, "index.db")); err != nil {
		t.Fatal(err)
	}
	old := w.now.Add(-3 * 24 * time.Hour)
	if err := os.Chtimes(w.path(cache.Symcache, "a"), old, old); err != nil {
		t.Fatal(err)
	}
	// Names that are not those of entries stay where they are.
	strange := []string{
		"README", "symcache/ab/README", "symcache/ab/" + key("a").String(), "symcache/" + key("a").String(),
		"symcache/" + key("b").String()[:2] + "/" + strings.ToUpper(key("b").String()),
		"another/" + key("a").String()[:2] + "/" + key("a").String(),
	}
	for _, name := range strange {
		path := filepath.Join(w.dir, "cache", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(w.path(cache.Meta, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	for range 2 { // adopted at first, and then recorded
		s = w.open()
		var got []disk.Entry
		s.List(func(e disk.Entry) bool {
			got = append(got, e)
			return true
		})
		if len(got) != 1 || got[0].Size != 5000 || !got[0].Used.Equal(old) || !got[0].Created.Equal(old) {
			t.Errorf("entries: %+v", got)
		}
		w.close(s)
	}
	s = w.open()
	if !has(t, s, cache.Symcache, "a", 5000) {
		t.Error("the adopted entry is not there")
	}
	for _, name := range strange {
		if _, err := os.Stat(filepath.Join(w.dir, "cache", name)); err != nil {
			t.Error(err)
		}
	}
}

func TestFaultDoesNotHideAFileThatCameLater(t *testing.T) {
	w := newWorld(t, disk.Config{})
	s := w.open()
	s.Remember(t.Context(), cache.Meta, key("a"), fault.New(fault.NotFound, "", "no"), time.Hour)
	if err := s.Save(); err != nil {
		t.Fatal(err)
	}
	put(t, s, cache.Meta, "a", 10)
	at := &world{t: t, dir: copyTree(t, w.dir), now: w.now}
	if s := at.open(); !has(t, s, cache.Meta, "a", 10) {
		t.Error("the file is not there")
	}
}

func TestTimesFromTheFutureEndNow(t *testing.T) {
	w := newWorld(t, disk.Config{})
	s := w.open()
	put(t, s, cache.Meta, "a", 10)
	w.close(s)
	w.pass(-365 * 24 * time.Hour)
	s = w.open()
	w.pass(8 * 24 * time.Hour)
	if s.Sweep(); has(t, s, cache.Meta, "a", 10) {
		t.Error("it is kept for a year")
	}
}

func TestWhatOthersDeleteIsAMiss(t *testing.T) {
	w := newWorld(t, disk.Config{})
	s := w.open()
	for _, name := range []string{"gone", "short", "long", "folder", "whole"} {
		put(t, s, cache.Meta, name, 5000)
	}
	open, err := s.Get(t.Context(), cache.Meta, key("gone"))
	if err != nil {
		t.Fatal(err)
	}
	path := func(name string) string { return w.path(cache.Meta, name) }
	for _, err := range []error{
		os.Remove(path("gone")), os.Truncate(path("short"), 10), os.WriteFile(path("long"), make([]byte, 6000), 0o600),
		os.Remove(path("folder")), os.Mkdir(path("folder"), 0o700),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"gone", "short", "long", "folder"} {
		if has(t, s, cache.Meta, name, 5000) {
			t.Errorf("%s is there", name)
		}
		if name == "folder" {
			os.Remove(path(name))
		}
		put(t, s, cache.Meta, name, 4000)
		if !has(t, s, cache.Meta, name, 4000) {
			t.Errorf("%s cannot be put again", name)
		}
	}
	got := make([]byte, 5000)
	if _, err := open.ReadAt(got, 0); err != nil || string(got) != body("gone", 5000) {
		t.Errorf("an open blob: %v", err)
	}
	open.Close()
	for _, dir := range []string{"cache", "tmp"} {
		if err := os.RemoveAll(filepath.Join(w.dir, dir)); err != nil {
			t.Fatal(err)
		}
	}
	if has(t, s, cache.Meta, "whole", 5000) {
		t.Error("it is there without its folder")
	}
	put(t, s, cache.Meta, "whole", 5000)
	spool, err := s.Temp()
	if err != nil {
		t.Fatal(err)
	}
	spool.Close()
	if !has(t, s, cache.Meta, "whole", 5000) {
		t.Error("it cannot be put again")
	}
	for _, name := range []string{"gone", "short", "long"} {
		has(t, s, cache.Meta, name, 4000)
	}
	if st := s.Stat(); st.Files != 2 { // whole, and folder, which was not read
		t.Errorf("%+v", st)
	}
}

func TestUnreadableFileIsAMissAndToldOnce(t *testing.T) {
	w := newWorld(t, disk.Config{})
	s := w.open()
	put(t, s, cache.Meta, "a", 10)
	path := w.path(cache.Meta, "a")
	if err := os.Rename(path, path+"x"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path, path); err != nil { // which cannot be opened
		t.Fatal(err)
	}
	for range 3 {
		if has(t, s, cache.Meta, "a", 10) {
			t.Error("it is there")
		}
	}
	if log := w.warnings(); s.Stat().Files != 0 || strings.Count(log, "WARN") != 1 || !strings.Contains(log, path) {
		t.Errorf("log: %s", log)
	}
	put(t, s, cache.Meta, "a", 10)
	if !has(t, s, cache.Meta, "a", 10) {
		t.Error("it cannot be put again")
	}
}
