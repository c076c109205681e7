package api

import (
	"context"
	"net/http"
	"net/url"
	"strings"
)

// tokenKey is the key of the token in the path of a request, in its context.
type tokenKey struct{}

// cutToken returns a request for /t/TOKEN/PATH as one for /PATH, with the token in its
// context only. So no log, metric or answer has the token. Of several tokens the last
// one counts; none is t, so that a repeated t is one.
func cutToken(r *http.Request) *http.Request {
	rest, text := r.URL.EscapedPath(), ""
	for {
		head, tail := cutSegment(rest)
		next, after := cutSegment(tail)
		if head != "t" || next == "" {
			break
		}
		if rest = tail; next != "t" {
			rest, text = after, next
		}
	}
	if text == "" {
		return r
	}
	r = WithToken(r, text)
	at := *r.URL
	at.Path, at.RawPath = unescape(rest), rest
	r.URL, r.RequestURI = &at, at.RequestURI()
	return r
}

// cutSegment returns the first segment of an escaped path, decoded, and the rest.
func cutSegment(path string) (first, rest string) {
	first, rest, _ = strings.Cut(strings.TrimLeft(path, "/"), "/")
	return unescape(first), "/" + rest
}

// unescape decodes a part of an escaped path, which is valid.
func unescape(part string) string {
	text, err := url.PathUnescape(part)
	if err != nil {
		panic("api: " + err.Error())
	}
	return text
}

// WithToken returns r as a request with a token, which counts before those in its headers.
func WithToken(r *http.Request, text string) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), tokenKey{}, text))
}
