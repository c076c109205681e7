package wire

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"symbolon/internal/api"
	"symbolon/internal/api/json"
)

// formParts reads the parts of a form.
var formParts = map[string]func(*decoder, string){
	"sources":              (*decoder).readSources,
	"scraping":             (*decoder).readScraping,
	"options":              (*decoder).readOptions,
	"platform":             func(d *decoder, name string) { d.optional(name) },
	"rewrite_first_module": (*decoder).readRewrites,
}

// IsPart reports whether a part of a form belongs to a request.
func IsPart(name string) bool { return formParts[name] != nil }

// DecodeForm reads a request from the parts of a form, by name. As in Symbolicator, only
// dif_candidates of the options counts, and bytes that are not UTF-8 are replaced. The
// error is an *api.Refusal.
func DecodeForm(parts map[string][]byte, limits Limits) (*Request, error) {
	q := &Request{Scraping: defaultScraping()}
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		part := bytes.ToValidUTF8(parts[name], []byte("\ufffd"))
		if err := checkSyntax(name, part); err != nil {
			return nil, err
		}
		err := q.decode(bytes.NewReader(part), limits, func(d *decoder) { formParts[name](d, name) })
		if refused, ok := errors.AsType[*api.Refusal](err); ok {
			if !strings.HasPrefix(refused.Text, name) {
				refused.Text = name + ": " + refused.Text
			}
			refused.Status = http.StatusBadRequest // as Symbolicator, for all errors of a part
		}
		if err != nil {
			return nil, err
		}
	}
	q.Context, q.CallerFirst = true, false
	return q, nil
}

// checkSyntax returns an error with the place where a part is not JSON.
func checkSyntax(name string, part []byte) error {
	var raw stdjson.RawMessage
	err := stdjson.Unmarshal(part, &raw)
	if err == nil {
		return nil
	}
	place := int64(len(part))
	if wrong, ok := errors.AsType[*stdjson.SyntaxError](err); ok {
		place = wrong.Offset
	}
	return api.Refuse(http.StatusBadRequest, "%s: invalid JSON at byte %d: %s", name, place, err)
}

// maxRewrites limits the rules of a request.
const maxRewrites = 100

// A rewrite replaces the first match of a pattern in the name of a debug file.
type rewrite struct {
	from *regexp.Regexp
	to   string
}

var rewriteMembers = json.NewTable([]json.Member[*decoder]{
	{Name: "from", Required: true, Read: func(d *decoder, name string) {
		if !d.text(name) {
			return
		}
		var err error
		if d.rewrite.from, err = regexp.Compile(string(d.Text)); err != nil {
			d.invalid(name, "a regular expression: "+strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		}
	}},
	{Name: "to", Required: true, Read: func(d *decoder, name string) {
		if d.text(name) {
			d.rewrite.to = string(d.Text)
		}
	}},
})

// readRewrites reads the rules for the name of the debug file of the first module.
func (d *decoder) readRewrites(name string) {
	if d.null() || !d.enter(name, '[') {
		return
	}
	for n := 0; d.Next(&n); {
		if n > maxRewrites {
			d.tooMany("rules", maxRewrites)
			return
		}
		d.rewrite = rewrite{}
		d.object(name, rewriteMembers)
		d.q.rewrites = append(d.q.rewrites, d.rewrite)
	}
}

// Rename returns a name after the first rule that matches it.
func (q *Request) Rename(name string) string {
	for _, r := range q.rewrites {
		if at := r.from.FindStringSubmatchIndex(name); at != nil {
			return name[:at[0]] + string(r.from.ExpandString(nil, r.to, name, at)) + name[at[1]:]
		}
	}
	return name
}
