package debuginfod

import (
	"context"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/source"
	"symbolon/internal/token"
)

const (
	metadataTime = 5 * time.Second // for an answer, as debuginfod has
	maxFound     = 1000            // files in an answer
	maxValue     = 4096            // bytes
)

// A Query describes the uploaded files that a client asks for: those with a build id,
// or those whose names match.
type Query struct {
	ID     string                 // in any form of the other paths
	IsName func(name string) bool // of a base name; nil: any
}

// A File is an uploaded file of an answer.
type File struct {
	Type    string `json:"type"` // the word under which it is served: "executable", "debuginfo"
	BuildID string `json:"buildid"`
	Name    string `json:"file"`
}

// Words returns the types of files, with which paths of the protocol end.
func Words() []string { return []string{"executable", "debuginfo"} }

// metadata answers a question for uploaded files. Each may be a search of all uploads, so
// they are answered one at a time.
func (d *Door) metadata(w http.ResponseWriter, r *http.Request) {
	q, why := parseQuery(r)
	if why != "" {
		text(w, http.StatusBadRequest, why)
		return
	}
	g, err := d.deps.Grant(r)
	if err != nil {
		d.refuse(w, r, err)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), metadataTime)
	defer cancel()
	files, err := d.search(ctx, g, q)
	if err != nil && ctx.Err() == nil {
		d.refuse(w, r, err)
		return
	}
	answer := struct {
		Results    []File `json:"results"`
		IsComplete bool   `json:"complete"`
	}{append([]File{}, files[:min(len(files), maxFound)]...), err == nil && len(files) <= maxFound}
	api.WriteJSON(w, http.StatusOK, answer)
}

// search returns the files of a query; if ctx ends, those found so far.
func (d *Door) search(ctx context.Context, g *token.Grant, q Query) (files []File, err error) {
	select {
	case d.searching <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-d.searching }()
	err = d.deps.Search(ctx, g, q, func(f File) bool {
		if !slices.Contains(files, f) {
			files = append(files, f)
		}
		return len(files) <= maxFound
	})
	return files, err
}

// parseQuery parses key and value. Uploads have names without folders, so only the
// last segment of a path or a pattern counts.
func parseQuery(r *http.Request) (q Query, why string) {
	key, value := r.FormValue("key"), r.FormValue("value")
	base := value[strings.LastIndexByte(value, '/')+1:]
	switch {
	case value == "" || len(value) > maxValue:
		return q, "invalid value: must have 1 to 4096 bytes"
	case key == "buildid":
		q.ID = value
		if len(source.ByID(value, "debuginfo")) == 0 {
			return q, "invalid value: must be a build id in hexadecimal digits"
		}
	case key == "file":
		q.IsName = func(name string) bool { return name == base }
	case key == "glob":
		pattern := strings.ReplaceAll(base, "[!", "[^")
		if _, err := path.Match(pattern, ""); err != nil {
			return q, "invalid value: must be a pattern with *, ?, [a-z] and [!a-z]"
		}
		q.IsName = func(name string) bool {
			is, _ := path.Match(pattern, name) // the pattern is valid
			return is
		}
	default:
		return q, "invalid key: must be glob, file or buildid"
	}
	return q, ""
}
