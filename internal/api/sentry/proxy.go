package sentry

import (
	"net/http"

	"symbolon/internal/api"
	"symbolon/internal/source"
)

// proxy serves files of the configured sources in the layout of symbol servers,
// which need not be that of the source.
func (d *Door) proxy(w http.ResponseWriter, r *http.Request) {
	c, ok := d.identify(w, r)
	if !ok {
		return
	}
	scope, err := c.scope("")
	if err != nil {
		status, title := explain(err)
		fail(w, r, status, title)
		return
	}
	asked := source.ParsePath(r.PathValue("rest"))
	if len(asked) == 0 || d.cfg.DisableProxy {
		api.FailBare(w, r, http.StatusNotFound, "")
		return
	}
	f, err := d.deps.File(r.Context(), Search{Scope: scope, Grant: c.Grant}, asked)
	if err != nil {
		d.refuseFile(w, r, err)
		return
	}
	defer func() { _ = f.Close() }() // it was only read
	w.Header().Set("Content-Type", "application/octet-stream")
	api.SendFile(w, r, f, d.deps.Log)
}

// refuseFile answers that a file cannot be served. Clients of symbol servers
// distinguish a missing file from a source that fails.
func (d *Door) refuseFile(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return
	}
	status := api.Status(err)
	if status == http.StatusInternalServerError {
		d.deps.Log.Error("cannot open a file", "request_id", api.RequestID(r.Context()), "error", err)
	}
	api.FailBare(w, r, status, "")
}
