package ui

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/explain"
	"symbolon/internal/ident"
	"symbolon/internal/missing"
	"symbolon/internal/token"
)

func (d *Door) missingPage() *page {
	return &page{pattern: "/ui/missing", about: "modules that were not found", menu: "Missing", right: token.Admin, show: d.showMissing, file: d.downloadMissing}
}

// A span is a time until now.
type span struct {
	name, text string
	time       time.Duration
}

// spans are those that the page of missing modules shows.
var spans = []span{{"1h", "hour", time.Hour}, {"24h", "24 hours", 24 * time.Hour}, {"7d", "7 days", 7 * 24 * time.Hour}, {"30d", "30 days", 30 * 24 * time.Hour}}

// A missingData is the data of the page of missing modules.
type missingData struct {
	Since    string         `json:"since"`
	Query    string         `json:"query"`
	Modules  int            `json:"modules"`  // in all, including those uploaded since
	Requests int64          `json:"requests"` // for them
	PerHour  []float64      `json:"per_hour"`
	Rows     []*missing.Row `json:"rows"`
	Next     string         `json:"next,omitempty"` // query of the next page
}

func (d *Door) showMissing(v *visit) (view, error) {
	data, report, err := d.reportMissing(v)
	if err != nil {
		return view{}, err
	}
	data.Modules = len(report.Rows)
	for _, n := range report.Hours {
		data.Requests += n
	}
	if data.Rows, data.Next, err = paged(v, report.Rows, pageRows); err == nil {
		data.Rows, err = d.deps.WithoutUploaded(v.Context(), v.grant, data.Rows)
	}
	return view{title: "Missing modules", data: data, body: missingView(v, data)}, err
}

// reportMissing returns the rows that a visit selects.
func (d *Door) reportMissing(v *visit) (*missingData, missing.Report, error) {
	q := v.URL.Query()
	data := &missingData{Since: cmp.Or(q.Get("since"), "24h"), Query: strings.TrimSpace(q.Get("q"))}
	i := slices.IndexFunc(spans, func(s span) bool { return s.name == data.Since })
	if i < 0 {
		return nil, missing.Report{}, api.Invalid("invalid since: must be 1h, 24h, 7d or 30d")
	}
	isWanted, err := d.wantsRow(v, data.Query)
	if err != nil {
		return nil, missing.Report{}, err
	}
	now := d.deps.Now()
	report, err := d.deps.Missing(v.Context(), now.Add(-spans[i].time), isWanted)
	data.PerHour = report.PerHour(now.Add(-spans[i].time), now)
	return data, report, err
}

// downloadMissing sends the rows as CSV.
func (d *Door) downloadMissing(w http.ResponseWriter, v *visit) error {
	_, report, err := d.reportMissing(v)
	if err != nil {
		return err
	}
	rows, err := d.deps.WithoutUploaded(v.Context(), v.grant, report.Rows)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="missing-`+d.deps.Now().UTC().Format(time.DateOnly)+`.csv"`)
	_ = missing.WriteCSV(w, rows) // the client may have left
	return nil
}

// wantsRow returns the function that chooses the rows with a text. Most interfaces do not
// know the project of a client, so only an operator of the whole server sees rows without
// a project; others see the rows of projects that they may see.
func (d *Door) wantsRow(v *visit, text string) (func(*missing.Row) bool, error) {
	all, err := d.deps.Store.Projects(v.Context())
	visible := v.grant.Visible(all)
	text = strings.ToLower(text)
	isWhole := v.grant.ID == "" || v.grant.May(token.Admin, token.Any) // without a token: this machine
	return func(r *missing.Row) bool {
		if !isWhole && !slices.Contains(visible, r.Project) {
			return false
		}
		return text == "" || slices.ContainsFunc([]string{r.DebugFile, r.CodeFile, r.DebugID, r.CodeID, r.Door, r.Product, r.Project, r.Reason}, func(field string) bool {
			return strings.Contains(strings.ToLower(field), text)
		})
	}, err
}

// rowPath returns the path of the page of a missing module, relative to the root.
func rowPath(r *missing.Row) string {
	name, id := rowName(r), rowID(r)
	to := modulePath(name, id)
	if r.DebugID == "" || r.CodeID == "" {
		return to
	}
	code := cmp.Or(r.CodeFile, name) + "/" + r.CodeID
	if _, err := explain.ParseModules([]string{name + "/" + id, code}, ident.TypeUnknown); err != nil {
		return to // without the type of the file, the ids do not fit
	}
	return to + "?code=" + url.QueryEscape(code)
}

// rowName returns the name of the file whose id is rowID. A debuginfod client sends none.
func rowName(r *missing.Row) string {
	if r.DebugID == "" {
		return cmp.Or(r.CodeFile, r.DebugFile, "unknown")
	}
	return cmp.Or(r.DebugFile, r.CodeFile, "unknown")
}

// rowID returns the debug id, or without one the code id.
func rowID(r *missing.Row) string { return cmp.Or(r.DebugID, r.CodeID) }

// askedBy returns the interface and the product that requested a module.
func askedBy(r *missing.Row) string {
	text := strings.TrimSpace(r.Door + " " + r.Product)
	if r.Project != "" {
		text += " in " + r.Project
	}
	return text
}
