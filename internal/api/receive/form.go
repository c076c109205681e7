package receive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"

	"symbolon/internal/api"
	"symbolon/internal/bin"
	"symbolon/internal/cache"
	"symbolon/internal/store"
)

// Form returns the parts of a form.
func Form(r *http.Request) (*multipart.Reader, error) {
	parts, err := r.MultipartReader()
	if err != nil {
		return nil, api.Invalid("the request must have Content-Type: multipart/form-data with a boundary")
	}
	return parts, nil
}

// FormError returns the error of a body that cannot be read or is not a form.
func FormError(err error) error {
	if body, ok := errors.AsType[*api.Refusal](err); ok {
		return body
	}
	return api.Invalid("the body is not multipart/form-data: %v", err)
}

// Spool writes a part of a form to the disk. The caller closes the result.
func Spool(open func() (cache.Spool, error), part io.Reader) (cache.Spool, error) {
	spool, err := open()
	if err != nil {
		return nil, err
	}
	in := &bin.ErrReader{R: part}
	if _, err = io.Copy(spool, in); err == nil {
		return spool, nil
	}
	_ = spool.Close() // it is removed
	if in.Err != nil {
		return nil, FormError(in.Err)
	}
	return nil, fmt.Errorf("write an upload: %w", err)
}

// Commit commits a draft, unless it was uploaded already.
func Commit(ctx context.Context, draft *store.Draft) (*store.Upload, error) {
	u, err := draft.Earlier(ctx)
	if u == nil && err == nil {
		u, err = draft.Commit(ctx)
	}
	return u, err
}
