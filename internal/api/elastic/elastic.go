// Package elastic is the door of Elastic's profilers: it receives symbfiles, looks
// up addresses in them, and serves them as a mirror.
//
//	POST, PUT /api/symbols-ranges             a part of the ranges of a binary
//	POST, PUT /api/symbols-returnpads         a part of its return pads
//	GET  /api/symbols/FILEID                  the symbfiles of a binary; with addr=, its frames at addresses
//	POST /api/symbols/lookup                  frames of many binaries
//	GET  /AB/CD/FILEID/metadata.json          the metadata of a mirror
//	GET  /AB/CD/FILEID/ranges, /returnpads    its symbfiles, compressed with zstd
//
// Uploads need a key; reads need one if keys for reading are configured. A body is
// checked while it arrives and never held in memory as a whole. A Door is safe for
// concurrent use.
package elastic

import (
	"context"
	"log/slog"

	"symbolon/internal/ident"
	"symbolon/internal/ingest/symbfile"
	"symbolon/internal/keys"
	"symbolon/internal/symbolicate"
)

// Deps are the dependencies of a door.
type Deps struct {
	Store  *symbfile.Store
	Keys   *keys.Ring
	Run    func(ctx context.Context, req *symbolicate.Request) (*symbolicate.Result, error)
	Forget func(ctx context.Context, m ident.Module) error // what was missing may be there now
	Log    *slog.Logger
}

// Door serves the routes.
type Door struct {
	cfg Config
	Deps
}

// New returns a door.
func New(cfg Config, deps Deps) *Door { return &Door{cfg.Defaults(), deps} }
