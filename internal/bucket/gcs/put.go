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
	large    = 1 << 20 // of a body that is worth a question beforehand
)

// Put stores what r has: at once if it fits into a part, else in parts.
func (b *Bucket) Put(ctx context.Context, key string, r io.Reader, a bucket.Attrs) error {
	if err := bucket.Begin(ctx, key); err != nil {
		return err
	}
	parts := bucket.NewParts(ctx, r, a, partSize)
	first, last, err := parts.Next()
	if err != nil {
		return err
	}
	if a.IfAbsent && len(first) > large {
		if _, err := b.Stat(ctx, key); err == nil {
			return nil // and the upload is spared
		}
	}
	c := call{method: http.MethodPost, key: key, url: b.target(key, a, last)}
	if last {
		c.body = first
		_, err := b.store(ctx, c, a.IfAbsent)
		return err
	}
	return b.resumable(ctx, c, first, parts, a.IfAbsent)
}

// Delete takes a blob away.
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

// target is the address for an upload, at once or in parts.
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

// store does a request of an upload, and gives its answer. It is nil if, with
// ifAbsent, a blob is there already.
func (b *Bucket) store(ctx context.Context, c call, ifAbsent bool) (*http.Response, error) {
	there := func(status int) bool { return ifAbsent && status == http.StatusPreconditionFailed }
	c.accept = func(status int) bool { return there(status) || status == http.StatusPermanentRedirect }
	resp, err := b.do(ctx, c)
	if err != nil {
		if ifAbsent && fault.KindOf(err) == fault.Transport {
			// It may have said that a blob is there, and closed the connection
			// without waiting for the body.
			if _, missing := b.Stat(ctx, c.key); missing == nil {
				return nil, nil
			}
		}
		return nil, err
	}
	resp.Body.Close()
	if there(resp.StatusCode) {
		return nil, nil
	}
	return resp, nil
}

// resumable sends a body in parts to the address that the store gives for it.
func (b *Bucket) resumable(ctx context.Context, begin call, body []byte, parts *bucket.Parts, ifAbsent bool) error {
	resp, err := b.store(ctx, begin, ifAbsent)
	if err != nil || resp == nil {
		return err
	}
	session, err := url.Parse(resp.Header.Get("Location"))
	if err != nil || session.Scheme != b.base.Scheme || session.Host != b.base.Host {
		return fault.New(fault.Transport, b.place+begin.key, "the store gives no address for an upload in parts")
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
			return err
		case last && resp.StatusCode < 300:
			return nil
		case last || resp.StatusCode != http.StatusPermanentRedirect || resp.Header.Get("Range") != fmt.Sprintf("bytes=0-%d", end-1):
			return fault.New(fault.Transport, b.place+begin.key, "the store has lost a part of the upload")
		}
		if body, last, err = parts.Next(); err != nil {
			return err
		}
		off = end
	}
}
