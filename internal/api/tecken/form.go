package tecken

import (
	"io"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"

	"symbolon/internal/api"
	"symbolon/internal/api/receive"
	"symbolon/internal/cache"
	"symbolon/internal/ident"
)

const (
	maxParts = 100     // of a form
	maxField = 8 << 10 // bytes of a field that is not a file
	isZip    = ".zip"
)

// form is the body of an upload.
type form struct {
	name string      // of the zip, as claimed
	zip  cache.Spool // nil: there is only an address
	url  string
	try  string
}

// close removes the zip.
func (f *form) close() {
	if f.zip != nil {
		_ = f.zip.Close()
	}
}

// readForm reads the body of an upload. The zip is the first file of the form; others
// are ignored. The caller closes the result, also if there is an error.
func (d *Door) readForm(r *http.Request) (f form, err error) {
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind == "application/x-www-form-urlencoded" {
		text, err := readField(r.Body)
		if err != nil {
			return f, err
		}
		values, err := url.ParseQuery(text)
		if err != nil {
			return f, errNoFile
		}
		f.url, f.try = values.Get("url"), values.Get("try")
		return f, nil
	}
	parts, err := r.MultipartReader()
	if err != nil {
		return f, errNoFile
	}
	for range maxParts {
		part, err := parts.NextPart()
		switch {
		case err == io.EOF:
			return f, nil
		case err != nil:
			return f, receive.FormError(err)
		case part.FileName() != "" && f.zip == nil:
			if f.name, err = zipName(part.FormName(), part.FileName()); err == nil {
				f.zip, err = receive.Spool(d.Spool, part)
			}
		case part.FormName() == "url":
			f.url, err = readField(part)
		case part.FormName() == "try":
			f.try, err = readField(part)
		}
		if err != nil {
			return f, err
		}
	}
	return f, api.Invalid("too many fields: a form may have %d", maxParts)
}

// errNoFile refuses a form without a zip.
var errNoFile = api.Invalid("Must be multipart form data with at least one file")

// readField reads a field that is not a file.
func readField(in io.Reader) (string, error) {
	text, err := io.ReadAll(io.LimitReader(in, maxField+1))
	switch {
	case err != nil:
		return "", receive.FormError(err)
	case len(text) > maxField:
		return "", api.Invalid("a field has more than %d bytes: a file must be sent as multipart form data", maxField)
	}
	return strings.TrimSpace(string(text)), nil
}

// zipName returns the name of a zip: clients give it to the field, or to the file.
func zipName(names ...string) (string, error) {
	for _, name := range names {
		if base := path.Base(name); strings.EqualFold(path.Ext(base), isZip) && ident.CheckFileName(base) == nil {
			return base, nil
		}
	}
	return "", api.Invalid("Unrecognized archive file extension %q: send a zip, with a name that ends in %s", path.Ext(names[0]), isZip)
}
