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
)

const (
	partSize  = 8 << 20
	large     = 1 << 20 // of a body that is worth a question beforehand
	maxParts  = 10_000  // that a store takes
	abortTime = 10 * time.Second
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
	header := map[string]string{}
	if a.Encoding != "" {
		header["Content-Encoding"] = a.Encoding
	}
	if a.IfAbsent && len(first) > large {
		if _, err := b.Stat(ctx, key); err == nil {
			return nil // and the upload is spared
		}
	}
	if last {
		_, err := b.finish(ctx, call{method: http.MethodPut, key: key, header: header, body: first}, a.IfAbsent)
		return err
	}
	return b.multipart(ctx, call{method: http.MethodPost, key: key, query: "uploads=", header: header}, first, parts, a.IfAbsent)
}

// Delete takes a blob away.
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

// finish does the request that makes a blob appear, and gives the answer. With
// ifAbsent, a blob that is there already is no failure.
func (b *Bucket) finish(ctx context.Context, c call, ifAbsent bool) ([]byte, error) {
	there := func(status int) bool { return ifAbsent && status == http.StatusPreconditionFailed }
	if ifAbsent {
		c.header["If-None-Match"] = "*"
	}
	c.accept = func(status int) bool { return there(status) || ifAbsent && status == http.StatusNotImplemented }
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
	defer resp.Body.Close()
	switch {
	case there(resp.StatusCode):
		return nil, nil
	case resp.StatusCode == http.StatusNotImplemented:
		if _, err := b.Stat(ctx, c.key); err == nil {
			return nil, nil
		}
		delete(c.header, "If-None-Match")
		return b.finish(ctx, c, false)
	}
	return io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
}

// upload is an upload in parts.
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

func (b *Bucket) multipart(ctx context.Context, begin call, body []byte, parts *bucket.Parts, ifAbsent bool) (err error) {
	answer, err := b.finish(ctx, begin, false)
	if err != nil {
		return err
	}
	var up upload
	if xml.Unmarshal(answer, &up) != nil || up.UploadID == "" {
		return fault.New(fault.Transport, b.place+begin.key, "the store gives no id for an upload in parts")
	}
	id := "uploadId=" + escapeQuery(up.UploadID)
	defer func() {
		if err != nil {
			b.abort(ctx, begin.key, id)
		}
	}()
	var list complete
	for last := false; ; {
		number := len(list.Parts) + 1
		if number > maxParts {
			return fault.New(fault.Unsupported, b.place+begin.key, "larger than %d parts of %d bytes", maxParts, partSize)
		}
		query := "partNumber=" + strconv.Itoa(number) + "&" + id
		resp, err := b.do(ctx, call{method: http.MethodPut, key: begin.key, query: query, body: body})
		if err != nil {
			return err
		}
		resp.Body.Close()
		list.Parts = append(list.Parts, part{number, resp.Header.Get("ETag")})
		if last {
			break
		}
		if body, last, err = parts.Next(); err != nil {
			return err
		}
	}
	text, err := xml.Marshal(list)
	if err != nil {
		return fault.New(fault.Internal, b.place+begin.key, "%w", err)
	}
	answer, err = b.finish(ctx, call{method: http.MethodPost, key: begin.key, query: id, header: map[string]string{}, body: text}, ifAbsent)
	if err != nil {
		return err
	}
	if answer == nil { // somebody was faster
		b.abort(ctx, begin.key, id)
	}
	// The store may notice a failure after it has answered 200.
	if a := read(answer); a.XMLName.Local == "Error" {
		return fault.New(fault.Transport, b.place+begin.key, "%s", bucket.Line(a.Code+": "+a.Message))
	}
	return nil
}

// abort takes the parts of an upload away, whatever became of ctx.
func (b *Bucket) abort(ctx context.Context, key, id string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abortTime)
	defer cancel()
	if resp, err := b.do(ctx, call{method: http.MethodDelete, key: key, query: id}); err == nil {
		resp.Body.Close()
	}
}

// escapeQuery escapes a value of a query as signatures have it.
func escapeQuery(text string) string { return strings.ReplaceAll(escape(text), "/", "%2F") }
