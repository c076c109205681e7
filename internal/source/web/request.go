package web

import (
	"cmp"
	"context"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"unicode"

	"symbolon/internal/fault"
	"symbolon/internal/source"
	"symbolon/internal/transfer"
)

// asking returns the headers that a candidate adds to its requests.
func asking(c source.Candidate) http.Header {
	h := http.Header{}
	if sum := c.Checksum; sum != "" && len(sum) <= maxTag && !strings.ContainsFunc(sum, unicode.IsControl) {
		h.Set("SymbolChecksum", sum)
	}
	switch v := c.Validator; {
	case v == "":
	case tag(http.Header{"Etag": {v}}) != "":
		h.Set("If-None-Match", v)
	case since(http.Header{"Last-Modified": {v}}) != "":
		h.Set("If-Modified-Since", v)
	}
	return h
}

// fetch is a Fetch in progress.
type fetch struct {
	*Source
	caller  context.Context
	target  *url.URL
	extra   http.Header // of every request
	known   string      // validator of the known state of the file
	w       io.Writer
	attempt source.Attempt
	host    string   // of the last request
	links   []string // the headers Link of the file
}

// way is the request of an answer.
type way struct {
	ctx   context.Context
	guard *transfer.Guard // of ctx
	at    *url.URL
	home  bool // the origin is the one of the source
}

func (f *fetch) send(ctx context.Context, at *url.URL, home bool, extra http.Header) (*http.Response, error) {
	req := &http.Request{
		Method: http.MethodGet, URL: at, Host: at.Host, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{
			"User-Agent":      {f.client.cfg.UserAgent},
			"Accept-Encoding": {source.AcceptEncoding},
		},
	}
	if home {
		for name, value := range f.headers {
			req.Header[name] = []string{value.Reveal()}
		}
	}
	maps.Copy(req.Header, extra)
	// An http.Client would repeat addresses with their secrets in its errors, and
	// follow redirects in its own way.
	return f.client.transports[trust{f.guarded, f.cfg.AcceptInvalidCerts}].RoundTrip(req.WithContext(ctx))
}

// loginHost redirects requests that it denies to a login page with status 200.
const loginHost = "dev.azure.com"

func redirects(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// follow returns the target of a redirect.
func (f *fetch) follow(at *url.URL, location string, hops int) (*url.URL, *failure) {
	stop := func(format string, args ...any) *failure {
		return &failure{Error: fault.New(fault.Transport, f.attempt.URL, format, args...)}
	}
	if most := max(f.client.cfg.MaxRedirects, 0); hops >= most {
		return nil, stop("more than %d redirects", most)
	}
	next, err := at.Parse(location)
	if err != nil {
		return nil, stop("invalid address of a redirect")
	}
	if next.Scheme != "http" && next.Scheme != "https" || next.Hostname() == "" {
		return nil, stop("redirects to another scheme than http and https")
	}
	next.User, next.Fragment, next.RawFragment = nil, "", ""
	next.Host = strings.ToLower(next.Host)
	return next, nil
}

// origin returns the origin of an address, to which credentials are bound.
func origin(u *url.URL) string {
	port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	return u.Scheme + " " + u.Hostname() + " " + port
}

// maxTag is the length of the longest validator that is used.
const maxTag = 200

// tag returns the header ETag, if it is valid.
func tag(h http.Header) string {
	text := h.Get("ETag")
	if opaque := strings.TrimPrefix(text, "W/"); len(opaque) < 2 || len(text) > maxTag || strings.ContainsFunc(text, unicode.IsControl) ||
		opaque[0] != '"' || strings.IndexByte(opaque[1:], '"') != len(opaque)-2 {
		return ""
	}
	return text
}

// since returns the header Last-Modified, if it is a date.
func since(h http.Header) string {
	text := h.Get("Last-Modified")
	if _, err := http.ParseTime(text); err != nil || len(text) > maxTag {
		return ""
	}
	return text
}
