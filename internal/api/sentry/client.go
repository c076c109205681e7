package sentry

import (
	"cmp"
	"net/http"

	"symbolon/internal/api"
	"symbolon/internal/api/wire"
)

// globalScope is the scope of requests that do not name one.
const globalScope = "global"

// client is the holder of the token of a request. It is nil where tokens are not
// needed.
type client struct{ *api.Client }

// identify returns the client of a request. If the request lacks a valid token, it
// answers with an error and returns false.
func (d *Door) identify(w http.ResponseWriter, r *http.Request) (c client, ok bool) {
	if d.deps.Access == nil || d.deps.Access.Open() {
		return client{}, true
	}
	if h := d.deps.Access.Holder(r); h != nil {
		return client{h}, true
	}
	w.Header().Set("WWW-Authenticate", `Bearer realm="symbolon"`)
	detail(w, http.StatusUnauthorized, "missing or invalid token: send Authorization: Bearer TOKEN with a token of access.clients")
	return client{}, false
}

// scope returns the scope for a request that names one, or "".
func (c client) scope(asked string) (string, error) {
	if c.Client == nil {
		return cmp.Or(asked, globalScope), nil
	}
	scope, ok := c.Client.Scope(asked)
	if !ok {
		return "", wire.Refuse(http.StatusForbidden, "the token is not for this scope")
	}
	return cmp.Or(scope, globalScope), nil
}

// canSee reports whether the client may read answers of a scope.
func (c client) canSee(scope string) bool {
	if c.Client == nil {
		return true
	}
	_, ok := c.Client.Scope(scope)
	return ok
}

// sources returns the ids of the configured sources that are searched for the
// client; nil means all.
func (c client) sources() []string {
	if c.Client == nil {
		return nil
	}
	return c.Client.Sources
}

// canNameSources reports whether the requests of the client may name sources.
func (c client) canNameSources() bool { return c.Client == nil || c.RequestSources }
