package ui

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"

	"symbolon/internal/api"
	"symbolon/internal/api/receive"
	"symbolon/internal/fault"
	"symbolon/internal/token"
)

// A page is one path with its actions.
type page struct {
	pattern string      // of the route
	about   string      // a few words for the list of interfaces
	menu    string      // its name in the navigation; empty: it is not there
	right   token.Right // that the client has in any project; empty: any right
	orRight token.Right // is as good as right; empty: none is
	show    func(*visit) (view, error)
	file    func(http.ResponseWriter, *visit) error // answers requests that want one
	actions map[string]action                       // by name
	maxBody int64                                   // of an action; zero: the limit of the front
}

// A view is the content of a page.
type view struct {
	title string
	data  any // for encoding/json
	body  templ.Component
	note  string // the outcome of an action
}

// An action is the action of a form. It returns a view, or a page to go to.
type action func(v *visit, p *progress) (outcome, error)

// An outcome is the result of an action.
type outcome struct {
	view *view
	file *download
	to   string // relative to the root; empty: the page of the form
	note string // a key of notes, to show on that page

	token string // to begin a session with; empty: the session stays
}

// notes has the texts about outcomes. Addresses of pages have only their keys: a link
// cannot put a text on a page.
var notes = map[string]string{
	"forgotten": "Forgotten: the next lookup asks the sources again.",
	"fetched":   "The file was fetched and its table was built.",
	"missing":   "No source has the file.",
	"uploaded":  "Uploaded: the lookup below includes the new files.",
	"kept":      "The upload is kept until then.",
	"deleted":   "Deleted: no lookup finds the files from now on.",
	"limited":   "The token is limited.",
	"revoked":   "The token is revoked. Other nodes refuse it after a few seconds.",
	"set":       "The project was changed.",
}

// A visit is a request of a client for a page.
type visit struct {
	*http.Request
	grant *token.Grant // nil: the client is not known
	root  string       // relative address of the root: "../"
	menu  []*page      // those that the client may open
}

// maxHeld limits the memory to reserve for the form of an action; files go to disk.
const maxHeld = 4 << 20

const crossOrigin = "the form is from a page of another origin: open the page on this server and send it again"

// maxAddress limits the bytes of the address of a page, which its links repeat.
const maxAddress = 8 << 10

// rootOf returns the relative address of the root.
func rootOf(r *http.Request) string {
	return strings.Repeat("../", max(strings.Count(r.URL.EscapedPath(), "/")-1, 0))
}

// path returns the path of the page, relative to the root.
func (v *visit) path() string { return strings.TrimPrefix(v.URL.EscapedPath(), "/") }

// wantsJSON reports whether the client prefers JSON to HTML.
func (v *visit) wantsJSON() bool {
	accepted := v.Header["Accept"]
	return api.Weight(accepted, "application/json") > api.Weight(accepted, "text/html")
}

// wantsEvents reports whether the client reads events.
func (v *visit) wantsEvents() bool { return v.Header.Get("Accept") == "text/event-stream" }

// wantsFile reports whether the client asks for a file of the page.
func (v *visit) wantsFile() bool {
	q := v.URL.Query()
	return q.Has("download") || q.Get("format") == "csv"
}

// open returns the visit of a client that may open a page, or answers the request.
func (d *Door) open(w http.ResponseWriter, r *http.Request, p *page) *visit {
	v := &visit{Request: r, root: rootOf(r)}
	if len(r.URL.EscapedPath())+len(r.URL.RawQuery) > maxAddress {
		d.fail(w, v, http.StatusRequestURITooLong, fmt.Sprintf("the address is longer than %d bytes", maxAddress))
		return nil
	}
	text, err := d.session.token(r)
	if err == nil {
		if text != "" && !api.HasToken(r) {
			r = api.WithToken(r, text)
			v.Request = r // for the interfaces that answer a part of it
		}
		v.grant, err = d.deps.Grant(r)
	}
	if err != nil && api.Status(err) != http.StatusUnauthorized {
		d.failWith(w, v, err)
		return nil
	}
	if v.grant == nil || len(v.grant.Rights) == 0 {
		v.grant = nil
		d.unknown(w, v, text != "")
		return nil
	}
	for _, one := range d.pages {
		if one.menu != "" && v.may(one) {
			v.menu = append(v.menu, one)
		}
	}
	if !v.may(p) {
		d.fail(w, v, http.StatusForbidden, "this page needs a token with the right "+string(p.right))
		return nil
	}
	return v
}

// may reports whether the client may open a page.
func (v *visit) may(p *page) bool {
	return p.right == "" || v.grant.May(p.right, "") || p.orRight != "" && v.grant.May(p.orRight, "")
}

// unknown answers a client without rights: it may sign in.
func (d *Door) unknown(w http.ResponseWriter, v *visit, isExpired bool) {
	if v.wantsJSON() || v.wantsEvents() || v.Method != http.MethodGet {
		d.fail(w, v, http.StatusUnauthorized, needsToken)
		return
	}
	why := ""
	if isExpired {
		why = "The session has expired."
	}
	status := http.StatusUnauthorized
	if v.URL.Path == "/" {
		status = http.StatusOK // load balancers look there
	}
	d.render(w, v, status, view{title: "Sign in", body: loginView(v, v.path(), why)})
}

const needsToken = "this needs a token; while there is none, only clients on this machine are served, " +
	"at localhost or a loopback address, without a proxy, and not from pages of other origins"

// private returns h with answers that no cache keeps, and that scripts of other origins
// cannot read.
func private(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		head := w.Header()
		head.Del("Access-Control-Allow-Origin")
		head.Del("Access-Control-Expose-Headers")
		head.Set("Cache-Control", "no-store")
		head.Set("Vary", "Accept, Accept-Encoding, Cookie")
		h(w, r)
	}
}

// get returns the handler that shows a page.
func (d *Door) get(p *page) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v := d.open(w, r, p)
		if v == nil {
			return
		}
		if p.file != nil && v.wantsFile() {
			if err := p.file(w, v); err != nil {
				d.failWith(w, v, err)
			}
			return
		}
		shown, err := p.show(v)
		if err != nil {
			d.failWith(w, v, err)
			return
		}
		shown.note = cmp.Or(shown.note, notes[r.URL.Query().Get("note")])
		d.render(w, v, http.StatusOK, shown)
	}
}

// admit returns the function that refuses an action before its body is read.
func (d *Door) admit(p *page) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		v := &visit{Request: r, root: rootOf(r)}
		if d.forged.Check(r) != nil {
			d.fail(w, v, http.StatusForbidden, crossOrigin)
			return false
		}
		if p.actions[r.URL.Query().Get("do")] == nil {
			d.fail(w, v, http.StatusNotFound, "there is no such action")
			return false
		}
		return d.open(w, r, p) != nil
	}
}

// post returns the handler that runs the actions of a page.
func (d *Door) post(p *page) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v := d.open(w, r, p)
		if v == nil {
			return
		}
		do := p.actions[r.URL.Query().Get("do")]
		if v.wantsEvents() {
			d.stream(w, v, do)
			return
		}
		out, err := do(v, &progress{})
		if err == nil && out.token != "" {
			err = d.begin(w, r, out.token)
		}
		switch {
		case err != nil:
			d.failWith(w, v, err)
		case out.file != nil:
			defer out.file.end()
			d.send(w, v, out.file)
		case out.view != nil:
			d.render(w, v, http.StatusOK, *out.view)
		case v.wantsJSON():
			api.WriteJSON(w, http.StatusOK, map[string]string{"outcome": out.note, "to": v.root + v.next(out)})
		default:
			redirect(w, v.root+v.next(out))
		}
	}
}

// next returns the page to go to after an action, relative to the root.
func (v *visit) next(out outcome) string {
	to := out.to
	if to == "" {
		to = v.path()
		if rest := v.query().Encode(); rest != "" {
			to += "?" + rest
		}
	}
	if out.note == "" {
		return to
	}
	if strings.Contains(to, "?") {
		return to + "&note=" + out.note
	}
	return to + "?note=" + out.note
}

// redirect sends the client to a relative address, which http.Redirect would make one
// from the root of the server.
func redirect(w http.ResponseWriter, to string) {
	w.Header().Set("Location", cmp.Or(to, "./"))
	w.WriteHeader(http.StatusSeeOther)
}

// render writes a view in the form that the client prefers.
func (d *Door) render(w http.ResponseWriter, v *visit, status int, shown view) {
	if v.wantsJSON() {
		api.WriteJSON(w, status, shown.data)
		return
	}
	var text bytes.Buffer
	if err := layout(v, shown).Render(v.Context(), &text); err != nil {
		if v.Context().Err() == nil {
			d.deps.Log.Error("cannot render a page", "request_id", api.RequestID(v.Context()), "error", err)
			api.Fail(w, v.Request, http.StatusInternalServerError, "")
		}
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "same-origin")
	w.WriteHeader(status)
	_, _ = w.Write(text.Bytes()) // the client may have left
}

// policy allows files of this server only.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; " +
	"frame-ancestors 'none'; base-uri 'none'"

// Limits of pages and forms.
const (
	pageRows = 100 // of a list
	maxText  = 500 // bytes of a text for people
)

// paged returns the rows of a list for a page, at most most, and the address of the next
// page, or "".
func paged[T any](v *visit, list []T, most int) (rows []T, next string, err error) {
	first, end, next, err := v.window(len(list), most)
	return list[first:end], next, err
}

// window returns where the rows of a page begin and end in a list of count rows, at most
// most, and the address of the next page, or "".
func (v *visit) window(count, most int) (first, end int, next string, err error) {
	first, err = strconv.Atoi(cmp.Or(v.URL.Query().Get("from"), "0"))
	if err != nil || first < 0 {
		return 0, 0, "", api.Invalid("invalid from: must be a number")
	}
	first = min(first, count)
	end = min(first+most, count)
	if end < count {
		next = v.with("from", itoa(end))
	}
	return first, end, next, nil
}

// endOfDay returns the end of a day of a form, in UTC, the zero time without one.
func (v *visit) endOfDay(field string) (time.Time, error) {
	text := v.PostFormValue(field)
	if text == "" {
		return time.Time{}, nil
	}
	day, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return day, api.Invalid("invalid date: must be YEAR-MONTH-DAY")
	}
	return day.AddDate(0, 0, 1).Add(-time.Second), nil
}

// failWith answers with an error.
func (d *Door) failWith(w http.ResponseWriter, v *visit, err error) {
	if v.Context().Err() != nil {
		return
	}
	status, text := d.explainError(v, err)
	d.fail(w, v, status, text)
}

// explainError returns the status and the text of an error. Those of the server are
// logged, and not shown.
func (d *Door) explainError(v *visit, err error) (int, string) {
	if known := receive.Known(err); known != nil {
		return known.Status, known.Text
	}
	d.deps.Log.Error("a page failed", "request_id", api.RequestID(v.Context()), "page", v.URL.Path, "error", err)
	status, text := api.Status(err), "the server failed"
	if kind := fault.KindOf(err); kind == fault.Timeout || kind == fault.Transport {
		status, text = http.StatusServiceUnavailable, "a store or server that this page needs does not respond"
	}
	return status, text + "; the log has the cause, with the request " + api.RequestID(v.Context())
}

// fail writes an error in the form that the client prefers.
func (d *Door) fail(w http.ResponseWriter, v *visit, status int, text string) {
	if v.wantsJSON() || v.wantsEvents() {
		api.FailError(w, v.Request, status, text)
		return
	}
	d.render(w, v, status, view{title: http.StatusText(status), body: errorView(status, text)})
}

// failFront is the FailFunc of the routes.
func (d *Door) failFront(w http.ResponseWriter, r *http.Request, status int, title string) {
	d.fail(w, &visit{Request: r, root: rootOf(r)}, status, cmp.Or(title, http.StatusText(status)))
}
