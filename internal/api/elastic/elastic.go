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
// Symbfiles are in the project default. Uploads need a token; reads need one unless
// that project is public. A body is checked while it arrives and never held in memory as a whole. A Door is safe for
// concurrent use.
package elastic

import (
	"context"
	"log/slog"
	"net/http"

	"symbolon/internal/ident"
	"symbolon/internal/ingest/symbfile"
	"symbolon/internal/symbolicate"
	"symbolon/internal/token"
)

// Deps are the dependencies of a door.
type Deps struct {
	Store *symbfile.Store
	// Grant returns the rights of the client of a request.
	Grant func(*http.Request) (*token.Grant, error)
	// IsOpen reports whether reading needs no token.
	IsOpen func(context.Context) (bool, error)
	// Run answers from the files that a client may read.
	Run func(ctx context.Context, g *token.Grant, req *symbolicate.Request) (*symbolicate.Result, error)
	// Announce makes a published file of m visible at all nodes.
	Announce func(ctx context.Context, m ident.Module)
	Log      *slog.Logger
}

// Door serves the routes.
type Door struct {
	cfg Config
	Deps
}

// New returns a door.
func New(cfg Config, deps Deps) *Door { return &Door{cfg.Defaults(), deps} }
