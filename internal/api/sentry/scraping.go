package sentry

import (
	"cmp"
	"net/url"
	"strings"

	"symbolon/internal/api/wire"
	"symbolon/internal/demangle"
)

// allows reports whether a URL may be fetched: scraping is enabled, and a pattern
// matches.
func allows(s *wire.Scraping, address string) bool {
	if !s.Enabled {
		return false
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return false
	}
	for _, pattern := range s.Origins {
		if pattern == "*" || pattern == address || matches(pattern, u) {
			return true
		}
	}
	return false
}

// matches reports whether a URL matches a pattern: [scheme://]host[:port][/path].
// The host may begin with "*." for a domain and its subdomains at any port, or be
// "*"; a path that ends in * is a prefix. The default port is that of the scheme. A
// URL with dot segments does not match a path.
func matches(pattern string, u *url.URL) bool {
	scheme, rest, has := strings.Cut(pattern, "://")
	if !has {
		scheme, rest = "*", pattern
	}
	if scheme != "*" && !strings.EqualFold(scheme, u.Scheme) {
		return false
	}
	host, path, has := strings.Cut(rest, "/")
	if has && (hasDotSegments(u.Path) || !matchesPath("/"+path, cmp.Or(u.Path, "/"))) {
		return false
	}
	name := canonicalHost(u.Hostname())
	if domain, wild := strings.CutPrefix(host, "*."); wild {
		domain = canonicalHost(domain)
		return domain != "" && (name == domain || strings.HasSuffix(name, "."+domain))
	}
	ports := map[string]string{"http": "80", "https": "443"}
	port := ports[u.Scheme]
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") {
		host, port = host[:i], host[i+1:]
	}
	asked := cmp.Or(u.Port(), ports[u.Scheme])
	host = canonicalHost(strings.Trim(host, "[]"))
	return (host == "*" || host == name) && port == asked
}

// canonicalHost returns the form in which hosts are compared: in lower case, with
// punycode decoded. An invalid label is not changed.
func canonicalHost(host string) string {
	labels := strings.Split(strings.ToLower(host), ".")
	for i, label := range labels {
		if code, ok := strings.CutPrefix(label, "xn--"); ok {
			if text, ok := demangle.DecodePunycode(code); ok {
				labels[i] = text
			}
		}
	}
	return strings.Join(labels, ".")
}

// maxDecoded is the number of times that a server may decode a path again.
const maxDecoded = 2

// hasDotSegments reports whether a server could find "." or ".." in a path, which
// then leads outside of its prefix. Some servers decode a path twice, take
// backslashes for slashes, and allow parameters after a name.
func hasDotSegments(path string) bool {
	for range maxDecoded {
		if plain, err := url.PathUnescape(path); err == nil {
			path = plain
		}
	}
	for name := range strings.FieldsFuncSeq(path, func(r rune) bool { return r == '/' || r == '\\' }) {
		name, _, _ = strings.Cut(name, ";")
		if name == "." || name == ".." {
			return true
		}
	}
	return false
}

func matchesPath(pattern, path string) bool {
	if beginning, open := strings.CutSuffix(pattern, "*"); open {
		return strings.HasPrefix(path, beginning)
	}
	return pattern == path
}
