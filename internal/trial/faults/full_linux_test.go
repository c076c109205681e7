package faults_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha1"
	"encoding/base64"
	"fmt"
	"io"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"symbolon/internal/trial"
	"symbolon/internal/waittest"
)

// fill appends to a file until its disk is full.
func fill(t *testing.T, name string) {
	t.Helper()
	hog, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer hog.Close()
	for err == nil {
		_, err = hog.Write(make([]byte, 64<<10))
	}
}

// smallDisk returns a folder on a file system of a size.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "mode=0700,size="+size); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("mount: %v", err)
		}
		t.Skipf("a full disk needs the right to mount one (%v); TestNothingCanBeWritten needs none", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// TestFullDisk fills a small file system under the data directory. Modules are
// answered without it, and stored again after it has space.
func TestFullDisk(t *testing.T) {
	dir := smallDisk(t, "5m")
	up := trial.NewUpstream(t)
	var syms []trial.Sym
	for i := range 4 {
		syms = append(syms, trial.NewSym(i, 20_000))
		up.Do(syms[i].Path(), syms[i])
	}
	s := trial.Start(t, trial.Options{Sources: []string{up.URL}, Data: dir})
	right := func(sym trial.Sym) {
		t.Helper()
		for _, i := range []int{0, 10_000, 19_999} {
			if wrong := s.Ask(sym, i); wrong != "" {
				t.Error(wrong)
			}
		}
	}
	right(syms[0])
	built(t, s, 1)
	right(syms[0])
	hog := filepath.Join(dir, "hog")
	for i, sym := range syms[1:3] {
		fill(t, hog) // again: the server may have removed a temporary file
		right(sym)
		built(t, s, float64(i+2))
		right(sym)
	}
	waittest.Until(t, "the warning of a full disk", func() bool { return len(warnings(s)) > 0 })
	if lines := warnings(s); len(lines) != 1 || !strings.Contains(lines[0], dir) || !strings.Contains(lines[0], "is full") {
		t.Errorf("the log has %d lines: %q", len(lines), lines)
	}
	meta := len(cached(t, s, "meta"))
	if err := os.Remove(hog); err != nil {
		t.Fatal(err)
	}
	right(syms[3])
	waittest.Until(t, "what is new is kept", func() bool { return len(cached(t, s, "meta")) == meta+1 })
	built(t, s, 4)
	if s.Terminate() != 0 {
		t.Error("the server does not end well")
	}
	s.Restart()
	right(syms[3])
	if n := up.Count(syms[3].Path()); n != 1 {
		t.Errorf("what came when there was room was fetched %d times", n)
	}
}

// noise returns a symbol file that cannot be compressed much.
func noise(n, size int) []byte {
	b := fmt.Appendf(nil, "MODULE Linux x86_64 %032X0 n%d.so\n", n+1, n)
	random := rand.NewChaCha8([32]byte{byte(n)})
	line := make([]byte, 600)
	for addr := 0; len(b) < size; addr += 16 {
		_, _ = random.Read(line) // never fails
		b = fmt.Appendf(b, "PUBLIC %x 0 %s\n", addr, base64.RawURLEncoding.EncodeToString(line))
	}
	return b
}

// zipOf returns a zip with symbol files.
func zipOf(t *testing.T, files [][]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i, content := range files {
		w, err := z.Create(fmt.Sprintf("n%d.sym", i))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write(content) // to memory
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// form returns the body and the type of a form with files, which are named by their
// SHA-1.
func form(t *testing.T, field string, files ...[]byte) (body *bytes.Buffer, kind string) {
	t.Helper()
	body = &bytes.Buffer{}
	w := multipart.NewWriter(body)
	for _, content := range files {
		part, err := w.CreateFormFile(field, fmt.Sprintf("%x", sha1.Sum(content)))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = part.Write(content) // to memory
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return body, w.FormDataContentType()
}

// TestFullStore fills the disk of the uploaded files. Uploads and deletions are refused
// with the reason, and a refused upload takes no space.
func TestFullStore(t *testing.T) {
	dir := smallDisk(t, "6m")
	s := trial.Start(t, trial.Options{Set: []string{"state=" + dir}})
	used := func() int64 {
		var st syscall.Statfs_t
		if err := syscall.Statfs(dir, &st); err != nil {
			t.Fatal(err)
		}
		return int64(st.Blocks-st.Bfree) * st.Bsize
	}
	post := func(path string, body *bytes.Buffer, kind string, want int, text string) {
		t.Helper()
		resp, err := http.Post(s.URL+path, kind, body)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if got, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != want || !strings.Contains(string(got), text) {
			t.Errorf("%s: got %d %s, %v, want %d with %q", path, resp.StatusCode, got, err, want, text)
		}
	}
	upload := func(files [][]byte, want int, text string) {
		t.Helper()
		body, kind := form(t, "x.zip", zipOf(t, files))
		post("/upload/", body, kind, want, text)
	}
	var large [][]byte
	for i := range 10 {
		large = append(large, noise(i, 1<<20))
	}
	upload([][]byte{noise(100, 1000)}, http.StatusCreated, "upload")
	before := used()
	released := func(what string) {
		t.Helper()
		if now := used(); now > before+300<<10 {
			t.Errorf("%s: %d bytes of the disk are used, %d before", what, now, before)
		}
	}
	upload(large, http.StatusInsufficientStorage, "full")
	released("a zip")
	const chunkPath = "/api/0/organizations/acme/chunk-upload/"
	body, kind := form(t, "file", large...)
	post(chunkPath, body, kind, http.StatusInsufficientStorage, "full")
	released("chunks")
	whole := noise(11, 4<<20)
	body, kind = form(t, "file", whole)
	post(chunkPath, body, kind, http.StatusOK, "")
	order := fmt.Sprintf(`{"%x":{"name":"n.sym","chunks":["%[1]x"]}}`, sha1.Sum(whole))
	post("/api/0/projects/acme/default/files/difs/assemble/", bytes.NewBufferString(order), "application/json", http.StatusOK, "is full")
	released("a file that is assembled")

	hog := filepath.Join(dir, "hog")
	fill(t, hog)
	upload([][]byte{noise(101, 1000)}, http.StatusInsufficientStorage, "full")
	if err := os.Remove(hog); err != nil {
		t.Fatal(err)
	}
	upload([][]byte{noise(101, 1000)}, http.StatusCreated, "upload")
	if out, errs, code := s.Run("store", "check", "--data", s.Data); code != 0 {
		t.Errorf("store check: status %d, %s%s", code, out, errs)
	}
}
