package sentry

import (
	"cmp"
	"net/url"
	"strings"

	"symbolon/internal/demangle"
)

// openScraping is what holds where a request says nothing.
func openScraping() scraping {
	return scraping{enabled: true, origins: []string{"*"}, verify: true}
}

// allows says whether an address may be asked: scraping is on, and one of the
// patterns matches.
func (s *scraping) allows(address string) bool {
	if !s.enabled {
		return false
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return false
	}
	for _, pattern := range s.origins {
		if pattern == "*" || pattern == address || matches(pattern, u) {
			return true
		}
	}
	return false
}

// matches compares an address with a pattern: [scheme://]host[:port][/path].
// The host may begin with "*." for a domain and all below it at any port, or be
// "*"; a path that ends in * is a beginning. Where a port is missing, it is
// that of the scheme. An address with dot segments matches no path.
func matches(pattern string, u *url.URL) bool {
	scheme, rest, has := strings.Cut(pattern, "://")
	if !has {
		scheme, rest = "*", pattern
	}
	if scheme != "*" && !strings.EqualFold(scheme, u.Scheme) {
		return false
	}
	host, path, has := strings.Cut(rest, "/")
	if has && (climbs(u.Path) || !matchesPath("/"+path, cmp.Or(u.Path, "/"))) {
		return false
	}
	name := spelledOut(u.Hostname())
	if domain, wild := strings.CutPrefix(host, "*."); wild {
		domain = spelledOut(domain)
		return domain != "" && (name == domain || strings.HasSuffix(name, "."+domain))
	}
	ports := map[string]string{"http": "80", "https": "443"}
	port := ports[u.Scheme]
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") {
		host, port = host[:i], host[i+1:]
	}
	asked := u.Port()
	if asked == "" {
		asked = ports[u.Scheme]
	}
	host = spelledOut(strings.Trim(host, "[]"))
	return (host == "*" || host == name) && port == asked
}

// spelledOut returns the one spelling in which hosts are compared: in lower
// case, with international names as people read them. A label that is not valid
// stays as it is.
func spelledOut(host string) string {
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

// mostDecoded is how often a server may decode a path once more.
const mostDecoded = 2

// climbs says whether a server could read a path as one with "." or ".." in it,
// which then leads elsewhere than it begins. Some servers decode a path twice,
// take backslashes for slashes, and let parameters follow a name.
func climbs(path string) bool {
	for range mostDecoded {
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
