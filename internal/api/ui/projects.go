package ui

import (
	"net/http"
	"slices"
	"strings"

	"symbolon/internal/api"
	"symbolon/internal/ident"
	"symbolon/internal/token"
)

func (d *Door) projectsPage() *page {
	return &page{
		pattern: "/ui/projects", about: "projects", menu: "Projects", right: token.Admin, show: d.showProjects,
		actions: map[string]action{"set": d.setProject},
	}
}

// A projectRow describes a project.
type projectRow struct {
	Name      string `json:"name"`
	Public    bool   `json:"public"`
	IsCounted bool   `json:"counted"` // and has the next fields
	Uploads   int    `json:"uploads"`
	Bytes     int64  `json:"bytes"` // decoded

	mayChange bool
}

// A projectsData is the data of the page of projects.
type projectsData struct {
	Projects []projectRow `json:"projects"`
	Next     string       `json:"next,omitempty"`

	chosen *projectRow // to make public or private
}

func (d *Door) showProjects(v *visit) (view, error) {
	all, err := d.deps.Store.Projects(v.Context())
	if err != nil {
		return view{}, err
	}
	visible := v.grant.Visible(all)
	names, next, err := paged(v, visible, pageRows)
	data := projectsData{Projects: []projectRow{}, Next: next}
	for _, name := range names {
		row := projectRow{Name: name, Public: all[name], mayChange: v.grant.May(token.Admin, name)}
		row.Bytes, row.Uploads, row.IsCounted = d.deps.Store.UsageOf(name)
		data.Projects = append(data.Projects, row)
	}
	if name := v.URL.Query().Get("ask"); slices.Contains(visible, name) && v.grant.May(token.Admin, name) {
		data.chosen = &projectRow{Name: name, Public: all[name]}
	}
	return view{title: "Projects", data: data, body: projectsView(v, &data)}, err
}

// setProject makes a project public or private, or creates it.
func (d *Door) setProject(v *visit, _ *progress) (outcome, error) {
	name := strings.TrimSpace(v.PostFormValue("name"))
	if err := ident.CheckProject(name); err != nil {
		return outcome{}, api.Invalid("%v", err)
	}
	if !v.grant.May(token.Admin, name) {
		return outcome{}, api.Refuse(http.StatusForbidden, "this needs a token with the right admin in the project %s", name)
	}
	all, err := d.deps.Store.Projects(v.Context())
	if err != nil {
		return outcome{}, err
	}
	if _, exists := all[name]; exists && v.PostFormValue("new") != "" {
		return outcome{}, api.Refuse(http.StatusConflict, "the project %s exists already", name)
	}
	return outcome{to: "ui/projects", note: "set"}, d.deps.Store.SetProject(v.Context(), name, v.PostFormValue("public") == "yes")
}

// state returns whether the project is public or private, with isOther the opposite.
func (p *projectRow) state(isOther bool) string {
	if p.Public != isOther {
		return "public"
	}
	return "private"
}
