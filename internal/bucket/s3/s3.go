// Package s3 implements a bucket in Amazon S3 or a store with its protocol.
// Requests have signatures of version 4.
//
// On AWS the bucket is a host name, or the first segment of the path if its name
// cannot be one; elsewhere it is always in the path. Redirects are not followed, so
// that no other server sees a signature. Temporary failures are retried, in three
// tries.
//
// A Put keeps one part of 8 MiB in memory. A larger body is sent in parts, which are
// removed if Put fails; a life cycle rule of the bucket must remove parts that a crash
// leaves. IfAbsent sends If-None-Match: a conflict with a concurrent write, status 409,
// is retried, and a store that answers 501 has no conditional creates.
//
// The kind of a failure follows from the code in the answer, then from the status.
// On AWS, a missing key is Denied for credentials that may not list the bucket.
//
// # Security
//
// Credentials from services and files of the machine are used only if the configuration
// names them and the caller passes the environment. Requests for credentials use the
// transport of the caller, like those for blobs, except that requests to this machine use
// no proxy.
package s3

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/bucket"
	"symbolon/internal/fault"
	"symbolon/internal/transfer"
)

// Where credentials come from.
const (
	Static      = "static"       // the configuration
	Container   = "container"    // the agent of the container, in ECS and EKS
	Instance    = "instance"     // the metadata service of the machine, in EC2
	WebIdentity = "web_identity" // a token in a file, traded for credentials
	Ambient     = "ambient"      // the order of AWS's own tools
)

// Config names the bucket and its credentials.
type Config struct {
	Bucket       string
	Prefix       string     // of all keys
	Region       string     // empty: us-east-1
	Endpoint     string     // empty: AWS
	Provider     string     // where credentials come from; empty: Static
	AccessKey    bin.Secret // none: requests are not signed
	SecretKey    bin.Secret
	SessionToken bin.Secret
}

// Deps are the dependencies of a bucket.
type Deps struct {
	Transport   http.RoundTripper
	Env         func(name string) string // the environment; nil: no credentials of this machine
	Now         func() time.Time
	ReadTimeout time.Duration // longest time in which nothing moves; zero: not limited
}

// Bucket is a bucket in an object store. New creates it.
type Bucket struct {
	cfg   Config
	deps  Deps
	base  url.URL // of the bucket, ends with a slash
	place string  // s3://bucket/prefix/
	creds bucket.Renewed[credentials]
	pages pages
}

// New returns a bucket. It makes no request.
func New(cfg Config, deps Deps) (*Bucket, error) {
	cfg.Region, cfg.Provider = cmp.Or(cfg.Region, "us-east-1"), cmp.Or(cfg.Provider, Static)
	if cfg.Prefix = strings.Trim(cfg.Prefix, "/"); cfg.Prefix != "" {
		cfg.Prefix += "/"
	}
	base, err := cfg.address()
	if err != nil {
		return nil, err
	}
	b := &Bucket{cfg: cfg, deps: deps, base: base, place: "s3://" + cfg.Bucket + "/" + cfg.Prefix}
	b.creds = bucket.Renewed[credentials]{Now: deps.Now, Early: early}
	if b.creds.Fetch, err = b.provider(); err != nil {
		return nil, err
	}
	return b, nil
}

// Host returns the host of the bucket, with a port if it has one.
func (b *Bucket) Host() string { return b.base.Host }

// address returns the URL of the bucket.
func (c Config) address() (url.URL, error) {
	refuse := func(why string) (url.URL, error) {
		return url.URL{}, fault.New(fault.Malformed, "s3://"+bucket.Line(c.Bucket), "%s", why)
	}
	switch {
	case c.Bucket == "" || strings.ContainsAny(c.Bucket, "/?#\\") || c.Bucket == "." || c.Bucket == "..":
		return refuse("invalid name of a bucket")
	case strings.ContainsFunc(c.Region, func(r rune) bool { return !lower(r) && r != '-' && (r < 'A' || r > 'Z') }):
		return refuse("invalid region: must be a name such as eu-west-1, without the address of the store")
	case c.Endpoint == "":
		host := "s3." + c.Region + ".amazonaws.com"
		if strings.HasPrefix(c.Region, "cn-") {
			host += ".cn"
		}
		if c.isLabel() {
			return url.URL{Scheme: "https", Host: c.Bucket + "." + host, Path: "/"}, nil
		}
		return url.URL{Scheme: "https", Host: host, Path: "/" + c.Bucket + "/"}, nil
	}
	endpoint := c.Endpoint
	if !strings.Contains(endpoint, "://") {
		endpoint = "https://" + endpoint
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return refuse("invalid endpoint: must be an http or https URL")
	}
	if u.User != nil || u.RawQuery != "" {
		return refuse("invalid endpoint: must not have user info or a query")
	}
	return url.URL{Scheme: u.Scheme, Host: strings.ToLower(u.Host), Path: strings.TrimRight(u.Path, "/") + "/" + c.Bucket + "/"}, nil
}

// isLabel reports whether the name of the bucket can be the first label of a host
// name in a certificate of AWS.
func (c Config) isLabel() bool {
	return len(c.Bucket) >= 3 && len(c.Bucket) <= 63 && c.Bucket[0] != '-' && c.Bucket[len(c.Bucket)-1] != '-' &&
		!strings.ContainsFunc(c.Bucket, func(r rune) bool { return !lower(r) && r != '-' })
}

func lower(r rune) bool { return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' }

// call is one request about a key.
type call struct {
	method string
	key    string
	query  string // canonical: sorted and escaped
	isList bool   // the request is for the bucket, not for the key
	header map[string]string
	body   []byte
	accept func(status int) bool // statuses that the caller handles, besides 2xx
}

// do makes a request.
func (b *Bucket) do(ctx context.Context, c call) (*http.Response, error) {
	var used credentials
	e := bucket.Exchange{
		Transport: b.deps.Transport, Place: b.place + c.key, Body: c.body, Idle: b.deps.ReadTimeout,
		Request: func(ctx context.Context) (*http.Request, error) {
			var err error
			if used, err = b.creds.Get(ctx); err != nil {
				return nil, err
			}
			return b.request(c, used)
		},
		Verdict: func(resp *http.Response, body []byte) (*fault.Error, bool) {
			if c.accept != nil && c.accept(resp.StatusCode) {
				return nil, false
			}
			return b.verdict(c.key, resp, body, used)
		},
	}
	return e.Do(ctx)
}

// request returns the signed request for c.
func (b *Bucket) request(c call, creds credentials) (*http.Request, error) {
	path := b.base.Path
	if !c.isList {
		path += b.cfg.Prefix + c.key
	}
	u := &url.URL{Scheme: b.base.Scheme, Host: b.base.Host, Path: path, RawPath: transfer.EscapePath(path), RawQuery: c.query}
	req := &http.Request{Method: c.method, URL: u, Host: u.Host, Header: http.Header{}}
	if err := creds.sign(req, c.body, b.cfg.Region, b.deps.Now()); err != nil {
		return nil, fault.New(fault.Internal, b.place+c.key, "sign request: %w", err)
	}
	for name, value := range c.header {
		req.Header.Set(name, value)
	}
	req.Header.Set("Accept-Encoding", "identity")
	return req, nil
}

// Stat returns the attributes of a blob.
func (b *Bucket) Stat(ctx context.Context, key string) (bucket.Attrs, error) {
	if err := bucket.Begin(ctx, key); err != nil {
		return bucket.Attrs{}, err
	}
	isMute := func(status int) bool { return status == http.StatusBadRequest || status == http.StatusForbidden }
	resp, err := b.do(ctx, call{method: http.MethodHead, key: key, accept: isMute})
	if err != nil {
		return bucket.Attrs{}, err
	}
	resp.Body.Close()
	if isMute(resp.StatusCode) {
		// The answer to a HEAD has no body with the reason; that to a GET has.
		resp, err = b.do(ctx, call{method: http.MethodGet, key: key, header: map[string]string{"Range": "bytes=0-0"}})
		if err == nil {
			resp.Body.Close()
			err = fault.New(fault.Transport, b.place+key, "the store refuses a HEAD and answers a GET")
		}
		return bucket.Attrs{}, err
	}
	if resp.ContentLength < 0 {
		return bucket.Attrs{}, fault.New(fault.Transport, b.place+key, "the answer has no size")
	}
	return attrs(resp, resp.ContentLength), nil
}

func attrs(resp *http.Response, size int64) bucket.Attrs {
	// Some stores keep the coding of the upload too.
	coding := strings.ReplaceAll(resp.Header.Get("Content-Encoding"), "aws-chunked", "")
	return bucket.Attrs{Size: size, Encoding: strings.Trim(coding, ", "), Version: resp.Header.Get("ETag")}
}

// Get reads a range of a blob.
func (b *Bucket) Get(ctx context.Context, key string, off, n int64) (io.ReadCloser, bucket.Attrs, error) {
	return bucket.Part{
		Key: key, Place: b.place + key, Attrs: attrs, Stat: b.Stat,
		Ask: func(header map[string]string, accept func(status int) bool) (*http.Response, error) {
			return b.do(ctx, call{method: http.MethodGet, key: key, header: header, accept: accept})
		},
	}.Get(ctx, off, n)
}
