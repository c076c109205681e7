package ui

import (
	"net/http"
	"net/url"
	"strings"

	"symbolon/internal/explain"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
	"symbolon/internal/token"
)

func (d *Door) modulePage() *page {
	return &page{
		pattern: "/ui/modules/", right: token.Admin, show: d.showModule,
		actions: map[string]action{"ask": d.askAgain, "forget": d.forgetModule, "fetch": d.fetchModule},
	}
}

// question returns the module and the purpose of a visit: the path has one of the files,
// the query may have the other one, the type and the purpose.
func question(v *visit) (q explain.Question, err error) {
	args := []string{v.PathValue("rest")}
	if more := v.URL.Query().Get("code"); more != "" {
		args = append(args, more)
	}
	if q.Module, err = explain.ParseModules(args, ident.ParseType(v.URL.Query().Get("type"))); err != nil {
		return q, &refusal{http.StatusBadRequest, err.Error()}
	}
	q.Purpose = locate.Debug
	if name := v.URL.Query().Get("purpose"); name != "" {
		var known bool
		if q.Purpose, known = locate.ParsePurpose(name); !known {
			return q, &refusal{http.StatusBadRequest, "invalid purpose: must be one of " + strings.Join(purposes(), ", ")}
		}
	}
	return q, nil
}

// purposes returns the names of all purposes.
func purposes() (names []string) {
	for p := locate.SymFirst; p <= locate.Pads; p++ {
		names = append(names, p.String())
	}
	return names
}

// A moduleData is the data of the page of a module.
type moduleData struct {
	Module  string `json:"module"`
	Purpose string `json:"purpose"`
	*explain.Trail
}

func (d *Door) showModule(v *visit) (view, error) {
	q, err := question(v)
	if err != nil {
		return view{}, err
	}
	trail, err := d.deps.Explain(v.Context(), v.grant, q)
	if err != nil {
		return view{}, err
	}
	data := moduleData{v.PathValue("rest"), q.Purpose.String(), trail}
	return view{title: data.Module, data: data, body: moduleView(v, &data)}, nil
}

// askAgain forgets all outcomes of the module. The page that follows looks it up.
func (d *Door) askAgain(v *visit, _ *progress) (outcome, error) {
	q, err := question(v)
	if err == nil {
		err = d.deps.Forget(v.Context(), q.Module)
	}
	return outcome{}, err
}

// forgetModule forgets all outcomes of the module, and looks nothing up.
func (d *Door) forgetModule(v *visit, _ *progress) (outcome, error) {
	q, err := question(v)
	if err == nil {
		err = d.deps.Forget(v.Context(), q.Module)
	}
	data := moduleData{Module: v.PathValue("rest"), Purpose: q.Purpose.String()}
	return outcome{view: &view{title: data.Module, data: data, body: forgottenView(v), note: notes["forgotten"]}}, err
}

// fetchModule fetches the file of the module and builds its table.
func (d *Door) fetchModule(v *visit, p *progress) (outcome, error) {
	q, err := question(v)
	if err != nil {
		return outcome{}, err
	}
	p.show("fetching the file and building its table", 0, 0)
	found, err := d.deps.Prefetch(v.Context(), v.grant, q.Module)
	if err != nil {
		return outcome{}, err
	}
	if found {
		return outcome{note: "fetched"}, nil
	}
	return outcome{note: "missing"}, nil
}

// action returns the address of an action on the page of a visit.
func (v *visit) action(name string) string {
	q := url.Values{}
	for key, list := range v.URL.Query() {
		if key != "do" && key != "note" {
			q[key] = list
		}
	}
	q.Set("do", name)
	return "?" + q.Encode()
}
