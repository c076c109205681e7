package sentry

import (
	"net/http"

	"symbolon/internal/api"
)

// globalScope is that of requests which name none.
const globalScope = "global"

// client is who sends a request: the holder of a token, or nobody in
// particular where none are needed.
type client struct{ *api.Client }

// known says who sends a request; it is not ok, and the client is told, if a
// token is needed and there is no good one.
func (d *Door) known(w http.ResponseWriter, r *http.Request) (c client, ok bool) {
	if d.deps.Access == nil || d.deps.Access.Open() {
		return client{}, true
	}
	if h := d.deps.Access.Holder(r); h != nil {
		return client{h}, true
	}
	w.Header().Set("WWW-Authenticate", `Bearer realm="symbolon"`)
	detail(w, http.StatusUnauthorized, "this server wants a token: send Authorization: Bearer TOKEN with one of access.clients")
	return client{}, false
}

// scope is the one that a client works in when it asks for one.
func (c client) scope(asked string) (string, error) {
	if c.Client == nil {
		if asked == "" {
			asked = globalScope
		}
		return asked, nil
	}
	scope, ok := c.Client.Scope(asked)
	if !ok {
		return "", &refusal{http.StatusForbidden, "the token is not for this scope"}
	}
	if scope == "" {
		scope = globalScope
	}
	return scope, nil
}

// sees says whether a client may have what belongs to a scope.
func (c client) sees(scope string) bool {
	if c.Client == nil {
		return true
	}
	_, ok := c.Client.Scope(scope)
	return ok
}

// sources are the ids of the configured sources that are asked for a client;
// nil: all of them.
func (c client) sources() []string {
	if c.Client == nil {
		return nil
	}
	return c.Client.Sources
}

// mayName says whether the requests of a client may name sources.
func (c client) mayName() bool { return c.Client == nil || c.RequestSources }
