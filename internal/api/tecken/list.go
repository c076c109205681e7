package tecken

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/store"
)

const (
	uploadsPage = 20
	filesPage   = 40
	statsDays   = 30
	maxCounted  = 2_000 // uploads that the statistics count, the newest ones
)

// uploadRow describes an upload.
type uploadRow struct {
	ID       string            `json:"id"`
	User     user              `json:"user"`
	Name     string            `json:"filename"` // of the zip; empty for uploads through other interfaces
	Size     int64             `json:"size"`     // of the files
	Bucket   string            `json:"bucket_name"`
	IsTry    bool              `json:"try_symbols"`
	Created  string            `json:"created_at"`
	Complete string            `json:"completed_at"`
	Files    int               `json:"files_count"`
	Labels   map[string]string `json:"labels,omitempty"`
}

type user struct {
	Email string `json:"email"` // the name of the token
}

func rowOf(u *store.Upload) uploadRow {
	return uploadRow{
		ID: u.ID, User: user{u.Uploader}, Name: u.Labels[archiveLabel], Bucket: u.Project, IsTry: strings.HasSuffix(u.Project, trySuffix),
		Created: dateOf(u.Time), Complete: dateOf(u.Time), Files: u.Count, Labels: u.Labels, Size: u.Bytes,
	}
}

// fileRow describes a file of an upload.
type fileRow struct {
	ID      string `json:"id"`
	Bucket  string `json:"bucket_name"`
	Key     string `json:"key"`
	Size    int64  `json:"size"`
	Created string `json:"created_at"`
	SHA256  string `json:"sha256"`
	DebugID string `json:"debug_id,omitempty"`
	CodeID  string `json:"code_id,omitempty"`
	Upload  string `json:"upload"`
}

func fileOf(u *store.Upload, i int) fileRow {
	f := &u.Files[i]
	row := fileRow{
		ID: u.ID + "." + strconv.Itoa(i), Bucket: u.Project, Key: f.Name, Size: f.Size,
		Created: dateOf(u.Time), SHA256: f.SHA256.String(), Upload: u.ID,
	}
	for _, id := range f.IDs {
		if row.DebugID == "" && !id.DebugID.IsZero() {
			row.DebugID = id.DebugID.Breakpad()
		}
		if row.CodeID == "" {
			row.CodeID = id.CodeID.String()
		}
	}
	return row
}

// readable returns the projects whose uploads a client may see.
func (d *Door) readable(r *http.Request) ([]string, error) {
	g, err := d.grant(r)
	if err != nil {
		return nil, err
	}
	all, err := d.Store.Projects(r.Context())
	if err != nil {
		return nil, err
	}
	projects := slices.DeleteFunc(slices.Sorted(maps.Keys(all)), func(name string) bool { return !isReader(g, name) })
	if len(projects) == 0 && g.ID == "" {
		return nil, errNoToken
	}
	return projects, nil
}

// listUploads answers with a page of uploads: those older than the one in before.
func (d *Door) listUploads(w http.ResponseWriter, r *http.Request) error {
	projects, err := d.readable(r)
	if err != nil {
		return err
	}
	list, err := d.Store.Heads(r.Context(), projects, r.URL.Query().Get("before"), uploadsPage+1)
	if err != nil {
		return err
	}
	rows := []uploadRow{}
	for _, u := range list[:min(len(list), uploadsPage)] {
		rows = append(rows, rowOf(u))
	}
	api.WriteJSON(w, http.StatusOK, map[string]any{"uploads": rows, "can_view_all": true, "batch_size": uploadsPage, "has_next": len(list) > uploadsPage})
	return nil
}

// showUpload answers with an upload and its files.
func (d *Door) showUpload(w http.ResponseWriter, r *http.Request) error {
	projects, err := d.readable(r)
	if err != nil {
		return err
	}
	id := r.PathValue("id")
	if project, _, _ := strings.Cut(id, "."); !slices.Contains(projects, project) {
		return api.Refuse(http.StatusNotFound, "there is no such file or upload")
	}
	u, err := d.Store.Upload(r.Context(), id)
	if err != nil {
		return err
	}
	files := make([]fileRow, len(u.Files))
	for i := range files {
		files[i] = fileOf(u, i)
	}
	api.WriteJSON(w, http.StatusOK, map[string]any{"upload": struct {
		uploadRow
		List []fileRow `json:"file_uploads"`
	}{rowOf(u), files}})
	return nil
}

// listFiles answers with a page of files: the files of uploads older than the one in
// before, never only a part of an upload.
func (d *Door) listFiles(w http.ResponseWriter, r *http.Request) error {
	projects, err := d.readable(r)
	if err != nil {
		return err
	}
	list, err := d.Store.List(r.Context(), projects, r.URL.Query().Get("before"), filesPage+1)
	if err != nil {
		return err
	}
	rows := []fileRow{}
	for len(list) > 0 && len(rows) < filesPage {
		for i := range list[0].Files {
			rows = append(rows, fileOf(list[0], i))
		}
		list = list[1:]
	}
	api.WriteJSON(w, http.StatusOK, map[string]any{"files": rows, "batch_size": filesPage, "has_next": len(list) > 0})
	return nil
}

// sum is a number of uploads.
type sum struct {
	Count int   `json:"count"`
	Size  int64 `json:"total_size"`
}

func (s *sum) add(row *uploadRow) {
	s.Count++
	s.Size += row.Size
}

// stats answers with the numbers of uploads of the last days.
func (d *Door) stats(w http.ResponseWriter, r *http.Request) error {
	projects, err := d.readable(r)
	if err != nil {
		return err
	}
	var numbers struct {
		All       bool `json:"all_uploads"`
		Today     sum  `json:"today"`
		Yesterday sum  `json:"yesterday"`
		Days      sum  `json:"last_30_days"`
	}
	numbers.All = true
	now := d.Now().UTC()
	today := now.Truncate(24 * time.Hour)
	err = d.each(r.Context(), projects, now.AddDate(0, 0, -statsDays), func(u *store.Upload) {
		row := rowOf(u)
		numbers.Days.add(&row)
		switch {
		case !u.Time.Before(today):
			numbers.Today.add(&row)
		case !u.Time.Before(today.AddDate(0, 0, -1)):
			numbers.Yesterday.add(&row)
		}
	})
	if err == nil {
		api.WriteJSON(w, http.StatusOK, map[string]any{"stats": map[string]any{"uploads": numbers}})
	}
	return err
}

// each calls yield for uploads whose records are not older than a time.
func (d *Door) each(ctx context.Context, projects []string, since time.Time, yield func(u *store.Upload)) error {
	before := ""
	for n := 0; n < maxCounted; n += uploadsPage {
		list, err := d.Store.Heads(ctx, projects, before, uploadsPage)
		if err != nil || len(list) == 0 {
			return err
		}
		for _, u := range list {
			if u.Written().Before(since) {
				return nil
			}
			yield(u)
			before = u.ID
		}
	}
	return nil
}
