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

// Client is a holder of a token, which lets it use what needs one.
type Client struct {
	Name           string     `yaml:"name" help:"Name of the holder, for people."`
	Token          bin.Secret `yaml:"token" help:"The secret; it comes as Authorization: Bearer TOKEN."`
	Scopes         []string   `yaml:"scopes" help:"Scopes that requests may name, * for any. One that names none has the first."`
	Sources        []string   `yaml:"sources" help:"Ids of the configured sources that are asked for the holder; none: all."`
	RequestSources bool       `yaml:"request_sources" help:"Let requests name sources of their own, where sentry.allow_request_sources does."`
	Admin          bool       `yaml:"admin" help:"Let the holder use /api/forget and /api/explain."`
}

// AccessConfig says who may use what. The zero value lets everybody
// symbolicate, and clients of this machine operate.
type AccessConfig struct {
	Clients []Client `yaml:"clients" help:"Those who may use the interfaces of Sentry, and what they may see. None: everybody, in any scope."`
}

// shortestToken is how many bytes a token has at least.
const shortestToken = 16

// Validate says what is wrong with c.
func (c AccessConfig) Validate() error {
	var errs []error
	seen := map[string]bool{}
	for i, t := range c.Clients {
		text := t.Token.Reveal()
		switch {
		case len(text) < shortestToken:
			errs = append(errs, fmt.Errorf("clients[%d].token has %d bytes: must have at least %d", i, len(text), shortestToken))
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

// Access knows the holders of tokens. It is safe for concurrent use.
type Access struct {
	tokens  []*Client
	hashes  [][sha256.Size]byte
	proxies proxies
}

// NewAccess makes an Access. trusted are the addresses and networks of
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

// Open says that no tokens are needed.
func (a *Access) Open() bool { return len(a.tokens) == 0 }

// Holder is the token that a request comes with, nil if it is none of ours. The
// time it takes does not tell how much of a token was right.
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

// Operator reports whether a request may change what the server knows: with the
// token of an operator, or without any tokens from this machine. A trusted proxy
// on this machine is not an operator, since its clients may be anywhere.
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
	if err != nil { // it has no port
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

// Scope is the one that the holder of t works in when it asks for one; false if
// that is none of its own.
func (t *Client) Scope(asked string) (string, bool) {
	switch {
	case asked == "" && len(t.Scopes) > 0 && t.Scopes[0] != "*":
		return t.Scopes[0], true
	case asked == "":
		return "", slices.Contains(t.Scopes, "*")
	}
	return asked, slices.Contains(t.Scopes, asked) || slices.Contains(t.Scopes, "*")
}
