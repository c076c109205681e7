package api

import (
	"cmp"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
)

// TLSConfig names the certificate of the server. The zero value is plain HTTP.
type TLSConfig struct {
	Certificate string `yaml:"certificate" help:"PEM file of the server's certificate, followed by those of its issuers. It is read again when it changes. None: plain HTTP."`
	Key         string `yaml:"key" help:"PEM file of the certificate's private key. It is read again when it changes."`
	Address     string `yaml:"address" help:"Host and port for TLS. http.listen then stays plain HTTP. None: http.listen speaks TLS."`
}

// On reports whether a port speaks TLS.
func (c TLSConfig) On() bool { return c.Certificate != "" }

// Validate reports settings that cannot work together.
func (c TLSConfig) Validate() error {
	var errs []error
	switch {
	case c.Certificate != "" && c.Key == "":
		errs = append(errs, errors.New("certificate is set without key"))
	case c.Certificate == "" && c.Key != "":
		errs = append(errs, errors.New("key is set without certificate"))
	case c.Address != "" && !c.On():
		errs = append(errs, errors.New("address is set without certificate and key"))
	}
	if c.Address != "" && !isAddress(c.Address) {
		errs = append(errs, fmt.Errorf("address is %q: must be HOST:PORT", c.Address))
	}
	return errors.Join(errs...)
}

// OpenTLS loads the certificate and its key. Handshakes read the files again, one
// at a time, so a renewed pair counts from the next connection on. A new pair that
// does not load is logged once, and the old one stays in use.
//
// Connections speak HTTP/1.1: the time limits of clients are set for each
// connection.
func OpenTLS(cfg TLSConfig, log *slog.Logger) (*tls.Config, error) {
	p := &pair{cfg: cfg, log: log}
	cert, seen, err := p.load()
	if err != nil {
		return nil, err
	}
	p.cert.Store(cert)
	p.seen = seen
	return &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}, GetCertificate: p.current}, nil
}

// pair is a certificate with its key, as the files have them.
type pair struct {
	cfg  TLSConfig
	log  *slog.Logger
	cert atomic.Pointer[tls.Certificate]

	mu   sync.Mutex        // held while the files are read
	seen [sha256.Size]byte // of the files when they were read last
}

// current returns the pair of the files, or the last one that loaded. While one
// handshake reads the files, the others use that one: they do not wait for a slow
// disk.
func (p *pair) current(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	if p.mu.TryLock() {
		defer p.mu.Unlock()
		p.renew()
	}
	return p.cert.Load(), nil
}

// renew replaces the pair if the files have changed.
func (p *pair) renew() {
	cert, seen, err := p.load()
	if seen == p.seen {
		return
	}
	p.seen = seen
	if err != nil {
		p.log.Error("the new TLS certificate does not load; the old one stays in use", "error", err)
		return
	}
	p.cert.Store(cert)
	p.log.Info("the TLS certificate was replaced", "certificate", p.cfg.Certificate, "valid_until", cert.Leaf.NotAfter)
}

// load reads the files. seen is the same for as long as they are, and while
// reading them fails in the same way.
func (p *pair) load() (cert *tls.Certificate, seen [sha256.Size]byte, err error) {
	certText, certErr := os.ReadFile(p.cfg.Certificate)
	keyText, keyErr := os.ReadFile(p.cfg.Key)
	if err := cmp.Or(certErr, keyErr); err != nil {
		return nil, sha256.Sum256([]byte(err.Error())), fmt.Errorf("read the TLS certificate: %w", err)
	}
	certSum, keySum := sha256.Sum256(certText), sha256.Sum256(keyText)
	seen = sha256.Sum256(append(certSum[:], keySum[:]...))
	if seen == p.seen {
		return p.cert.Load(), seen, nil
	}
	loaded, err := tls.X509KeyPair(certText, keyText)
	if err != nil {
		return nil, seen, fmt.Errorf("load the TLS certificate %s with the key %s: %w", p.cfg.Certificate, p.cfg.Key, err)
	}
	return &loaded, seen, nil
}
