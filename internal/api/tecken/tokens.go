package tecken

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"symbolon/internal/api"
	"symbolon/internal/ident"
	"symbolon/internal/token"
)

const maxExpiry = 10_000 // days

// tokenRow describes a token.
type tokenRow struct {
	ID          string       `json:"id"`
	Expires     *string      `json:"expires_at"` // null: never
	IsExpired   bool         `json:"is_expired"`
	Key         string       `json:"key"` // only in the answer that adds it
	Permissions []permission `json:"permissions"`
	Projects    []string     `json:"projects"`
	Notes       string       `json:"notes"`
	Created     string       `json:"created_at"`
}

// permission is a right.
type permission struct {
	Name token.Right `json:"name"`
	ID   int         `json:"id"`
}

func permissions(rights []token.Right) []permission {
	list := []permission{}
	for i, r := range token.Rights() {
		if slices.Contains(rights, r) {
			list = append(list, permission{r, i + 1})
		}
	}
	return list
}

// describe returns the description of a token.
func (d *Door) describe(t *token.Token) tokenRow {
	row := tokenRow{ID: t.ID, Permissions: permissions(t.Rights), Projects: t.Projects, Notes: t.Name, Created: dateOf(t.Created)}
	if !t.Expires.IsZero() {
		date := dateOf(t.Expires)
		row.Expires, row.IsExpired = &date, !t.Expires.After(d.Now())
	}
	return row
}

// manager returns the grant of a client that may manage tokens.
func (d *Door) manager(r *http.Request) (*token.Grant, error) {
	g, err := d.grant(r)
	switch {
	case err != nil:
		return nil, err
	case g.ID == "" && len(g.Rights) == 0:
		return nil, errNoToken
	case !g.May(token.Admin, ""):
		return nil, api.Refuse(http.StatusForbidden, "Forbidden: the token lacks the right admin")
	}
	return g, nil
}

// listTokens answers with the tokens that were added, newest first.
func (d *Door) listTokens(w http.ResponseWriter, r *http.Request) error {
	g, err := d.manager(r)
	if err != nil {
		return err
	}
	state := r.URL.Query().Get("state")
	if !slices.Contains([]string{"", "all", "expired"}, state) {
		return failFields(w, map[string]string{"state": "must be all, expired or empty"})
	}
	all, err := d.Tokens.List(r.Context())
	if err != nil {
		return err
	}
	rows, expired := []tokenRow{}, 0
	all = slices.DeleteFunc(all, func(t token.Token) bool { return !g.Manages(t.Projects) })
	for i := range slices.Backward(all) {
		row := d.describe(&all[i])
		if row.IsExpired {
			expired++
		}
		if state == "all" || row.IsExpired == (state == "expired") {
			rows = append(rows, row)
		}
	}
	api.WriteJSON(w, http.StatusOK, map[string]any{
		"tokens": rows, "permissions": permissions(token.Rights()),
		"totals": map[string]int{"all": len(all), "active": len(all) - expired, "expired": expired},
	})
	return nil
}

// failFields writes the errors of the fields of a form.
func failFields(w http.ResponseWriter, errs map[string]string) error {
	lists := map[string][]string{}
	for name, text := range errs {
		lists[name] = []string{text}
	}
	api.WriteJSON(w, http.StatusBadRequest, map[string]any{"errors": lists})
	return nil
}

// addToken adds a token. The answer has its secret, which is not stored.
func (d *Door) addToken(w http.ResponseWriter, r *http.Request) error {
	g, err := d.manager(r)
	if err != nil {
		return err
	}
	text, err := readField(r.Body)
	if err != nil {
		return err
	}
	t, errs := d.parseToken(text)
	if len(errs) > 0 {
		return failFields(w, errs)
	}
	if !g.Manages(t.Projects) {
		return api.Refuse(http.StatusForbidden, "Forbidden: the token lacks the right admin in the projects %s", strings.Join(t.Projects, ", "))
	}
	secret, added, err := d.Tokens.Add(r.Context(), t)
	if err != nil {
		return err
	}
	row := d.describe(&added)
	row.Key = secret
	api.WriteJSON(w, http.StatusCreated, map[string]any{"ok": true, "token": row})
	return nil
}

// parseToken parses the form of a token, and returns the errors of its fields.
func (d *Door) parseToken(text string) (t token.Token, errs map[string]string) {
	errs = map[string]string{}
	form, err := url.ParseQuery(text)
	if err != nil {
		errs["__all__"] = "The body must be application/x-www-form-urlencoded."
	}
	for name := range strings.SplitSeq(form.Get("permissions"), ",") {
		name = strings.TrimSpace(name)
		i := slices.IndexFunc(token.Rights(), func(r token.Right) bool { return string(r) == name })
		if n, err := strconv.Atoi(name); err == nil {
			i = n - 1
		}
		if i < 0 || i >= len(token.Rights()) {
			errs["permissions"] = "Must be ids or names of rights, separated by commas."
			break
		}
		t.Rights = append(t.Rights, token.Rights()[i])
	}
	if slices.Contains(t.Rights, token.Upload) && slices.Contains(t.Rights, token.UploadTry) {
		errs["permissions"] = "Invalid combination of permissions"
	}
	days, err := strconv.Atoi(form.Get("expires"))
	if err != nil || days < 1 || days > maxExpiry {
		errs["expires"] = fmt.Sprintf("Must be 1 to %d days.", maxExpiry)
	}
	t.Expires = d.Now().UTC().AddDate(0, 0, days)
	t.Name = strings.TrimSpace(form.Get("notes"))
	for name := range strings.SplitSeq(cmp.Or(form.Get("projects"), ident.DefaultProject), ",") {
		if ident.CheckProject(name) != nil && name != token.Any {
			errs["projects"] = "Must be names of projects, separated by commas."
		}
		t.Projects = append(t.Projects, name)
	}
	return t, errs
}

// revokeToken revokes a token.
func (d *Door) revokeToken(w http.ResponseWriter, r *http.Request) error {
	g, err := d.manager(r)
	if err != nil {
		return err
	}
	all, err := d.Tokens.List(r.Context())
	if err != nil {
		return err
	}
	id := r.PathValue("id")
	if !slices.ContainsFunc(all, func(t token.Token) bool { return t.ID == id && g.Manages(t.Projects) }) {
		return api.Refuse(http.StatusNotFound, "there is no token %.40q", id)
	}
	if err := d.Tokens.Revoke(r.Context(), id); err != nil {
		return err
	}
	api.WriteJSON(w, http.StatusOK, map[string]bool{"ok": true})
	return nil
}
