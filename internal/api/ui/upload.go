package ui

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/api/receive"
	"symbolon/internal/bucket"
	"symbolon/internal/ident"
	"symbolon/internal/store"
	"symbolon/internal/token"
)

func (d *Door) uploadPage() *page {
	return &page{
		pattern: "/ui/uploads/", about: "an upload", right: token.Read, show: d.showUpload, file: d.downloadFile,
		actions: map[string]action{"keep": d.keepUpload, "delete": d.deleteUpload},
	}
}

// An uploadData is the data of the page of an upload.
type uploadData struct {
	*store.Upload
	Kept    time.Time  `json:"kept_until,omitzero"` // by a client
	Rule    string     `json:"rule"`                // of retention
	List    []fileData `json:"list"`
	Next    string     `json:"next,omitempty"` // query of the next files
	MayKeep bool       `json:"may_keep"`       // and delete

	ask, name string // to confirm: "delete", and the name of a file or ""
}

// A fileData is a file of an upload.
type fileData struct {
	*store.UploadedFile
	Objects []objectData  `json:"objects"`
	Others  []store.Other `json:"others,omitempty"` // uploads
}

// An objectData is a binary that a file describes.
type objectData struct {
	Kind    string   `json:"kind"`
	File    string   `json:"file,omitempty"` // its own name
	Arch    string   `json:"arch,omitempty"`
	DebugID string   `json:"debug_id,omitempty"`
	CodeID  string   `json:"code_id,omitempty"`
	Has     []string `json:"has"`
}

// id returns the id by which the object is looked up.
func (o *objectData) id() string { return cmp.Or(o.DebugID, o.CodeID) }

// shares returns what an upload has in common with a file.
func shares(o store.Other) string {
	if o.IsSame {
		return "the same bytes"
	}
	return "the same id"
}

// objectsOf describes the objects of a file.
func objectsOf(r *store.Record) []objectData {
	list := []objectData{}
	for i := range r.Objects {
		o := &r.Objects[i]
		one := objectData{Kind: o.Kind, Arch: o.Module.Arch.String(), CodeID: o.Module.CodeID.String(), Has: o.Features.Names()}
		if m := o.Module.Derive(); !m.DebugID.IsZero() {
			one.DebugID = m.DebugID.Breakpad()
		}
		if name := ident.FileName(cmp.Or(o.Module.DebugFile, o.Module.CodeFile)); ident.CheckFileName(name) == nil {
			one.File = name
		}
		list = append(list, one)
	}
	return list
}

// find returns the upload of a visit with all of its files, or without, and the projects
// that the client may see.
func (d *Door) find(v *visit, withFiles bool) (u *store.Upload, visible []string, err error) {
	all, err := d.deps.Store.Projects(v.Context())
	if err != nil {
		return nil, nil, err
	}
	id := v.PathValue("rest")
	project, _, _ := strings.Cut(id, ".")
	visible = v.grant.Visible(all)
	if !slices.Contains(visible, project) {
		return nil, nil, errUnknown
	}
	if withFiles {
		u, err = d.deps.Store.Upload(v.Context(), id)
	} else {
		u, err = d.deps.Store.UploadPart(v.Context(), id, 0, 0)
	}
	return u, visible, err
}

func (d *Door) showUpload(v *visit) (view, error) {
	q := v.URL.Query()
	sum := q.Get("file")
	u, visible, err := d.find(v, sum != "")
	if err != nil {
		return view{}, err
	}
	data := uploadData{Upload: u, Rule: "none: it is kept until it is deleted", MayKeep: v.grant.May(token.Delete, u.Project), ask: q.Get("ask")}
	if sum != "" {
		i := withSum(u, sum)
		if i < 0 {
			return view{}, errUnknown
		}
		data.name = u.Files[i].Name
	}
	if data.Kept, err = d.deps.Store.ProtectedUntil(v.Context(), u.ID); err != nil {
		return view{}, err
	}
	if r, n := d.deps.Store.Rule(u); n > 0 {
		data.Rule = "rule " + itoa(n) + " of uploads.keep: " + r.Keep
	}
	first, end, next, err := v.window(u.Count, pageRows)
	if err != nil {
		return view{}, err
	}
	part, err := d.deps.Store.UploadPart(v.Context(), u.ID, first, end-first)
	if err != nil {
		return view{}, err
	}
	data.List, data.Next = make([]fileData, len(part.Files)), next
	err = bucket.Each(len(part.Files), func(i int) (err error) {
		data.List[i], err = d.describe(v.Context(), visible, u.ID, &part.Files[i])
		return err
	})
	return view{title: "Upload " + u.ID, data: data, body: uploadView(v, &data)}, err
}

// describe returns the description of a file of an upload.
func (d *Door) describe(ctx context.Context, visible []string, upload string, f *store.UploadedFile) (fileData, error) {
	one := fileData{UploadedFile: f}
	record, err := d.deps.Store.Record(ctx, *f)
	if err != nil {
		return one, err
	}
	one.Objects = objectsOf(record)
	one.Others, err = d.deps.Store.Others(ctx, visible, upload, f)
	return one, err
}

// withSum returns the number of the file with a sum, -1 without one.
func withSum(u *store.Upload, sum string) int {
	return slices.IndexFunc(u.Files, func(f store.UploadedFile) bool { return f.SHA256.String() == sum })
}

// downloadFile sends the file of an upload with a sum.
func (d *Door) downloadFile(w http.ResponseWriter, v *visit) error {
	u, _, err := d.find(v, true)
	if err != nil {
		return err
	}
	i := withSum(u, v.URL.Query().Get("download"))
	if i < 0 {
		return errUnknown
	}
	return receive.Download{Store: d.deps.Store, Upload: u, Log: d.deps.Log}.Send(w, v.Request, i, ident.FileName(u.Files[i].Name))
}

// manage returns the upload of an action of a client with the right delete.
func (d *Door) manage(v *visit) (*store.Upload, error) {
	u, _, err := d.find(v, true)
	if err == nil && !v.grant.May(token.Delete, u.Project) {
		err = api.Refuse(http.StatusForbidden, "this needs a token with the right delete in the project %s", u.Project)
	}
	return u, err
}

// keepUpload keeps an upload to the end of a day.
func (d *Door) keepUpload(v *visit, _ *progress) (outcome, error) {
	u, err := d.manage(v)
	if err != nil {
		return outcome{}, err
	}
	until, err := v.endOfDay("until")
	if err == nil && until.IsZero() {
		err = api.Invalid("choose a date")
	}
	if err != nil {
		return outcome{}, err
	}
	return outcome{note: "kept"}, d.deps.Store.Protect(v.Context(), u.ID, until)
}

// maxTogether is how many files an upload may have for one of them to be deleted.
const maxTogether = 1000

// deleteUpload deletes an upload, or one of its files. The others are another upload then.
func (d *Door) deleteUpload(v *visit, _ *progress) (outcome, error) {
	u, err := d.manage(v)
	if err != nil {
		return outcome{}, err
	}
	why, by, sum := strings.TrimSpace(v.PostFormValue("why")), receive.Uploader(v.grant), v.URL.Query().Get("file")
	i := withSum(u, sum)
	switch {
	case why == "":
		return outcome{}, api.Invalid("a reason is needed: it is shown to people who miss the file")
	case len(why) > maxText:
		return outcome{}, api.Invalid("the reason is too long")
	case sum == "":
		err = d.deps.Store.Delete(v.Context(), u.ID, by, why)
	case i < 0:
		return outcome{}, errUnknown
	case len(u.Files) > maxTogether:
		return outcome{}, api.Refuse(http.StatusConflict, "the upload has more than %d files: delete all of it", maxTogether)
	default:
		err = d.deps.Store.DeleteFile(v.Context(), u.ID, u.Files[i].SHA256, by, why)
	}
	return outcome{to: "ui/uploads?project=" + u.Project, note: "deleted"}, err
}
