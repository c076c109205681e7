package ui

import (
	"context"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/explain"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/inspect"
	"symbolon/internal/locate"
	"symbolon/internal/object"
	"symbolon/internal/source"
	"symbolon/internal/symbolicate"
	"symbolon/internal/token"
	"symbolon/internal/triage"
)

func (d *Door) modulePage() *page {
	return &page{
		pattern: "/ui/modules/", about: "where a module was looked for", right: token.Admin, show: d.showModule, file: d.downloadModule,
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
		return q, api.Invalid("%v", err)
	}
	q.Purpose = locate.Debug
	if name := v.URL.Query().Get("purpose"); name != "" {
		var known bool
		if q.Purpose, known = locate.ParsePurpose(name); !known {
			return q, api.Invalid("invalid purpose: must be one of %s", strings.Join(purposes(), ", "))
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
	Search  string           `json:"search,omitempty"`
	Matches *inspect.Matches `json:"matches,omitempty"`
	Addr    string           `json:"addr,omitempty"`
	Frames  []triage.Frame   `json:"frames,omitempty"`

	mayUpload []string // projects
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
	all, err := d.deps.Store.Projects(v.Context())
	if err != nil {
		return view{}, err
	}
	data := moduleData{Module: v.PathValue("rest"), Purpose: q.Purpose.String(), Trail: trail, mayUpload: mayUpload(v.grant, all)}
	if trail.Found {
		if err := d.lookInside(v, q, &data); err != nil {
			return view{}, err
		}
	}
	return view{title: data.Module, data: data, body: moduleView(v, &data)}, nil
}

const (
	mostMatches = 100             // functions, and files, of a search
	searchTime  = 5 * time.Second // for it, as a file may have millions
)

// lookInside answers the questions of the query about the file of a module.
func (d *Door) lookInside(v *visit, q explain.Question, data *moduleData) (err error) {
	if data.Search = v.URL.Query().Get("q"); data.Search != "" {
		ctx, cancel := context.WithTimeout(v.Context(), searchTime)
		defer cancel()
		err = d.deps.Inside(ctx, v.grant, q, func(o *object.Object) (err error) {
			data.Matches, err = inspect.Search(ctx, o, data.Search, mostMatches)
			return err
		})
		if err != nil {
			return err
		}
	}
	if data.Addr = v.URL.Query().Get("addr"); data.Addr == "" {
		return nil
	}
	addr, err := strconv.ParseUint(strings.TrimPrefix(strings.TrimSpace(data.Addr), "0x"), 16, 64)
	if err != nil {
		return api.Invalid("invalid address %.40q: must be at most 16 hex digits, with or without 0x", data.Addr)
	}
	data.Frames, err = d.framesAt(v, q.Module, addr)
	return err
}

// framesAt returns the frames of an address of a module, innermost first.
func (d *Door) framesAt(v *visit, m ident.Module, addr uint64) ([]triage.Frame, error) {
	res, err := d.deps.Run(v.Context(), v.grant, &symbolicate.Request{
		Modules: []ident.Module{m}, Frames: []symbolicate.Frame{{Addr: addr}}, Purpose: locate.Debug, Called: true,
	})
	if err != nil {
		return nil, err
	}
	defer res.Release()
	found, err := res.Frames(0)
	list := []triage.Frame{}
	for _, f := range found {
		name, _ := res.AppendText(nil, 0, f.Func)
		file, _ := res.AppendFile(nil, 0, f.File)
		list = append(list, triage.Frame{Function: string(name), File: string(file), Line: f.Line, Inlined: f.Inlined})
	}
	return list, err
}

// downloadModule sends the file of the module, or its .sym file.
func (d *Door) downloadModule(w http.ResponseWriter, v *visit) error {
	q, err := question(v)
	if err != nil {
		return err
	}
	kinds := []string{source.Breakpad}
	if kind := v.URL.Query().Get("download"); kind != "sym" {
		kinds = []string{kind}
	}
	f, err := d.deps.Open(v.Context(), v.grant, []source.FileRequest{{Module: q.Module, Kinds: kinds}})
	if fault.KindOf(err) == fault.NotFound && err != nil {
		return api.Refuse(http.StatusNotFound, "%v", err)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	name := f.Info().Name
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
	api.SendFile(w, v.Request, f, d.deps.Log)
	return nil
}

// chosen returns the kind of the file that was chosen.
func (m *moduleData) chosen() string {
	for _, a := range m.Tried {
		if a.Chosen {
			return a.Kind
		}
	}
	return ""
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

// query returns the query of a visit, without what only one request needs.
func (v *visit) query() url.Values {
	q := v.URL.Query()
	for _, key := range []string{"do", "note", "ask", "from", "download", "format"} {
		q.Del(key)
	}
	return q
}

// with returns the address of the page of a visit with another value in its query.
func (v *visit) with(key, value string) string {
	q := v.query()
	q.Set(key, value)
	return "?" + q.Encode()
}
