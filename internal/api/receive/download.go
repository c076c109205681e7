package receive

import (
	"log/slog"
	"mime"
	"net/http"

	"symbolon/internal/api"
	"symbolon/internal/store"
	"symbolon/internal/store/blob"
)

// stored is a file of the store. It implements api.File.
type stored struct {
	*blob.Reader
	info api.FileInfo
}

// Info returns the description of the file.
func (f stored) Info() api.FileInfo { return f.info }

// A Download sends a file of an upload.
type Download struct {
	Store  *store.Store
	Upload *store.Upload
	Log    *slog.Logger
}

// Send sends the file with an index in the upload, to be saved with a name.
func (d Download) Send(w http.ResponseWriter, r *http.Request, file int, name string) error {
	f := &d.Upload.Files[file]
	content, err := d.Store.Open(r.Context(), &store.Found{Record: &store.Record{SHA256: f.SHA256}, Copy: f.Copy})
	if err != nil {
		return err
	}
	defer func() { _ = content.Close() }() // it was only read
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
	api.SendFile(w, r, stored{content, api.FileInfo{Name: name, Tag: f.SHA256.String(), Modified: d.Upload.Time}}, d.Log)
	return nil
}
