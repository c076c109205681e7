package difs

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"sync"

	"symbolon/internal/api"
	"symbolon/internal/api/receive"
	"symbolon/internal/bin"
	"symbolon/internal/bucket"
	"symbolon/internal/cache"
	"symbolon/internal/ident"
	"symbolon/internal/store"
	"symbolon/internal/token"
)

// maxChecksums is how many files a client may ask for in an address.
const maxChecksums = 10_000

// unknown answers which files are missing, by their SHA-1.
func (d *Door) unknown(w http.ResponseWriter, r *http.Request, _ *token.Grant) error {
	sums := r.URL.Query()["checksums"]
	if len(sums) > maxChecksums {
		return api.Invalid("too many checksums: a request may have %d", maxChecksums)
	}
	isMissing := make([]bool, len(sums))
	err := bucket.Each(len(sums), func(i int) error {
		var sum ident.SHA1
		if err := sum.UnmarshalText([]byte(sums[i])); err != nil {
			return api.Invalid("checksums: %v", err)
		}
		found, err := d.Store.Find(r.Context(), []string{r.PathValue("project")}, store.Question{SHA1: sum})
		isMissing[i] = len(found) == 0
		return err
	})
	if err != nil {
		return err
	}
	missing := []string{}
	for i, is := range isMissing {
		if is {
			missing = append(missing, sums[i])
		}
	}
	api.WriteJSON(w, http.StatusOK, map[string][]string{"missing": missing})
	return nil
}

// reply returns a handler for requests of old clients that change nothing.
func reply(answer any) handler {
	return func(w http.ResponseWriter, _ *http.Request, _ *token.Grant) error {
		api.WriteJSON(w, http.StatusOK, answer)
		return nil
	}
}

// receiveZip stores the debug files in a zip, all of them or none. Other members are
// skipped.
func (d *Door) receiveZip(w http.ResponseWriter, r *http.Request, g *token.Grant) error {
	zip, err := d.spoolFile(r)
	if err != nil {
		return err
	}
	defer func() { _ = zip.Close() }() // it is removed
	labels, err := receive.Labels(r, g)
	if err != nil {
		return err
	}
	draft := d.Store.Begin(r.PathValue("project"), labels, receive.Uploader(g))
	defer draft.Close()
	if err := addMembers(r.Context(), draft, zip); err != nil {
		return err
	}
	upload, err := draft.Commit(r.Context())
	if err != nil {
		return err
	}
	list := []*dif{}
	for i := range upload.Files {
		if list, err = d.appendFile(r.Context(), list, upload, i, &filter{}); err != nil {
			return err
		}
	}
	api.WriteJSON(w, http.StatusCreated, list)
	return nil
}

// addMembers adds the members of a zip that are debug files. Without any it returns
// the reason for the first that is not.
func addMembers(ctx context.Context, draft *store.Draft, zip bin.Source) error {
	var mu sync.Mutex
	var first error
	added := 0
	err := receive.EachFile(zip, nil, func(_ int, name string, in io.Reader) error {
		_, err := addFile(ctx, draft, &part{name: name}, in)
		mu.Lock()
		defer mu.Unlock()
		if stored, ok := errors.AsType[*store.Refusal](err); ok {
			first = cmp.Or(first, error(api.Invalid("%v", stored)))
			return nil
		}
		if err == nil {
			added++
		}
		return err
	})
	if err == nil && added == 0 {
		err = cmp.Or(first, error(api.Invalid("the zip has no files")))
	}
	return err
}

// spoolFile writes the part file of a form to the disk.
func (d *Door) spoolFile(r *http.Request) (cache.Spool, error) {
	parts, err := receive.Form(r)
	if err != nil {
		return nil, err
	}
	for {
		part, err := parts.NextRawPart()
		switch {
		case err == io.EOF:
			return nil, api.Invalid("the form has no part %q with a zip of debug files", "file")
		case err != nil:
			return nil, receive.FormError(err)
		case part.FormName() == "file":
			return receive.Spool(d.Spool, part)
		}
	}
}
