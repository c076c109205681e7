package ui

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"mime/multipart"
	"net/http"

	"symbolon/internal/api"
	"symbolon/internal/api/receive"
	"symbolon/internal/bin"
	"symbolon/internal/cache"
	"symbolon/internal/fault"
	"symbolon/internal/filter"
	"symbolon/internal/metric"
	"symbolon/internal/source"
)

// An upload is the text or the file of a form, decompressed, on disk.
type upload struct {
	cache.Spool
	name string // of the file; empty: a text
}

const (
	maxHead   = 64 << 10 // that the kind of an upload is found in
	maxFields = 16       // of a form
	// workMemory is reserved for the work on an upload. So there is a bound on the uploads
	// that are worked on at the same time.
	workMemory = 32 << 20
	// noLimit is the limit of the front for forms with files: receive has others, whose
	// errors have the key of the limit.
	noLimit = 1 << 40
)

// receive reads the form of a visit: the field text or file, of which one must have a
// content. It reserves memory for the work on it.
func (d *Door) receive(v *visit) (u *upload, err error) {
	if v.ContentLength > int64(d.deps.MaxDump)+maxHead {
		return nil, tooLarge("file", d.deps.MaxDump, "crash.max_dump")
	}
	fields := 0
	err = eachPart(v, func(part *multipart.Part) error {
		if fields++; fields > maxFields {
			return api.Invalid("the form has too many fields")
		}
		field, err := d.receiveField(v, part)
		if field != nil && u != nil {
			_ = field.Close() // a temporary file
			return api.Invalid("send a text or a file, not both")
		}
		u = cmp.Or(u, field)
		return err
	})
	if err == nil && u == nil {
		err = api.Invalid("paste a text or choose a file")
	} else if err == nil {
		err = api.Reserve(v.Request, workMemory)
	}
	if err != nil && u != nil {
		_ = u.Close() // a temporary file
	}
	return u, err
}

// eachPart calls use with the parts of a form.
func eachPart(v *visit, use func(*multipart.Part) error) error {
	parts, err := receive.Form(v.Request)
	if err != nil {
		return err
	}
	for {
		part, err := parts.NextRawPart()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return receive.FormError(err)
		}
		if err := use(part); err != nil {
			return err
		}
	}
}

// receiveField reads a field of a form. It returns nil for one without a content.
func (d *Door) receiveField(v *visit, part *multipart.Part) (u *upload, err error) {
	u = &upload{}
	limit, key := d.deps.MaxText, "http.max_body"
	switch part.FormName() {
	case "text":
	case "file":
		u.name = cmp.Or(part.FileName(), "the file")
		limit, key = d.deps.MaxDump, "crash.max_dump"
	default:
		return nil, nil
	}
	if u.Spool, err = d.deps.Spool(); err != nil {
		return nil, err
	}
	if _, err = source.NewDecoder(bin.Limit{Bytes: int64(limit), Ratio: -1}, nil).Decode(v.Context(), u, part, ""); err == nil && u.Size() > 0 {
		return u, nil
	}
	_ = u.Close() // a temporary file
	switch {
	case err == nil && part.FileName() != "":
		err = fault.New(fault.Malformed, "", "the file is empty")
	case errors.Is(err, bin.ErrLimit):
		metric.Refused.Add(1, "body")
		err = tooLarge(part.FormName(), limit, key)
	}
	return nil, unusable(u.name, err)
}

func tooLarge(what string, limit bin.Size, key string) error {
	return api.Refuse(http.StatusRequestEntityTooLarge, "the limit of a %s is %s (%s)", what, limit, key)
}

// unusable returns the error for a client about an upload with this name; errors of the
// server are returned unchanged.
func unusable(name string, err error) error {
	var refused *api.Refusal
	var failed *fault.Error
	var answer *filter.StatusError
	var system *fs.PathError
	switch {
	case err == nil, errors.As(err, &refused), errors.As(err, &system), errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &answer):
		return api.Refuse(answer.Status, "%s", answer.Reason)
	case errors.As(err, &failed) && failed.Kind == fault.Internal:
		return err
	case errors.Is(err, context.DeadlineExceeded):
		return api.Refuse(http.StatusGatewayTimeout, "this took longer than %s: use the command symbolon for it", maxWork)
	}
	return api.Refuse(http.StatusUnprocessableEntity, "%s", shown(cmp.Or(name, "the text")+": "+err.Error()))
}
