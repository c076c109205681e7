package ui

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"

	"symbolon/internal/console"
	"symbolon/internal/token"
	"symbolon/internal/triage"
)

// link returns a relative address that this package composed.
func link(text string) templ.SafeURL { return templ.SafeURL(text) }

// address returns the address of a page of the navigation.
func (v *visit) address(p *page) string { return cmp.Or(v.root+p.pattern[1:], "./") }

// pageLink returns the address of a page of the navigation by its pattern, or "" if it is
// not there for the client.
func (v *visit) pageLink(pattern string) string {
	for _, p := range v.menu {
		if p.pattern == pattern {
			return v.address(p)
		}
	}
	return ""
}

// current returns the value of aria-current for a link to p.
func current(v *visit, p *page) string {
	if v.URL.Path == p.pattern || p.pattern != "/" && strings.HasPrefix(v.URL.Path, p.pattern+"/") {
		return "page"
	}
	return "false"
}

// modulePath returns the path of the page of a module, relative to the root. A name may
// have slashes.
func modulePath(name, id string) string {
	parts := strings.Split(name, "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	return "ui/modules/" + strings.Join(parts, "/") + "/" + url.PathEscape(id)
}

// toModule returns the address of the page of a module, or "" without an id or if the
// client may not open it.
func (v *visit) toModule(name, id string) string {
	if name == "" || id == "" || !v.grant.May(token.Admin, "") {
		return ""
	}
	return v.root + modulePath(name, id)
}

// texts returns a list as one text.
func texts[T ~string](list []T) string {
	words := make([]string, len(list))
	for i, v := range list {
		words[i] = string(v)
	}
	return strings.Join(words, ", ")
}

// pairs returns labels as one text.
func pairs(labels map[string]string) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		list = append(list, name+"="+labels[name])
	}
	return strings.Join(list, ", ")
}

// points returns the points of a polyline through values at equal distances, in a picture
// of this size. The values are not negative.
func points(values []float64, width, height float64) string {
	top := most(values)
	var b strings.Builder
	for i, v := range values {
		y := height - 1
		if top > 0 {
			y -= v / top * (height - 2)
		}
		fmt.Fprintf(&b, "%.1f,%.1f ", float64(i)*width/float64(max(len(values)-1, 1)), y)
	}
	return strings.TrimSuffix(b.String(), " ")
}

// shown returns a text of a file or a request for a page: control characters and those
// that change the direction of text are replaced, and a long text is cut.
func shown(text string) string {
	n := 0
	for i := range text {
		if n++; n > triage.MaxText {
			text = text[:i] + "…"
			break
		}
	}
	return console.Printable(strings.ToValidUTF8(text, "\ufffd"))
}

// percent returns a share for people, and "" if it is unknown.
func percent(share *float64) string {
	if share == nil {
		return ""
	}
	return strconv.FormatFloat(*share*100, 'f', 1, 64) + " %"
}

// decimal returns a number for people.
func decimal(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// grouped returns a whole number for people.
func grouped(n int64) string {
	text, _, _ := strings.Cut(console.Count(n, ""), " ")
	return text
}

// bound returns a limit of bytes for people.
func bound(n int64) string {
	switch {
	case n < 0:
		return "none"
	case n == 0:
		return ""
	}
	return console.Bytes(n)
}

// minute returns a time for the rows of a table.
func minute(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04")
}

// most returns the largest of values that are not negative.
func most(values []float64) float64 { return slices.Max(append([]float64{0}, values...)) }

// itoa returns a number as text.
func itoa(n int) string { return strconv.Itoa(n) }
