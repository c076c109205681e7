package api_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/klauspost/compress/zstd"

	"symbolon/internal/api"
	"symbolon/internal/bin"
)

func gzipped(b []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write(b)
	_ = w.Close()
	return out.Bytes()
}

func zstdPacked(b []byte) []byte {
	w, _ := zstd.NewWriter(nil)
	return w.EncodeAll(b, nil)
}

func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b)
	return b
}

func TestBodiesAreDecoded(t *testing.T) {
	f := newFront(api.Config{}, post("/echo", echo))
	body := append(random(100_000), bytes.Repeat([]byte("again "), 10_000)...)
	for coding, sent := range map[string][]byte{
		"": body, "identity": body, "gzip": gzipped(body), "x-gzip": gzipped(body), "GZIP": gzipped(body), "zstd": zstdPacked(body),
	} {
		w := do(f, "POST", "/echo", string(sent), "Content-Encoding", coding)
		if w.Code != 200 || !bytes.Equal(w.Body.Bytes(), body) {
			t.Errorf("%q: got %d and %d bytes", coding, w.Code, w.Body.Len())
		}
	}
}

func TestBodiesOverTheLimitAreRefused(t *testing.T) {
	const limit = 10_000
	wide := api.Config{MaxBody: limit}
	narrow := post("/narrow", echo)
	narrow.MaxBody = 100
	f := newFront(wide, post("/echo", echo), narrow)
	for _, c := range []struct {
		path   string
		size   int
		status int
	}{
		{"/echo", limit - 1, 200}, {"/echo", limit, 200}, {"/echo", limit + 1, 413}, {"/echo", 40 * limit, 413},
		{"/narrow", 99, 200}, {"/narrow", 100, 200}, {"/narrow", 101, 413},
	} {
		body := bytes.Repeat([]byte("ab"), c.size/2+1)[:c.size]
		for coding, sent := range map[string][]byte{"": body, "gzip": gzipped(body), "zstd": zstdPacked(body)} {
			for _, length := range []string{"told", "not told"} {
				r, _ := http.NewRequest("POST", c.path, bytes.NewReader(sent))
				if length == "not told" {
					r.ContentLength = -1
				}
				r.Header.Set("Content-Encoding", coding)
				w := record(f, r)
				if w.Code != c.status {
					t.Errorf("%s, %d bytes, coding %q, length %s: got %d, want %d", c.path, c.size, coding, length, w.Code, c.status)
				}
				if w.Code == 413 && !strings.Contains(w.Body.String(), `{"title":"413 Request Entity Too Large: the limit of a body is 10`) {
					t.Errorf("the refusal is %s", w.Body)
				}
			}
		}
	}
}

// Without a bound on what is sent, members that hold nothing would go on
// forever.
func TestEmptyMembersOfABodyAreLimited(t *testing.T) {
	f := newFront(api.Config{MaxBody: 1000}, post("/echo", echo))
	w := do(f, "POST", "/echo", string(bytes.Repeat(gzipped(nil), 1000)), "Content-Encoding", "gzip", "Transfer-Encoding", "chunked")
	if w.Code != 413 {
		t.Errorf("got %d, want 413", w.Code)
	}
}

func TestBodiesOfEmptyFramesAreRefusedEarly(t *testing.T) {
	f := newFront(api.Config{}, post("/echo", echo))
	frame := "\x28\xb5\x2f\xfd\x20\x00\x01\x00\x00"
	skipped := "\x50\x2a\x4d\x18\x00\x00\x00\x00"
	for name, c := range map[string]struct{ coding, part string }{
		"empty frames of zstd":     {"zstd", frame},
		"skippable frames of zstd": {"zstd", frame + skipped},
		"empty members of gzip":    {"gzip", string(gzipped(nil))},
	} {
		sent := strings.NewReader(strings.Repeat(c.part, 16<<20/len(c.part)))
		r, _ := http.NewRequest("POST", "/echo", sent)
		r.Header.Set("Content-Encoding", c.coding)
		w := record(f, r)
		if w.Code != 413 || !strings.Contains(w.Body.String(), "larger than its content") {
			t.Errorf("%s: got %d %s, want 413", name, w.Code, w.Body)
		}
		if read := sent.Size() - int64(sent.Len()); read > 2<<20 {
			t.Errorf("%s: %d bytes were read", name, read)
		}
	}
}

func TestLargeBodiesThatDoNotCompressAreDecoded(t *testing.T) {
	f := newFront(api.Config{}, post("/echo", echo))
	body := random(12 << 20)
	for coding, sent := range map[string][]byte{"gzip": gzipped(body), "zstd": zstdPacked(body)} {
		w := do(f, "POST", "/echo", string(sent), "Content-Encoding", coding)
		if w.Code != 200 || !bytes.Equal(w.Body.Bytes(), body) {
			t.Errorf("%s: got %d and %d bytes", coding, w.Code, w.Body.Len())
		}
	}
}

func TestBombsAreRefusedEarly(t *testing.T) {
	f := newFront(api.Config{}, post("/count", func(w http.ResponseWriter, r *http.Request) {
		n, err := io.Copy(io.Discard, r.Body)
		if err == nil || n > 16<<20 {
			t.Errorf("%d bytes came out, then %v", n, err)
		}
		api.Fail(w, r, err.(*api.Refusal).Status, err.Error())
	}))
	bomb := make([]byte, 60<<20)
	for coding, sent := range map[string][]byte{"gzip": gzipped(bomb), "zstd": zstdPacked(bomb)} {
		if w := do(f, "POST", "/count", string(sent), "Content-Encoding", coding); w.Code != 413 || !strings.Contains(w.Body.String(), "200 times its size") {
			t.Errorf("%s: got %d %s, want 413", coding, w.Code, w.Body)
		}
	}
}

func TestDamagedBodiesAreTheClientsFault(t *testing.T) {
	f := newFront(api.Config{}, post("/echo", echo))
	body := random(50_000)
	torn := gzipped(body)
	torn[len(torn)/2] ^= 0xff
	for name, c := range map[string]struct{ coding, sent, title string }{
		"no gzip":      {"gzip", "plain text", "the body is not gzip"},
		"empty gzip":   {"gzip", "", "the body is not gzip"},
		"short gzip":   {"gzip", string(gzipped(body)[:30_000]), "the body is not gzip"},
		"damaged gzip": {"gzip", string(torn), "the body is not gzip"},
		"no zstd":      {"zstd", "plain text", "the body is not zstd"},
		"short zstd":   {"zstd", string(zstdPacked(body)[:30_000]), "the body is not zstd"},
	} {
		if w := do(f, "POST", "/echo", c.sent, "Content-Encoding", c.coding); w.Code != 400 || !strings.Contains(w.Body.String(), c.title) {
			t.Errorf("%s: got %d %s", name, w.Code, w.Body)
		}
	}
}

func TestUnknownCodingsAreRefusedWithTheKnownOnes(t *testing.T) {
	f := newFront(api.Config{}, post("/echo", echo))
	for _, coding := range []string{"br", "deflate", "gzip, zstd", "gzip,gzip"} {
		w := do(f, "POST", "/echo", "x", "Content-Encoding", coding)
		if w.Code != 415 || w.Header().Get("Accept-Encoding") != "gzip, zstd" {
			t.Errorf("%s: got %d, Accept-Encoding %q", coding, w.Code, w.Header().Get("Accept-Encoding"))
		}
	}
}

// send opens a connection and sends the beginning of a request.
func send(t *testing.T, base, text string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	return c
}

func reply(t *testing.T, c net.Conn) string {
	t.Helper()
	b, err := io.ReadAll(c)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

const postEcho = "POST /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"

func TestStalledBodiesAreCutOff(t *testing.T) {
	base := serve(t, api.Config{BodyTimeout: 150 * time.Millisecond}, options(io.Discard), post("/echo", echo))
	start := time.Now()
	c := send(t, base, fmt.Sprintf(postEcho, 100)+"half of it")
	got := reply(t, c)
	if !strings.HasPrefix(got, "HTTP/1.1 408 ") || !strings.Contains(got, "came too slowly") {
		t.Errorf("got %q", got)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
}

func TestSteadyBodiesAreNotCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serveInMemory(t, api.Config{BodyTimeout: 150 * time.Millisecond}, options(io.Discard), post("/echo", echo))
		half := strings.Repeat("x", 16<<10)
		c := s.send(fmt.Sprintf(postEcho, 2*len(half)) + half)
		time.Sleep(400 * time.Millisecond) // half has earned four seconds
		_, _ = io.WriteString(c, half)
		got := reply(t, c)
		if !strings.HasPrefix(got, "HTTP/1.1 200 ") {
			t.Errorf("got %.100q, want status 200", got)
		}
		if !strings.Contains(got, half+half) {
			t.Errorf("got %d bytes, which do not contain the body", len(got))
		}
	})
}

// The deadline of the body must not hang over the work that follows, when
// net/http watches the connection to see the client leave.
func TestWorkMayTakeLongerThanTheBodyTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serveInMemory(t, api.Config{BodyTimeout: 100 * time.Millisecond, WriteTimeout: 100 * time.Millisecond}, options(io.Discard),
			post("/work", func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				select {
				case <-r.Context().Done():
					t.Error("the request was canceled")
				case <-time.After(400 * time.Millisecond):
				}
				say("done")(w, r)
			}))
		for range 2 { // the second one on the same connection
			res, err := s.client.Post(frontURL+"/work", "text/plain", strings.NewReader("body"))
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(res.Body)
			if string(got) != "done" || err != nil {
				t.Errorf("got %q, %v", got, err)
			}
			time.Sleep(150 * time.Millisecond)
		}
	})
}

// The bytes that net/http buffers at the end of a handler have a deadline of their own.
func TestTheEndOfAnAnswerIsSentAfterALongPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pause := get("/pause", func(w http.ResponseWriter, r *http.Request) {
			_, _ = w.Write(random(2000))
			time.Sleep(250 * time.Millisecond)
		})
		s := serveInMemory(t, api.Config{WriteTimeout: 100 * time.Millisecond}, options(io.Discard), pause)
		res, err := s.client.Get(frontURL + "/pause")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(res.Body); len(got) != 2000 || err != nil {
			t.Errorf("%d bytes came, %v", len(got), err)
		}
	})
}

// The deadline of an answer must not count for the next request.
func TestReusedConnectionsHaveFreshDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serveInMemory(t, api.Config{WriteTimeout: 100 * time.Millisecond}, options(io.Discard), post("/echo", echo))
		c := s.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody")
		in := bufio.NewReader(c)
		res, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, res.Body)
		time.Sleep(250 * time.Millisecond)
		_, _ = io.WriteString(c, "POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n")
		if line, err := in.ReadString('\n'); line != "HTTP/1.1 100 Continue\r\n" || err != nil {
			t.Errorf("got %q, %v", line, err)
		}
	})
}

func TestTruncatedBodiesAre400(t *testing.T) {
	said := make(chan error, 1)
	base := serve(t, api.Config{}, options(io.Discard), post("/echo", func(w http.ResponseWriter, r *http.Request) {
		_, err := io.ReadAll(r.Body)
		said <- err
	}))
	c := send(t, base, fmt.Sprintf(postEcho, 100)+"half of it")
	_ = c.(*net.TCPConn).CloseWrite()
	err := <-said
	if e, ok := err.(*api.Refusal); !ok || e.Status != 400 || e.Error() != "400 Bad Request: the body ended early" || e.Unwrap() == nil {
		t.Errorf("got %v", err)
	}
}

func TestErrorOfABodyIsKept(t *testing.T) {
	f := newFront(api.Config{MaxBody: 3}, post("/echo", func(w http.ResponseWriter, r *http.Request) {
		_, first := io.ReadAll(r.Body)
		n, second := r.Body.Read(make([]byte, 8))
		if first == nil || second != first || n != 0 {
			t.Errorf("got %v, then %d bytes and %v", first, n, second)
		}
		if err := r.Body.Close(); err != nil {
			t.Error(err)
		}
	}))
	r, _ := http.NewRequest("POST", "/echo", io.MultiReader(strings.NewReader("ab"), strings.NewReader("cdef")))
	r.ContentLength = -1
	record(f, r)
}

func TestClientsMayWaitForPermissionToSend(t *testing.T) {
	base := serve(t, api.Config{}, options(io.Discard), post("/echo", echo))
	c := send(t, base, "POST /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n")
	line := make([]byte, len("HTTP/1.1 100 Continue\r\n\r\n"))
	if _, err := io.ReadFull(c, line); err != nil || string(line) != "HTTP/1.1 100 Continue\r\n\r\n" {
		t.Fatalf("got %q, %v", line, err)
	}
	_, _ = io.WriteString(c, "body")
	if got := reply(t, c); !strings.HasSuffix(got, "\r\n\r\nbody") {
		t.Errorf("got %q", got)
	}
}

func TestSlowAnswersToCompressedBodiesAreNotCutOff(t *testing.T) {
	packed := map[string][]byte{"zstd": zstdPacked([]byte("the body")), "gzip": gzipped([]byte("the body")), "": []byte("the body")}
	synctest.Test(t, func(t *testing.T) {
		slow := post("/slow", func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			select {
			case <-time.After(time.Second):
			case <-r.Context().Done():
				t.Error("the request was canceled")
			}
			_, _ = w.Write(body)
		})
		s := serveInMemory(t, api.Config{BodyTimeout: 150 * time.Millisecond}, options(io.Discard), slow)
		for coding, sent := range packed {
			req, err := http.NewRequest("POST", frontURL+"/slow", bytes.NewReader(sent))
			if err != nil {
				t.Fatal(err)
			}
			if coding != "" {
				req.Header.Set("Content-Encoding", coding)
			}
			resp, err := s.client.Do(req)
			if err != nil {
				t.Fatal(coding, err)
			}
			got, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if string(got) != "the body" || err != nil {
				t.Errorf("%s: got %d %q, %v", coding, resp.StatusCode, got, err)
			}
		}
	})
}

func TestStalledReadersAreCutOff(t *testing.T) {
	broke := make(chan error, 1)
	base := serve(t, api.Config{WriteTimeout: 150 * time.Millisecond}, options(io.Discard), get("/endless", func(w http.ResponseWriter, r *http.Request) {
		piece := random(1 << 20)
		for range 1000 {
			if _, err := w.Write(piece); err != nil {
				broke <- err
				return
			}
		}
		broke <- nil
	}))
	send(t, base, "GET /endless HTTP/1.1\r\nHost: x\r\n\r\n")
	select {
	case err := <-broke:
		if !os.IsTimeout(err) {
			t.Errorf("the write ended with %v", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("the handler writes on and on")
	}
}

func TestSlowReadersGetTheWholeAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size = 4 << 20
		long := get("/long", func(w http.ResponseWriter, r *http.Request) {
			piece := random(64 << 10)
			for range size / len(piece) {
				_, _ = w.Write(piece)
			}
		})
		s := serveInMemory(t, api.Config{WriteTimeout: time.Second}, options(io.Discard), long)
		c := s.send("GET /long HTTP/1.0\r\n\r\n")
		start, n, buf := time.Now(), 0, make([]byte, 64<<10)
		for {
			m, err := c.Read(buf)
			n += m
			if err != nil {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		if n < size {
			t.Errorf("only %s of %s came", bin.Size(n), bin.Size(size))
		}
		if took := time.Since(start); took < time.Second {
			t.Errorf("it took %v, which proves nothing", took)
		}
	})
}
