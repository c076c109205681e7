package api_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/fixture"
	"symbolon/internal/waittest"
)

// writePair writes a new certificate with its key into a folder.
func writePair(t *testing.T, dir, name string) {
	t.Helper()
	cert, key := fixture.Certificate(name)
	write(t, filepath.Join(dir, "cert.pem"), cert)
	write(t, filepath.Join(dir, "key.pem"), key)
}

func write(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// pairIn names the files of a folder.
func pairIn(dir string) api.TLSConfig {
	return api.TLSConfig{Certificate: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem")}
}

// serveTLS runs a server on two ports, the first with TLS, and logs to log.
func serveTLS(t *testing.T, dir string, log io.Writer) (secure, plain string) {
	t.Helper()
	opt := options(log)
	with, err := api.OpenTLS(pairIn(dir), opt.Log)
	if err != nil {
		t.Fatal(err)
	}
	var ports []net.Listener
	for range 2 {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ports = append(ports, ln)
	}
	secure, plain = ports[0].Addr().String(), ports[1].Addr().String()
	ports[0] = tls.NewListener(ports[0], with)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	f := api.New(api.Config{}, opt, []api.Route{get("/x", say("x"))})
	go func() { ended <- f.Serve(ctx, ports...) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return secure, plain
}

// shown returns the name in the certificate that a server shows.
func shown(t *testing.T, addr string) string {
	t.Helper()
	conn, err := tls.DialWithDialer(&net.Dialer{Timeout: 10 * time.Second}, "tcp", addr, &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	return conn.ConnectionState().PeerCertificates[0].Subject.CommonName
}

func TestServerSpeaksTLSBesidePlainHTTP(t *testing.T) {
	dir := t.TempDir()
	writePair(t, dir, "first")
	secure, plain := serveTLS(t, dir, io.Discard)
	text, err := os.ReadFile(pairIn(dir).Certificate)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(text)
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	trusted := x509.NewCertPool()
	trusted.AddCert(cert)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted}, ForceAttemptHTTP2: true}}
	defer client.CloseIdleConnections()
	for _, url := range []string{"https://" + secure + "/x", "http://" + plain + "/x"} {
		res, err := client.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if res.StatusCode != 200 || string(body) != "x" || res.ProtoMajor != 1 {
			t.Errorf("%s: %s %s %q", url, res.Proto, res.Status, body)
		}
	}
	if _, err := tls.Dial("tcp", secure, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS11, MaxVersion: tls.VersionTLS11}); err == nil {
		t.Error("the server accepts TLS 1.1")
	}
}

func TestNewCertificateIsUsedWithoutARestart(t *testing.T) {
	dir, log := t.TempDir(), &waittest.Log{}
	writePair(t, dir, "first")
	addr, _ := serveTLS(t, dir, log)
	if got := shown(t, addr); got != "first" {
		t.Fatalf("the server shows %q", got)
	}
	writePair(t, dir, "second")
	for range 3 {
		if got := shown(t, addr); got != "second" {
			t.Fatalf("after the change the server shows %q", got)
		}
	}
	if n := strings.Count(log.String(), "the TLS certificate was replaced"); n != 1 {
		t.Errorf("the log says %d times that the certificate was replaced", n)
	}
}

func TestCertificateThatDoesNotLoadLeavesTheOldOneInUse(t *testing.T) {
	for name, harm := range map[string]func(cfg api.TLSConfig){
		"no certificate": func(cfg api.TLSConfig) { write(t, cfg.Certificate, []byte("nonsense")) },
		"no key":         func(cfg api.TLSConfig) { write(t, cfg.Key, nil) },
		"another key": func(cfg api.TLSConfig) {
			_, key := fixture.Certificate("other")
			write(t, cfg.Key, key)
		},
		"a removed file": func(cfg api.TLSConfig) { _ = os.Remove(cfg.Key) },
	} {
		t.Run(name, func(t *testing.T) {
			dir, log := t.TempDir(), &waittest.Log{}
			writePair(t, dir, "first")
			addr, _ := serveTLS(t, dir, log)
			harm(pairIn(dir))
			for range 3 {
				if got := shown(t, addr); got != "first" {
					t.Fatalf("the server shows %q", got)
				}
			}
			if n := strings.Count(log.String(), "the new TLS certificate does not load; the old one stays in use"); n != 1 {
				t.Errorf("the log tells it %d times:\n%s", n, log)
			}
			writePair(t, dir, "second")
			if got := shown(t, addr); got != "second" {
				t.Errorf("with a good pair the server shows %q", got)
			}
		})
	}
}

func TestBadCertificateIsRefusedAtTheStart(t *testing.T) {
	dir := t.TempDir()
	good, other := pairIn(dir), filepath.Join(dir, "other.pem")
	writePair(t, dir, "first")
	_, key := fixture.Certificate("other")
	write(t, other, key)
	for want, cfg := range map[string]api.TLSConfig{
		"read the TLS certificate: open " + dir:        {Certificate: filepath.Join(dir, "missing.pem"), Key: good.Key},
		"with the key " + other + ": tls: private key": {Certificate: good.Certificate, Key: other},
		"failed to find certificate PEM":               {Certificate: other, Key: good.Key},
	} {
		if _, err := api.OpenTLS(cfg, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v; want %q", err, want)
		}
	}
}

func TestErrorOfATakenPortNamesItsSetting(t *testing.T) {
	dir := t.TempDir()
	writePair(t, dir, "first")
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	secure := pairIn(dir)
	secure.Address = taken.Addr().String()
	for want, cfg := range map[string]api.Config{
		"; choose another address with --listen, or with http.listen": {Listen: taken.Addr().String()},
		"; choose another address with http.tls.address":              {Listen: "127.0.0.1:0", TLS: secure},
	} {
		if _, _, err := api.Listen(cfg, slog.New(slog.DiscardHandler)); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("got %v, want %q at the end", err, want)
		}
	}
}

func TestTLSSettingsAreValidated(t *testing.T) {
	for want, cfg := range map[string]api.TLSConfig{
		"certificate is set without key":             {Certificate: "a"},
		"key is set without certificate":             {Key: "a"},
		"address is set without certificate and key": {Address: "127.0.0.1:443"},
		`address is "443": must be`:                  {Certificate: "a", Key: "b", Address: "443"},
	} {
		if err := cfg.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v; want %q", cfg, err, want)
		}
	}
	both := api.Config{Listen: "127.0.0.1:443", TLS: api.TLSConfig{Certificate: "a", Key: "b", Address: "127.0.0.1:443"}}
	if err := both.Validate(); err == nil || err.Error() != `tls.address is "127.0.0.1:443": must differ from listen` {
		t.Errorf("one address for two ports: %v", err)
	}
	if both.Listen, both.TLS.Address = "127.0.0.1:0", "127.0.0.1:0"; both.Validate() != nil {
		t.Errorf("two ports that the system chooses: %v", both.Validate())
	}
	for _, cfg := range []api.TLSConfig{{}, {Certificate: "a", Key: "b"}, {Certificate: "a", Key: "b", Address: ":443"}} {
		if err := cfg.Validate(); err != nil {
			t.Errorf("%+v: %v", cfg, err)
		}
	}
}
