package difs

import (
	"context"
	"net/http"
	"strings"

	"symbolon/internal/api"
	"symbolon/internal/api/receive"
	"symbolon/internal/store"
	"symbolon/internal/token"
)

// read answers a file, or a list of files.
func (d *Door) read(w http.ResponseWriter, r *http.Request, _ *token.Grant) error {
	id := r.URL.Query().Get("id")
	if id == "" {
		return d.list(w, r)
	}
	u, i, err := d.fileOf(r.Context(), r.PathValue("project"), id)
	if err != nil {
		return err
	}
	record, err := d.Store.Record(r.Context(), u.Files[i])
	if err != nil {
		return err
	}
	return receive.Download{Store: d.Store, Upload: u, Log: d.Log}.Send(w, r, i, describeAll(u, &u.Files[i], record)[0].fileName)
}

const maxID = 200 // bytes of the id of a file

// errUnknown is answered for a file that the project does not have.
var errUnknown = api.Refuse(http.StatusNotFound, "the project has no such file")

// fileOf returns the upload of a file with an id, and the index of the file in it.
func (d *Door) fileOf(ctx context.Context, project, id string) (*store.Upload, int, error) {
	dot := strings.LastIndexByte(id, '.')
	if dot < 0 || len(id)-dot-1 != sumDigits || len(id) > maxID {
		return nil, 0, errUnknown
	}
	u, err := d.Store.Upload(ctx, id[:dot])
	if err != nil {
		return nil, 0, err
	}
	if u.Project == project {
		for i, f := range u.Files {
			if strings.HasPrefix(f.SHA256.String(), id[dot+1:]) {
				return u, i, nil
			}
		}
	}
	return nil, 0, errUnknown
}

// maxTogether is how many files an upload may have for one of them to be deleted.
const maxTogether = 1000

// remove deletes a file. Other files of its upload stay.
func (d *Door) remove(w http.ResponseWriter, r *http.Request, g *token.Grant) error {
	u, deleted, err := d.fileOf(r.Context(), r.PathValue("project"), r.URL.Query().Get("id"))
	if err != nil {
		return err
	}
	if len(u.Files) > maxTogether {
		return api.Refuse(http.StatusConflict, "the file was uploaded together with %d others: delete the upload %s", len(u.Files)-1, u.ID)
	}
	err = d.Store.DeleteFile(r.Context(), u.ID, u.Files[deleted].SHA256, receive.Uploader(g), "deleted by a client of Sentry")
	if err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
