package mozilla

import (
	"net/http"

	"symbolon/internal/api"
)

// Routes returns the routes of the door.
func (d *Door) Routes() []api.Route {
	post, read := []string{http.MethodPost}, []string{http.MethodGet, http.MethodHead}
	v4 := api.Route{Methods: post, Pattern: "/symbolicate/v4", Summary: "Symbolicate stacks, in Mozilla's older form", Accepts: "application/json", Produces: "application/json", Handle: d.v4, Fail: d.failV4}
	routes := []api.Route{
		{Methods: post, Pattern: "/symbolicate/v5", Summary: "Symbolicate stacks of several jobs", Accepts: "application/json", Produces: "application/json", Handle: d.v5},
		v4,
		{Methods: read, Pattern: "/{file}/{id:hex}/{sym:.sym}", Summary: "Get a module as a Breakpad symbol file", Produces: "text/plain", Handle: d.read(d.deps.Open), Fail: api.FailError},
		{Methods: read, Pattern: "/try/{file}/{id:hex}/{sym:.sym}", Summary: "Get a module, also of try builds, as a Breakpad symbol file", Produces: "text/plain", Handle: d.read(d.deps.OpenTry), Fail: api.FailError},
	}
	if d.isTecken() {
		v4.Pattern = "/"
		routes = append(routes, v4)
	}
	return routes
}
