// Package gcs implements a bucket in Google Cloud Storage, with its JSON interface.
//
// Blobs with a content coding are not decoded. Redirects are not followed, so that
// no other server sees a token. Temporary failures are retried, in three tries. A
// Put keeps 8 MiB in memory; a larger body is sent in parts, which are invisible
// until the last one. IfAbsent sends ifGenerationMatch=0.
//
// Invalid credentials fail the requests, as Denied, and not New.
//
// # Security
//
// Files and services of the machine that have credentials are used only if the
// configuration names them and the caller passes the environment. Requests for
// tokens use the transport of the caller, as those for blobs do.
package gcs

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/bucket"
	"symbolon/internal/fault"
)

// Where credentials come from.
const (
	Static  = "static"  // the configuration
	Ambient = "ambient" // a file that the environment names, else a login with gcloud, else the metadata service
)

// Config names the bucket and its credentials.
type Config struct {
	Bucket      string
	Prefix      string // of all keys
	Endpoint    string // empty: Google's
	TokenURL    string // where a service account gets its tokens; empty: Google's
	Provider    string // where credentials come from; empty: Static
	ClientEmail string // of a service account, with its PrivateKey
	PrivateKey  bin.Secret
	BearerToken bin.Secret // instead of a service account; without either, requests are anonymous
	Write       bool       // Put or Delete will be called
}

// Deps are the dependencies of a bucket.
type Deps struct {
	Transport   http.RoundTripper
	Env         func(name string) string // the environment; nil: no credentials of this machine
	Now         func() time.Time
	ReadTimeout time.Duration // longest time in which nothing moves; zero: not limited
}

// Bucket is a bucket in Google Cloud Storage. New creates it.
type Bucket struct {
	cfg   Config
	deps  Deps
	base  url.URL
	place string // gs://bucket/prefix/
	token bucket.Renewed[string]
}

// New returns a bucket. It makes no request.
func New(cfg Config, deps Deps) (*Bucket, error) {
	cfg.Provider, cfg.TokenURL = cmp.Or(cfg.Provider, Static), cmp.Or(cfg.TokenURL, tokenURL)
	if cfg.Prefix = strings.Trim(cfg.Prefix, "/"); cfg.Prefix != "" {
		cfg.Prefix += "/"
	}
	b := &Bucket{cfg: cfg, deps: deps, place: "gs://" + cfg.Bucket + "/" + cfg.Prefix}
	u, err := url.Parse(cmp.Or(cfg.Endpoint, "https://storage.googleapis.com"))
	switch {
	case cfg.Bucket == "" || strings.ContainsAny(cfg.Bucket, "/?#\\") || cfg.Bucket == "." || cfg.Bucket == "..":
		return nil, fault.New(fault.Malformed, "gs://"+bucket.Line(cfg.Bucket), "invalid name of a bucket")
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.RawQuery != "":
		return nil, fault.New(fault.Malformed, b.place, "invalid endpoint: must be an http or https URL without user info and query")
	}
	b.base = url.URL{Scheme: u.Scheme, Host: u.Host, Path: strings.TrimRight(u.Path, "/")}
	b.token = bucket.Renewed[string]{Now: deps.Now, Early: early}
	if b.token.Fetch, err = b.provider(); err != nil {
		return nil, err
	}
	return b, nil
}

// Host returns the host of the store, with a port if it has one.
func (b *Bucket) Host() string { return b.base.Host }

// call is one request about a key.
type call struct {
	method string
	key    string
	url    *url.URL
	header map[string]string
	body   []byte
	accept func(status int) bool // statuses that the caller handles, besides 2xx
}

// objects returns the URL of the list of objects.
func (b *Bucket) objects(query url.Values) *url.URL {
	return &url.URL{Scheme: b.base.Scheme, Host: b.base.Host, Path: b.base.Path + "/storage/v1/b/" + b.cfg.Bucket + "/o", RawQuery: query.Encode()}
}

// object returns the URL of a key.
func (b *Bucket) object(key, query string) *url.URL {
	path := b.base.Path + "/storage/v1/b/" + url.PathEscape(b.cfg.Bucket) + "/o/" + url.PathEscape(b.cfg.Prefix+key)
	plain, _ := url.PathUnescape(path) // of the escaped path
	return &url.URL{Scheme: b.base.Scheme, Host: b.base.Host, Path: plain, RawPath: path, RawQuery: query}
}

// do makes a request.
func (b *Bucket) do(ctx context.Context, c call) (*http.Response, error) {
	var used string
	e := bucket.Exchange{
		Transport: b.deps.Transport, Place: b.place + c.key, Body: c.body, Idle: b.deps.ReadTimeout,
		Request: func(ctx context.Context) (*http.Request, error) {
			var err error
			if used, err = b.token.Get(ctx); err != nil {
				return nil, err
			}
			req := &http.Request{Method: c.method, URL: c.url, Host: c.url.Host, Header: http.Header{"Accept-Encoding": {"gzip"}}}
			for name, value := range c.header {
				req.Header.Set(name, value)
			}
			if used != "" {
				req.Header.Set("Authorization", "Bearer "+used)
			}
			return req, nil
		},
		Verdict: func(resp *http.Response, body []byte) (*fault.Error, bool) {
			if c.accept != nil && c.accept(resp.StatusCode) {
				return nil, false
			}
			return b.verdict(c.key, resp.StatusCode, body, used)
		},
	}
	return e.Do(ctx)
}

// verdict returns the failure of an answer, and whether another try may succeed.
func (b *Bucket) verdict(key string, status int, body []byte, used string) (*fault.Error, bool) {
	var answer struct {
		Error struct{ Message string }
	}
	detail := bucket.Status(status)
	if json.Unmarshal(body, &answer) == nil && answer.Error.Message != "" {
		detail += ": " + bucket.Line(bucket.Hide(answer.Error.Message, used))
	}
	again := bucket.Busy(status) || status == http.StatusRequestTimeout
	if status == http.StatusUnauthorized && b.renews() {
		// It may have been revoked before its end.
		b.token.Drop(func(token string) bool { return token == used })
		again = true
	}
	f := fault.New(bucket.KindOf(status), b.place+key, "%s", detail)
	if f.Kind == fault.Timeout {
		f.Status = status
	}
	return f, again
}

// Stat returns the attributes of a blob.
func (b *Bucket) Stat(ctx context.Context, key string) (bucket.Attrs, error) {
	if err := bucket.Begin(ctx, key); err != nil {
		return bucket.Attrs{}, err
	}
	resp, err := b.do(ctx, call{
		method: http.MethodGet, key: key, url: b.object(key, "fields=size,contentEncoding,generation"),
		header: map[string]string{"Accept-Encoding": "identity"},
	})
	if err != nil {
		return bucket.Attrs{}, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return bucket.Attrs{}, err
	}
	var answer struct{ Size, ContentEncoding, Generation string }
	if err := json.Unmarshal(text, &answer); err != nil {
		return bucket.Attrs{}, fault.New(fault.Transport, b.place+key, "invalid answer: must be JSON of an object")
	}
	size, err := strconv.ParseUint(answer.Size, 10, 63)
	if err != nil {
		return bucket.Attrs{}, fault.New(fault.Transport, b.place+key, "the answer has no size")
	}
	return bucket.Attrs{Size: int64(size), Encoding: answer.ContentEncoding, Version: answer.Generation}, nil
}

// Get reads a range of a blob.
func (b *Bucket) Get(ctx context.Context, key string, off, n int64) (io.ReadCloser, bucket.Attrs, error) {
	return bucket.Part{
		Key: key, Place: b.place + key, Attrs: func(resp *http.Response, size int64) bucket.Attrs {
			return bucket.Attrs{Size: size, Encoding: resp.Header.Get("Content-Encoding"), Version: resp.Header.Get("X-Goog-Generation")}
		}, Stat: b.Stat,
		Ask: func(header map[string]string, accept func(status int) bool) (*http.Response, error) {
			return b.do(ctx, call{method: http.MethodGet, key: key, url: b.object(key, "alt=media"), header: header, accept: accept})
		},
	}.Get(ctx, off, n)
}
