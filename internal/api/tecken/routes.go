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
		upload := d.route(post, "/upload"+end, d.upload)
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
	planned := d.route(post, "/upload/v2/{$}", d.plan)
	planned.MaxBody = maxPlan
	resumed := d.route(http.MethodPut, "/upload/v2/{session:hex}/{n}", d.resume)
	resumed.MaxBody, resumed.MaxHeld = int64(d.limits.MaxRequest), uploadMemory
	const get = http.MethodGet
	return append(routes, planned, resumed,
		d.route(post, "/upload/auth_info/{$}", d.authInfo),
		d.route(get, "/api/uploads/{$}", d.listUploads),
		d.route(get, "/api/uploads/upload/{id}", d.showUpload),
		d.route(get, "/api/uploads/files/{$}", d.listFiles),
		d.route(get, "/api/stats/{$}", d.stats),
		d.route(get, "/api/syminfo/{file}/{id}", d.symInfo),
		d.route(get, "/api/tokens/{$}", d.listTokens),
		d.route(post, "/api/tokens/{$}", d.addToken),
		d.route(http.MethodDelete, "/api/tokens/token/{id}", d.revokeToken),
		d.route(get, "/missingsymbols.csv", d.missingSymbols),
	)
}
