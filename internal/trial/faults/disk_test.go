package faults_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"symbolon/internal/trial"
	"symbolon/internal/waittest"
)

// reopen makes every answer open its table from disk.
const reopen = "table.max_bytes=1"

// cached returns the files of a kind in the cache of a server, but those that a test cut
// to nothing and that are not replaced yet.
func cached(t *testing.T, s *trial.Server, kind string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(s.Data, "cache", kind, "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(files, func(path string) bool {
		info, err := os.Stat(path)
		return err != nil || !info.Mode().IsRegular() || info.Size() == 0
	})
}

// kept asks until the cache of a server has one file of each kind, and nothing
// is written any more.
func kept(t *testing.T, s *trial.Server, ask func(), kinds ...string) {
	t.Helper()
	state := func() (text string) {
		for _, folder := range []string{"cache", "tmp"} {
			_ = filepath.WalkDir(filepath.Join(s.Data, folder), func(path string, d fs.DirEntry, err error) error {
				if err != nil {
					return nil // what is gone meanwhile is a change, too
				}
				if info, err := d.Info(); err == nil {
					text += fmt.Sprintln(path, info.Size(), info.ModTime())
				}
				return nil
			})
		}
		return text
	}
	waittest.Until(t, "everything is in the cache", func() bool {
		ask()
		for _, kind := range kinds {
			if len(cached(t, s, kind)) != 1 {
				return false
			}
		}
		return true
	})
	waittest.Settle(t, "the folders of the cache do not change any more", 40*time.Millisecond, state)
}

// harms are what can happen to a file of the cache.
var harms = map[string]func(path string, b []byte) error{
	"cut to half":       func(path string, b []byte) error { return os.Truncate(path, int64(len(b)/2)) },
	"cut to nothing":    func(path string, _ []byte) error { return os.Truncate(path, 0) },
	"grown":             func(path string, b []byte) error { return os.WriteFile(path, append(b, b...), 0o600) },
	"deleted":           func(path string, _ []byte) error { return os.Remove(path) },
	"one bit flipped":   func(path string, b []byte) error { return flip(path, b, len(b)/2) },
	"first bit flipped": func(path string, b []byte) error { return flip(path, b, 0) },
	"overwritten": func(path string, b []byte) error {
		return os.WriteFile(path, []byte(strings.Repeat("x", len(b))), 0o600)
	},
	"a folder": func(path string, _ []byte) error {
		return errors.Join(os.Remove(path), os.MkdirAll(filepath.Join(path, "with", "something"), 0o700))
	},
	"unreadable": func(path string, _ []byte) error { // also for those who may read everything
		return errors.Join(os.Remove(path), os.Symlink(path, path))
	},
}

// flip changes a bit of a file in place.
func flip(path string, b []byte, at int) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt([]byte{b[at] ^ 4}, int64(at))
	return errors.Join(err, f.Close())
}

// TestHarmedCacheFilesChangeNoAnswer does everything to the files of every
// kind, under a running server and before a start.
func TestHarmedCacheFilesChangeNoAnswer(t *testing.T) {
	t.Parallel()
	sym := trial.NewSym(1, 400)
	up := trial.NewUpstream(t)
	up.Do(sym.Path(), sym)
	s := trial.Start(t, trial.Options{Sources: []string{up.URL}, Set: []string{reopen, "locate.keep_originals=all"}})
	right := func(what string) {
		t.Helper()
		for i := range 2 {
			if wrong := s.Ask(sym, i); wrong != "" {
				t.Errorf("%s: %s", what, wrong)
			}
		}
		if status, body := s.Get(sym.Path()); status != http.StatusOK || body != string(sym.Bytes()) {
			t.Errorf("%s: the file itself: status %d, %d bytes", what, status, len(body))
		}
	}
	right("unharmed")
	for _, restart := range []bool{false, true} {
		for _, kind := range []string{"meta", "symcache", "objects"} {
			for name, harm := range harms {
				kept(t, s, func() { right("before it is " + name) }, "meta", "symcache", "objects")
				path := cached(t, s, kind)[0]
				b, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if restart {
					s.Terminate()
				}
				if err := harm(path, b); err != nil {
					t.Fatal(err)
				}
				if restart {
					s.Restart()
				}
				before := len(warnings(s))
				right(fmt.Sprintf("%s %s, restart %v", kind, name, restart))
				// An answer and a build that began before the harm may read the same file at one time.
				same := func(a, b string) bool { return strings.SplitN(a, " ", 2)[1] == strings.SplitN(b, " ", 2)[1] }
				// The harm before it may be noticed late, in another file.
				other := func(line string) bool { return !strings.Contains(line, path) }
				if lines := slices.CompactFunc(slices.DeleteFunc(warnings(s)[before:], other), same); len(lines) > 1 {
					t.Errorf("%s %s, restart %v: the log has %d lines: %q", kind, name, restart, len(lines), lines)
				}
			}
		}
	}
}

// TestNoFlippedBitOfAMetaChangesAnAnswer flips a bit of every byte of what is
// known of a file, one after the other.
func TestNoFlippedBitOfAMetaChangesAnAnswer(t *testing.T) {
	t.Parallel()
	sym := trial.NewSym(1, 10)
	up := trial.NewUpstream(t)
	up.Do(sym.Path(), sym)
	s := trial.Start(t, trial.Options{Sources: []string{up.URL}, Set: []string{reopen}})
	if wrong := s.Ask(sym, 1); wrong != "" {
		t.Fatal(wrong)
	}
	kept(t, s, func() {}, "meta")
	path := cached(t, s, "meta")[0]
	var whole, broken []byte
	there := func() {
		waittest.Until(t, "the meta is there, and knows the content", func() bool {
			var err error
			whole, err = os.ReadFile(path)
			return err == nil && !bytes.Equal(whole, broken) && !bytes.Contains(whole, []byte(`"Hash":[0,0,0,0,0,0,0,0`))
		})
	}
	there()
	for at := 0; at < len(whole); at++ {
		if err := flip(path, whole, at); err != nil {
			t.Fatal(err)
		}
		broken = bytes.Clone(whole)
		broken[at] ^= 4
		if wrong := s.Ask(sym, at%10); wrong != "" {
			t.Errorf("a bit of byte %d, after %s: %s", at, whole[max(0, at-20):at], wrong)
		}
		if b, err := os.ReadFile(path); err == nil && bytes.Equal(b, broken) { // not detected
			if err := os.WriteFile(path, whole, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		there()
	}
}

// TestDamagedIndexLosesNoFile damages index.db under a running server and
// before a start: the tables are found again, and one line tells of it.
func TestDamagedIndexLosesNoFile(t *testing.T) {
	t.Parallel()
	sym := trial.NewSym(1, 400)
	up := trial.NewUpstream(t)
	up.Do(sym.Path(), sym)
	s := trial.Start(t, trial.Options{Sources: []string{up.URL}, Set: []string{reopen}})
	right := func(what string) {
		t.Helper()
		if wrong := s.Ask(sym, 3); wrong != "" {
			t.Errorf("%s: %s", what, wrong)
		}
		if n := up.Count(sym.Path()); n != 1 {
			t.Errorf("%s: the file was fetched %d times", what, n)
		}
	}
	right("undamaged")
	kept(t, s, func() {}, "meta", "symcache")
	s.Terminate()
	index := filepath.Join(s.Data, "index.db")
	for name, harm := range map[string]func(b []byte) error{
		"cut":     func(b []byte) error { return os.Truncate(index, int64(len(b)/2)) },
		"empty":   func([]byte) error { return os.Truncate(index, 0) },
		"deleted": func([]byte) error { return os.Remove(index) },
		"text": func(b []byte) error {
			return os.WriteFile(index, []byte(strings.Repeat("no index\n", len(b)/9)), 0o600)
		},
		"flipped":  func(b []byte) error { return flip(index, b, len(b)/2) },
		"shuffled": func(b []byte) error { return os.WriteFile(index, append(b[len(b)/3:], b[:len(b)/3]...), 0o600) },
	} {
		b, err := os.ReadFile(index)
		if err != nil {
			t.Fatal(err)
		}
		if err := harm(b); err != nil {
			t.Fatal(err)
		}
		before := len(warnings(s))
		s.Restart()
		right(name + " before a start")
		s.Terminate()
		lines := warnings(s)[before:]
		if damaged := name == "text" || name == "shuffled" || name == "flipped"; len(lines) > 1 || damaged && (len(lines) != 1 || !strings.Contains(lines[0], index)) {
			t.Errorf("%s before a start: the log has %q", name, lines)
		}

		if err := harm(b); errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		s.Restart()
		b, err = os.ReadFile(index)
		if err != nil {
			t.Fatal(err)
		}
		if err := harm(b); err != nil {
			t.Fatal(err)
		}
		right(name + " under a running server")
		s.Run("cache", "purge", "--faults", "--data", s.Data) // something to be saved
		s.Terminate()
		s.Restart()
		right(name + " under a server that ended then")
		s.Terminate()
	}
}

// TestNothingCanBeWritten has files where the folders of the data directory
// were, and later the whole directory deleted: answers stay right.
func TestNothingCanBeWritten(t *testing.T) {
	t.Parallel()
	up := trial.NewUpstream(t)
	var syms []trial.Sym
	for i := range 6 {
		syms = append(syms, trial.NewSym(i, 5000))
		up.Do(syms[i].Path(), syms[i])
	}
	s := trial.Start(t, trial.Options{Sources: []string{up.URL}})
	right := func(syms ...trial.Sym) {
		t.Helper()
		for _, sym := range syms {
			for i := range 3 {
				if wrong := s.Ask(sym, i); wrong != "" {
					t.Error(wrong)
				}
			}
		}
	}
	right(syms[:2]...)
	for _, folder := range []string{"tmp", "cache"} {
		remove(t, filepath.Join(s.Data, folder), func(path string) error { return os.WriteFile(path, nil, 0o600) })
	}
	right(syms[:4]...)
	built(t, s, 4) // in memory
	right(syms[:4]...)
	if lines := warnings(s); len(lines) != 1 || !strings.Contains(lines[0], s.Data) {
		t.Errorf("the log has %d lines: %q", len(lines), lines)
	}
	if status, body := s.Get("/__heartbeat__"); status == http.StatusOK {
		t.Errorf("the heartbeat reports no error: %s", body)
	}
	remove(t, s.Data, func(string) error { return nil })
	right(syms...)
	if n := s.Metric("downloads_total", `outcome="ok"`); n != 6 {
		t.Errorf("%v downloads of 6 files", n)
	}
}

// remove deletes a folder of a running server and does something in its
// place. The server may still write what it has answered already, into the
// folder that is being emptied: that is tried again.
func remove(t *testing.T, path string, then func(string) error) {
	t.Helper()
	var err error
	if !waittest.Becomes(func() bool {
		if err = os.RemoveAll(path); err == nil {
			err = then(path)
		}
		return err == nil
	}) {
		t.Fatal(err)
	}
}
