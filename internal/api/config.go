package api

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"time"

	"symbolon/internal/bin"
)

// Config configures the front. The zero value is the default.
type Config struct {
	Listen          string        `yaml:"listen" help:"Address and port to listen on."`
	TLS             TLSConfig     `yaml:"tls" help:"The certificate of the server, for HTTPS. The files are checked for each new connection, so a change does not need a restart."`
	MaxInFlight     int           `yaml:"max_in_flight" least:"-1" help:"Requests that are served at the same time, counted from the beginning of their body; others get 503 with Retry-After. -1: no limit."`
	MaxPerClient    int           `yaml:"max_in_flight_per_client" least:"-1" help:"The same for one client address; others get 429 with Retry-After. -1: no limit. All clients of a proxy that is not in http.trusted_proxies have its address."`
	TrustedProxies  []string      `yaml:"trusted_proxies" help:"Addresses and networks (10.0.0.0/8) of proxies whose X-Forwarded-For and X-Forwarded-Proto are trusted: the client is the right-most address of the former that is not one of them. None: the client is the peer of the connection."`
	MaxBody         bin.Size      `yaml:"max_body" least:"0" help:"Largest request body, as sent and after decoding, for routes without a limit of their own."`
	HeaderTimeout   time.Duration `yaml:"header_timeout" least:"0" help:"Time limit for the headers of a request."`
	BodyTimeout     time.Duration `yaml:"body_timeout" least:"0" help:"Time limit for the body of a request; each 4 KiB add a second."`
	WriteTimeout    time.Duration `yaml:"write_timeout" least:"0" help:"Time limit for a client that does not read its answer."`
	IdleTimeout     time.Duration `yaml:"idle_timeout" least:"0" help:"How long an idle connection is kept open."`
	ShutdownTimeout time.Duration `yaml:"shutdown_timeout" least:"0" help:"Time limit for running requests when the server stops."`
	VersionFile     string        `yaml:"version_file" help:"A version.json for /__version__. None: the build information of the binary."`
}

// Defaults returns c with default values for its zero fields.
func (c Config) Defaults() Config {
	c.Listen = cmp.Or(c.Listen, "127.0.0.1:3021")
	c.MaxInFlight = cmp.Or(c.MaxInFlight, 200)
	c.MaxPerClient = cmp.Or(c.MaxPerClient, -1)
	c.MaxBody = cmp.Or(c.MaxBody, 64<<20)
	c.HeaderTimeout = cmp.Or(c.HeaderTimeout, 10*time.Second)
	c.BodyTimeout = cmp.Or(c.BodyTimeout, 30*time.Second)
	c.WriteTimeout = cmp.Or(c.WriteTimeout, 60*time.Second)
	c.IdleTimeout = cmp.Or(c.IdleTimeout, 120*time.Second)
	c.ShutdownTimeout = cmp.Or(c.ShutdownTimeout, 30*time.Second)
	return c
}

// isAddress reports whether a text is HOST:PORT.
func isAddress(text string) bool {
	_, port, err := net.SplitHostPort(text)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	return err == nil
}

// Validate returns an error if a field of c is invalid.
func (c Config) Validate() error {
	c = c.Defaults()
	var errs []error
	if !isAddress(c.Listen) {
		errs = append(errs, fmt.Errorf("listen is %.200q: must be HOST:PORT", c.Listen))
	}
	if _, port, err := net.SplitHostPort(c.Listen); err == nil && port != "0" && c.TLS.Address == c.Listen {
		errs = append(errs, fmt.Errorf("tls.address is %.200q: must differ from listen", c.Listen))
	}
	if _, err := parseProxies(c.TrustedProxies); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
