package web_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/source"
	"symbolon/internal/source/sourcetest"
	"symbolon/internal/source/web"
)

const strongTag = `"v1"`

// noise is what no coding makes smaller.
func noise(size int) []byte {
	data := make([]byte, size)
	r := rand.NewChaCha8([32]byte{7})
	_, _ = r.Read(data) // it never fails
	return data
}

// shelf is a server of one file. It serves ranges, with these validators.
type shelf struct {
	data           []byte
	tag, since     string
	ranges, wholes atomic.Int32
	// answer may answer a request for a range instead, the n-th one.
	answer func(n int32, w http.ResponseWriter, r *http.Request) bool
}

func (s *shelf) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.tag != "" {
		w.Header().Set("ETag", s.tag)
	}
	modified := time.Time{}
	if s.since != "" {
		modified, _ = http.ParseTime(s.since)
	}
	if r.Header.Get("Range") == "" {
		s.wholes.Add(1)
	} else if n := s.ranges.Add(1); s.answer != nil && s.answer(n, w, r) {
		return
	}
	http.ServeContent(w, r, "", modified, bytes.NewReader(s.data))
}

// labelled says that the file is gzip.
type labelled struct{ http.ResponseWriter }

func (l *labelled) WriteHeader(status int) {
	l.Header().Set("Content-Encoding", "gzip")
	l.ResponseWriter.WriteHeader(status)
}

const someday = "Mon, 02 Jan 2006 15:04:05 GMT"

// span is the range that a request asks for.
func span(r *http.Request) (from, to int) {
	fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &from, &to)
	return from, to
}

// part answers with bytes and says that they are others.
func part(w http.ResponseWriter, contentRange string, body []byte) bool {
	if contentRange != "" {
		w.Header().Set("Content-Range", contentRange)
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusPartialContent)
	_, _ = w.Write(body)
	return true
}

func TestLargeFilesComeInRanges(t *testing.T) {
	t.Parallel()
	data := noise(3*source.Piece + 12345)
	packed := sourcetest.Gzip(data)
	for name, s := range map[string]*shelf{
		"strong tag":    {tag: strongTag},
		"date":          {since: someday},
		"weak and date": {tag: `W/"v1"`, since: someday},
		"as gzip": {tag: strongTag, answer: func(_ int32, w http.ResponseWriter, r *http.Request) bool {
			from, to := span(r)
			return part(w, fmt.Sprintf("bytes %d-%d/%d", from, to, len(packed)), packed[from:to+1])
		}},
		"half of what is asked for": {tag: strongTag, answer: func(_ int32, w http.ResponseWriter, r *http.Request) bool {
			if from, to := span(r); to-from > source.Piece/2 {
				r.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", from, from+source.Piece/2))
			}
			return false
		}},
		"a piece fails": {tag: strongTag, answer: func(n int32, w http.ResponseWriter, _ *http.Request) bool {
			if n == 2 {
				w.WriteHeader(503)
			}
			return n == 2
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if s.data = data; name == "as gzip" {
				s.data = packed
			}
			var strange atomic.Int32
			server := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if cond := r.Header.Get("If-Range"); r.Header.Get("Range") != "" && cond != strongTag && cond != someday {
					strange.Add(1)
				}
				if name == "as gzip" {
					w = &labelled{w}
				}
				s.ServeHTTP(w, r)
			})
			got, a, err := get(t, newSource(t, newClient(t, web.Config{}), config(server.URL)))
			if err != nil || got != string(data) {
				t.Fatalf("%d of %d bytes, error %v", len(got), len(data), err)
			}
			if s.wholes.Load() != 1 || s.ranges.Load() < 3 || strange.Load() != 0 {
				t.Errorf("%d requests for the whole, %d for ranges, %d of them whatever the state of the file", s.wholes.Load(), s.ranges.Load(), strange.Load())
			}
			if a.Validator == "" || a.Status != 200 || a.Bytes != int64(len(data)) {
				t.Errorf("attempt %+v", a)
			}
		})
	}
}

func TestServersThatLieAboutRangesDoNoHarm(t *testing.T) {
	t.Parallel()
	data := noise(2*source.Piece + 999)
	total := strconv.Itoa(len(data))
	lie := func(contentRange func(from, to int) string) func(int32, http.ResponseWriter, *http.Request) bool {
		return func(_ int32, w http.ResponseWriter, r *http.Request) bool {
			from, to := span(r)
			return part(w, contentRange(from, to), make([]byte, to-from+1))
		}
	}
	for name, answer := range map[string]func(int32, http.ResponseWriter, *http.Request) bool{
		"the whole": func(_ int32, w http.ResponseWriter, r *http.Request) bool { r.Header.Del("Range"); return false },
		"416":       func(_ int32, w http.ResponseWriter, r *http.Request) bool { w.WriteHeader(416); return true },
		"403":       func(_ int32, w http.ResponseWriter, r *http.Request) bool { w.WriteHeader(403); return true },
		"elsewhere": func(_ int32, w http.ResponseWriter, r *http.Request) bool {
			http.Redirect(w, r, "http://127.0.0.1:1/", 302)
			return true
		},
		"no range":        lie(func(int, int) string { return "" }),
		"the beginning":   lie(func(from, to int) string { return fmt.Sprintf("bytes 0-%d/%s", to-from, total) }),
		"one byte beside": lie(func(from, to int) string { return fmt.Sprintf("bytes %d-%d/%s", from+1, to+1, total) }),
		"more":            lie(func(from, to int) string { return fmt.Sprintf("bytes %d-%d/%s", from, to+1, total) }),
		"of another size": lie(func(from, to int) string { return fmt.Sprintf("bytes %d-%d/%d", from, to, len(data)+1) }),
		"of no size":      lie(func(from, to int) string { return fmt.Sprintf("bytes %d-%d/*", from, to) }),
		"backwards":       lie(func(from, to int) string { return fmt.Sprintf("bytes %d-%d/%s", to, from, total) }),
		"not a number":    lie(func(from, to int) string { return "bytes a-b/c" }),
		"lines":           lie(func(from, to int) string { return fmt.Sprintf("lines %d-%d/%s", from, to, total) }),
		"another state": func(_ int32, w http.ResponseWriter, r *http.Request) bool {
			from, to := span(r)
			w.Header().Set("ETag", `"v2"`)
			return part(w, fmt.Sprintf("bytes %d-%d/%s", from, to, total), make([]byte, to-from+1))
		},
		"another coding": func(_ int32, w http.ResponseWriter, r *http.Request) bool {
			from, to := span(r)
			w.Header().Set("Content-Encoding", "gzip")
			return part(w, fmt.Sprintf("bytes %d-%d/%s", from, to, total), make([]byte, to-from+1))
		},
		"other length": func(_ int32, w http.ResponseWriter, r *http.Request) bool {
			from, to := span(r)
			return part(w, fmt.Sprintf("bytes %d-%d/%s", from, to, total), make([]byte, to-from))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &shelf{data: data, tag: strongTag, answer: answer}
			server := serve(t, s.ServeHTTP)
			got, a, err := get(t, newSource(t, newClient(t, web.Config{}), config(server.URL)))
			if err != nil || got != string(data) {
				t.Fatalf("%d of %d bytes, error %v", len(got), len(data), err)
			}
			if s.wholes.Load() != 1 || s.ranges.Load() != 1 || a.Retries != 0 {
				t.Errorf("%d requests for the whole, %d for ranges, %d retries", s.wholes.Load(), s.ranges.Load(), a.Retries)
			}
		})
	}
}

func TestRangesAreAskedForOnlyWhereTheStateOfAFileIsKnown(t *testing.T) {
	data := noise(source.Piece + 1)
	for name, s := range map[string]*shelf{"nothing": {}, "weak": {tag: `W/"v1"`}, "no tag": {tag: "v1"}} {
		s.data = data
		server := serve(t, s.ServeHTTP)
		got, _, err := get(t, newSource(t, newClient(t, web.Config{}), config(server.URL)))
		if err != nil || got != string(data) || s.ranges.Load() != 0 {
			t.Errorf("%s: %d of %d bytes, %d ranges, error %v", name, len(got), len(data), s.ranges.Load(), err)
		}
	}
}

func TestFileReplacedWhileItIsReadIsNotMixed(t *testing.T) {
	data := noise(5 * source.Piece)
	s := &shelf{data: data, tag: strongTag}
	s.answer = func(n int32, w http.ResponseWriter, r *http.Request) bool {
		if n >= 3 {
			w.Header().Set("ETag", `"v2"`) // and so the condition does not hold
		}
		return false
	}
	server := serve(t, s.ServeHTTP)
	got, _, err := get(t, newSource(t, newClient(t, web.Config{}), config(server.URL)))
	wantError(t, err, fault.Transport, "the file was replaced while it was read")
	if !bytes.HasPrefix(data, []byte(got)) {
		t.Error("what was written is not of the file")
	}
}

// breaking ends each answer after some bytes of the body.
func breaking(h http.Handler, after int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { h.ServeHTTP(&cutting{w, after}, r) }
}

type cutting struct {
	http.ResponseWriter
	left int
}

func (c *cutting) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p[:min(len(p), c.left)])
	if c.left -= n; c.left == 0 {
		c.ResponseWriter.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	return n, err
}

func TestBrokenDownloadIsResumed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		size, after int
		shelf       *shelf
		ok          bool
		words       string
	}{
		"small":                  {300_000, 100_000, &shelf{tag: strongTag}, true, ""},
		"middling":               {6 << 20, 2 << 20, &shelf{tag: strongTag}, true, ""},
		"large":                  {2*source.Piece + 5, 3 << 20, &shelf{tag: strongTag}, true, ""},
		"again and again":        {1 << 20, 100_000, &shelf{tag: strongTag}, false, "the connection ended before the file did"},
		"nothing is known of it": {6 << 20, 2 << 20, &shelf{}, false, "the connection ended before the file did"},
		"replaced in the meantime": {6 << 20, 2 << 20, &shelf{tag: strongTag, answer: func(_ int32, w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("ETag", `"v2"`)
			return false
		}}, false, "the connection ended before the file did"},
		"ranges are not given there": {6 << 20, 2 << 20, &shelf{tag: strongTag, answer: func(_ int32, w http.ResponseWriter, r *http.Request) bool { r.Header.Del("Range"); return false }}, false, "the connection ended before the file did"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := noise(c.size)
			c.shelf.data = data
			server := serve(t, breaking(c.shelf, c.after))
			server.Config.ErrorLog = nil
			got, a, err := get(t, newSource(t, newClient(t, web.Config{}), config(server.URL)))
			if c.ok {
				if err != nil || got != string(data) {
					t.Errorf("%d of %d bytes, %v", len(got), len(data), err)
				}
				if a.Retries < 2 {
					t.Errorf("%d retries, want at least 2", a.Retries)
				}
				if n := c.shelf.wholes.Load(); n != 1 {
					t.Errorf("requested from the beginning %d times, want 1", n)
				}
				return
			}
			wantError(t, err, fault.Transport, c.words)
			if !bytes.HasPrefix(data, []byte(got)) {
				t.Error("what was written is not of the file")
			}
		})
	}
}

func TestWhatCannotBeResumedBeginsAnew(t *testing.T) {
	data := noise(300_000)
	s := &shelf{data: data, tag: strongTag, answer: func(_ int32, _ http.ResponseWriter, r *http.Request) bool { r.Header.Del("Range"); return false }}
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if s.wholes.Load() < 1 {
			breaking(s, 100_000)(w, r)
			return
		}
		s.ServeHTTP(w, r)
	})
	got, a, err := get(t, newSource(t, newClient(t, web.Config{}), config(server.URL)))
	if err != nil || got != string(data) {
		t.Errorf("%d of %d bytes, %v", len(got), len(data), err)
	}
	if n := s.wholes.Load(); n != 2 {
		t.Errorf("requested from the beginning %d times, want 2", n)
	}
	if a.Retries < 1 {
		t.Error("it was not retried")
	}
}

// The guard is of the connection, and so of that of a range.
func TestGuardHoldsForRanges(t *testing.T) {
	data := noise(2 * source.Piece)
	secret := serve(t, func(w http.ResponseWriter, _ *http.Request) { t.Error("reached"); _, _ = w.Write(data) })
	s := &shelf{data: data, tag: strongTag}
	s.answer = func(_ int32, w http.ResponseWriter, r *http.Request) bool {
		http.Redirect(w, r, secret.URL, http.StatusFound)
		return true
	}
	server := serve(t, s.ServeHTTP)
	client := newClient(t, web.Config{})
	client.Permit(netip.MustParseAddrPort(mustParse(t, server.URL).Host))
	got, _, err := get(t, newGuarded(t, client, config(server.URL)))
	if err != nil || got != string(data) {
		t.Errorf("%d of %d bytes, error %v", len(got), len(data), err)
	}
}

func TestRangesCarryCredentialsToTheirOriginOnly(t *testing.T) {
	data := noise(source.Piece + 5)
	s := &shelf{data: data, tag: strongTag}
	other := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			t.Errorf("%s %s came with credentials", r.URL, r.Header.Get("Range"))
		}
		s.ServeHTTP(w, r)
	})
	front := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL, http.StatusFound) })
	cfg := config(front.URL)
	cfg.Headers = map[string]bin.Secret{"Authorization": bin.NewSecret("Bearer canary")}
	got, a, err := get(t, newSource(t, newClient(t, web.Config{}), cfg))
	if err != nil || got != string(data) {
		t.Errorf("%d of %d bytes, %v", len(got), len(data), err)
	}
	if s.ranges.Load() == 0 {
		t.Error("no range was requested")
	}
	if a.Redirects != 1 {
		t.Errorf("%d redirects, want 1", a.Redirects)
	}
}

func TestKnownFileIsNotSentAgain(t *testing.T) {
	for name, s := range map[string]*shelf{"strong": {tag: strongTag}, "weak": {tag: `W/"v1"`}, "date": {since: someday}} {
		s.data = []byte("text")
		deaf := name == "strong"
		server := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if deaf {
				r.Header.Del("If-None-Match")
			}
			s.ServeHTTP(w, r)
		})
		from := newSource(t, newClient(t, web.Config{}), config(server.URL))
		c := candidate(t, from, "a.so")
		fetch := func() (string, source.Attempt) {
			t.Helper()
			var got bytes.Buffer
			a, err := from.Fetch(t.Context(), c, &got)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			return got.String(), a
		}
		got, a := fetch()
		if got != "text" || a.Same || a.Validator == "" {
			t.Errorf("%s: %q, %+v", name, got, a)
		}
		known := a.Validator
		c.Validator = known
		for range 2 { // of a server that does not listen, then of one that does
			got, a = fetch()
			if got != "" || a.Bytes != 0 {
				t.Errorf("%s: %d bytes were sent: %q", name, a.Bytes, got)
			}
			if !a.Same {
				t.Errorf("%s: the file is reported as another one", name)
			}
			if a.Validator != known {
				t.Errorf("%s: validator %q, want %q", name, a.Validator, known)
			}
			deaf = false
		}
		if a.Status != 304 {
			t.Errorf("%s: status %d", name, a.Status)
		}
		s.data, s.tag, s.since = []byte("other"), strings.Replace(s.tag, "v1", "v2", 1), strings.Replace(s.since, "2006", "2007", 1)
		if got, a = fetch(); got != "other" || a.Same || a.Validator == known {
			t.Errorf("%s: replaced: %q, %+v", name, got, a)
		}
	}
}

func TestValidatorsThatAreNoneAreNotKept(t *testing.T) {
	for _, given := range []string{"v1", `"v`, `"a"b"`, `""x`, `W/v1`, `"` + strings.Repeat("x", 300) + `"`, `"canary"`} {
		server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["ETag"] = []string{given}
			w.Header().Set("Last-Modified", "tomorrow")
			_, _ = io.WriteString(w, "text")
		})
		cfg := config(strings.Replace(server.URL, "http://", "http://user:canary@", 1))
		if _, a, err := get(t, newSource(t, newClient(t, web.Config{}), cfg)); err != nil || a.Validator != "" {
			t.Errorf("%s: validator %q, error %v", given, a.Validator, err)
		}
	}
}

func TestChecksumIsShownToTheServer(t *testing.T) {
	var shown atomic.Value
	server := serve(t, func(w http.ResponseWriter, r *http.Request) { shown.Store(r.Header.Get("SymbolChecksum")) })
	s := newSource(t, newClient(t, web.Config{}), config(server.URL))
	c := candidate(t, s, "a.so")
	for sum, want := range map[string]string{
		"SHA256:abcdef": "SHA256:abcdef", "": "", "a\r\nX-Evil: 1": "", strings.Repeat("a", 201): "",
	} {
		c.Checksum = sum
		if _, err := s.Fetch(t.Context(), c, io.Discard); err != nil || shown.Load() != want {
			t.Errorf("%.30q: shown %q, error %v", sum, shown.Load(), err)
		}
	}
}

func TestLoginPageIsNotTakenForTheFile(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/login" {
			http.Redirect(w, r, "/login", http.StatusFound)
		}
	})
	address := mustParse(t, server.URL)
	client := newClient(t, web.Config{})
	client.UseResolver(resolver(nameServer(t, func(string) []string { return []string{"127.0.0.1"} })))
	for host, denied := range map[string]bool{"dev.azure.com": true, "dev.azure.org": false} {
		_, _, err := get(t, newSource(t, client, config((&url.URL{Scheme: "http", Host: host + ":" + address.Port()}).String())))
		if denied {
			wantError(t, err, fault.Denied, "Potential login page detected")
		} else if err != nil {
			t.Error(err)
		}
	}
}

func TestChecksumBelongsToTheKey(t *testing.T) {
	s := newSource(t, newClient(t, web.Config{}), config("http://host/"))
	debugID, err := ident.ParseBreakpadID(id)
	if err != nil {
		t.Fatal(err)
	}
	keys := map[string]bool{}
	for _, sum := range []string{"", "a", "b"} {
		list, err := s.Candidates(t.Context(), ident.Module{DebugFile: "a.so", DebugID: debugID, DebugChecksum: sum}, []string{source.Breakpad})
		if err != nil || len(list) != 1 || list[0].Checksum != sum || keys[list[0].Key] {
			t.Fatalf("checksum %q: %+v, error %v", sum, list, err)
		}
		keys[list[0].Key] = true
	}
}
