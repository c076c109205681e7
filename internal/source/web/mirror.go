package web

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/source"
	"symbolon/internal/transfer"
)

const (
	mirrorLife  = time.Hour
	mirrorRetry = 10 * time.Minute // after a failure, or for an unknown binary
	maxMirrored = 64 << 10         // bytes
)

// symbolsOf returns the id under which a mirror has the symbols of a binary, which may be
// that of a separate debug file. It is zero if the mirror knows the binary and has no
// symbols, and the id of the binary if the mirror has no answer.
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

// Candidates returns the places of the files of m.
func (s *Source) Candidates(ctx context.Context, m ident.Module, kinds []string) ([]source.Candidate, error) {
	var list []source.Candidate
	key := s.key
	if s.cfg.Layout.Type == source.Elastic && !m.FileID.IsZero() {
		m.FileID = s.symbolsOf(ctx, m.FileID)
	}
	if m.DebugChecksum != "" { // the answer may depend on it
		key += fmt.Sprintf(" checksum=%q", m.DebugChecksum)
	}
	for _, kind := range kinds {
		for _, path := range s.cfg.Paths(m, kind) {
			list = append(list, source.Candidate{
				Source: s.cfg.ID, Kind: kind, Location: source.CleanURL(s.address(path)), Key: key + " " + transfer.EscapePath(path),
				Public: s.cfg.IsPublic, Path: path, Checksum: m.DebugChecksum,
			})
		}
	}
	if len(list) == 0 {
		return nil, s.cfg.Unasked(m, kinds)
	}
	return s.index.Only(ctx, list)
}
