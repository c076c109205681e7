package sentry

import (
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"

	"symbolon/internal/api"
	"symbolon/internal/api/wire"
	"symbolon/internal/bin"
	"symbolon/internal/cache"
	"symbolon/internal/metric"
)

// Limits of the parts of a form, besides its file.
const (
	maxParts = 1000     // their number
	maxPart  = 1 << 20  // bytes of a part that belongs to the request
	maxRest  = 64 << 20 // bytes of all
)

// form is the content of a request with a file: the file itself, or
// multipart/form-data with the file in one of the parts.
type form struct {
	file  cache.Spool
	parts map[string][]byte // the other parts
}

// Close removes the file. It may be called again.
func (f *form) Close() {
	if f.file != nil {
		_ = f.file.Close()
		f.file = nil
	}
}

// readForm reads the file in the body of a request into a temporary file, and the parts
// of the form that belong to the request into memory. Others are skipped.
// The error is an *api.Refusal or an error of the disk.
func (d *Door) readForm(r *http.Request, k *kind) (_ *form, err error) {
	f := &form{parts: map[string][]byte{}}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if kind == "application/octet-stream" || kind == "application/x-dmp" {
		return f, d.spool(f, r.Body)
	}
	parts, err := r.MultipartReader()
	if err != nil {
		return nil, api.Refuse(http.StatusBadRequest, "the request must have Content-Type: multipart/form-data with a boundary")
	}
	for n := 0; ; n++ {
		part, err := parts.NextRawPart()
		switch {
		case err == io.EOF:
			return f, nil
		case err != nil:
			return nil, partError(err)
		case n == maxParts:
			return nil, api.Refuse(http.StatusBadRequest, "a form may have %d parts", maxParts)
		}
		if err := d.readPart(f, part, k); err != nil {
			return nil, err
		}
	}
}

func (d *Door) readPart(f *form, part *multipart.Part, k *kind) error {
	// As in Symbolicator, any disposition may have the name.
	_, params, _ := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
	name := params["name"]
	switch {
	case name == k.part:
		f.Close() // the last part of a name is used
		return d.spool(f, part)
	case !wire.IsPart(name) || name == k.ignored:
		return nil
	}
	value, err := io.ReadAll(io.LimitReader(part, maxPart+1))
	switch {
	case err != nil:
		return partError(err)
	case len(value) > maxPart:
		return api.Refuse(http.StatusRequestEntityTooLarge, "%s: must be at most %s", name, bin.Size(maxPart))
	}
	f.parts[name] = value
	return nil
}

// spool writes the file of a form to the disk.
func (d *Door) spool(f *form, from io.Reader) (err error) {
	if f.file, err = d.deps.Spool(); err != nil {
		return err
	}
	limit := int64(d.deps.MaxDump)
	n, err := io.Copy(f.file, io.LimitReader(from, limit+1))
	unread := (*api.Refusal)(nil)
	switch {
	case errors.As(err, &unread), errors.Is(err, io.ErrUnexpectedEOF):
		return partError(err)
	case err != nil: // of the disk
		return err
	case n > limit:
		metric.Refused.Add(1, "body")
		return api.Refuse(http.StatusRequestEntityTooLarge, "the limit of a dump is %s (crash.max_dump)", bin.Size(limit))
	}
	return nil
}

// partError returns the error of a body that cannot be read or is not a form.
func partError(err error) error {
	if unread, ok := errors.AsType[*api.Refusal](err); ok {
		return unread
	}
	return api.Refuse(http.StatusBadRequest, "the body is not multipart/form-data: %v", err)
}
