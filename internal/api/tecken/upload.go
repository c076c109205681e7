package tecken

import (
	"net/http"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/api/receive"
	"symbolon/internal/bin"
	"symbolon/internal/cache"
	"symbolon/internal/ident"
)

// Labels of uploads.
const (
	tryLabel     = "try"
	archiveLabel = "archive" // name of the zip
)

// upload stores the files of a zip.
func (d *Door) upload(w http.ResponseWriter, r *http.Request) error {
	c, err := d.uploader(r)
	if err != nil {
		return err
	}
	f, err := d.readForm(r)
	defer f.close()
	if err != nil {
		return err
	}
	redirects := []string{}
	switch {
	case f.zip != nil:
		f.url = ""
	case f.url == "":
		return errNoFile
	default:
		if redirects, err = d.fetch(r.Context(), &f); err != nil {
			return err
		}
	}
	c.isTry = c.isTry || f.try != "" // no field makes a token for try builds more
	project, labels, err := c.target(r, c.isTry)
	if err != nil {
		return err
	}
	labels[archiveLabel] = f.name
	draft := d.Store.Begin(project, labels, receive.Uploader(c.Grant))
	defer draft.Close()
	z := d.newZipped(r.Context(), draft, project)
	space := d.Space(r.Context())
	defer func() { _ = space.Close() }() // it is removed
	if err := z.addAll(f.zip, space); err != nil {
		return err
	}
	if c.isTry {
		if err := d.createTry(r.Context(), c.project); err != nil {
			return err
		}
	}
	u, err := receive.Commit(r.Context(), draft)
	if err != nil {
		return err
	}
	api.WriteJSON(w, http.StatusCreated, map[string]any{"upload": accepted{
		ID: u.ID, Size: f.zip.Size(), Name: f.name, Bucket: project, URL: addressOf(f.url), IsTry: c.isTry, Redirects: redirects,
		Completed: dateOf(d.Now()), Created: dateOf(u.Time), User: u.Uploader, Skipped: inOrder(z.known), Ignored: inOrder(z.ignored),
	}})
	return nil
}

// target returns the project and the labels of an upload.
func (c *client) target(r *http.Request, isTry bool) (project string, labels map[string]string, err error) {
	if labels, err = receive.Labels(r, c.Grant); err != nil {
		return "", nil, err
	}
	project = c.project
	if delete(labels, tryLabel); isTry {
		project, labels[tryLabel] = Try(project), "true"
	}
	if err := ident.CheckProject(project); err != nil {
		return "", nil, api.Invalid("%v, for uploads of try builds too", err)
	}
	return project, labels, nil
}

// accepted is the answer to an upload.
type accepted struct {
	ID        string   `json:"id"`
	Size      int64    `json:"size"` // of the zip
	Name      string   `json:"filename"`
	Bucket    string   `json:"bucket"`
	URL       any      `json:"download_url"` // a text or null
	IsTry     bool     `json:"try_symbols"`
	Redirects []string `json:"redirect_urls"`
	Completed string   `json:"completed_at"`
	Created   string   `json:"created_at"`
	User      string   `json:"user"`
	Skipped   []string `json:"skipped_keys"`
	Ignored   []string `json:"ignored_keys"`
}

// addressOf returns an address, or null.
func addressOf(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// dateOf returns a time as JSON of Django has it.
func dateOf(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// addAll adds the members of a zip. An error names the member.
func (z *zipped) addAll(file cache.Spool, space bin.Space) error {
	head, err := bin.Read(file, 0, int(min(file.Size(), 4)))
	switch {
	case err != nil:
		return err
	case string(head) != "PK\x03\x04" && string(head) != "PK\x05\x06":
		return api.Invalid("File is not a zip file")
	case head[2] != 3:
		return api.Invalid("the zip has no files")
	}
	if err := receive.EachFile(file, space, z.add); err != nil {
		return err
	}
	if len(z.sizes) == 0 {
		return api.Invalid("the zip has no debug files, only files that are ignored")
	}
	return nil
}
