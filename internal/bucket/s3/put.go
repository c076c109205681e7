package s3

import (
	"context"
	"encoding/xml"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"symbolon/internal/bucket"
	"symbolon/internal/fault"
	"symbolon/internal/transfer"
)

const (
	partSize  = 8 << 20
	large     = 1 << 20 // bytes from which a Stat is cheaper than a body that is not stored
	maxParts  = 10_000  // limit of the protocol
	abortTime = 10 * time.Second
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
	header := map[string]string{}
	if a.Encoding != "" {
		header["Content-Encoding"] = a.Encoding
	}
	if a.IfAbsent && len(first) > large {
		if _, err := b.Stat(ctx, key); err == nil {
			return false, nil
		}
	}
	if last {
		_, created, err := b.finish(ctx, call{method: http.MethodPut, key: key, header: header, body: first}, a.IfAbsent)
		return created, err
	}
	return b.multipart(ctx, call{method: http.MethodPost, key: key, query: "uploads=", header: header}, first, parts, a.IfAbsent)
}

// Delete removes a blob.
func (b *Bucket) Delete(ctx context.Context, key string) error {
	if err := bucket.Begin(ctx, key); err != nil {
		return err
	}
	resp, err := b.do(ctx, call{method: http.MethodDelete, key: key})
	switch {
	case err == nil:
		resp.Body.Close()
	case fault.KindOf(err) == fault.NotFound:
		return nil
	}
	return err
}

// finish makes the request that stores a blob, and returns the answer and whether
// the blob was stored. With ifAbsent, it is not if the key exists.
func (b *Bucket) finish(ctx context.Context, c call, ifAbsent bool) (answer []byte, created bool, err error) {
	exists := func(status int) bool { return ifAbsent && status == http.StatusPreconditionFailed }
	refuses := func(status int) bool { return ifAbsent && status == http.StatusNotImplemented }
	if ifAbsent {
		c.header["If-None-Match"] = "*"
	}
	c.accept = func(status int) bool { return exists(status) || refuses(status) }
	resp, err := b.do(ctx, c)
	if err != nil {
		if ifAbsent && fault.KindOf(err) == fault.Transport {
			// A store may refuse before it has read the body, and close the
			// connection.
			if _, missing := b.Stat(ctx, c.key); missing == nil {
				return nil, false, nil
			}
		}
		return nil, false, err
	}
	defer resp.Body.Close()
	switch {
	case exists(resp.StatusCode):
		return nil, false, nil
	case refuses(resp.StatusCode):
		return nil, false, fault.New(fault.Unsupported, b.place+c.key, "%w", bucket.ErrConditions)
	}
	answer, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	return answer, err == nil, err
}

// upload is the answer that begins an upload in parts.
type upload struct {
	XMLName  xml.Name `xml:"InitiateMultipartUploadResult"`
	UploadID string   `xml:"UploadId"`
}

// complete lists the parts of an upload.
type complete struct {
	XMLName xml.Name `xml:"CompleteMultipartUpload"`
	Parts   []part   `xml:"Part"`
}

type part struct {
	PartNumber int
	ETag       string
}

// multipart stores a blob in parts. Body is the first one.
func (b *Bucket) multipart(ctx context.Context, begin call, body []byte, parts *bucket.Parts, ifAbsent bool) (created bool, err error) {
	answer, _, err := b.finish(ctx, begin, false)
	if err != nil {
		return false, err
	}
	var up upload
	if xml.Unmarshal(answer, &up) != nil || up.UploadID == "" {
		return false, fault.New(fault.Transport, b.place+begin.key, "the answer has no id for an upload in parts")
	}
	id := "uploadId=" + escapeQuery(up.UploadID)
	defer func() {
		if !created {
			b.abort(ctx, begin.key, id)
		}
	}()
	var list complete
	for last := false; ; {
		number := len(list.Parts) + 1
		if number > maxParts {
			return false, fault.New(fault.Unsupported, b.place+begin.key, "larger than %d parts of %d bytes", maxParts, partSize)
		}
		query := "partNumber=" + strconv.Itoa(number) + "&" + id
		resp, err := b.do(ctx, call{method: http.MethodPut, key: begin.key, query: query, body: body})
		if err != nil {
			return false, err
		}
		resp.Body.Close()
		list.Parts = append(list.Parts, part{number, resp.Header.Get("ETag")})
		if last {
			break
		}
		if body, last, err = parts.Next(); err != nil {
			return false, err
		}
	}
	text, err := xml.Marshal(list)
	if err != nil {
		return false, fault.New(fault.Internal, b.place+begin.key, "%w", err)
	}
	answer, created, err = b.finish(ctx, call{method: http.MethodPost, key: begin.key, query: id, header: map[string]string{}, body: text}, ifAbsent)
	// A store may notice a failure after it has sent the status 200.
	if a := read(answer); a.XMLName.Local == "Error" {
		return false, fault.New(fault.Transport, b.place+begin.key, "%s", bucket.Line(a.Code+": "+a.Message))
	}
	return created, err
}

// abort removes the parts of an upload, even if ctx has ended.
func (b *Bucket) abort(ctx context.Context, key, id string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abortTime)
	defer cancel()
	if resp, err := b.do(ctx, call{method: http.MethodDelete, key: key, query: id}); err == nil {
		resp.Body.Close()
	}
}

// escapeQuery escapes a value of a query as signatures require.
func escapeQuery(text string) string {
	return strings.ReplaceAll(transfer.EscapePath(text), "/", "%2F")
}
