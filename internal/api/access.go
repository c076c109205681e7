package api

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"

	"symbolon/internal/bin"
)

// Client is the holder of a token, with its rights.
type Client struct {
	Name           string     `yaml:"name" help:"Name of the holder, for people."`
	Token          bin.Secret `yaml:"token" help:"The secret, which clients send as Authorization: Bearer TOKEN."`
	Scopes         []string   `yaml:"scopes" help:"Scopes that requests may name, * for any. A request without a scope has the first one."`
	Sources        []string   `yaml:"sources" help:"Ids of the configured sources that are searched for the holder. None: all."`
	RequestSources bool       `yaml:"request_sources" help:"Let requests name sources of their own, if sentry.allow_request_sources does."`
	Admin          bool       `yaml:"admin" help:"Let the holder use /api/forget and /api/explain."`
}

// AccessConfig has the clients with their rights. By the zero value every client
// may symbolicate, and those on this machine may operate.
type AccessConfig struct {
	Clients []Client `yaml:"clients" help:"Clients that may use the interfaces of Sentry, and their rights. None: all clients, in any scope."`
}

// minToken is the smallest length of a token.
const minToken = 16

// Validate returns an error if a field of c is invalid.
func (c AccessConfig) Validate() error {
	var errs []error
	seen := map[string]bool{}
	for i, t := range c.Clients {
		text := t.Token.Reveal()
		switch {
		case len(text) < minToken:
			errs = append(errs, fmt.Errorf("clients[%d].token has %d bytes: must have at least %d", i, len(text), minToken))
		case seen[text]:
			errs = append(errs, fmt.Errorf("clients[%d].token is the token of another one", i))
		}
		switch {
		case len(t.Scopes) == 0 && !t.Admin:
			errs = append(errs, fmt.Errorf("clients[%d].scopes has no scopes: \"*\" is any", i))
		case slices.Contains(t.Scopes, ""):
			errs = append(errs, fmt.Errorf("clients[%d].scopes has a scope that has no name", i))
		}
		seen[text] = true
	}
	return errors.Join(errs...)
}

// Access finds the holders of tokens. It is safe for concurrent use.
type Access struct {
	tokens  []*Client
	hashes  [][sha256.Size]byte
	proxies proxies
}

// NewAccess returns an Access. trusted are the addresses and networks of
// Config.TrustedProxies.
func NewAccess(cfg AccessConfig, trusted []string) *Access {
	a := &Access{}
	a.proxies, _ = parseProxies(trusted) // Config.Validate has reported invalid ones
	for i := range cfg.Clients {
		a.tokens = append(a.tokens, &cfg.Clients[i])
		a.hashes = append(a.hashes, sha256.Sum256([]byte(cfg.Clients[i].Token.Reveal())))
	}
	return a
}

// Open reports whether tokens are not needed.
func (a *Access) Open() bool { return len(a.tokens) == 0 }

// Holder returns the holder of the token of a request, or nil. Its time does not
// depend on how much of a token is right.
func (a *Access) Holder(r *http.Request) *Client {
	kind, text, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(kind, "Bearer") {
		return nil
	}
	sum := sha256.Sum256([]byte(strings.TrimSpace(text)))
	var found *Client
	for i := range a.hashes {
		if subtle.ConstantTimeCompare(sum[:], a.hashes[i][:]) == 1 {
			found = a.tokens[i]
		}
	}
	return found
}

// Operator reports whether a request may operate the server: with the token of an
// operator, or from this machine while tokens are not configured. A trusted proxy on
// this machine is not an operator, since its clients may be anywhere.
func (a *Access) Operator(r *http.Request) bool {
	if !a.Open() {
		t := a.Holder(r)
		return t != nil && t.Admin
	}
	remote, ok := parseClient(r.RemoteAddr)
	if !ok || !remote.IsLoopback() || a.proxies.trust(remote) {
		return false
	}
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil { // without a port
		host = strings.Trim(r.Host, "[]")
	}
	// A page may have its own name resolve to this machine, and is then of the
	// same origin; but the name stays in Host.
	return (loopback(host) || strings.EqualFold(host, "localhost")) && !forwarded(r)
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// forwarded reports whether a request has a header of a proxy or of a browser,
// even an empty one: proxies clear headers that they do not pass on.
func forwarded(r *http.Request) bool {
	for name := range r.Header {
		switch name {
		case "Forwarded", "Via", "X-Real-Ip", "X-Client-Ip", "True-Client-Ip", "Cf-Connecting-Ip", "Origin", "Sec-Fetch-Site":
			return true
		}
		if strings.HasPrefix(name, "X-Forwarded-") {
			return true
		}
	}
	return false
}

// Scope returns the scope for a request of the holder that names one, or "". It
// returns false if the holder may not use it.
func (t *Client) Scope(asked string) (string, bool) {
	switch {
	case asked == "" && len(t.Scopes) > 0 && t.Scopes[0] != "*":
		return t.Scopes[0], true
	case asked == "":
		return "", slices.Contains(t.Scopes, "*")
	}
	return asked, slices.Contains(t.Scopes, asked) || slices.Contains(t.Scopes, "*")
}
