package web_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/source"
	"symbolon/internal/source/sourcetest"
	"symbolon/internal/source/web"
	"symbolon/internal/trial"
	"symbolon/internal/waittest"
)

// raw serves connections by hand.
func raw(t *testing.T, handle func(net.Conn)) string {
	t.Helper()
	return "http://" + trial.NewListener(t, handle)
}

// answer reads a request and writes text.
func answer(text string) func(net.Conn) {
	return func(conn net.Conn) {
		_, _ = conn.Read(make([]byte, 4096))
		_, _ = io.WriteString(conn, text)
	}
}

func TestBrokenConnectionsAreToldInWords(t *testing.T) {
	plain := serve(t, func(http.ResponseWriter, *http.Request) {})
	picky := httptest.NewUnstartedServer(nil)
	picky.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert, MaxVersion: tls.VersionTLS12}
	picky.Config.ErrorLog = log.New(io.Discard, "", 0)
	picky.StartTLS()
	t.Cleanup(picky.Close)
	for name, c := range map[string]struct {
		address string
		words   string
	}{
		"refused": {"http://127.0.0.1:1", "connection refused"},
		"reset": {raw(t, func(conn net.Conn) {
			_, _ = conn.Read(make([]byte, 4096))
			_ = conn.(*net.TCPConn).SetLinger(0)
		}), "connection reset by the server"},
		"closed":      {raw(t, answer("")), "connection closed without an answer"},
		"not HTTP":    {raw(t, answer("SSH-2.0-OpenSSH_9.2\r\n\r\n")), "the server does not speak HTTP"},
		"not TLS":     {strings.Replace(plain.URL, "http:", "https:", 1), "the server does not speak TLS"},
		"TLS refused": {picky.URL, "the server refuses the TLS handshake"},
		"short body":  {raw(t, answer("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort")), "the connection ended before the file did"},
		"cut chunk":   {raw(t, answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nshort")), "the connection ended before the file did"},
		"two lengths": {raw(t, answer("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx")), "connection failed: "},
		"cut gzip with only the connection to end it": {
			raw(t, answer("HTTP/1.0 200 OK\r\nContent-Encoding: gzip\r\n\r\n"+string(sourcetest.Gzip([]byte(strings.Repeat("text", 100)))[:20]))),
			"the connection ended before the file did"},
	} {
		cfg := config(c.address)
		cfg.AcceptInvalidCerts = true
		_, _, err := get(t, newSource(t, newClient(t, web.Config{MaxTries: 1}), cfg))
		if err == nil || fault.KindOf(err) != fault.Transport || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: got %v, want %q", name, err, c.words)
		}
	}
}

func TestBodyWhereNoneBelongsHarmsNoLaterRequest(t *testing.T) {
	address := raw(t, func(conn net.Conn) {
		request := make([]byte, 4096)
		for n, err := conn.Read(request); err == nil; n, err = conn.Read(request) {
			if bytes.Contains(request[:n], []byte("/none/")) {
				_, _ = io.WriteString(conn, "HTTP/1.1 204 No Content\r\nContent-Length: 4\r\n\r\n")
				_, _ = conn.Read(request) // the next request
				_, _ = io.WriteString(conn, "text\r\n")
				continue
			}
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfile")
		}
	})
	client := newClient(t, web.Config{})
	_, _, err := get(t, newSource(t, client, config(address+"/none")))
	wantError(t, err, fault.NotFound, "204")
	got, a, err := get(t, newSource(t, client, config(address)))
	if got != "file" || err != nil || a.Retries != 1 {
		t.Errorf("got %q, %+v, %v", got, a, err)
	}
}

func TestBodyWithoutALengthIsTaken(t *testing.T) {
	address := raw(t, answer("HTTP/1.0 200 OK\r\n\r\ntext to the end"))
	if got, _, err := get(t, newSource(t, newClient(t, web.Config{}), config(address))); got != "text to the end" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestDamagedBodiesAreMalformed(t *testing.T) {
	whole := sourcetest.Gzip([]byte(strings.Repeat("text", 1000)))
	for name, body := range map[string][]byte{"no gzip": []byte("MODULE Linux x86_64 0 a\n"), "cut as stored": whole[:len(whole)-9]} {
		server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			w.Header().Set("Content-Length", fmt.Sprint(len(body)))
			_, _ = w.Write(body)
		})
		_, a, err := get(t, newSource(t, newClient(t, web.Config{}), config(server.URL)))
		wantError(t, err, fault.Malformed, "gzip")
		if a.Retries != 0 {
			t.Errorf("%s: %d retries", name, a.Retries)
		}
	}
}

func TestUnknownEncodingIsUnsupported(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Encoding", "rot13") })
	_, _, err := get(t, newSource(t, newClient(t, web.Config{}), config(server.URL)))
	wantError(t, err, fault.Transport, "Unsupported content encoding")
}

func TestCertificatesAreChecked(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "text") }))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	client := newClient(t, web.Config{})
	cfg := config(server.URL)
	_, a, err := get(t, newSource(t, client, cfg))
	wantError(t, err, fault.Transport, "certificate is not trusted: ")
	if a.Retries != 0 {
		t.Errorf("%d retries", a.Retries)
	}
	cfg.AcceptInvalidCerts = true
	if got, _, err := get(t, newSource(t, client, cfg)); got != "text" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestEveryStepHasItsTime(t *testing.T) {
	t.Parallel()
	hang := func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	stop := func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "text")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
	drip := func(w http.ResponseWriter, r *http.Request) {
		for range 100 {
			fmt.Fprint(w, "x")
			w.(http.Flusher).Flush()
			select {
			case <-time.After(20 * time.Millisecond):
			case <-r.Context().Done():
				return
			}
		}
	}
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		cfg     web.Config
		words   string
	}{
		"head":           {hang, web.Config{HeadTimeout: 100 * time.Millisecond}, "no answer within 100ms"},
		"read":           {stop, web.Config{ReadTimeout: 100 * time.Millisecond}, "no data arrived for 100ms"},
		"total":          {drip, web.Config{MaxDownloadTimeout: 200 * time.Millisecond}, "not finished within 200ms"},
		"total for head": {hang, web.Config{MaxDownloadTimeout: 100 * time.Millisecond, HeadTimeout: -1}, "not finished within 100ms"},
	} {
		for _, http2 := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", HTTP/2 ", http2), func(t *testing.T) {
				t.Parallel()
				server := httptest.NewUnstartedServer(c.handler)
				server.EnableHTTP2 = http2
				server.Config.ErrorLog = log.New(io.Discard, "", 0)
				server.StartTLS()
				t.Cleanup(server.Close)
				cfg := config(server.URL)
				cfg.AcceptInvalidCerts = true
				start := time.Now()
				_, _, err := get(t, newSource(t, newClient(t, c.cfg), cfg))
				wantError(t, err, fault.Timeout, c.words)
				if spent := time.Since(start); spent > 3*time.Second {
					t.Errorf("it took %v", spent)
				}
			})
		}
	}
}

// The server ends its answer in order when it learns that the client is gone;
// what came until then must not pass for the file.
func TestPartIsNeverTakenForTheWhole(t *testing.T) {
	t.Parallel()
	for _, encoding := range []string{"", "gzip"} {
		server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", encoding)
			_, _ = w.Write(sourcetest.Gzip([]byte("text"))[:20])
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}))
		t.Cleanup(server.Close)
		cfg := config(server.URL)
		cfg.AcceptInvalidCerts = true
		client := newClient(t, web.Config{ReadTimeout: 10 * time.Millisecond, DenyListThreshold: -1})
		for range 30 {
			_, _, err := get(t, newSource(t, client, cfg))
			wantError(t, err, fault.Timeout, "no data arrived for 10ms")
		}
	}
}

func TestSlowButSteadyServerIsWaitedFor(t *testing.T) {
	t.Parallel()
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		for range 12 {
			fmt.Fprint(w, "x")
			w.(http.Flusher).Flush()
			waittest.Delay(r.Context(), 50*time.Millisecond)
		}
	})
	got, _, err := get(t, newSource(t, newClient(t, web.Config{ReadTimeout: 400 * time.Millisecond}), config(server.URL)))
	if got != "xxxxxxxxxxxx" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestConnectionsHaveTheirTime(t *testing.T) {
	silent, err := net.ListenPacket("udp", "127.0.0.1:0") // a name server that never answers
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { silent.Close() })
	client := newClient(t, web.Config{ConnectTimeout: 100 * time.Millisecond, MaxTries: 2})
	client.UseResolver(resolver(silent.LocalAddr().String()))
	_, a, err := get(t, newSource(t, client, config("http://slow.test/")))
	wantError(t, err, fault.Timeout, "no connection within 100ms")
	if a.Retries != 1 {
		t.Errorf("%d retries", a.Retries)
	}
	// A server that takes the connection and says nothing of TLS.
	silentTLS := raw(t, func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) })
	client = newClient(t, web.Config{ConnectTimeout: 100 * time.Millisecond, MaxTries: 1})
	_, _, err = get(t, newSource(t, client, config(strings.Replace(silentTLS, "http:", "https:", 1))))
	wantError(t, err, fault.Timeout, "no connection within 100ms")
}

func TestUnknownHostIsNoSuchHost(t *testing.T) {
	client := newClient(t, web.Config{})
	client.UseResolver(resolver(nameServer(t, func(string) []string { return nil })))
	_, a, err := get(t, newSource(t, client, config("http://nowhere.test/")))
	wantError(t, err, fault.Transport, "no such host")
	if a.Retries != 0 {
		t.Errorf("%d retries", a.Retries)
	}
}

func TestCanceledCallIsNotAFailureOfTheHost(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	client := newClient(t, web.Config{DenyListThreshold: 1})
	s := newSource(t, client, config(server.URL))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, _, err := getContext(ctx, t, s)
	wantError(t, err, fault.Timeout, "canceled by the caller")
	ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, _, err = getContext(ctx, t, s)
	wantError(t, err, fault.Timeout, "canceled by the caller") // and not: blocked
}

func TestLimitsOfSize(t *testing.T) {
	zeros := make([]byte, 8<<20)
	packed := sourcetest.Gzip(zeros)
	handler := func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/announced"):
			w.Header().Set("Content-Length", "99999999999")
			_, _ = w.Write([]byte("x"))
		case strings.HasPrefix(r.URL.Path, "/endless"):
			for r.Context().Err() == nil {
				if _, err := w.Write(zeros); err != nil {
					return
				}
			}
		case strings.HasPrefix(r.URL.Path, "/packed"):
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(packed)
		default: // 80 MiB out of a few hundred KiB
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bytes.Repeat(packed, 10))
		}
	}
	server := serve(t, handler)
	for at, c := range map[string]struct {
		cfg   web.Config
		words string
	}{
		"/announced": {web.Config{}, "larger than the limit of 16GiB"},
		"/endless":   {web.Config{MaxDownloadSize: 20 << 20}, "larger than the limit of 20MiB"},
		"/packed":    {web.Config{MaxDownloadSize: 1 << 20}, "larger than the limit of 1MiB"},
		"/bomb":      {web.Config{}, "unpacks to far more than its size"},
	} {
		s := newSource(t, newClient(t, c.cfg), config(server.URL+at))
		_, err := s.Fetch(t.Context(), candidate(t, s, "a.so"), io.Discard)
		wantError(t, err, fault.Malformed, c.words)
	}
	s := newSource(t, newClient(t, web.Config{MaxDownloadRatio: -1, MaxDownloadSize: -1}), config(server.URL+"/bomb"))
	if a, err := s.Fetch(t.Context(), candidate(t, s, "a.so"), io.Discard); err != nil || a.Bytes != 80<<20 {
		t.Errorf("without limits: %+v, %v", a, err)
	}
	if l := (web.Config{MaxDownloadSize: -1}).Limit(); l != (bin.Limit{Ratio: 200}) {
		t.Errorf("limit %+v", l)
	}
}

var _ source.Source = (*web.Source)(nil)

func TestASourceMayHaveATimeOfItsOwn(t *testing.T) {
	t.Parallel()
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		for range 6 {
			fmt.Fprint(w, "x")
			w.(http.Flusher).Flush()
			waittest.Delay(r.Context(), 50*time.Millisecond)
		}
	})
	client := newClient(t, web.Config{MaxDownloadTimeout: 100 * time.Millisecond})
	for _, patient := range []time.Duration{10 * time.Second, -1} {
		cfg := config(server.URL)
		cfg.Timeout = patient
		if got, _, err := get(t, newSource(t, client, cfg)); got != "xxxxxx" || err != nil {
			t.Errorf("%v: %q, error %v", patient, got, err)
		}
	}
	cfg := config(server.URL)
	cfg.Timeout = 20 * time.Millisecond
	_, _, err := get(t, newSource(t, client, cfg))
	wantError(t, err, fault.Timeout, "not finished within 20ms")
	_, _, err = get(t, newSource(t, client, config(server.URL)))
	wantError(t, err, fault.Timeout, "not finished within 100ms")
}
