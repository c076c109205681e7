package trial

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"symbolon/internal/waittest"
)

// File sends b as it should be.
func File(b []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(len(b)))
		_, _ = w.Write(b)
	})
}

// Status sends a status, with headers as pairs of name and value.
func Status(code int, headers ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(code)
	})
}

// Page sends HTML with status 200.
func Page() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<!DOCTYPE html><html><body><h1>Sign in</h1></body></html>\n")
	})
}

// Hang sends the first n bytes of b and then nothing more; with n negative not
// even a head.
func Hang(b []byte, n int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n >= 0 {
			w.Header().Set("Content-Length", strconv.Itoa(len(b)))
			_, _ = w.Write(b[:n])
			w.(http.Flusher).Flush()
		}
		<-r.Context().Done()
	})
}

// Drip sends b a byte at a time.
func Drip(b []byte, every time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(len(b)))
		for i := range b {
			if _, err := w.Write(b[i : i+1]); err != nil {
				return
			}
			w.(http.Flusher).Flush()
			waittest.Delay(r.Context(), every)
		}
	})
}

// Wait answers as h does, once until is closed.
func Wait(until <-chan struct{}, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-until:
			h.ServeHTTP(w, r)
		case <-r.Context().Done():
		}
	})
}

// Raw writes text to the connection as it stands and closes it, by a reset if
// reset is true.
func Raw(text string, reset bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		defer c.Close()
		_, _ = io.WriteString(c, text)
		if tcp, ok := c.(*net.TCPConn); ok && reset {
			waittest.Delay(r.Context(), 20*time.Millisecond) // a reset overtakes sent bytes
			_ = tcp.SetLinger(0)
		}
	})
}

// Claim sends b with a Content-Length of its own.
func Claim(b []byte, length int) http.Handler {
	return Raw(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", length, b), false)
}

// Gzipped is b as gzip.
func Gzipped(b []byte) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, _ = z.Write(b) // a buffer takes everything
	_ = z.Close()
	return out.Bytes()
}

// Encoded sends b as it stands and calls it gzip.
func Encoded(b []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		File(b).ServeHTTP(w, r)
	})
}

// Bomb sends head and then zeros, times 64 MiB of them, as gzip.
func Bomb(head []byte, times int) http.Handler {
	zeros := Gzipped(make([]byte, 64<<20))
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(Gzipped(head))
		for range times {
			if _, err := w.Write(zeros); err != nil {
				return
			}
		}
	})
}

// Loop sends the asker back to where it came from.
func Loop() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) })
}
