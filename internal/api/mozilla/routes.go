package mozilla

import (
	"net/http"

	"symbolon/internal/api"
)

// Routes returns the routes of the door.
func (d *Door) Routes() []api.Route {
	post, read := []string{http.MethodPost}, []string{http.MethodGet, http.MethodHead}
	v4 := api.Route{Methods: post, Pattern: "/symbolicate/v4", Handle: d.v4, Fail: d.failV4}
	routes := []api.Route{
		{Methods: post, Pattern: "/symbolicate/v5", Handle: d.v5},
		v4,
		{Methods: read, Pattern: "/{file}/{id:hex}/{sym:.sym}", Handle: d.read(d.deps.Open), Fail: api.FailError},
		{Methods: read, Pattern: "/try/{file}/{id:hex}/{sym:.sym}", Handle: d.read(d.deps.OpenTry), Fail: api.FailError},
	}
	if d.isTecken() {
		v4.Pattern = "/"
		routes = append(routes, v4)
	}
	return routes
}
