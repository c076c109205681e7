package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"symbolon/internal/cli"
	"symbolon/internal/extract"
	"symbolon/internal/format/symbfile"
	"symbolon/internal/ident"
	"symbolon/internal/push"
	"symbolon/internal/trial"
)

const (
	pushSecret = "vnWcVZ0TQ0Sx-canary"
	pushKey    = "aWQ6dm5XY1ZaMFRRMFN4LWNhbmFyeQ==" // of id:pushSecret
)

// receiver is a server with the upload protocol. It checks and records requests.
type receiver struct {
	*httptest.Server
	t *testing.T

	mu        sync.Mutex
	foreign   http.HandlerFunc // answers questions; nil: what it has
	before    func(w http.ResponseWriter, r *http.Request, n int) bool
	requests  int
	sent      []string // kind, part and upload of what was taken
	waiting   map[string][][]byte
	published map[string][][]byte // by file and kind
	baseID    string
}

func newReceiver(t *testing.T) *receiver {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	s := &receiver{t: t, waiting: map[string][][]byte{}, published: map[string][][]byte{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /prefix/api/symbols-ranges", func(w http.ResponseWriter, r *http.Request) { s.take(w, r, "ranges") })
	mux.HandleFunc("POST /prefix/api/symbols-returnpads", func(w http.ResponseWriter, r *http.Request) { s.take(w, r, "returnpads") })
	mux.HandleFunc("GET /prefix/api/symbols/{id}", s.tell)
	s.Server = httptest.NewServer(mux)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s
}

func contentOf(parts [][]byte) string {
	all := sha256.New()
	for _, p := range parts {
		sum := sha256.Sum256(p)
		all.Write(sum[:])
	}
	return fmt.Sprintf("%x", all.Sum(nil))
}

// tell responds with the published contents of a file.
func (s *receiver) tell(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Header.Get("Authorization") != "ApiKey "+pushKey {
		s.t.Errorf("asked with %q", r.Header.Get("Authorization"))
	}
	if s.foreign != nil {
		s.foreign(w, r)
		return
	}
	answer := map[string]any{"fileid": r.PathValue("id"), "ranges": nil, "returnpads": nil}
	found := false
	for _, kind := range []string{"ranges", "returnpads"} {
		if parts := s.published[r.PathValue("id")+" "+kind]; parts != nil {
			found = true
			answer[kind] = map[string]any{"content": contentOf(parts), "parts": len(parts)}
		}
	}
	if !found {
		w.WriteHeader(http.StatusNotFound)
		answer = map[string]any{"error": map[string]string{"Code": "1000", "Text": "no"}}
	}
	_ = json.NewEncoder(w).Encode(answer)
}

var (
	uploadText = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	hexText    = regexp.MustCompile(`^([0-9a-f]{2})+$`)
	baseText   = regexp.MustCompile(`^0x[0-9a-f]+$`)
)

func (s *receiver) take(w http.ResponseWriter, r *http.Request, kind string) {
	s.mu.Lock()
	s.requests++
	n, before := s.requests, s.before
	s.mu.Unlock()
	if before != nil && before(w, r, n) {
		return
	}
	body, err := io.ReadAll(r.Body)
	h := r.Header
	id, badID := ident.ParseFileID(h.Get("FileID"))
	part, badPart := strconv.Atoi(h.Get("FilePart"))
	parts, badParts := strconv.Atoi(h.Get("FileParts"))
	upload := h.Get("Symbolon-Upload")
	build := h.Get("Symbolon-Build-ID")
	switch {
	case err != nil:
		return // the client went away
	case badID != nil || id.Base64() != h.Get("FileID"), badPart != nil, badParts != nil, part < 0, part >= parts, parts > 32767,
		r.ContentLength != int64(len(body)), len(r.TransferEncoding) > 0, h.Get("Content-Encoding") != "",
		h.Get("Authorization") != "ApiKey "+pushKey, !uploadText.MatchString(upload), build != "" && !hexText.MatchString(build),
		!baseText.MatchString(h.Get("Symbolon-Image-Base")):
		s.t.Errorf("a bad request: %v %v", h, r.TransferEncoding)
	}
	in := symbfile.NewReader(bytes.NewReader(body))
	in.Strict = true
	err = eachReadRecord(in, func(rec symbfile.Record) {
		if (rec.Range != nil) != (kind == "ranges") {
			s.t.Errorf("a record of the other kind in %s", kind)
		}
	})
	if err != nil || !bytes.HasPrefix(body, []byte("symbfile")) {
		s.t.Errorf("part %d of %s cannot be read alone: %v", part, kind, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	file := id.Base64() + " " + kind
	if kind == "returnpads" && s.published[id.Base64()+" ranges"] == nil && s.foreign == nil {
		s.t.Error("pads came before ranges")
	}
	if len(s.waiting[file+upload]) != parts {
		s.waiting[file+upload] = make([][]byte, parts)
	}
	s.waiting[file+upload][part] = body
	s.sent = append(s.sent, fmt.Sprintf("%s %d %s", kind, part, upload))
	s.baseID = build
	if !slices.ContainsFunc(s.waiting[file+upload], func(b []byte) bool { return b == nil }) {
		s.published[file] = s.waiting[file+upload]
	}
	say(w, `{"success": true, "status": 200}`)
}

func eachReadRecord(in *symbfile.Reader, use func(symbfile.Record)) error {
	for {
		rec, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		use(rec)
	}
}

// refuse writes an error of the protocol.
func refuse(w http.ResponseWriter, status int, code, text string) {
	w.WriteHeader(status)
	say(w, `{"success": false, "uuid": "0b1c1f4e-7a53-4b6e-9a0c-6f3a8f1f2d11", "error": {"Code": %q, "Text": %q}, "status": %d}`, code, text, status)
}

func (s *receiver) url() string { return s.URL + "/prefix/" }

// taken returns the uploads since the last call.
func (s *receiver) taken() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	sent := s.sent
	s.sent, s.requests = nil, 0
	return sent
}

// count returns the number of requests since then.
func (s *receiver) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

func (s *receiver) misbehave(do func(w http.ResponseWriter, r *http.Request, n int) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before = do
}

// push runs the command, with short waits before retries.
func (s *receiver) push(args ...string) (stdout, stderr string, code int) {
	return s.pushUntil(s.t.Context(), args...)
}

func (s *receiver) pushUntil(ctx context.Context, args ...string) (stdout, stderr string, code int) {
	s.t.Helper()
	var out, errs bytes.Buffer
	e := &env{stdin: strings.NewReader(""), stdout: &out, stderr: &errs, environ: []string{"SYMBOLON_PUSH_URL=" + s.url(), "SYMBOLON_PUSH_KEY=" + pushKey}, tty: true}
	f := newPushFlags()
	f.pause = time.Millisecond
	c := f.command(e)
	c.SilenceErrors, c.SilenceUsage = true, true
	c.SetFlagErrorFunc(cli.FlagError)
	c.SetArgs(args)
	err := c.ExecuteContext(ctx)
	var usage *cli.UsageError
	switch {
	case errors.As(err, &usage):
		code = exitUsage
	case err != nil:
		code = exitFailed
	}
	if err != nil {
		say(&errs, "%v\n", err)
	}
	left, err := os.ReadDir(os.TempDir())
	if err != nil || len(left) > 0 {
		s.t.Errorf("temporary files are left: %v, %v", left, err)
	}
	for _, text := range []string{out.String(), errs.String()} {
		if strings.Contains(text, pushSecret) || strings.Contains(text, pushKey) {
			s.t.Errorf("the output has the key: %s", text)
		}
	}
	return out.String(), errs.String(), code
}

// journals returns the names of the journals.
func journals(t *testing.T) (names []string) {
	t.Helper()
	dir := filepath.Join(os.Getenv("XDG_CACHE_HOME"), "symbolon", "push")
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range list {
		names = append(names, filepath.Join(dir, d.Name()))
	}
	return names
}

func corpusPath(name string) string {
	return filepath.Join("..", "..", "internal", "object", "testdata", "corpus", name)
}

// recordsOf returns all records of files as text.
func recordsOf(t *testing.T, files ...[]byte) string {
	t.Helper()
	var text bytes.Buffer
	for _, f := range files {
		if err := extract.WriteJSON(t.Context(), &text, bytes.NewReader(f)); err != nil {
			t.Fatal(err)
		}
	}
	return text.String()
}

// extracted returns the records that the symbfile command extracts from a file.
func extracted(t *testing.T, name string) (ranges, pads string) {
	t.Helper()
	dir := t.TempDir()
	if out, code := runHere(t, nil, "symbfile", "extract", "-e", name, "--ranges", dir+"/r", "--retpads", dir+"/p"); code != 0 {
		t.Fatal(out)
	}
	r, errR := os.ReadFile(dir + "/r")
	p, errP := os.ReadFile(dir + "/p")
	if err := errors.Join(errR, errP); err != nil {
		t.Fatal(err)
	}
	return recordsOf(t, r), recordsOf(t, p)
}

func TestPushedPartsAreTheExtraction(t *testing.T) {
	s := newReceiver(t)
	for _, name := range []string{"gcc-cc-dwarf5", "debuglink", "aarch64", "no-build-id"} {
		path := corpusPath(name)
		out, errs, code := s.push("-e", path, "--part-size", "300B")
		if code != 0 {
			t.Fatal(errs)
		}
		file := trial.Corpus(t, name)
		id, err := ident.NewFileID(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			t.Fatal(err)
		}
		sent := s.taken()
		ranges, pads := s.published[id.Base64()+" ranges"], s.published[id.Base64()+" returnpads"]
		if len(ranges) < 2 || len(pads) < 1 || len(sent) != len(ranges)+len(pads) {
			t.Fatalf("%s: %d and %d parts, %v", name, len(ranges), len(pads), sent)
		}
		wantRanges, wantPads := extracted(t, path)
		if recordsOf(t, ranges...) != wantRanges || recordsOf(t, pads...) != wantPads {
			t.Errorf("%s: the parts have other records", name)
		}
		if want := fmt.Sprintf("%s %s: %d ranges in %d parts, ", path, id.Base64(), strings.Count(wantRanges, "\n"), len(ranges)); !strings.HasPrefix(out, want) || !strings.HasSuffix(out, " sent\n") {
			t.Errorf("%q is not %q", out, want)
		}
		if (s.baseID == "") != (name == "no-build-id") {
			t.Errorf("%s has the build id %q", name, s.baseID)
		}
		if left := journals(t); len(left) > 0 {
			t.Errorf("journals are left: %v", left)
		}
	}
}

// A program whose calls cannot be read has ranges, and no return pads.
func TestAProgramWithoutPadsIsPushed(t *testing.T) {
	s := newReceiver(t)
	for name, arch := range map[string]string{"mips-be": "mips", "ppc64-elfv1": "ppc64", "s390x-be": "s390x"} {
		path := corpusPath(name)
		out, errs, code := s.push(path)
		if want := "symbolon: " + path + ": ranges only: binary: unsupported: return pads are not supported for " + arch + "\n"; code != 0 || strings.Count(errs, want) != 1 || strings.Count(errs, "symbolon: ") != 1 || !strings.Contains(out, ", 0 pads in 1 part, ") {
			t.Errorf("%s: %d: %s%s", name, code, out, errs)
		}
		if sent := s.taken(); len(sent) != 2 || !strings.HasPrefix(sent[0], "ranges 0 ") || !strings.HasPrefix(sent[1], "returnpads 0 ") {
			t.Errorf("%s: %v", name, sent)
		}
		file := trial.Corpus(t, name)
		id, err := ident.NewFileID(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			t.Fatal(err)
		}
		if got := recordsOf(t, s.published[id.Base64()+" ranges"]...); strings.Count(got, "\n") < 5 {
			t.Errorf("%s: ranges %s", name, got)
		}
		if pads := s.published[id.Base64()+" returnpads"]; len(pads) != 1 || recordsOf(t, pads...) != "" {
			t.Errorf("%s: pads %x", name, pads)
		}
		if out, _, code := s.push(path); code != 0 || len(s.taken()) != 0 || !strings.HasSuffix(out, ", the server has it already\n") {
			t.Errorf("%s, again: %d: %s", name, code, out)
		}
	}
	d := startDepot(t, "", t.TempDir())
	for _, want := range []string{" sent\n", ", the server has it already\n"} {
		if out := doing(t, "push", corpusPath("s390x-be"), "--url", d.url, "--api-key", d.key); !strings.HasSuffix(out, want) {
			t.Errorf("to a server of ours: %s", out)
		}
	}
}

func TestKnownContentIsNotPushedAgain(t *testing.T) {
	s := newReceiver(t)
	file := corpusPath("gcc-cc-dwarf5")
	if _, errs, code := s.push(file); code != 0 {
		t.Fatal(errs)
	}
	all := len(s.taken())
	out, errs, code := s.push(file)
	if code != 0 || len(s.taken()) != 0 || !strings.HasSuffix(out, ", the server has it already\n") {
		t.Errorf("%d: %s%s", code, out, errs)
	}
	for key := range s.published {
		if strings.HasSuffix(key, "returnpads") {
			delete(s.published, key)
		}
	}
	out, _, code = s.push(file, "--json")
	var r push.Result
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != 0 || r.Status != "sent" || !r.Ranges.Known || r.Pads.Known || r.Bytes != r.Pads.Size || r.Pads.Content == "" {
		t.Errorf("%v: %s", err, out)
	}
	if sent := s.taken(); len(sent) != 1 || !strings.HasPrefix(sent[0], "returnpads 0 ") {
		t.Errorf("sent: %v", sent)
	}
	if _, errs, code := s.push(file, "--force"); code != 0 || len(s.taken()) != all {
		t.Error(errs)
	}
}

func TestAPushWorksWithoutContentQueries(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"not found":     http.NotFound,
		"a page":        func(w http.ResponseWriter, _ *http.Request) { say(w, "<html>welcome") },
		"other JSON":    func(w http.ResponseWriter, _ *http.Request) { say(w, `{"ranges":{"content":"x"}}`) },
		"an array":      func(w http.ResponseWriter, _ *http.Request) { say(w, `[]`) },
		"not allowed":   func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusMethodNotAllowed) },
		"unauthorized":  func(w http.ResponseWriter, _ *http.Request) { refuse(w, http.StatusUnauthorized, "1008", "no") },
		"broken":        func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
		"no answer":     func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"a redirection": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newReceiver(t)
			s.foreign = answer
			if out, errs, code := s.push(corpusPath("gcc-cc-dwarf5")); code != 0 || len(s.taken()) != 2 {
				t.Errorf("%d: %s%s", code, out, errs)
			}
		})
	}
}

func TestADryPushSendsNothing(t *testing.T) {
	s := newReceiver(t)
	dir := t.TempDir()
	file := corpusPath("gcc-cc-dwarf5")
	out, errs, code := s.push("-e", file, "--dry-run", "--out", dir, "--part-size", "300")
	if code != 0 || s.count() != 0 || !strings.HasSuffix(out, " not sent\n") {
		t.Fatalf("%d: %s%s", code, out, errs)
	}
	found, err := filepath.Glob(dir + "/MYkoFPFsriYHlAk_uv1TSw/ranges.*.symbfile")
	if err != nil || len(found) < 2 {
		t.Fatal(found, err)
	}
	var files [][]byte
	for i := range found {
		b, err := os.ReadFile(fmt.Sprintf("%s/MYkoFPFsriYHlAk_uv1TSw/ranges.%dof%d.symbfile", dir, i, len(found)))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, b)
	}
	if want, _ := extracted(t, file); recordsOf(t, files...) != want {
		t.Error("the parts have other records")
	}
	if _, err := os.Stat(dir + "/MYkoFPFsriYHlAk_uv1TSw/returnpads.0of1.symbfile"); err != nil {
		t.Error(err)
	}
}

func TestAWrongPushIsRefused(t *testing.T) {
	s := newReceiver(t)
	file := corpusPath("gcc-cc-dwarf5")
	for _, c := range []struct {
		want string
		args []string
	}{
		{"is required", nil},
		{"exactly one FILE", []string{"-e", file, "-d", file, file}},
		{"exactly one FILE", []string{corpusPath("gcc-dwarf*"), "-d", file}},
		{"exactly one FILE", []string{"-p", "x", "-d", file}},
		{"did you mean https://symbolizer.example:8240?", []string{file, "-u", "symbolizer.example:8240"}},
		{"did you mean https://symbolizer?", []string{file, "--url", "symbolizer"}},
		{"must start with http", []string{file, "--url", "ftp://symbolizer"}},
		{"must start with http", []string{file, "--url", "http://"}},
		{"must not contain credentials", []string{file, "--url", "http://id:" + pushSecret + "@symbolizer"}},
		{"must start with http", []string{file, "--url", "id:" + pushSecret + "@symbolizer"}},
		{"must be printable ASCII", []string{file, "-t", pushKey + "\nX: y"}},
		{"1 or more", []string{file, "--parallel", "0"}},
		{"1 or more", []string{file, "--part-size", "0"}},
	} {
		if _, errs, code := s.push(c.args...); code != exitUsage || !strings.Contains(errs, c.want) {
			t.Errorf("%q: %d, %s", c.args, code, errs)
		}
	}
	for _, environ := range [][]string{{"SYMBOLON_PUSH_URL=" + s.url()}, {"SYMBOLON_PUSH_KEY=" + pushKey}} {
		if out, code := runHere(t, environ, "push-symbols", "executable", "-e", file); code != exitUsage {
			t.Error(out)
		}
	}
	if s.count() != 0 {
		t.Error("something was sent")
	}
	if out, code := runHere(t, nil, "push-symbols", "executable", "-e", file, "-u", s.url(), "-t", "id:"+pushSecret); code != 0 || len(s.taken()) != 2 || strings.Contains(out, "\r") {
		t.Error(out)
	}
}
