package ui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"symbolon/internal/api/rows"
	"symbolon/internal/bin"
	"symbolon/internal/console"
	"symbolon/internal/fault"
	"symbolon/internal/filter"
	"symbolon/internal/filter/auto"
	"symbolon/internal/history"
	"symbolon/internal/ident"
	"symbolon/internal/inspect"
	"symbolon/internal/token"
	"symbolon/internal/triage"
)

// homePage is the first page.
func (d *Door) homePage() *page {
	return &page{pattern: "/", about: "try it", menu: "Try it", right: token.Symbolicate, orRight: token.Read, show: func(v *visit) (view, error) {
		data := homeData{Example: d.deps.Example}
		if v.grant.May(token.Admin, "") {
			data.Health = d.health()
		}
		return view{title: "Try it", data: data, body: homeView(d, v, &data)}, nil
	}}
}

// A homeData is the data of the first page.
type homeData struct {
	Example string  `json:"example,omitempty"`
	Health  *health `json:"health,omitempty"` // for operators
}

// A health is the state of the server in numbers. Figures without a limit are those of the
// last hour.
type health struct {
	Sources  int   `json:"sources"`
	Failing  int   `json:"sources_failing"`
	Cached   int64 `json:"cache_bytes"`
	MaxCache int64 `json:"max_cache_bytes"` // negative: not limited
	Memory   int64 `json:"memory_bytes"`
	Requests int64 `json:"requests"`
	Named    int64 `json:"frames_named"`
	Unnamed  int64 `json:"frames_unnamed"`
}

// health returns the state of the server.
func (d *Door) health() *health {
	h, disk := d.deps.History, d.deps.Disk.Stat()
	h.Sample()
	last := func(name string) int64 { return int64(h.Sum(name, hour)) }
	x := &health{
		Cached: disk.Bytes, MaxCache: disk.MaxBytes, Memory: int64(h.Last(history.Memory, 1, 1)[0]), Requests: last(history.Requests),
		Named: last(history.FramesNamed), Unnamed: last(history.FramesUnnamed) + last(history.FramesNoModule),
	}
	for _, s := range d.deps.Sources() {
		x.Sources++
		if f := d.figures(s); !s.Blocked.IsZero() || len(f.Errors) > 0 {
			x.Failing++
		}
	}
	return x
}

// tryPage has the actions of the first page, as other requests to / are those of protocols.
func (d *Door) tryPage() *page {
	return &page{
		pattern: "/ui/try", about: "try it", right: token.Symbolicate, orRight: token.Read, show: d.homePage().show, maxBody: noLimit, actions: d.tryActions(),
	}
}

func (d *Door) tryActions() map[string]action {
	return map[string]action{"show": d.try, "download": d.downloadResult, "json": d.downloadResult, "text": d.downloadResult}
}

const (
	maxWork   = 5 * time.Minute // on an upload
	maxResult = 256 << 10       // bytes of a text with names on a page
	maxRefill = 64 << 10        // bytes of a text that the form has again
)

// A tried is an upload with names.
type tried struct {
	Kind      string                 `json:"kind"` // crash, debug file, request, or the format of a file
	Name      string                 `json:"file,omitempty"`
	Addresses int                    `json:"addresses"`
	Named     int                    `json:"named"`
	Text      string                 `json:"text,omitempty"`
	Stacks    []triage.Stack         `json:"stacks,omitempty"`
	IsCut     bool                   `json:"is_cut"`
	Objects   []*inspect.Description `json:"objects,omitempty"`
	Crash     *triage.Crash          `json:"crash,omitempty"`
	Missing   []triage.Absence       `json:"missing"`
	AllMissed int                    `json:"modules_missing"`

	input string // a short text, for the form
	shown string // Objects as text
	curl  string // a command with the same result
}

// withLimit returns the visit with the time limit maxWork.
func (v *visit) withLimit() (*visit, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(v.Context(), maxWork)
	work := *v
	work.Request = v.WithContext(ctx)
	return &work, cancel
}

// try shows an upload with names.
func (d *Door) try(v *visit, p *progress) (outcome, error) {
	u, err := d.receive(v)
	if err != nil {
		return outcome{}, err
	}
	defer u.Close()
	work, cancel := v.withLimit()
	defer cancel()
	t, run := &tried{Name: u.name}, d.deps.Naming(v.Request, v.grant)
	if t.Kind, err = u.kind(); err == nil {
		err = d.answer(work, p, u, run, t)
	}
	if err != nil {
		return outcome{}, unusable(u.name, err)
	}
	n := run.Counts()
	t.Addresses, t.Named = n.Addresses, n.Named
	t.Missing, t.AllMissed = triage.Absences(run)
	t.curl = d.curl(v, t)
	title := cmp.Or(u.name, "With names")
	if t.Crash != nil {
		title = t.Crash.Reason
	}
	return outcome{view: &view{title: title, data: t, body: triedView(d, v, t)}}, nil
}

// answer fills t by its kind.
func (d *Door) answer(v *visit, p *progress, u *upload, run *filter.Run, t *tried) (err error) {
	switch {
	case t.Kind == triage.CrashFile:
		return d.withCrash(v, p, u, run, func(report any) error {
			t.Crash = triage.NewCrash(report, d.deps.Now())
			return nil
		})
	case t.Kind == triage.DebugFile:
		space := d.deps.Space(v.Context())
		defer space.Close()
		t.Objects, t.shown, t.IsCut, err = triage.Describe(v.Context(), u.Spool, space)
		return err
	case !triage.IsText(t.Kind):
		return d.name(v, p, u, run, io.Discard)
	}
	if u.Size() <= triage.MaxRequest {
		text, err := bin.Read(u, 0, int(u.Size()))
		if err != nil {
			return err
		}
		if u.name == "" && len(text) <= maxRefill {
			t.input = console.Printable(strings.ToValidUTF8(strings.ReplaceAll(string(text), "\r\n", "\n"), "\ufffd"))
		}
		if path := triage.InterfaceOf(text); path != "" {
			t.Kind = "request"
			t.Stacks, t.IsCut, err = triage.Request(v.Context(), run, path, text)
			return err
		}
	}
	out := triage.Cutter{Most: maxResult}
	if err := d.name(v, p, u, run, &out); err != nil && !errors.Is(err, triage.ErrCut) {
		return err
	}
	t.Text, t.IsCut = out.String(), out.IsCut
	return nil
}

// name writes an upload with names to out.
func (d *Door) name(v *visit, p *progress, u *upload, run *filter.Run, out io.Writer) error {
	if u.Size() > int64(d.deps.MaxText) {
		return tooLarge("text or a profile with names", d.deps.MaxText, "http.max_body; the command symbolon filter has none")
	}
	run.Names = rows.Limit(run.Names, d.deps.MaxModules)
	read := int64(0)
	return auto.Filter(v.Context(), run, auto.Options{Format: "auto"}, auto.Input{Data: u.Spool, Count: func(n int) {
		read += int64(n)
		p.show(fmt.Sprintf("addresses looked up: %d, bytes read:", run.Counts().Addresses), read, u.Size())
	}}, out)
}

// downloadResult sends an upload with names, or the report on a crash.
func (d *Door) downloadResult(v *visit, p *progress) (outcome, error) {
	u, err := d.receive(v)
	if err != nil {
		return outcome{}, err
	}
	do := v.URL.Query().Get("do")
	if do == "download" {
		return d.named(u, func() { _ = u.Close() }), nil
	}
	name := fileName(u.name, "crash") + map[string]string{"json": ".json", "text": ".txt"}[do]
	return outcome{file: &download{name, func(v *visit, w io.Writer) error {
		return unusable(u.name, d.withCrash(v, p, u, &filter.Run{}, func(report any) error {
			return triage.WriteReport(w, report, do == "text", d.deps.Now())
		}))
	}, func() { _ = u.Close() }}}, nil
}

// named returns the download of an upload with names. end releases the upload.
func (d *Door) named(u *upload, end func()) outcome {
	return outcome{file: &download{"named-" + fileName(u.name, "text.txt"), func(v *visit, w io.Writer) error {
		kind, err := u.kind()
		if err == nil && (kind == triage.CrashFile || kind == triage.DebugFile) {
			err = fault.New(fault.Unsupported, "", "a %s has no place for names", kind)
		}
		if err == nil {
			err = d.name(v, &progress{}, u, d.deps.Naming(v.Request, v.grant), w)
		}
		return unusable(u.name, err)
	}, end}}
}

// toObject returns the address of the page of the first object that has an id, or "".
func (v *visit) toObject(t *tried) string {
	for _, o := range t.Objects {
		if o.BreakpadID != "" {
			return v.toModule(ident.FileName(cmp.Or(o.DebugFile, o.CodeFile, t.Name)), o.BreakpadID)
		}
	}
	return ""
}

// curl returns a command with the same result.
func (d *Door) curl(v *visit, t *tried) string {
	auth := ""
	if v.grant.ID != "" {
		auth = ` -H "Authorization: Bearer $TOKEN"`
	}
	path, input := "/ui/try?do=show", "-H 'Accept: application/json' -F 'text=<text.txt'"
	if t.Crash != nil {
		path = "/ui/crash?do=json"
	}
	if t.Name != "" {
		input = "-H 'Accept: application/json' -F 'file=@" + fileName(t.Name, "file") + "'"
	} else if to := triage.InterfaceOf([]byte(t.input)); to != "" {
		path, input = to, "-H 'Content-Type: application/json' -d '"+strings.ReplaceAll(t.input, "'", `'\''`)+"'"
	}
	return console.Printable(fmt.Sprintf("curl -s '%s%s'%s %s", d.deps.BaseURL(v.Request), path, auth, input))
}

// fileName returns a name of a file without characters that mean something in a header or
// a command, or another name.
func fileName(name, other string) string {
	return cmp.Or(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.+", r) {
			return r
		}
		return '_'
	}, name[:min(len(name), 100)]), other)
}

// A download is a file that an action writes.
type download struct {
	name  string
	write func(*visit, io.Writer) error
	end   func() // releases what write reads; called once, even without write
}

// send sends a download. An error after its beginning breaks the connection.
func (d *Door) send(w http.ResponseWriter, v *visit, f *download) {
	work, cancel := v.withLimit()
	defer cancel()
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Disposition", `attachment; filename="`+f.name+`"`)
	isBegun := false
	err := f.write(work, writer(func(p []byte) (int, error) {
		isBegun = isBegun || len(p) > 0
		return w.Write(p)
	}))
	switch {
	case err != nil && isBegun:
		panic(http.ErrAbortHandler)
	case err != nil:
		h.Del("Content-Disposition")
		d.failWith(w, v, err)
	}
}

type writer func(p []byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

// kind returns the kind of an upload.
func (u *upload) kind() (string, error) {
	head, err := bin.Read(u, 0, int(min(u.Size(), maxHead)))
	if err != nil {
		return "", err
	}
	return triage.Kind(head, u.name != "")
}

// isMissing reports whether a module with an identifier, or one without, has no symbols.
func (t *tried) isMissing(hasID bool) bool {
	return slices.ContainsFunc(t.Missing, func(a triage.Absence) bool { return (a.ID != "") == hasID })
}

// toAbsent returns the address of the page of a module without symbols, or "".
func (v *visit) toAbsent(a *triage.Absence) string {
	to := v.toModule(a.Name, a.ID)
	if to != "" && a.Code != "" {
		to += "?" + url.Values{"code": {a.Code}}.Encode()
	}
	return to
}
