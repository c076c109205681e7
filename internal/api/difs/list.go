package difs

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"symbolon/internal/api"
	"symbolon/internal/ident"
	"symbolon/internal/store"
)

const (
	pageSize    = 20
	maxList     = 100 // files of a module, on one page: Symbolicator reads only the first
	maxScanned  = 500 // files that are looked at for a page: each is a request to a bucket
	uploadsRead = 20  // at a time
	maxQueryID  = 45  // bytes of a text that may be a debug id
)

// filter chooses files of a list.
type filter struct {
	formats []string // symbol types; none: all
	text    string   // in lower case, a part of a name, an id, an architecture or a type
}

// fits reports whether a file is listed.
func (f *filter) fits(d *dif) bool {
	if !d.isListed || len(f.formats) > 0 && !slices.Contains(f.formats, d.SymbolType) {
		return false
	}
	code := ""
	if d.CodeID != nil {
		code = *d.CodeID
	}
	return slices.ContainsFunc([]string{d.Name, d.DebugID, code, d.CPU, d.SymbolType, d.Headers.Type}, func(text string) bool {
		return strings.Contains(strings.ToLower(text), f.text)
	})
}

// list answers the files of a module, or all files, newest first.
func (d *Door) list(w http.ResponseWriter, r *http.Request) error {
	q, project := r.URL.Query(), r.PathValue("project")
	text := strings.TrimSpace(q.Get("query"))
	f := &filter{formats: q["file_formats"]}
	modules, err := modulesOf(q)
	if err != nil {
		return err
	}
	isPaged := len(modules) == 0
	if id, err := ident.ParseDebugID(text); isPaged && err == nil && len(text) <= maxQueryID {
		modules = []ident.Module{{DebugID: id}}
	}
	list, err := d.find(r.Context(), project, f, modules)
	if err != nil {
		return err
	}
	if isPaged && len(list) == 0 {
		at, err := parseCursor(q.Get("cursor"))
		if err != nil {
			return err
		}
		f.text = strings.ToLower(text)
		var next *cursor
		if list, next, err = d.page(r.Context(), project, f, at); err != nil {
			return err
		}
		w.Header().Set("Link", links(q, at, next))
	}
	api.WriteJSON(w, http.StatusOK, list)
	return nil
}

// modulesOf returns the alternative modules of a query; the first one that has files is
// the answer.
func modulesOf(q url.Values) (list []ident.Module, err error) {
	if text := q.Get("debug_id"); text != "" {
		id, err := ident.ParseDebugID(text)
		if err != nil {
			return nil, api.Invalid("%v", err)
		}
		list = append(list, ident.Module{DebugID: id})
	}
	if text := q.Get("code_id"); text != "" {
		list = append(list, ident.Module{CodeID: ident.ParseCodeID(text)})
	}
	return list, nil
}

// find returns the files of the first module that has any, best first.
func (d *Door) find(ctx context.Context, project string, f *filter, modules []ident.Module) ([]*dif, error) {
	list := []*dif{}
	for _, m := range modules {
		found, err := d.Store.Find(ctx, []string{project}, store.Question{Module: m})
		if err != nil {
			return nil, err
		}
		for i := range found {
			if one := describe(&found[i]); f.fits(one) && len(list) < maxList {
				list = append(list, one)
			}
		}
		if len(list) > 0 {
			break
		}
	}
	return list, nil
}

// cursor is a place in the list of all files: after skip files of the newest upload
// that is older than another one.
type cursor struct {
	before string // an upload; empty: the newest upload is included
	skip   int
}

// parseCursor parses a cursor in the form of Sentry: three fields separated by colons,
// the last of which is the direction.
func parseCursor(text string) (c cursor, err error) {
	if text == "" {
		return c, nil
	}
	fields := strings.Split(text, ":")
	if len(fields) == 3 {
		c.before = strings.TrimPrefix(fields[0], "0")
		c.skip, err = strconv.Atoi(fields[1])
	}
	if len(fields) != 3 || err != nil || c.skip < 0 || len(c.before) > maxID {
		return c, api.Invalid("invalid cursor %.80q", text)
	}
	return c, nil
}

func (c cursor) String() string {
	return fmt.Sprintf("0%s:%d:0", c.before, c.skip)
}

// links returns the header Link of a page: the first one, and the next.
func links(q url.Values, c cursor, next *cursor) string {
	at := next
	if at == nil {
		at = &c
	}
	link := func(rel string, to cursor, has bool) string {
		q.Set("cursor", to.String())
		return fmt.Sprintf(`<?%s>; rel="%s"; results="%t"; cursor="%s"`, q.Encode(), rel, has, to)
	}
	return link("previous", cursor{}, c != cursor{}) + ", " + link("next", *at, next != nil)
}

// page returns files from a place in the list on, and the place after them; nil at the
// end.
func (d *Door) page(ctx context.Context, project string, f *filter, at cursor) (list []*dif, next *cursor, err error) {
	list = []*dif{}
	scanned := 0
	for {
		uploads, err := d.Store.List(ctx, []string{project}, at.before, uploadsRead)
		if err != nil || len(uploads) == 0 {
			return list, nil, err
		}
		for _, u := range uploads {
			for ; at.skip < len(u.Files); at.skip++ {
				if len(list) >= pageSize || scanned == maxScanned {
					return list, &at, nil
				}
				scanned++
				if list, err = d.appendFile(ctx, list, u, at.skip, f); err != nil {
					return nil, nil, err
				}
			}
			at = cursor{before: u.ID}
		}
	}
}

// appendFile appends the descriptions of a file of an upload that fit.
func (d *Door) appendFile(ctx context.Context, list []*dif, u *store.Upload, i int, f *filter) ([]*dif, error) {
	record, err := d.Store.Record(ctx, u.Files[i])
	if err != nil {
		return nil, err
	}
	for _, one := range describeAll(u, &u.Files[i], record) {
		if f.fits(one) {
			list = append(list, one)
		}
	}
	return list, nil
}
