package api

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
)

// Listen opens the ports of the server, the one with TLS first, and returns their
// URLs.
func Listen(cfg Config, log *slog.Logger) (ports []net.Listener, bases []string, err error) {
	plain, secure := cfg.Listen, ""
	var tlsConfig *tls.Config
	if cfg.TLS.On() {
		if tlsConfig, err = OpenTLS(cfg.TLS, log); err != nil {
			return nil, nil, err
		}
		if secure = cfg.TLS.Address; secure == "" {
			plain, secure = "", plain
		}
	}
	for i, addr := range []string{secure, plain} {
		if addr == "" {
			continue
		}
		l, err := net.Listen("tcp", addr)
		if err != nil {
			key := "--listen, or with http.listen"
			if i == 0 && cfg.TLS.Address != "" {
				key = "http.tls.address"
			}
			return nil, nil, errors.Join(fmt.Errorf("%w; choose another address with %s", err, key), CloseAll(ports))
		}
		scheme := "http"
		if i == 0 {
			scheme, l = "https", tls.NewListener(l, tlsConfig)
		}
		ports = append(ports, l)
		base, err := address(scheme, addr, l.Addr())
		if err != nil {
			return nil, nil, errors.Join(err, CloseAll(ports))
		}
		bases = append(bases, base)
	}
	return ports, bases, nil
}

// CloseAll closes ports.
func CloseAll(ports []net.Listener) error {
	var err error
	for _, l := range ports {
		err = errors.Join(err, l.Close())
	}
	return err
}

// address returns the URL of a port: the configured host with the number of the bound
// port.
func address(scheme, configured string, bound net.Addr) (string, error) {
	host, _, err := net.SplitHostPort(configured)
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(bound.String())
	if err != nil {
		return "", err
	}
	if host == "" {
		host = "127.0.0.1"
	}
	return scheme + "://" + net.JoinHostPort(host, port), nil
}
