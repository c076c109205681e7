package gcs

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"symbolon/internal/bucket"
	"symbolon/internal/fault"
)

const (
	partSize = 8 << 20
	large    = 1 << 20 // bytes from which a Stat is cheaper than a body that is not stored
)

// Put stores a blob, in parts if it is larger than one.
func (b *Bucket) Put(ctx context.Context, key string, r io.Reader, a bucket.Attrs) (created bool, err error) {
	if err := bucket.Begin(ctx, key); err != nil {
		return false, err
	}
	parts := bucket.NewParts(ctx, r, a, partSize)
	first, last, err := parts.Next()
	if err != nil {
		return false, err
	}
	if a.IfAbsent && len(first) > large {
		if _, err := b.Stat(ctx, key); err == nil {
			return false, nil
		}
	}
	c := call{method: http.MethodPost, key: key, url: b.target(key, a, last)}
	if last {
		c.body = first
		resp, err := b.store(ctx, c, a.IfAbsent)
		return resp != nil, err
	}
	return b.resumable(ctx, c, first, parts, a.IfAbsent)
}

// Delete removes a blob.
func (b *Bucket) Delete(ctx context.Context, key string) error {
	if err := bucket.Begin(ctx, key); err != nil {
		return err
	}
	resp, err := b.do(ctx, call{method: http.MethodDelete, key: key, url: b.object(key, "")})
	switch {
	case err == nil:
		resp.Body.Close()
	case fault.KindOf(err) == fault.NotFound:
		return nil
	}
	return err
}

// target returns the URL of an upload, whole or in parts.
func (b *Bucket) target(key string, a bucket.Attrs, whole bool) *url.URL {
	query := url.Values{"name": {b.cfg.Prefix + key}, "uploadType": {"resumable"}, "fields": {"size"}}
	if whole {
		query.Set("uploadType", "media")
	}
	if a.Encoding != "" {
		query.Set("contentEncoding", a.Encoding)
	}
	if a.IfAbsent {
		query.Set("ifGenerationMatch", "0")
	}
	return &url.URL{
		Scheme: b.base.Scheme, Host: b.base.Host, RawQuery: query.Encode(),
		Path: b.base.Path + "/upload/storage/v1/b/" + b.cfg.Bucket + "/o",
	}
}

// store makes a request of an upload and returns the answer. With ifAbsent, it is
// nil if the key exists.
func (b *Bucket) store(ctx context.Context, c call, ifAbsent bool) (*http.Response, error) {
	exists := func(status int) bool { return ifAbsent && status == http.StatusPreconditionFailed }
	c.accept = func(status int) bool { return exists(status) || status == http.StatusPermanentRedirect }
	resp, err := b.do(ctx, c)
	if err != nil {
		if ifAbsent && fault.KindOf(err) == fault.Transport {
			// A store may refuse before it has read the body, and close the
			// connection.
			if _, missing := b.Stat(ctx, c.key); missing == nil {
				return nil, nil
			}
		}
		return nil, err
	}
	resp.Body.Close()
	if exists(resp.StatusCode) {
		return nil, nil
	}
	return resp, nil
}

// resumable stores a blob in parts, at a URL that the store returns. Body is the
// first part.
func (b *Bucket) resumable(ctx context.Context, begin call, body []byte, parts *bucket.Parts, ifAbsent bool) (created bool, err error) {
	resp, err := b.store(ctx, begin, ifAbsent)
	if err != nil || resp == nil {
		return false, err
	}
	session, err := url.Parse(resp.Header.Get("Location"))
	if err != nil || session.Scheme != b.base.Scheme || session.Host != b.base.Host {
		return false, fault.New(fault.Transport, b.place+begin.key, "the answer has no address for an upload in parts")
	}
	for off, last := int64(0), false; ; {
		end := off + int64(len(body))
		span := fmt.Sprintf("bytes %d-%d/*", off, end-1)
		if last {
			span = fmt.Sprintf("bytes %d-%d/%d", off, end-1, end)
		}
		c := call{method: http.MethodPut, key: begin.key, url: session, header: map[string]string{"Content-Range": span}, body: body}
		resp, err := b.store(ctx, c, ifAbsent)
		switch {
		case err != nil || resp == nil:
			return false, err
		case last && resp.StatusCode < 300:
			return true, nil
		case last || resp.StatusCode != http.StatusPermanentRedirect || resp.Header.Get("Range") != fmt.Sprintf("bytes=0-%d", end-1):
			return false, fault.New(fault.Transport, b.place+begin.key, "the store has lost a part of the upload")
		}
		if body, last, err = parts.Next(); err != nil {
			return false, err
		}
		off = end
	}
}
