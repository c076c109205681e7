package sentry

import (
	"context"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/source"
	"symbolon/internal/transfer"
)

const (
	emptyLife = 10 * time.Minute // at most, of a list without files
	retry     = time.Minute      // after a failure to read a list
	listTime  = 30 * time.Second // for a list with all of its pages
)

// Server makes the requests of a source.
type Server struct {
	// Ask writes the project's answer to a query, for a candidate that may have a
	// validator, and returns the headers Link.
	Ask func(ctx context.Context, query string, c source.Candidate, w io.Writer) (source.Attempt, []string, error)
	// Key identifies the server and the credentials.
	Key string
	// Shelf caches the lists for Life.
	Shelf *source.Shelf
	Life  time.Duration
}

// Source is a project of Sentry. Make it with New.
type Source struct {
	cfg    source.Config
	server Server
}

// New returns a source.
func New(cfg source.Config, server Server) (*Source, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return &Source{cfg: cfg.Defaults(), server: server}, nil
}

// ID returns the name of the source.
func (s *Source) ID() string { return s.cfg.ID }

// Identity returns the identity of the project, the credentials and the filters.
func (s *Source) Identity() string { return s.server.Key + " " + s.cfg.Asks() }

// symbolTypes are Sentry's names for kinds of file.
var symbolTypes = map[string]string{
	source.PE: "pe", source.PDB: "pdb", source.PortablePDB: "portablepdb",
	source.MachDebug: "macho", source.MachCode: "macho",
	source.ELFDebug: "elf", source.ELFCode: "elf",
	source.WasmDebug: "wasm", source.WasmCode: "wasm",
	source.Breakpad: "breakpad", source.SourceBundle: "sourcebundle",
	source.UUIDMap: "uuidmap", source.BCSymbolMap: "bcsymbolmap", source.IL2CPP: "il2cpp",
}

// Candidates returns the files of m that the project lists, each once.
func (s *Source) Candidates(ctx context.Context, m ident.Module, kinds []string) ([]source.Candidate, error) {
	kinds = slices.DeleteFunc(slices.Clone(kinds), func(kind string) bool {
		return symbolTypes[kind] == "" || !s.cfg.Wants(m, kind)
	})
	query := url.Values{}
	if !m.DebugID.IsZero() {
		query.Set("debug_id", m.DebugID.String())
	}
	if !m.CodeID.IsZero() {
		query.Set("code_id", m.CodeID.String())
	}
	if len(query) == 0 || len(kinds) == 0 {
		return nil, nil
	}
	files, err := s.list(ctx, query.Encode())
	if err != nil {
		return nil, err
	}
	var out []source.Candidate
	listed := map[string]bool{}
	for _, kind := range kinds {
		for _, f := range files {
			if f.symbolType != symbolTypes[kind] || listed[f.id] {
				continue
			}
			listed[f.id] = true
			place := "sentry://project_debug_file/" + transfer.EscapePath(f.id)
			out = append(out, source.Candidate{
				Source: s.cfg.ID, Kind: kind, Location: place, Key: s.server.Key + " " + place, Path: f.id,
			})
		}
	}
	return out, nil
}

// Lists reports, by its name on the shelf, whether a list has the files for one of
// the identifiers of m.
func Lists(name string, m ident.Module) bool {
	return !m.DebugID.IsZero() && strings.Contains(name, "debug_id="+m.DebugID.String()) ||
		!m.CodeID.IsZero() && strings.Contains(name, "code_id="+m.CodeID.String())
}

// list returns the files that the project has for a query.
func (s *Source) list(ctx context.Context, query string) ([]file, error) {
	files, err := source.Keep(ctx, s.server.Shelf, source.Request[[]file]{
		Owner: s, Source: s.cfg.ID, Name: query, Retry: retry, Limit: listTime,
		Life: func(files []file) time.Duration {
			if len(files) == 0 {
				return min(emptyLife, s.server.Life)
			}
			return s.server.Life
		},
		Make: func(ctx context.Context) ([]file, int64, error) {
			files, err := s.pages(ctx, query)
			size := int64(0)
			for _, f := range files {
				size += fileSize + int64(len(f.id))
			}
			return files, size, err
		},
	})
	if err == nil || ctx.Err() != nil {
		return files, err
	}
	f := fault.Of(err)
	return nil, fault.New(fault.NotFound, f.Place, "cannot read the list of files of the project: %s: %s", f.Kind, f.Detail)
}

// Fetch writes the file of c to w.
func (s *Source) Fetch(ctx context.Context, c source.Candidate, w io.Writer) (source.Attempt, error) {
	a, _, err := s.server.Ask(ctx, "id="+url.QueryEscape(c.Path), c, w)
	return a, err
}
