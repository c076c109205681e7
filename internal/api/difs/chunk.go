package difs

import (
	"context"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"symbolon/internal/api"
	"symbolon/internal/api/receive"
	"symbolon/internal/bin"
	"symbolon/internal/bucket"
	"symbolon/internal/ident"
	"symbolon/internal/token"
)

const (
	maxOverhead = 1 << 20 // of the form around the chunks, and of their compression
	maxWindow   = 1 << 20 // of a chunk with zstd
	chunkMemory = 2 << 20 // for the decoder of a chunk
)

// decoder decodes chunks, one after the other: it has large tables.
type decoder interface {
	io.Reader
	Reset(io.Reader) error
}

// receiveChunks stores the chunks of a request. Those before a wrong one stay stored:
// the client sends the rest again.
func (d *Door) receiveChunks(_ http.ResponseWriter, r *http.Request, g *token.Grant) error {
	if r.ContentLength == 0 {
		return nil
	}
	parts, err := receive.Form(r)
	if err != nil {
		return err
	}
	unzstd, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return err
	}
	codings := map[string]decoder{"file": nil, "file_gzip": &gzip.Reader{}, "file_zstd": unzstd}
	for n := 0; ; n++ {
		part, err := parts.NextRawPart()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return receive.FormError(err)
		case n == maxChunks:
			return api.Refuse(http.StatusRequestEntityTooLarge, "too many chunks: a request may have %d", maxChunks)
		}
		if err := d.receiveChunk(r.Context(), receive.Holder(g), part, codings); err != nil {
			return err
		}
	}
}

// receiveChunk stores a chunk. The name of its file is the SHA-1 of its content, the name
// of its field states the compression.
func (d *Door) receiveChunk(ctx context.Context, holder string, part *multipart.Part, codings map[string]decoder) error {
	var sum ident.SHA1
	if err := sum.UnmarshalText([]byte(part.FileName())); err != nil {
		return api.Invalid("invalid file name %.60q of a chunk: must be the SHA-1 of its content", part.FileName())
	}
	z, isKnown := codings[part.FormName()]
	if !isKnown {
		return api.Invalid("unknown field %.60q: must be file, file_gzip or file_zstd", part.FormName())
	}
	in := &bin.ErrReader{R: part}
	if z != nil {
		in.R, in.Err = z, z.Reset(part)
	}
	err := d.Store.PutChunk(ctx, holder, sum, bin.Meter(in, nil, bin.Limit{Bytes: chunkSize}))
	switch body := (*api.Refusal)(nil); {
	case bucket.IsFull(err):
		_ = d.Store.RemoveChunks(ctx, holder) // else they expire
		return err
	case errors.Is(err, bin.ErrLimit):
		return api.Refuse(http.StatusRequestEntityTooLarge, "chunk %s is too large: must have at most %s", sum, bin.Size(chunkSize))
	case in.Err == nil:
		return err
	case z != nil && !errors.As(in.Err, &body):
		return api.Invalid("chunk %s is damaged: it is not %s, or cut off", sum, strings.TrimPrefix(part.FormName(), "file_"))
	}
	return receive.FormError(in.Err)
}
