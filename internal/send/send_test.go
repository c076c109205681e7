package send_test

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"symbolon/internal/bucket/buckettest"
	"symbolon/internal/bucket/mem"
	"symbolon/internal/console"
	"symbolon/internal/send"
	"symbolon/internal/store"
)

// server is a server for uploads in memory.
type server struct {
	*httptest.Server
	mu     sync.Mutex
	chunks map[string]string
	files  map[string]string // by sum
	labels []string
	busy   int    // answers 503 to come
	bad    string // a name that is refused
	lost   string // the sum of a chunk that gets lost once it was asked for

	compression string // of the limits
	maxFile     int64  // of the limits
	field       string // of the last chunk
}

const token = "tok-1"

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{chunks: map[string]string{}, files: map[string]string{}}
	m := http.NewServeMux()
	m.HandleFunc("GET /api/0/organizations/{org}/chunk-upload/", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"url":"/organizations/symbolon/chunk-upload/","chunkSize":1000,"chunksPerRequest":3,"maxRequestSize":2500,"concurrency":4,"maxFileSize":%d%s}`, s.maxFile, s.compression)
	})
	m.HandleFunc("POST /api/0/organizations/{org}/chunk-upload/", s.store)
	m.HandleFunc("POST /api/0/projects/{org}/orchard/files/difs/assemble/", s.assemble)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		switch {
		case s.busy > 0:
			s.busy--
			w.WriteHeader(http.StatusServiceUnavailable)
		case r.Header.Get("Authorization") != "Bearer "+token:
			w.WriteHeader(http.StatusUnauthorized)
		default:
			m.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func sum(text string) string {
	h := sha1.Sum([]byte(text))
	return hex.EncodeToString(h[:])
}

func (s *server) store(w http.ResponseWriter, r *http.Request) {
	form, err := r.MultipartReader()
	for n := 0; err == nil; n++ {
		part, e := form.NextPart()
		if e == io.EOF {
			return
		}
		if err = e; err != nil {
			break
		}
		s.field = part.FormName()
		var z io.Reader
		if s.field == "file_zstd" {
			z, err = zstd.NewReader(part, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(1<<20))
		} else {
			z, err = gzip.NewReader(part)
		}
		if err != nil {
			break
		}
		text, e := io.ReadAll(z)
		if err = e; err == nil && (sum(string(text)) != part.FileName() || n == 3) {
			err = fmt.Errorf("part %d is wrong", n)
		}
		s.chunks[part.FileName()] = string(text)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
	}
}

func (s *server) assemble(w http.ResponseWriter, r *http.Request) {
	s.labels = r.URL.Query()["label"]
	var entries map[string]struct {
		Name   string
		Chunks []string
	}
	if err := json.NewDecoder(r.Body).Decode(&entries); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	answer := map[string]any{}
	for key, e := range entries {
		var text strings.Builder
		missing := []string{}
		if len(s.chunks) > 0 {
			delete(s.chunks, s.lost)
			s.lost = ""
		}
		for _, c := range e.Chunks {
			if _, ok := s.chunks[c]; !ok {
				missing = append(missing, c)
			}
			text.WriteString(s.chunks[c])
		}
		switch {
		case s.files[key] != "":
			answer[key] = map[string]any{"state": "ok", "missingChunks": missing}
		case len(missing) > 0:
			answer[key] = map[string]any{"state": "not_found", "missingChunks": missing}
		case e.Name == s.bad:
			answer[key] = map[string]any{"state": "error", "missingChunks": missing, "detail": "it is bad"}
		case sum(text.String()) != key:
			answer[key] = map[string]any{"state": "error", "missingChunks": missing, "detail": "Reported checksum mismatch"}
		default:
			s.files[key] = text.String()
			answer[key] = map[string]any{"state": "ok", "missingChunks": missing}
		}
	}
	_ = json.NewEncoder(w).Encode(answer) // the client may be gone
}

// symFile returns a Breakpad file with an id of these digits and at least size bytes.
func symFile(digit string, size int) string {
	var text strings.Builder
	text.WriteString("MODULE Linux x86_64 " + strings.Repeat(digit, 32) + "0 app\n")
	for n := 0; text.Len() < size; n++ {
		fmt.Fprintf(&text, "PUBLIC %x 0 name%d\n", n*16+16, n)
	}
	return text.String()
}

// upload uploads paths and returns the outcomes by path below dir.
func upload(t *testing.T, cfg send.Config, dir string, paths ...string) (outcomes []string, skipped send.Skipped, err error) {
	t.Helper()
	cfg.RetryWait = 1
	r, err := send.NewRemote(cfg)
	if err != nil {
		t.Fatal(err)
	}
	r.Done = func(o send.Outcome) {
		at, _ := filepath.Rel(dir, o.File.Path) // it is below
		outcomes = append(outcomes, fmt.Sprintf("%s %s %s", at, o.State, o.Detail))
	}
	skipped, err = send.Upload(t.Context(), r, paths, "", func(path string, err error) {
		outcomes = append(outcomes, fmt.Sprintf("%s failed: %v", filepath.Base(path), err))
	})
	slices.Sort(outcomes)
	return outcomes, skipped, err
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	at := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestFolderIsUploaded(t *testing.T) {
	s, dir := newServer(t), t.TempDir()
	long, short := symFile("A", 12_345), symFile("B", 100)
	write(t, dir, "deep/a.sym", long)
	write(t, dir, "b.sym", short)
	write(t, dir, "readme.txt", "hello")
	write(t, dir, "void", "")
	cfg := send.Config{URL: s.URL, Token: token, Project: "orchard", Labels: map[string]string{"version": "1.2"}, Parallel: 2}
	s.busy = 2
	got, skipped, err := upload(t, cfg, dir, dir)
	if want := "b.sym uploaded , deep/a.sym uploaded "; err != nil || strings.Join(got, ", ") != want {
		t.Fatalf("got %q, %v; want %q", got, err, want)
	}
	if s.files[sum(long)] != long || s.files[sum(short)] != short {
		t.Error("the server has other contents")
	}
	if skipped.Other != 2 || len(skipped.Nameless) != 0 {
		t.Errorf("skipped %+v, want 2 other files", skipped)
	}
	if want := "version=1.2"; strings.Join(s.labels, ",") != want {
		t.Errorf("got the labels %q, want %q", s.labels, want)
	}
	got, _, err = upload(t, cfg, dir, dir)
	if want := "b.sym known , deep/a.sym known "; err != nil || strings.Join(got, ", ") != want {
		t.Errorf("the second time: got %q, %v; want %q", got, err, want)
	}
}

func TestInterruptedUploadContinues(t *testing.T) {
	s, dir := newServer(t), t.TempDir()
	long := symFile("C", 5_500)
	write(t, dir, "c.sym", long)
	for off := 0; off < 4000; off += 1000 {
		s.chunks[sum(long[off:off+1000])] = long[off : off+1000]
	}
	r, err := send.NewRemote(send.Config{URL: s.URL, Token: token, Project: "orchard", Parallel: 1})
	if err != nil {
		t.Fatal(err)
	}
	var sent int64
	r.Done = func(o send.Outcome) { sent += o.Sent }
	if _, err := send.Upload(t.Context(), r, []string{dir}, "", func(path string, err error) { t.Error(path, err) }); err != nil {
		t.Fatal(err)
	}
	if want := int64(len(long) - 4000); sent != want {
		t.Errorf("sent %d bytes, want the missing %d", sent, want)
	}
}

func TestChunksHaveTheCodingThatTheServerTakes(t *testing.T) {
	for compression, want := range map[string]string{
		"":                                 "file_gzip",
		`,"compression":["gzip"]`:          "file_gzip",
		`,"compression":["gzip","brotli"]`: "file_gzip",
		`,"compression":["gzip", "zstd"]`:  "file_zstd",
	} {
		s, dir := newServer(t), t.TempDir()
		s.compression = compression
		long := symFile("A", 2_500)
		write(t, dir, "a.sym", long)
		_, _, err := upload(t, send.Config{URL: s.URL, Token: token, Project: "orchard", Parallel: 1}, dir, dir)
		if err != nil || s.files[sum(long)] != long || s.field != want {
			t.Errorf("%s: got the field %q, %v; want %q", compression, s.field, err, want)
		}
	}
}

func TestLostChunkIsSentAgain(t *testing.T) {
	s, dir := newServer(t), t.TempDir()
	long := symFile("A", 2_500)
	write(t, dir, "a.sym", long)
	s.lost = sum(long[1000:2000])
	got, _, err := upload(t, send.Config{URL: s.URL, Token: token, Project: "orchard", Parallel: 1}, dir, dir)
	if want := "a.sym uploaded "; err != nil || strings.Join(got, ", ") != want || s.files[sum(long)] != long {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}

func TestRefusedFilesAreNotCountedAsUploaded(t *testing.T) {
	s, dir := newServer(t), t.TempDir()+"\n"
	s.bad = "bad.sym"
	write(t, dir, "bad.sym", symFile("D", 10))
	r, err := send.NewRemote(send.Config{URL: s.URL, Token: token, Project: "orchard", Parallel: 1})
	if err != nil {
		t.Fatal(err)
	}
	var errs strings.Builder
	report := send.NewReport(io.Discard, &errs, console.NewProgress(nil, "", "", time.Time{}, nil), false)
	r.Done = report.Done
	skipped, err := send.Upload(t.Context(), r, []string{dir}, "", report.Failed)
	if err != nil {
		t.Fatal(err)
	}
	want := "symbolon: " + strings.TrimSpace(dir) + "\uFFFD/bad.sym: it is bad\n0 uploaded (0 bytes), 0 already there, 1 failed\n"
	if err := report.End(skipped); err != send.ErrFailed || !strings.HasSuffix(errs.String(), want) {
		t.Errorf("got %v and %q, want %q at the end", err, errs.String(), want)
	}
}

func TestFileOverTheLimitOfTheServerIsNotSent(t *testing.T) {
	s, dir := newServer(t), t.TempDir()
	s.maxFile = 2 << 10
	write(t, dir, "large.sym", symFile("A", 3<<10))
	write(t, dir, "small.sym", symFile("B", 10))
	got, _, err := upload(t, send.Config{URL: s.URL, Token: token, Project: "orchard", Parallel: 1}, dir, dir)
	want := "large.sym refused the file has more than 2KiB, the server's limit uploads.max_file, small.sym uploaded "
	if err != nil || strings.Join(got, ", ") != want {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
	if len(s.chunks) != 1 {
		t.Errorf("%d chunks were sent, want that of the small file", len(s.chunks))
	}
}

func TestFilesThatCannotBeUploaded(t *testing.T) {
	s, dir := newServer(t), t.TempDir()
	s.bad = "bad.sym"
	write(t, dir, "bad.sym", symFile("D", 10))
	write(t, dir, "nameless.o", "\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x3e\x00\x01"+strings.Repeat("\x00", 43))
	write(t, dir, "notes.txt", "hello")
	write(t, dir, "empty.debug", "")
	cfg := send.Config{URL: s.URL, Token: token, Project: "orchard", Parallel: 1}
	got, skipped, err := upload(t, cfg, dir, dir, filepath.Join(dir, "notes.txt"), filepath.Join(dir, "absent"), filepath.Join(dir, "empty.debug"))
	want := "absent failed: no such file or directory, bad.sym refused it is bad, empty.debug failed: the file is empty, " +
		"notes.txt failed: unsupported file: must be a debug file, an archive of such, or a folder"
	if err != nil || strings.Join(got, ", ") != want {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
	if len(skipped.Nameless) != 1 || !strings.Contains(skipped.Nameless[0].Why, "build id") {
		t.Errorf("skipped %+v, want the file without a build id", skipped)
	}
}

func TestFileThatIsBeingWrittenIsReportedAndCostsOnlyItself(t *testing.T) {
	for change, want := range map[string][]string{
		"overwritten": {"big.sym failed: the file changed during the upload: upload it again when it is complete", "other.sym uploaded "},
		"extended":    {"big.sym failed: the file changed during the upload: upload it again when it is complete", "big.sym uploaded ", "other.sym uploaded "},
	} {
		s, dir := newServer(t), t.TempDir()
		write(t, dir, "big.sym", symFile("A", 1<<20+1))
		write(t, dir, "other.sym", symFile("B", 10))
		next, changed := s.Config.Handler, false
		s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.URL.Path, "assemble") && !changed {
				changed = true
				f, err := os.OpenFile(filepath.Join(dir, "big.sym"), os.O_WRONLY, 0)
				if err != nil {
					t.Error(err)
					return
				}
				defer f.Close()
				at := int64(1 << 19)
				if change == "extended" {
					at = 1 << 21
				}
				if _, err := f.WriteAt([]byte("PUBLIC 7 0 g\n"), at); err != nil {
					t.Error(err)
				}
			}
			next.ServeHTTP(w, r)
		})
		got, _, err := upload(t, send.Config{URL: s.URL, Token: token, Project: "orchard", Parallel: 2}, dir, dir)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: got %q, %v; want %q", change, got, err, want)
		}
	}
}

// truncating is a server for uploads whose client truncates a file before it reads it.
type truncating struct{ *send.Remote }

func (r truncating) Add(ctx context.Context, f *send.File) error {
	if f.Name() == "cut.sym" {
		if err := os.Truncate(f.Path, 10); err != nil {
			return err
		}
	}
	return r.Remote.Add(ctx, f)
}

func TestFileThatIsTruncatedCostsOnlyItself(t *testing.T) {
	s, dir := newServer(t), t.TempDir()
	write(t, dir, "cut.sym", symFile("A", 100))
	write(t, dir, "other.sym", symFile("B", 10))
	r, err := send.NewRemote(send.Config{URL: s.URL, Token: token, Project: "orchard", Parallel: 1})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	r.Done = func(o send.Outcome) { got = append(got, o.File.Name()+" "+string(o.State)) }
	_, err = send.Upload(t.Context(), truncating{r}, []string{dir}, "", func(path string, err error) { got = append(got, filepath.Base(path)+" "+err.Error()) })
	want := []string{"cut.sym the file changed during the upload: upload it again when it is complete", "other.sym uploaded"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}

// Linking with --build-id gives these files no id.
func TestUnitsOfSplitDWARFAreNotAdvisedToHaveABuildID(t *testing.T) {
	corpus, err := os.ReadFile("../object/testdata/corpus/dwp5.dwp")
	if err != nil {
		t.Fatal(err)
	}
	s, dir := newServer(t), t.TempDir()
	for _, name := range []string{"app.dwp", "unit.dwo", "unit.o"} {
		write(t, dir, name, string(corpus))
	}
	_, skipped, err := upload(t, send.Config{URL: s.URL, Token: token, Project: "orchard", Parallel: 1}, dir, dir)
	if err != nil || len(skipped.Nameless) != 3 {
		t.Fatalf("skipped %+v, %v; want 3 files without an id", skipped, err)
	}
	var errs strings.Builder
	report := send.NewReport(io.Discard, &errs, console.NewProgress(nil, "", "", time.Time{}, nil), false)
	_ = report.End(skipped) // that nothing was uploaded
	for text, want := range map[string]int{"units of -gsplit-dwarf have no id\n": 2, "--build-id\n": 1, "\"symbolon sym PROGRAM\"": 1} {
		if got := strings.Count(errs.String(), text); got != want {
			t.Errorf("got %q %d times, want %d: %s", text, got, want, errs.String())
		}
	}
}

func TestRefusalOfAProxyHasNoAdviceAboutTokens(t *testing.T) {
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "blocked by policy 7", http.StatusForbidden)
	}))
	defer proxy.Close()
	dir := t.TempDir()
	write(t, dir, "a.sym", symFile("E", 10))
	_, _, err := upload(t, send.Config{URL: proxy.URL, Token: token, Parallel: 1}, dir, dir)
	if err == nil || !strings.HasSuffix(err.Error(), "403 Forbidden: blocked by policy 7") {
		t.Errorf("got %v, want the reason of the proxy alone", err)
	}
}

func TestErrorsNameTheCause(t *testing.T) {
	s, dir := newServer(t), t.TempDir()
	write(t, dir, "a.sym", symFile("E", 10))
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }))
	t.Cleanup(page.Close)
	small := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && strings.Contains(r.URL.Path, "chunk-upload") {
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			return
		}
		s.Config.Handler.ServeHTTP(w, r)
	}))
	t.Cleanup(small.Close)
	denying := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, `{"detail":"the token lacks the right upload in tea"}`)
	}))
	t.Cleanup(denying.Close)
	for _, c := range []struct {
		cfg  send.Config
		want string
	}{
		{send.Config{URL: s.URL, Token: "other"}, "creates it, with the --data of that server"},
		{send.Config{URL: s.URL}, "requires a token"},
		{send.Config{URL: s.URL, Token: token, Project: "unknown"}, "404 Not Found: is --url the address"},
		{send.Config{URL: denying.URL, Token: token}, "the right upload in tea: name the project of the token with --project"},
		{send.Config{URL: page.URL, Token: token}, "is --url the address"},
		{send.Config{URL: small.URL, Token: token, Project: "orchard"}, "a proxy in front of the server"},
		{send.Config{URL: "http://127.0.0.1:1", Token: token}, "connection refused"},
	} {
		c.cfg.Parallel = 1
		if _, _, err := upload(t, c.cfg, dir, dir); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: got %v, want an error with %q", c.cfg, err, c.want)
		}
	}
}

func TestRetriesAreReported(t *testing.T) {
	busy := newServer(t)
	busy.busy = 100
	secure := httptest.NewUnstartedServer(busy.Config.Handler)
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	t.Cleanup(secure.Close)
	dir := t.TempDir()
	write(t, dir, "a.sym", symFile("E", 10))
	plain := strings.Replace(secure.URL, "https:", "http:", 1)
	for _, c := range []struct{ url, printed, err string }{
		{busy.URL, "symbolon: the server answers 503 Service Unavailable; trying again\n", "the server answers 503 Service Unavailable"},
		{secure.URL, "", "connect to " + secure.Listener.Addr().String() +
			": certificate is not trusted: x509: certificate signed by unknown authority"},
		{plain, "", "the server answers 400 Bad Request: Client sent an HTTP request to an HTTPS server."},
	} {
		r, err := send.NewRemote(send.Config{URL: c.url, Token: token, Project: "orchard", Parallel: 1, RetryWait: 1})
		if err != nil {
			t.Fatal(err)
		}
		var errs strings.Builder
		report := send.NewReport(io.Discard, &errs, console.NewProgress(nil, "", "", time.Time{}, nil), false)
		r.Retrying = report.Retrying
		_, err = send.Upload(t.Context(), r, []string{dir}, "", report.Failed)
		if err == nil || err.Error() != c.err || errs.String() != c.printed {
			t.Errorf("%s: got %v and printed %q, want %s and %q", c.url, err, errs.String(), c.err, c.printed)
		}
	}
}

func TestEndedUploadStops(t *testing.T) {
	s, dir := newServer(t), t.TempDir()
	write(t, dir, "a.sym", symFile("F", 10))
	r, err := send.NewRemote(send.Config{URL: s.URL, Token: token, Project: "orchard", Parallel: 1})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := send.Upload(ctx, r, []string{dir}, "", func(path string, err error) { t.Error(path, err) }); err != context.Canceled {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

func TestDevicesAreRefused(t *testing.T) {
	got, _, err := upload(t, send.Config{URL: "http://127.0.0.1:1"}, "", os.DevNull)
	if want := "null failed: must be a file or a folder, not a pipe or a device"; err != nil || strings.Join(got, ", ") != want {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}

func TestDamagedMemberCostsOnlyItself(t *testing.T) {
	s, dir := newServer(t), t.TempDir()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range map[string]string{"whole.sym": symFile("A", 10), "damaged.sym": symFile("B", 300)} {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		if err == nil {
			_, err = io.WriteString(w, text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	b.Bytes()[bytes.Index(b.Bytes(), []byte("PUBLIC"))] ^= 0xff // only the damaged member has symbols
	write(t, dir, "a.zip", b.String())
	cfg := send.Config{URL: s.URL, Token: token, Project: "orchard", Parallel: 1}
	got, _, err := upload(t, cfg, dir, dir)
	if err != nil || len(got) != 2 || !strings.HasPrefix(got[0], "a.zip/whole.sym uploaded") || !strings.HasPrefix(got[1], "damaged.sym failed: ") {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestFullStoreOfThisMachineIsReportedWithAdvice(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.sym", symFile("A", 10))
	for _, prefix := range []string{"blob/", "upload/"} {
		full := &buckettest.Full{Bucket: mem.New(), IsFull: func(key string) bool { return strings.HasPrefix(key, prefix) }}
		l := send.NewLocal(store.New(store.Config{}, store.Deps{Bucket: full, Now: time.Now, Log: slog.New(slog.DiscardHandler)}), send.Config{Project: "tea"})
		defer l.Close()
		_, err := send.Upload(t.Context(), l, []string{dir}, "", func(path string, err error) { t.Error(path, err) })
		if want := "the disk of the store is full: free some space"; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error with %q", prefix, err, want)
		}
	}
}

func TestFileThatIsCutOffIsReportedAsSuch(t *testing.T) {
	data, err := os.ReadFile("../object/testdata/corpus/debuglink.debug")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write(t, dir, "half.debug", string(data[:len(data)/2]))
	write(t, dir, "head.debug", string(data[:64]))
	l := send.NewLocal(store.New(store.Config{}, store.Deps{Bucket: mem.New(), Now: time.Now, Log: slog.New(slog.DiscardHandler)}), send.Config{Project: "tea"})
	defer l.Close()
	got := map[string]string{}
	l.Done = func(o send.Outcome) { got[o.File.Name()] = o.Detail }
	skipped, err := send.Upload(t.Context(), l, []string{dir}, "", func(path string, err error) { got[filepath.Base(path)] = err.Error() })
	if err != nil || len(skipped.Nameless) > 0 {
		t.Errorf("error %v, and %v are said to have no id; want neither", err, skipped.Nameless)
	}
	for _, name := range []string{"half.debug", "head.debug"} {
		if !strings.HasPrefix(got[name], "elf: ") || !strings.Contains(got[name], "the file is cut off") {
			t.Errorf("%s: got %q, want that it is cut off, without its name", name, got[name])
		}
	}
}

// Rules of retention count from uploads, so a file that is uploaded again is renewed.
func TestKnownFilesOfAFolderAreRenewed(t *testing.T) {
	dir, now := t.TempDir(), time.Now()
	write(t, dir, "a.sym", symFile("A", 10))
	s := store.New(store.Config{}, store.Deps{Bucket: mem.New(), Now: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler)})
	for _, c := range []struct {
		when, version string
		state         send.State
		uploads       int
	}{{"at first", "1", send.Uploaded, 1}, {"with the same labels", "1", send.Known, 1}, {"with other labels", "2", send.Known, 2}} {
		l := send.NewLocal(s, send.Config{Project: "tea", Labels: map[string]string{"version": c.version}})
		defer l.Close()
		var state send.State
		l.Done = func(o send.Outcome) { state = o.State }
		if _, err := send.Upload(t.Context(), l, []string{dir}, "", func(path string, err error) { t.Error(path, err) }); err != nil {
			t.Fatal(err)
		}
		list, err := s.List(t.Context(), []string{"tea"}, "", 10)
		if err != nil {
			t.Fatal(err)
		}
		if state != c.state || len(list) != c.uploads || list[0].Labels["version"] != c.version {
			t.Errorf("%s: the file is %s, and there are %d uploads, want %s and %d", c.when, state, len(list), c.state, c.uploads)
		}
	}
}
