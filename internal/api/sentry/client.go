package sentry

import (
	"cmp"
	"net/http"
	"strings"

	"symbolon/internal/api"
	"symbolon/internal/token"
)

// globalScope is the scope of requests that do not name one.
const globalScope = "global"

// client is the client of a request.
type client struct{ *token.Grant }

// identify returns the client of a request. If the request lacks a valid token where
// one is needed, it answers with an error and returns false.
func (d *Door) identify(w http.ResponseWriter, r *http.Request) (c client, ok bool) {
	g, err := d.deps.Grant(r)
	status := http.StatusUnauthorized
	switch {
	case err == nil && (g.ID != "" || len(g.Scopes) > 0):
		return client{g}, true
	case err != nil:
		status = api.Status(err)
	}
	if status != http.StatusUnauthorized {
		d.deps.Log.Error("cannot read the tokens", "request_id", api.RequestID(r.Context()), "error", err)
		detail(w, status, http.StatusText(status))
		return client{}, false
	}
	detail(w, status, "missing or invalid token: send Authorization: Bearer TOKEN with a token of access.clients or of symbolon token add")
	return client{}, false
}

// scope returns the scope for a request that names one, or "".
func (c client) scope(asked string) (string, error) {
	scope, ok := c.Grant.Scope(asked)
	if !ok {
		return "", api.Refuse(http.StatusForbidden, "the token is not for this scope")
	}
	return cmp.Or(scope, globalScope), nil
}

// jobScope returns the scope of the answers to a request. Those for a token with
// projects may have names of private files: they are for that token only.
func (c client) jobScope(scope string) string {
	if len(c.Projects) == 0 {
		return scope
	}
	return scope + "\n" + c.ID
}

// canSee reports whether the client may read answers of the scope of a job.
func (c client) canSee(job string) bool {
	scope, _, _ := strings.Cut(job, "\n")
	_, ok := c.Grant.Scope(scope)
	return ok && job == c.jobScope(scope)
}
