package api_test

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"symbolon/internal/api"
	"symbolon/internal/bin"
	"symbolon/internal/waittest"
)

// stored is a file with its zstd stream.
type stored struct {
	bin.Source
	stream []byte
}

func (stored) Info() api.FileInfo {
	return api.FileInfo{Name: "kiln", Tag: "tag", Modified: time.Unix(1e9, 0)}
}
func (stored) Close() error { return nil }

func (s stored) Frames() (io.ReadSeeker, int64) {
	if s.stream == nil {
		return nil, 0
	}
	return bytes.NewReader(s.stream), int64(len(s.stream))
}

func TestFilesAreSentAsTheyAreStored(t *testing.T) {
	content := bytes.Repeat([]byte("kettle "), 1000)
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	stream := z.EncodeAll(content, nil)
	file := api.File(stored{bin.Bytes(content), stream})
	f := newFront(api.Config{}, api.Route{Methods: []string{"GET", "HEAD"}, Pattern: "/kiln", Handle: func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/octet-stream")
		api.SendFile(w, r, file, slog.New(slog.DiscardHandler))
	}})
	for _, c := range []struct {
		name, method string
		header       []string
		status       int
		tag, coding  string
		body         []byte
	}{
		{"identity", "GET", nil, 200, `"tag"`, "", content},
		{"zstd", "GET", []string{"Accept-Encoding", "gzip, zstd"}, 200, `"tag-zstd"`, "zstd", stream},
		{"HEAD of zstd", "HEAD", []string{"Accept-Encoding", "zstd"}, 200, `"tag-zstd"`, "zstd", nil},
		{"zstd is refused", "GET", []string{"Accept-Encoding", "gzip, zstd;q=0"}, 200, `"tag"`, "", content},
		{"a range", "GET", []string{"Accept-Encoding", "zstd", "Range", "bytes=7-12"}, 206, `"tag"`, "", content[7:13]},
		{"known", "GET", []string{"If-None-Match", `"tag"`}, 304, `"tag"`, "", nil},
		{"known as zstd", "GET", []string{"Accept-Encoding", "zstd", "If-None-Match", `"tag-zstd"`}, 304, `"tag-zstd"`, "", nil},
	} {
		w := do(f, c.method, "/kiln", "", c.header...)
		h := w.Header()
		if w.Code != c.status || h.Get("ETag") != c.tag || h.Get("Content-Encoding") != c.coding || !bytes.Equal(w.Body.Bytes(), c.body) {
			t.Errorf("%s: got %d %v with %d bytes", c.name, w.Code, h, w.Body.Len())
		}
		if c.status == 200 && h.Get("Content-Length") == "" {
			t.Errorf("%s: the answer has no length", c.name)
		}
	}
}

// damaged is a file that can be read up to half of it.
type damaged struct{ stored }

func (damaged) Info() api.FileInfo { return api.FileInfo{Name: "kiln", Key: "blob/00/00ff.1"} }

func (d damaged) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > d.Size()/2 {
		return 0, errors.New("the frame is damaged")
	}
	return d.stored.ReadAt(p, off)
}

func TestDamagedFilesAreReportedWithTheirKeys(t *testing.T) {
	log := &waittest.Log{}
	opt := options(log)
	f := api.New(api.Config{}, opt, []api.Route{get("/kiln", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/octet-stream")
		api.SendFile(w, r, damaged{stored{Source: bin.Bytes(make([]byte, 1<<20))}}, opt.Log)
	})})
	s := httptest.NewServer(f)
	defer s.Close()
	resp, err := http.Get(s.URL + "/kiln")
	if err == nil {
		_, err = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	if !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("got %v, want a reset", err)
	}
	log.Await(t, `"status":500`)
	for _, text := range []string{`"level":"ERROR"`, `"key":"blob/00/00ff.1"`, "the frame is damaged"} {
		if !strings.Contains(log.String(), text) {
			t.Errorf("the log has no %s: %s", text, log)
		}
	}
}
