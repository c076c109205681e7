package api_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"symbolon/internal/api"
)

func unpack(t *testing.T, coding string, b []byte) string {
	t.Helper()
	var r io.Reader = bytes.NewReader(b)
	var err error
	switch coding {
	case "gzip":
		r, err = gzip.NewReader(r)
	case "zstd":
		r, err = zstd.NewReader(r)
	}
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(r)
	if err != nil {
		t.Fatalf("%s: %v", coding, err)
	}
	return string(out)
}

func TestAnswersAreCompressedAsTheClientPrefers(t *testing.T) {
	text := strings.Repeat("a frame, a function, a file; ", 5000)
	f := newFront(api.Config{}, get("/long", say(text)))
	for accept, want := range map[string]string{
		"":                                 "",
		"gzip":                             "gzip",
		"x-gzip":                           "gzip",
		"GZIP":                             "gzip",
		"br":                               "",
		"zstd":                             "zstd",
		"deflate":                          "",
		"identity":                         "",
		"gzip, deflate, br":                "gzip",
		"gzip, deflate, br, zstd":          "zstd",
		"*":                                "zstd",
		"gzip, *;q=0":                      "gzip",
		"gzip;q=0":                         "",
		"gzip;q=0, *":                      "zstd",
		"gzip;q=1.0, zstd;q=0.5":           "gzip",
		"gzip; q=0.2, zstd ; q=0.9":        "zstd",
		"zstd;q=0, *;q=0.1":                "gzip",
		"identity, gzip;q=0.5":             "",
		"identity;q=0.5, gzip;q=0.5":       "gzip",
		"identity;q=0, *;q=0":              "",
		"gzip;q=nonsense":                  "",
		"gzip;q=2":                         "",
		"gzip;q=-1":                        "",
		"gzip;q=NaN":                       "",
		"gzip;level=9;q=0.5":               "gzip",
		";,,;q=1,gzip,":                    "gzip",
		"deflate;q=1, gzip;q=0.001":        "gzip",
		strings.Repeat("gzip;q=0.1, ", 99): "gzip",
	} {
		w := do(f, "GET", "/long", "", "Accept-Encoding", accept)
		if got := w.Header().Get("Content-Encoding"); got != want {
			t.Errorf("%q: got %q, want %q", accept, got, want)
			continue
		}
		if want != "" && w.Body.Len() > len(text)/10 {
			t.Errorf("%q: %d bytes are not packed", accept, w.Body.Len())
		}
		if got := unpack(t, want, w.Body.Bytes()); got != text {
			t.Errorf("%q: %d bytes came back of %d", accept, len(got), len(text))
		}
		if got := w.Header().Get("Vary"); got != "Accept-Encoding, Origin" {
			t.Errorf("%q: Vary is %q", accept, got)
		}
	}
}

func TestAcceptEncodingHeadersAreJoined(t *testing.T) {
	f := newFront(api.Config{}, get("/long", say(strings.Repeat("x", 5000))))
	w := do(f, "GET", "/long", "", "Accept-Encoding", "zstd;q=0.1", "Accept-Encoding", "gzip;q=0.9")
	if got := w.Header().Get("Content-Encoding"); got != "gzip" {
		t.Errorf("got %q", got)
	}
}

func TestSmallAndBinaryAnswersAreNotCompressed(t *testing.T) {
	long := strings.Repeat("x", 1024)
	answer := func(kind, text string, headers ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", kind)
			for i := 0; i < len(headers); i += 2 {
				w.Header().Set(headers[i], headers[i+1])
			}
			_, _ = io.WriteString(w, text)
		}
	}
	partial := func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "x.txt", time.Time{}, strings.NewReader(strings.Repeat(long, 10)))
	}
	f := newFront(api.Config{},
		get("/json", answer("application/json", long)),
		get("/text", answer("text/plain; charset=utf-8", long)),
		get("/svg", answer("image/svg+xml", long)),
		get("/short", answer("text/plain", long[1:])),
		get("/binary", answer("application/octet-stream", long)),
		get("/untold", answer("", long)),
		get("/packed", answer("text/plain", long, "Content-Encoding", "deflate")),
		api.Route{Methods: []string{"GET", "HEAD"}, Pattern: "/file", Handle: partial},
	)
	for _, c := range []struct {
		method, path, ranges, coding, length string
	}{
		{"GET", "/json", "", "gzip", ""},
		{"GET", "/text", "", "gzip", ""},
		{"GET", "/svg", "", "gzip", ""},
		{"GET", "/short", "", "", "1023"},
		{"GET", "/binary", "", "", ""},
		{"GET", "/untold", "", "", ""},
		{"GET", "/packed", "", "deflate", ""},
		{"GET", "/file", "", "gzip", ""},
		{"GET", "/file", "bytes=100-4099", "", "4000"},
		{"HEAD", "/file", "", "", "10240"},
	} {
		w := do(f, c.method, c.path, "", "Accept-Encoding", "gzip", "Range", c.ranges)
		h := w.Header()
		if h.Get("Content-Encoding") != c.coding || h.Get("Content-Length") != c.length {
			t.Errorf("%s %s %s: Content-Encoding %q, Content-Length %q; want %q and %q",
				c.method, c.path, c.ranges, h.Get("Content-Encoding"), h.Get("Content-Length"), c.coding, c.length)
		}
		if c.coding == "gzip" && h.Get("Accept-Ranges") != "" {
			t.Errorf("%s %s: ranges of a packed answer are offered", c.method, c.path)
		}
		if c.length != "" && c.method == "GET" && strconv.Itoa(w.Body.Len()) != c.length {
			t.Errorf("%s %s: %d bytes came", c.method, c.path, w.Body.Len())
		}
	}
}

func TestAnswersWithoutABodyStayEmpty(t *testing.T) {
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(code) }
	}
	f := newFront(api.Config{}, get("/none", status(204)), get("/same", status(304)), get("/empty", status(202)),
		api.Route{Methods: []string{"HEAD"}, Pattern: "/head", Handle: status(200)})
	for path, want := range map[string]struct {
		status int
		length string
	}{"/none": {204, ""}, "/same": {304, ""}, "/empty": {202, "0"}, "/head": {200, ""}} {
		method := "GET"
		if path == "/head" {
			method = "HEAD"
		}
		w := do(f, method, path, "", "Accept-Encoding", "gzip")
		if w.Code != want.status || w.Header().Get("Content-Length") != want.length {
			t.Errorf("%s: got %d, Content-Length %q", path, w.Code, w.Header().Get("Content-Length"))
		}
	}
}

// Pieces go out while the handler still works.
func TestLongAnswersAreStreamed(t *testing.T) {
	piece := random(256 << 10)
	half := make(chan struct{}, 1) // the handler may still write while the buffers of the connection are full
	base := serve(t, api.Config{}, options(io.Discard), get("/stream", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		_, _ = w.Write(piece)
		<-half
		_, _ = w.Write(piece)
	}))
	for _, coding := range []string{"identity", "gzip", "zstd"} {
		r, _ := http.NewRequest("GET", base+"/stream", nil)
		r.Header.Set("Accept-Encoding", coding)
		res, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		first := make([]byte, 64<<10)
		if _, err := io.ReadFull(res.Body, first); err != nil {
			t.Fatalf("%s: %v", coding, err)
		}
		half <- struct{}{}
		rest, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatalf("%s: %v", coding, err)
		}
		if got := unpack(t, res.Header.Get("Content-Encoding"), append(first, rest...)); got != string(piece)+string(piece) {
			t.Errorf("%s: something else came", coding)
		}
	}
}

func TestEarlyHintsPass(t *testing.T) {
	base := serve(t, api.Config{}, options(io.Discard), get("/hints", func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusEarlyHints)
		w.WriteHeader(http.StatusAccepted)
		w.WriteHeader(http.StatusTeapot) // too late
	}))
	c := send(t, base, "GET /hints HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	got := reply(t, c)
	if !strings.HasPrefix(got, "HTTP/1.1 103 ") || !strings.Contains(got, "HTTP/1.1 202 ") {
		t.Errorf("got %q", got)
	}
}

func TestFlushedPiecesAreSent(t *testing.T) {
	for kind, coding := range map[string]string{"application/x-ndjson": "", "application/json": "zstd"} {
		next := make(chan bool)
		srv := httptest.NewServer(newFront(api.Config{}, get("/lines", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			for range 2 {
				_, _ = w.Write([]byte("line\n"))
				w.(http.Flusher).Flush()
				<-next
			}
		})))
		r := httptest.NewRequest("GET", srv.URL+"/lines", nil)
		r.RequestURI = ""
		r.Header.Set("Accept-Encoding", "zstd")
		answer, err := srv.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body := io.Reader(answer.Body)
		if got := answer.Header.Get("Content-Encoding"); got != coding {
			t.Errorf("%s is packed as %q", kind, got)
		}
		if coding != "" {
			if body, err = zstd.NewReader(body, zstd.WithDecoderConcurrency(1)); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 { // each is here before the next one is made
			line := make([]byte, 5)
			if _, err := io.ReadFull(body, line); err != nil || string(line) != "line\n" {
				t.Errorf("%s: got %q, %v", kind, line, err)
			}
			next <- true
		}
		answer.Body.Close()
		srv.Close()
	}
}
