package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"symbolon/internal/trial"
)

// drop closes a connection without a response.
func drop(http.ResponseWriter) { panic(http.ErrAbortHandler) }

func TestAPushIsRetried(t *testing.T) {
	s := newReceiver(t)
	began := time.Now()
	s.misbehave(func(w http.ResponseWriter, r *http.Request, n int) bool {
		switch n {
		case 1:
			refuse(w, http.StatusInternalServerError, "1000", "Something went wrong on our side.")
		case 2:
			w.Header().Set("Retry-After", "1")
			refuse(w, http.StatusTooManyRequests, "1010", "overloaded")
		case 3:
			_, _ = io.CopyN(io.Discard, r.Body, 20)
			drop(w)
		case 4:
			w.WriteHeader(http.StatusRequestTimeout)
		default:
			return false
		}
		return true
	})
	if _, errs, code := s.push(corpusPath("gcc-cc-dwarf5"), "--parallel", "1"); code != 0 {
		t.Fatal(errs)
	}
	if took := time.Since(began); took < time.Second || s.count() != 6 {
		t.Errorf("%d requests in %v", s.count(), took)
	}
}

func TestAPushThatKeepsFailingEnds(t *testing.T) {
	s := newReceiver(t)
	for name, c := range map[string]struct {
		do    func(w http.ResponseWriter)
		tries int
		want  string
	}{
		"broken":    {func(w http.ResponseWriter) { refuse(w, 500, "1000", "Something went wrong on our side.") }, 5, "tried 5 times: the server answers 500 Internal Server Error, code 1000: Something went wrong on our side. (uuid 0b1c1f4e-"},
		"dropped":   {drop, 5, "tried 5 times: "},
		"malformed": {func(w http.ResponseWriter) { refuse(w, 400, "1003", "bad\nrecord at 17 of "+pushSecret) }, 1, "ranges, part 0 of 1: the server answers 400 Bad Request, code 1003: bad record at 17 of [key] (uuid 0b1c1f4e-7a53-4b6e-9a0c-6f3a8f1f2d11)\n"},
		"conflict":  {func(w http.ResponseWriter) { refuse(w, 409, "1005", "conflict") }, 1, "409 Conflict, code 1005: conflict"},
		"no page":   {func(w http.ResponseWriter) { w.WriteHeader(404); say(w, "<html>") }, 1, "the server answers 404 Not Found\n"},
		"no key":    {func(w http.ResponseWriter) { refuse(w, 401, "1008", "no key "+pushKey) }, 1, "the server rejects this key: "},
		"a page":    {func(w http.ResponseWriter) { say(w, "<html>welcome") }, 1, "unexpected response: is --url"},
		"nothing":   {func(w http.ResponseWriter) { w.WriteHeader(204) }, 1, "unexpected response: is --url"},
		"a number": {func(w http.ResponseWriter) {
			w.WriteHeader(400)
			say(w, `{"success":false,"uuid":"u1","error":{"Code":1003,"Text":"bad"},"status":400}`)
		}, 1, "400 Bad Request, code 1003: bad (uuid u1)"},
		"a lie": {func(w http.ResponseWriter) { say(w, `{"success":false,"status":503,"error":{"Code":"1010"}}`) }, 5, "503 Service Unavailable, code 1010"},
	} {
		s.taken()
		s.misbehave(func(w http.ResponseWriter, _ *http.Request, _ int) bool { c.do(w); return true })
		_, errs, code := s.push(corpusPath("gcc-cc-dwarf5"))
		if code != exitFailed || s.count() != c.tries || !strings.Contains(errs, c.want) {
			t.Errorf("%s: %d, %d requests, %s", name, code, s.count(), errs)
		}
	}
	s.misbehave(nil)
	s.Close()
	if _, errs, code := s.push(corpusPath("gcc-cc-dwarf5")); code != exitFailed || !strings.Contains(errs, "refused") {
		t.Errorf("%d, %s", code, errs)
	}
}

func TestAPushFollowsNoRedirect(t *testing.T) {
	var asked atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer other.Close()
	s := newReceiver(t)
	away := func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL+"/?"+pushKey, http.StatusTemporaryRedirect)
	}
	s.foreign = away
	s.misbehave(func(w http.ResponseWriter, r *http.Request, _ int) bool { away(w, r); return true })
	_, errs, code := s.push(corpusPath("gcc-cc-dwarf5"))
	if code != exitFailed || asked.Load() != 0 || !strings.Contains(errs, "and redirects to "+other.URL+"/?[key]: if that is right") {
		t.Errorf("%d, %d requests, %s", code, asked.Load(), errs)
	}
}

// dieAt makes a server fail from its nth request on.
func (s *receiver) dieAt(n int) {
	s.taken()
	s.misbehave(func(w http.ResponseWriter, _ *http.Request, at int) bool {
		if at >= n {
			refuse(w, http.StatusBadRequest, "1000", "dead")
		}
		return at >= n
	})
}

// uploadOf returns the upload of all sent parts.
func uploadOf(t *testing.T, sent []string) (upload string) {
	t.Helper()
	for _, line := range sent {
		this := line[strings.LastIndexByte(line, ' ')+1:]
		if strings.HasPrefix(line, "ranges") && upload != "" && this != upload {
			t.Errorf("several uploads: %q", sent)
		}
		if strings.HasPrefix(line, "ranges") {
			upload = this
		}
	}
	return upload
}

func TestAnInterruptedPushContinues(t *testing.T) {
	s := newReceiver(t)
	args := []string{corpusPath("gcc-cc-dwarf5"), "--part-size", "100", "--parallel", "1"}
	if _, errs, code := s.push(args...); code != 0 {
		t.Fatal(errs)
	}
	all := s.taken()
	begun := func() (first []string) {
		t.Helper()
		clear(s.published)
		s.dieAt(4)
		if _, _, code := s.push(args...); code != exitFailed || len(journals(t)) != 1 {
			t.Fatal(journals(t))
		}
		first = s.taken()
		s.misbehave(nil)
		return first
	}
	rest := func() (second []string) {
		t.Helper()
		if _, errs, code := s.push(args...); code != 0 || len(journals(t)) != 0 {
			t.Fatal(errs, journals(t))
		}
		return s.taken()
	}
	first := begun()
	second := rest()
	if len(first) != 3 || len(second) != len(all)-3 || uploadOf(t, first) != uploadOf(t, second) || uploadOf(t, first) == uploadOf(t, all) {
		t.Errorf("%q, then %q, of %q", first, second, all)
	}
	for name, spoil := range map[string]func(path, text string) string{
		"damaged":     func(_, text string) string { return text[:len(text)/2] },
		"empty":       func(string, string) string { return "" },
		"other parts": func(_, text string) string { return strings.Replace(text, `"parts":`, `"parts":1`, 1) },
		"no nonce":    func(_, text string) string { return strings.Replace(text, `"nonce":"`, `"nonce":"00`, 1) },
		"outside":     func(_, text string) string { return strings.Replace(text, `"0":`, `"-1":`, 1) },
		"old": func(_, text string) string {
			now := time.Now().Unix() / 100000
			return strings.ReplaceAll(text, fmt.Sprintf(":%d", now), fmt.Sprintf(":%d", now-1))
		},
		"very old": func(path, text string) string {
			t := time.Now().Add(-25 * time.Hour)
			_ = os.Chtimes(path, t, t)
			return ""
		},
	} {
		first = begun()
		path := journals(t)[0]
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if new := spoil(path, string(text)); name != "very old" {
			if err := os.WriteFile(path, []byte(new), 0o600); err != nil || new == string(text) {
				t.Fatal(err, new)
			}
		}
		if second := rest(); len(second) != len(all) || uploadOf(t, first) == uploadOf(t, second) {
			t.Errorf("%s: %q, then %q", name, first, second)
		}
	}
	begun()
	args = append(args, "--force")
	if second := rest(); len(second) != len(all) {
		t.Errorf("with force: %q", second)
	}
}

func TestPartsThatAServerLostAreSentAgain(t *testing.T) {
	s := newReceiver(t)
	args := []string{corpusPath("gcc-cc-dwarf5"), "--part-size", "100", "--parallel", "1"}
	if _, errs, code := s.push(args...); code != 0 {
		t.Fatal(errs)
	}
	all := len(s.taken())
	clear(s.published)
	s.dieAt(4)
	if _, _, code := s.push(args...); code != exitFailed {
		t.Fatal("it did not fail")
	}
	s.taken()
	s.misbehave(nil)
	clear(s.waiting)
	if _, errs, code := s.push(args...); code != 0 {
		t.Fatal(errs)
	}
	if sent := s.taken(); len(sent) != all+1 || len(s.published) != 2 {
		t.Errorf("%d of %d: %q", len(sent), all, sent)
	}
}

func TestAnInterruptEndsAPush(t *testing.T) {
	s := newReceiver(t)
	ctx, interrupt := context.WithCancel(t.Context())
	free := make(chan struct{})
	defer close(free)
	s.misbehave(func(_ http.ResponseWriter, r *http.Request, n int) bool {
		if n < 3 {
			return false
		}
		interrupt()
		<-free
		return true
	})
	args := []string{corpusPath("gcc-cc-dwarf5"), "--part-size", "100", "--parallel", "1"}
	began := time.Now()
	_, errs, code := s.pushUntil(ctx, args...)
	if code != exitFailed || time.Since(began) > 10*time.Second || !strings.Contains(errs, "context canceled") {
		t.Errorf("%d after %v: %s", code, time.Since(began), errs)
	}
	first := s.taken()
	s.misbehave(nil)
	if _, errs, code := s.push(args...); code != 0 {
		t.Fatal(errs)
	}
	if second := s.taken(); len(first) != 2 || len(journals(t)) != 0 || uploadOf(t, first) != uploadOf(t, second) {
		t.Errorf("%q, then %q", first, second)
	}
}

func TestAPushContinuesAfterAFileThatFails(t *testing.T) {
	s := newReceiver(t)
	out, errs, code := s.push("nowhere", corpusPath("gcc-cc-dwarf5"), "--json", corpusPath("debuglink.debug"))
	if code != exitFailed || len(s.taken()) != 2 || strings.Count(out, "\n") != 3 || !strings.Contains(out, `"status":"failed"`) {
		t.Errorf("%d: %s%s", code, out, errs)
	}
	if !strings.Contains(errs, "symbolon: nowhere: no such file or directory\n") || !strings.Contains(errs, "and no code") || strings.Count(errs, "symbolon: ") != 2 {
		t.Error(errs)
	}
	s.misbehave(func(w http.ResponseWriter, _ *http.Request, _ int) bool {
		refuse(w, 403, "1009", "no right")
		return true
	})
	if _, errs, code := s.push(corpusPath("gcc-dwarf5"), corpusPath("gcc-dwarf4")); code != exitFailed || s.count() != 1 {
		t.Errorf("%d requests: %s", s.count(), errs)
	}
}

// fill copies files of the corpus into a folder.
func fill(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, name), trial.Corpus(t, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAFolderIsPushed(t *testing.T) {
	s := newReceiver(t)
	dir := t.TempDir()
	if err := os.Mkdir(dir+"/sub", 0o755); err != nil {
		t.Fatal(err)
	}
	fill(t, dir, "gcc-dwarf5", "gcc-dwarf5.want", "object.o", "module.ko", "pe-x86_64.exe", "debuglink", "debuglink.debug")
	fill(t, dir+"/sub", "gcc-dwarf5", "aarch64")
	for name, to := range map[string]string{"loop": ".", "sub/loop": "..", "self": "self", "broken": "nowhere", "link": "gcc-dwarf5"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"empty": "", "short": "\x7fELF", "text": strings.Repeat("text", 100), "locked": "secret"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, errs, code := s.push(dir)
	if code != 0 || strings.Count(out, " sent\n") != 3 || strings.Count(out, "\n") != 4 || !strings.Contains(out, dir+"/sub/gcc-dwarf5 ") || !strings.Contains(out, ": the same as "+dir+"/gcc-dwarf5\n") {
		t.Errorf("%d: %s%s", code, out, errs)
	}
	if err := os.Symlink(dir, dir+"/sub/root"); err != nil {
		t.Fatal(err)
	}
	if out, _, code := s.push(dir + "/sub/root"); code != 0 || strings.Count(out, "has it already\n") != 3 {
		t.Errorf("by a link: %s", out)
	}
	if out, _, code := s.push(dir + "/*-dwarf[45]"); code != 0 || strings.Count(out, "\n") != 1 {
		t.Errorf("by a pattern: %s", out)
	}
	// A file that cannot be read is a failure, unless the user may read all files.
	if err := os.Chmod(dir+"/locked", 0); err != nil {
		t.Fatal(err)
	}
	want := exitFailed
	if os.Geteuid() == 0 {
		want = exitDone
	}
	if out, errs, code := s.push(dir); code != want || strings.Contains(errs, dir+"/locked: ") != (want == exitFailed) || strings.Count(out, "has it already\n") != 3 {
		t.Errorf("%d: %s%s", code, out, errs)
	}
	for name, want := range map[string]string{
		dir + "/x*": "no file matches the pattern", dir + "/[": "syntax error", dir + "/text": "not an ELF program", dir + "/object.o": "not an ELF program", dir + "/self": "symbolic links",
		dir + "/debuglink.debug": "name the file that runs", os.DevNull: "not a regular file",
	} {
		if _, errs, code := s.push(name); code != exitFailed || !strings.Contains(errs, want) {
			t.Errorf("%s: %d, %s", name, code, errs)
		}
	}
}
