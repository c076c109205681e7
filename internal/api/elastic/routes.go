package elastic

import (
	"net/http"

	"symbolon/internal/api"
	"symbolon/internal/ingest/symbfile"
)

// Routes returns the routes of the door.
func (d *Door) Routes() []api.Route {
	upload, read := []string{http.MethodPost, http.MethodPut}, []string{http.MethodGet, http.MethodHead}
	maxPart := int64(d.cfg.Uploads.Defaults().MaxPart)
	routes := []api.Route{
		{Methods: upload, Pattern: "/api/symbols-ranges", Summary: "Upload a part of the ranges of a program", Accepts: "application/octet-stream", Handle: d.receive(symbfile.Ranges),
			Admit: d.mayUpload, MaxBody: maxPart, MaxHeld: minMemory, Fail: d.fail},
		{Methods: upload, Pattern: "/api/symbols-returnpads", Summary: "Upload a part of the return pads of a program", Accepts: "application/octet-stream", Handle: d.receive(symbfile.ReturnPads),
			Admit: d.mayUpload, MaxBody: maxPart, MaxHeld: minMemory, Fail: d.fail},
		{Methods: read, Pattern: "/api/symbols/", Summary: "Look addresses of a program up, or describe it", Produces: "application/json", Handle: d.forReaders(d.readFile), Fail: api.FailError},
		{Methods: []string{http.MethodPost}, Pattern: "/api/symbols/lookup", Summary: "Look addresses of several programs up", Accepts: "application/json", Produces: "application/json", Handle: d.lookupMany, Admit: d.mayRead, Fail: api.FailError},
		{Methods: read, Pattern: "/{a}/{b}/{id}/metadata.json", Summary: "Describe the symbols of a program", Produces: "application/json", Handle: d.forReaders(d.metadata), Fail: api.FailError},
		{Methods: read, Pattern: "/{a}/{b}/{id}/ranges", Summary: "Get the ranges of a program", Produces: "application/octet-stream", Handle: d.forReaders(d.mirror(symbfile.Ranges)), Fail: api.FailError},
		{Methods: read, Pattern: "/{a}/{b}/{id}/returnpads", Summary: "Get the return pads of a program", Produces: "application/octet-stream", Handle: d.forReaders(d.mirror(symbfile.ReturnPads)), Fail: api.FailError},
	}
	for i := range routes {
		routes[i].Challenge = "ApiKey"
	}
	return routes
}
