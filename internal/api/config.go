package api

import (
	"errors"
	"fmt"
	"net"
	"time"

	"symbolon/internal/bin"
)

// Config of the front. The zero value is the default.
type Config struct {
	Listen          string        `yaml:"listen" help:"Address and port to listen on."`
	TLS             TLSConfig     `yaml:"tls" help:"The certificate of the server, for HTTPS. The server looks at the files for each new connection and needs no restart when they change."`
	MaxInFlight     int           `yaml:"max_in_flight" help:"Requests worked on at the same time, counted from when the body has begun to arrive; those beyond get 503 with Retry-After. -1: no bound."`
	MaxPerClient    int           `yaml:"max_in_flight_per_client" help:"The same for one client address; those beyond get 429 with Retry-After. -1: no bound. Behind a proxy that http.trusted_proxies does not name all clients have its address."`
	TrustedProxies  []string      `yaml:"trusted_proxies" help:"Addresses and networks (10.0.0.0/8) of proxies whose X-Forwarded-For is believed: the client is its right-most address that is not one of them. None: the client is the other end of the connection."`
	MaxBody         bin.Size      `yaml:"max_body" help:"Largest request body, as sent and after decoding, where a route has no bound of its own."`
	HeaderTimeout   time.Duration `yaml:"header_timeout" help:"How long the headers of a request may take."`
	BodyTimeout     time.Duration `yaml:"body_timeout" help:"How long the body of a request may take; each 4 KiB received add a second."`
	WriteTimeout    time.Duration `yaml:"write_timeout" help:"How long a client may read nothing of its answer."`
	IdleTimeout     time.Duration `yaml:"idle_timeout" help:"How long an unused connection is kept open."`
	ShutdownTimeout time.Duration `yaml:"shutdown_timeout" help:"How long running requests may take to end when the server stops."`
	VersionFile     string        `yaml:"version_file" help:"A version.json for /__version__; none: what the binary knows about its build."`
}

// Defaults returns c with its zero fields filled in.
func (c Config) Defaults() Config {
	if c.Listen == "" {
		c.Listen = "127.0.0.1:3021"
	}
	if c.MaxInFlight == 0 {
		c.MaxInFlight = 200
	}
	if c.MaxPerClient == 0 {
		c.MaxPerClient = -1
	}
	if c.MaxBody == 0 {
		c.MaxBody = 64 << 20
	}
	for _, d := range []struct {
		at    *time.Duration
		value time.Duration
	}{
		{&c.HeaderTimeout, 10 * time.Second},
		{&c.BodyTimeout, 30 * time.Second},
		{&c.WriteTimeout, 60 * time.Second},
		{&c.IdleTimeout, 120 * time.Second},
		{&c.ShutdownTimeout, 30 * time.Second},
	} {
		if *d.at == 0 {
			*d.at = d.value
		}
	}
	return c
}

// Validate says what is wrong with c.
func (c Config) Validate() error {
	c = c.Defaults()
	var errs []error
	if _, _, err := net.SplitHostPort(c.Listen); err != nil {
		errs = append(errs, fmt.Errorf("listen is %.200q: must be HOST:PORT", c.Listen))
	}
	if _, port, err := net.SplitHostPort(c.Listen); err == nil && port != "0" && c.TLS.Address == c.Listen {
		errs = append(errs, fmt.Errorf("tls.address is %.200q: must differ from listen", c.Listen))
	}
	if c.MaxInFlight < -1 {
		errs = append(errs, fmt.Errorf("max_in_flight is %d: must be a positive number, or -1", c.MaxInFlight))
	}
	if c.MaxPerClient < -1 {
		errs = append(errs, fmt.Errorf("max_in_flight_per_client is %d: must be a positive number, or -1", c.MaxPerClient))
	}
	if _, err := parseProxies(c.TrustedProxies); err != nil {
		errs = append(errs, err)
	}
	if c.MaxBody < 0 {
		errs = append(errs, fmt.Errorf("max_body is %s: must be a positive size", c.MaxBody))
	}
	for name, d := range map[string]time.Duration{
		"header_timeout": c.HeaderTimeout, "body_timeout": c.BodyTimeout, "write_timeout": c.WriteTimeout,
		"idle_timeout": c.IdleTimeout, "shutdown_timeout": c.ShutdownTimeout,
	} {
		if d < 0 {
			errs = append(errs, fmt.Errorf("%s is %s: must be a positive duration", name, d))
		}
	}
	return errors.Join(errs...)
}
