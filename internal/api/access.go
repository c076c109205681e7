package api

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/token"
)

// Client is the holder of a token, with its rights.
type Client struct {
	Name           string     `yaml:"name" help:"Name of the holder, for people."`
	Token          bin.Secret `yaml:"token" help:"The secret, which clients send as Authorization: Bearer TOKEN, or in another form that tokens have."`
	Scopes         []string   `yaml:"scopes" help:"Scopes that requests may name, * for any. A request without a scope has the first one."`
	Sources        []string   `yaml:"sources" help:"Ids of the configured sources that are searched for the holder. None: all."`
	RequestSources bool       `yaml:"request_sources" help:"Let requests name sources of their own, if sentry.allow_request_sources does."`
	Admin          bool       `yaml:"admin" help:"Let the holder use /api/forget and /api/explain."`
}

// AccessConfig has the clients with their rights. By the zero value every client
// may symbolicate, and those on this machine may operate.
type AccessConfig struct {
	Clients []Client `yaml:"clients" help:"Clients that may use the interfaces of Sentry, and their rights, besides the tokens of symbolon token add. None: all clients, in any scope."`
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
			errs = append(errs, fmt.Errorf("clients[%d].token is used twice", i))
		}
		switch {
		case len(t.Scopes) == 0 && !t.Admin:
			errs = append(errs, fmt.Errorf("clients[%d].scopes is empty: \"*\" allows any scope", i))
		case slices.Contains(t.Scopes, ""):
			errs = append(errs, fmt.Errorf("clients[%d].scopes has an empty name", i))
		}
		seen[text] = true
	}
	return errors.Join(errs...)
}

// Tokens returns the tokens of the clients. They have no rights in projects.
func (c AccessConfig) Tokens() []token.Token {
	var all []token.Token
	for i := range c.Clients {
		t := &c.Clients[i]
		g := token.Grant{ID: fmt.Sprintf("access.clients[%d]", i), Name: t.Name, Scopes: t.Scopes, Sources: t.Sources, RequestSources: t.RequestSources}
		if t.Sources == nil {
			g.Sources = []string{token.Any}
		}
		if len(t.Scopes) > 0 {
			g.Rights = append(g.Rights, token.Symbolicate)
		}
		if t.Admin {
			g.Rights = append(g.Rights, token.Admin)
		}
		all = append(all, token.Fixed(t.Token.Reveal(), g))
	}
	return all
}

// Access determines the rights of clients. It is safe for concurrent use.
type Access struct {
	ring    *token.Ring
	isOpen  bool // access.clients is empty
	proxies proxies
}

// NewAccess returns an Access. The ring has the tokens of the configuration. trusted
// are the addresses and networks of Config.TrustedProxies.
func NewAccess(cfg AccessConfig, ring *token.Ring, trusted []string) *Access {
	a := &Access{ring: ring, isOpen: len(cfg.Clients) == 0}
	a.proxies, _ = parseProxies(trusted) // Config.Validate has reported invalid ones
	return a
}

// Grant returns the rights of the client of a request. The error is token.ErrUnknown for
// an invalid token, or an error of the store of tokens. While no token exists, tokens are
// ignored. A request without a token has no rights, unless its client is on this machine:
// it may do everything while no token exists, and operate the server while no token is
// for that.
//
// Scopes and configured sources are open to every client if access.clients is empty.
// Otherwise an added token that may symbolicate has the scopes of its projects.
func (a *Access) Grant(r *http.Request) (*token.Grant, error) {
	texts := credentials(r)
	isLocal := a.isLocal(r)
	g := &token.Grant{}
	if len(texts) > 0 || isLocal {
		all, err := a.ring.All(r.Context())
		switch {
		case len(texts) > 0 && (len(all) > 0 || err != nil):
			if g, err = a.find(r.Context(), texts); err != nil {
				return nil, err
			}
			a.ring.Used(g.ID, a.proxies.client(r))
		case !isLocal || err != nil:
		case len(all) == 0:
			g = &token.Grant{Rights: []token.Right{token.Admin}, Projects: []string{token.Any}}
		case a.isOpen && !slices.ContainsFunc(all, func(t token.Token) bool { return t.May(token.Admin, "") }):
			g = &token.Grant{Rights: []token.Right{token.Admin}}
		}
	}
	own := *g
	switch {
	case a.isOpen:
		own.Scopes, own.Sources, own.RequestSources = []string{token.Any}, []string{token.Any}, true
	case len(g.Scopes) == 0 && g.May(token.Symbolicate, ""):
		own.Scopes = g.Projects
	}
	return &own, nil
}

// errNoToken refuses a client that must have a token.
var errNoToken = errors.New("the request has no token: send Authorization: Bearer TOKEN with a token that has the right symbolicate")

// Symbolicating returns the rights of the client of a request, if it may symbolicate.
// While no token exists, every client may.
func (a *Access) Symbolicating(r *http.Request) (*token.Grant, error) {
	g, err := a.Grant(r)
	if err != nil || g.May(token.Symbolicate, "") {
		return g, err
	}
	switch all, err := a.ring.All(r.Context()); {
	case err != nil || len(all) == 0:
		return g, err
	case g.ID == "":
		return nil, errNoToken
	}
	return nil, fault.New(fault.Denied, "", "the token does not have the right symbolicate")
}

// find returns the grant of the first text that is a token.
func (a *Access) find(ctx context.Context, texts []string) (g *token.Grant, err error) {
	for _, text := range texts {
		if g, err = a.ring.Grant(ctx, text); !errors.Is(err, token.ErrUnknown) {
			break
		}
	}
	return g, err
}

// HasToken reports whether a request has a token in its path or headers, valid or not.
func HasToken(r *http.Request) bool { return len(credentials(r)) > 0 }

// credentials returns the texts that may be the token of a request: that in its path,
// else in its headers.
func credentials(r *http.Request) []string {
	if text, ok := r.Context().Value(tokenKey{}).(string); ok {
		return []string{text}
	}
	if text := r.Header.Get("Auth-Token"); text != "" {
		texts := []string{text}
		if name, _, ok := strings.Cut(text, "-"); ok { // the rest is a comment
			texts = append(texts, name)
		}
		return texts
	}
	scheme, text, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	text = strings.TrimSpace(text)
	switch strings.ToLower(scheme) {
	case "bearer", "apikey":
		return []string{text}
	case "basic":
		pair, err := base64.StdEncoding.DecodeString(text)
		if _, password, ok := strings.Cut(string(pair), ":"); ok && err == nil {
			return []string{password}
		}
		return []string{""} // never valid
	}
	return nil
}

// isLocal reports whether a request is from a client of this machine: over loopback,
// to its own name, not through a proxy, and not from a page of another origin. A
// trusted proxy on this machine is not such a client, since its own may be anywhere.
func (a *Access) isLocal(r *http.Request) bool {
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
	return (loopback(host) || strings.EqualFold(host, "localhost")) && !forwarded(r) && !foreign(r)
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// forwarded reports whether a request has a header of a proxy, even an empty one:
// proxies clear headers that they do not pass on.
func forwarded(r *http.Request) bool {
	for name := range r.Header {
		switch name {
		case "Forwarded", "Via", "X-Real-Ip", "X-Client-Ip", "True-Client-Ip", "Cf-Connecting-Ip":
			return true
		}
		if strings.HasPrefix(name, "X-Forwarded-") {
			return true
		}
	}
	return false
}

// foreign reports whether a browser sends a request for a page of another origin.
func foreign(r *http.Request) bool {
	own := "http://" + r.Host
	if r.TLS != nil {
		own = "https://" + r.Host
	}
	return slices.ContainsFunc(r.Header["Origin"], func(origin string) bool { return !strings.EqualFold(origin, own) }) ||
		slices.ContainsFunc(r.Header["Sec-Fetch-Site"], func(site string) bool { return site != "none" && site != "same-origin" })
}
