package web

import (
	"encoding/base64"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"symbolon/internal/bin"
	"symbolon/internal/source"
	"symbolon/internal/transfer"
)

// Source is a symbol server, or an address that answers queries. Make it with New
// or NewGuarded.
type Source struct {
	client  *Client
	cfg     source.Config
	guarded bool
	base    *url.URL              // without user info and query
	whole   *url.URL              // requested for every path; nil: the path under base
	query   bin.Secret            // of the base, added to all paths
	headers map[string]bin.Secret // credentials and configured headers
	key     string                // identity of the server and the requests
	hidden  *regexp.Regexp        // every form of its secrets; nil without secrets
	index   *source.Index         // nil: no index
	line    line
	deny    *denyList
}

// New returns a source of the configuration.
func New(c *Client, cfg source.Config) (*Source, error) { return newSource(c, cfg, nil) }

// NewGuarded returns a source that a request named, with the share of its scope;
// nil is a common share. It reaches public addresses only.
func NewGuarded(c *Client, cfg source.Config, share *Share) (*Source, error) {
	if share == nil {
		share = c.links
	}
	return newSource(c, cfg, share)
}

// newSource returns a source, of the configuration if share is nil.
func newSource(c *Client, cfg source.Config, share *Share) (*Source, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.Defaults()
	u, err := cfg.URL.Parse()
	if err != nil {
		return nil, err
	}
	s := &Source{
		client: c, cfg: cfg, guarded: share != nil,
		base:    &url.URL{Scheme: u.Scheme, Host: strings.ToLower(u.Host), Path: u.Path, RawPath: u.RawPath},
		query:   bin.NewSecret(u.RawQuery),
		headers: map[string]bin.Secret{},
		line:    c.Line(), deny: c.deny,
	}
	if share != nil {
		s.line, s.deny = c.RequestLine(share), share.deny
	}
	password, _ := u.User.Password()
	if u.User != nil {
		pair := base64.StdEncoding.EncodeToString([]byte(u.User.Username() + ":" + password))
		s.headers["Authorization"] = bin.NewSecret("Basic " + pair)
	}
	for name, value := range cfg.Headers {
		s.headers[http.CanonicalHeaderKey(name)] = value
	}
	if !cfg.Token.IsZero() {
		s.headers["Authorization"] = bin.NewSecret("Bearer " + cfg.Token.Reveal())
	}
	if !cfg.Cookies.IsZero() {
		s.headers["Cookie"] = cfg.Cookies
	}
	s.key = s.identity()
	s.hidden = s.hide(password)
	s.index = source.NewIndex(cfg, c.Shelf(s.guarded), s.read)
	return s, nil
}

// identity returns a text with the server, the credentials, and everything else
// that can change the file of a path: a file that was fetched without checking
// the certificate is not used where it must be checked, and a file that only the
// configuration can reach is not used for a request.
func (s *Source) identity() string {
	key := s.address("")
	if s.cfg.Type == source.Sentry {
		key = "sentry " + s.base.String() // a slash at its end matters
	}
	secrets := []bin.Secret{s.query}
	for _, name := range slices.Sorted(maps.Keys(s.headers)) {
		secrets = append(secrets, bin.NewSecret(name), s.headers[name])
	}
	if id := source.CredentialID(secrets...); id != "" {
		key += " credentials=" + id
	}
	if s.cfg.AcceptInvalidCerts {
		key += " insecure"
	}
	if s.guarded {
		key += " guarded"
	}
	return key
}

// ID returns the name of the source.
func (s *Source) ID() string { return s.cfg.ID }

// Identity returns the identity of the server, the requests and the filters.
func (s *Source) Identity() string { return s.key + " " + s.cfg.Asks() }

// Key returns the identity of the server and the requests, without the filters.
func (s *Source) Key() string { return s.key }

// address returns the address of a path, without secrets.
func (s *Source) address(path string) string { return s.join(path).String() }

// target returns the address of a path for a request.
func (s *Source) target(path string) *url.URL {
	u := s.join(path)
	u.RawQuery = s.query.Reveal()
	return u
}

func (s *Source) join(path string) *url.URL {
	if s.whole != nil {
		u := *s.whole
		return &u
	}
	u := *s.base
	u.RawPath = strings.TrimRight(u.EscapedPath(), "/") + "/" + transfer.EscapePath(path)
	u.Path, _ = url.PathUnescape(u.RawPath) // both parts were escaped by us or by net/url
	return &u
}
