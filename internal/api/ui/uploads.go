package ui

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"symbolon/internal/api"
	"symbolon/internal/ident"
	"symbolon/internal/store"
	"symbolon/internal/token"
)

// maxForm limits the form of an upload without its files.
const maxForm = 1 << 20

func (d *Door) uploadsPage() *page {
	return &page{
		pattern: "/ui/uploads", about: "uploads", menu: "Uploads", right: token.Read, show: d.showUploads,
		actions: map[string]action{"upload": d.upload}, maxBody: int64(d.deps.Limits.Defaults().MaxRequest) + maxForm,
	}
}

// An uploadsData is the data of the page of uploads.
type uploadsData struct {
	Projects  []string        `json:"projects"` // that the client may see
	Project   string          `json:"project"`  // of these uploads; empty: all
	Uploads   []*store.Upload `json:"uploads"`
	Next      string          `json:"next,omitempty"` // query of the next page
	Refused   []store.Refused `json:"refused"`        // by this node since its start
	MayUpload []string        `json:"may_upload"`     // projects
}

func (d *Door) showUploads(v *visit) (view, error) {
	all, err := d.deps.Store.Projects(v.Context())
	if err != nil {
		return view{}, err
	}
	q := v.URL.Query()
	data := uploadsData{Projects: v.grant.Visible(all), Project: q.Get("project"), MayUpload: mayUpload(v.grant, all)}
	of := data.Projects
	if data.Project != "" {
		if !slices.Contains(of, data.Project) {
			return view{}, errUnknown
		}
		of = []string{data.Project}
	}
	list, err := d.deps.Store.Heads(v.Context(), of, q.Get("before"), pageRows+1)
	if err != nil {
		return view{}, err
	}
	data.Uploads = slices.Concat([]*store.Upload{}, list[:min(len(list), pageRows)]) // not null in JSON
	if len(list) > pageRows {
		data.Next = v.with("before", list[pageRows-1].ID)
	}
	data.Refused = d.deps.Store.Refused(slices.DeleteFunc(slices.Clone(of), func(name string) bool { return !v.grant.May(token.Read, name) }))
	return view{title: "Uploads", data: data, body: uploadsView(v, &data)}, nil
}

// mayUpload returns the projects to which a client may upload, the default one first.
func mayUpload(g *token.Grant, all map[string]bool) (names []string) {
	for _, name := range slices.Concat([]string{ident.DefaultProject}, slices.Sorted(maps.Keys(all)), g.Projects) {
		if name != token.Any && g.May(token.Upload, name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// errUnknown is answered for an upload or a project that the client may not see.
var errUnknown = api.Refuse(http.StatusNotFound, "there is no such upload or project, or the token may not see it")

// uploadAction returns the address of a form for uploads, after which the client returns
// to the page of a module if the form is on one.
func (v *visit) uploadAction() string {
	q := url.Values{"do": {"upload"}}
	if strings.HasPrefix(v.path(), "ui/modules/") {
		q.Set("back", v.path()+"?"+v.query().Encode())
	}
	return v.root + "ui/uploads?" + q.Encode()
}
