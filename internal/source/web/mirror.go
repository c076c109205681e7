package web

import (
	"context"
	"encoding/json"
	"time"

	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/source"
)

const (
	mirrorLife  = time.Hour
	mirrorRetry = 10 * time.Minute // after a failure, or for an unknown binary
	maxMirrored = 64 << 10         // bytes
)

// symbolsOf returns the id under which a mirror has the symbols of a binary, which
// may be the one of a separate debug file. It is zero if the mirror knows the
// binary and has no symbols, and the id of the binary if the mirror does not
// tell.
func (s *Source) symbolsOf(ctx context.Context, file ident.FileID) ident.FileID {
	path := source.ElasticPath(file, source.MetadataFile)
	id, err := source.Keep(ctx, s.client.Shelf(s.guarded), source.Request[ident.FileID]{
		Owner: s.key, Source: s.cfg.ID, Name: path, Life: func(ident.FileID) time.Duration { return mirrorLife },
		Retry: mirrorRetry, Limit: time.Minute, Quiet: true,
		Make: func(ctx context.Context) (ident.FileID, int64, error) {
			text := &source.Text{Max: maxMirrored}
			if err := s.read(ctx, path, text); err != nil {
				return ident.FileID{}, 0, err
			}
			var known struct {
				References struct {
					Dwarf ident.FileID `json:"dwarfFileID"`
				} `json:"symbolFileReferences"`
			}
			if err := json.Unmarshal(text.Bytes, &known); err != nil {
				return ident.FileID{}, 0, fault.New(fault.Malformed, path, "read the mirror's metadata of a binary: %w", err)
			}
			return known.References.Dwarf, 0, nil
		},
	})
	if err != nil {
		return file
	}
	return id
}
