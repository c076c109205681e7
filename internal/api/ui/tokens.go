package ui

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/api/receive"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/token"
)

func (d *Door) tokensPage() *page {
	return &page{
		pattern: "/ui/tokens", about: "tokens", menu: "Tokens", right: token.Admin, show: d.showTokens,
		actions: map[string]action{"make": d.makeToken, "limit": d.limitToken, "revoke": d.revokeToken},
	}
}

// A tokenRow describes a token.
type tokenRow struct {
	token.Grant
	Created time.Time  `json:"created,omitzero"` // zero: it is of the configuration
	Expires time.Time  `json:"expires,omitzero"`
	Expired bool       `json:"expired,omitempty"`
	LastUse *token.Use `json:"last_use,omitempty"` // on this node since its start
}

// A tokensData is the data of the page of tokens.
type tokensData struct {
	Tokens []tokenRow `json:"tokens"` // that the client may manage, newest first
	Next   string     `json:"next,omitempty"`

	isFirst bool      // there are no tokens yet
	chosen  *tokenRow // to limit or revoke
	ask     string    // "limit" or "revoke"
}

func (d *Door) showTokens(v *visit) (view, error) {
	all, err := d.deps.Tokens.All(v.Context())
	if err != nil {
		return view{}, err
	}
	q := v.URL.Query()
	data := tokensData{Tokens: []tokenRow{}, isFirst: len(all) == 0, ask: q.Get("ask")}
	for i := range slices.Backward(all) {
		t := &all[i]
		if len(t.Projects) == 0 && !v.grant.May(token.Admin, token.Any) || !v.grant.Manages(t.Projects) {
			continue
		}
		row := tokenRow{t.Grant, t.Created, t.Expires, !t.Expires.IsZero() && !t.Expires.After(d.deps.Now()), nil}
		if use, ok := d.deps.Tokens.LastUse(t.ID); ok {
			row.LastUse = &use
		}
		if data.Tokens = append(data.Tokens, row); t.ID == q.Get("id") && !t.Created.IsZero() {
			data.chosen = &row
		}
	}
	data.Tokens, data.Next, err = paged(v, data.Tokens, pageRows)
	return view{title: "Tokens", data: data, body: tokensView(v, &data)}, err
}

// proposal returns the project and the right that the form for a new token proposes.
func (t *tokensData) proposal() (project string, right token.Right) {
	if t.isFirst {
		return token.Any, token.Admin
	}
	return ident.DefaultProject, token.Upload
}

// A madeData is the answer that has a new token. No other answer has its secret.
type madeData struct {
	ID     string `json:"id"`
	Token  string `json:"token"`
	Sentry string `json:"sentry_token"` // the form from which Sentry's client takes the address
	URL    string `json:"url"`          // of the server

	isFirst, isSignedIn bool
}

// org is Sentry's name of the organization; it may be any.
const org = "symbolon"

// makeToken adds a token. The first one closes the pages to clients without a token: one
// that may operate the server signs its client in.
func (d *Door) makeToken(v *visit, _ *progress) (outcome, error) {
	all, err := d.deps.Tokens.All(v.Context())
	if err != nil {
		return outcome{}, err
	}
	t := token.Token{Grant: token.Grant{Name: strings.TrimSpace(v.PostFormValue("name")), Rights: rightsOf(v), Projects: list(v.PostFormValue("projects"))}}
	if t.Labels, err = receive.ParseLabels(list(v.PostFormValue("labels")), &token.Grant{}); err == nil {
		t.Expires, err = v.endOfDay("expires")
	}
	if len(t.Projects) == 0 {
		t.Projects = []string{ident.DefaultProject}
	}
	switch {
	case err != nil:
		return outcome{}, err
	case len(t.Name) > maxText:
		return outcome{}, api.Invalid("the name is too long")
	case len(t.Rights) == 0:
		return outcome{}, api.Invalid("choose a right")
	case !v.grant.Manages(t.Projects):
		return outcome{}, api.Refuse(http.StatusForbidden, "this needs a token with the right admin in the projects %s", strings.Join(t.Projects, ", "))
	}
	secret, added, err := d.deps.Tokens.Add(v.Context(), t)
	if err != nil {
		return outcome{}, tokenError(err)
	}
	base := d.deps.BaseURL(v.Request)
	data := madeData{ID: added.ID, Token: secret, Sentry: token.ForSentry(secret, base, org, added.Created), URL: base, isFirst: len(all) == 0}
	out := outcome{}
	if data.isSignedIn = slices.Contains(t.Rights, token.Admin) && v.grant.ID == "" && !v.wantsEvents(); data.isSignedIn {
		out.token = secret
	}
	out.view = &view{title: "New token " + added.ID, data: data, body: madeView(v, &data)}
	return out, nil
}

// tokenError returns the error of a change of the tokens: one that the form causes is for
// the client, and one of the store for the log.
func tokenError(err error) error {
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return err
	}
	return api.Invalid("%v", err)
}

// lines returns the lines that people need to use the token.
func (m *madeData) lines() string {
	return "export SENTRY_URL=" + m.URL + "\nexport SENTRY_AUTH_TOKEN=" + m.Sentry +
		"\nexport DEBUGINFOD_URLS=" + m.URL + "/t/" + m.Token +
		"/\nsymbolon upload --url " + m.URL + " --token " + m.Token + " PATH" +
		"\ncurl -H 'Authorization: Bearer " + m.Token + "' " + m.URL + "/api/uploads/"
}

// rightsOf returns the rights that a form chooses.
func rightsOf(v *visit) (rights []token.Right) {
	_ = v.PostFormValue("") // parses the form
	for _, name := range v.PostForm["right"] {
		rights = append(rights, token.Right(name))
	}
	return rights
}

// own returns the id of the added token that an action changes.
func (d *Door) own(v *visit) (string, error) {
	id := v.URL.Query().Get("id")
	all, err := d.deps.Tokens.List(v.Context())
	if err == nil && !slices.ContainsFunc(all, func(t token.Token) bool { return t.ID == id && v.grant.Manages(t.Projects) }) {
		err = api.Refuse(http.StatusNotFound, "there is no such token")
	}
	return id, err
}

// limitToken takes rights from a token, or shortens its life.
func (d *Door) limitToken(v *visit, _ *progress) (outcome, error) {
	id, err := d.own(v)
	if err != nil {
		return outcome{}, err
	}
	expires, err := v.endOfDay("expires")
	if err != nil {
		return outcome{}, err
	}
	rights := rightsOf(v)
	if len(rights) == 0 {
		return outcome{}, api.Invalid("a token needs a right: choose one, or revoke the token")
	}
	if err := d.deps.Tokens.Limit(v.Context(), id, rights, expires); err != nil {
		return outcome{}, tokenError(err)
	}
	return outcome{to: "ui/tokens", note: "limited"}, nil
}

func (d *Door) revokeToken(v *visit, _ *progress) (outcome, error) {
	id, err := d.own(v)
	if err == nil {
		err = d.deps.Tokens.Revoke(v.Context(), id)
	}
	return outcome{to: "ui/tokens", note: "revoked"}, err
}

// closes reports whether the token is one that keeps the project default private.
func (r *tokenRow) closes() bool {
	return slices.Contains(r.Rights, token.Read) && r.May(token.Read, ident.DefaultProject)
}

// lastUse returns when and where a token was last used.
func (r *tokenRow) lastUse() string {
	if r.LastUse == nil {
		return "not since the start"
	}
	return minute(r.LastUse.Time) + " from " + r.LastUse.Client
}

// expiry returns when a token expires.
func (r *tokenRow) expiry() string { return cmp.Or(minute(r.Expires), "never") }

// offered returns the rights that the token may keep.
func (r *tokenRow) offered() []token.Right {
	return slices.DeleteFunc(token.Rights(), func(right token.Right) bool { return !r.May(right, "") })
}
