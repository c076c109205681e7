// Package elastic serves Elastic's profilers: it receives symbfiles, looks up
// addresses in them, and sends them as a mirror does.
//
//	POST, PUT /api/symbols-ranges             a part of the ranges of a binary
//	POST, PUT /api/symbols-returnpads         a part of its return pads
//	GET  /api/symbols/FILEID                  the published files of a binary; with addr=, its frames at addresses
//	POST /api/symbols/lookup                  frames of many binaries
//	GET  /AB/CD/FILEID/metadata.json          the answer of a mirror about a binary
//	GET  /AB/CD/FILEID/ranges, /returnpads    its symbfiles, compressed with zstd
//
// Uploads need a key; reading needs one if a key for reading exists. The door is
// safe for concurrent use; a body is verified while it arrives, and is never in
// memory as a whole.
package elastic

import (
	"context"
	"log/slog"
	"net/http"

	"symbolon/internal/api"
	"symbolon/internal/ident"
	"symbolon/internal/ingest/symbfile"
	"symbolon/internal/keys"
	"symbolon/internal/symbolicate"
)

// Deps are the dependencies of a Door.
type Deps struct {
	Store  *symbfile.Store
	Keys   *keys.Ring
	Run    func(ctx context.Context, req *symbolicate.Request) (*symbolicate.Result, error)
	Forget func(ctx context.Context, m ident.Module) error // invalidates cached misses of a module
	Log    *slog.Logger
}

// Door serves the routes.
type Door struct {
	cfg Config
	Deps
}

// New returns a door.
func New(cfg Config, deps Deps) *Door { return &Door{cfg.Defaults(), deps} }

// Routes returns the routes of the door.
func (d *Door) Routes() []api.Route {
	upload, read := []string{http.MethodPost, http.MethodPut}, []string{http.MethodGet, http.MethodHead}
	most := int64(d.cfg.Uploads.Defaults().MaxPart)
	return []api.Route{
		{Methods: upload, Pattern: "/api/symbols-ranges", Handle: d.taking(symbfile.Ranges), Admit: d.mayUpload, MaxBody: most, MaxHeld: leastHeld, Fail: d.fail},
		{Methods: upload, Pattern: "/api/symbols-returnpads", Handle: d.taking(symbfile.ReturnPads), Admit: d.mayUpload, MaxBody: most, MaxHeld: leastHeld, Fail: d.fail},
		{Methods: read, Pattern: "/api/symbols/", Handle: d.reading(d.one), Fail: api.FailError},
		{Methods: []string{http.MethodPost}, Pattern: "/api/symbols/lookup", Handle: d.many, Admit: d.mayRead, Fail: api.FailError},
		{Methods: read, Pattern: "/{a}/{b}/{id}/metadata.json", Handle: d.reading(d.metadata), Fail: api.FailError},
		{Methods: read, Pattern: "/{a}/{b}/{id}/ranges", Handle: d.reading(d.mirror(symbfile.Ranges)), Fail: api.FailError},
		{Methods: read, Pattern: "/{a}/{b}/{id}/returnpads", Handle: d.reading(d.mirror(symbfile.ReturnPads)), Fail: api.FailError},
	}
}
