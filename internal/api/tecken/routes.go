package tecken

import (
	"net/http"

	"symbolon/internal/api"
)

const (
	maxOverhead  = 1 << 20 // of the form around a zip
	uploadMemory = 1 << 20 // that an upload needs while it is received
)

// Routes returns the routes of the door.
func (d *Door) Routes() []api.Route {
	const post = http.MethodPost
	var routes []api.Route
	for _, end := range []string{"", "/{$}"} {
		upload := d.route(post, "/upload"+end, "Upload symbols in a zip file", d.upload)
		upload.MaxBody, upload.MaxHeld = int64(d.limits.MaxRequest)+maxOverhead, uploadMemory
		upload.Admit = func(w http.ResponseWriter, r *http.Request) bool {
			_, err := d.uploader(r)
			if err != nil {
				d.fail(w, r, err)
			}
			return err == nil
		}
		routes = append(routes, upload)
	}
	planned := d.route(post, "/upload/v2/{$}", "Begin an upload that can be continued", d.plan)
	planned.MaxBody = maxPlan
	resumed := d.route(http.MethodPut, "/upload/v2/{session:hex}/{n}", "Send a file of an upload", d.resume)
	resumed.MaxBody, resumed.MaxHeld = int64(d.limits.MaxRequest), uploadMemory
	const get = http.MethodGet
	return append(routes, planned, resumed,
		d.route(post, "/upload/auth_info/{$}", "The user and the rights of the token", d.authInfo),
		d.route(get, "/api/uploads/{$}", "List the uploads", d.listUploads),
		d.route(get, "/api/uploads/upload/{id}", "Describe an upload", d.showUpload),
		d.route(get, "/api/uploads/files/{$}", "List the uploaded files", d.listFiles),
		d.route(get, "/api/stats/{$}", "Numbers of uploads and files", d.stats),
		d.route(get, "/api/syminfo/{file}/{id}", "Describe the symbols of a module", d.symInfo),
		d.route(get, "/api/tokens/{$}", "List the tokens", d.listTokens),
		d.route(post, "/api/tokens/{$}", "Add a token", d.addToken),
		d.route(http.MethodDelete, "/api/tokens/token/{id}", "Revoke a token", d.revokeToken),
		d.route(get, "/missingsymbols.csv", "The modules that no source had, as CSV", d.missingSymbols),
	)
}
