package node

import (
	"context"
	"fmt"
	"path"

	"symbolon/internal/api/debuginfod"
	"symbolon/internal/api/tecken"
	"symbolon/internal/ident"
	"symbolon/internal/source"
	"symbolon/internal/store"
	"symbolon/internal/token"
)

// uploadsRead is the number of uploads that are read concurrently.
const uploadsRead = 20

// search yields the uploaded files of a query that a client may read, until yield
// returns false.
func (n *Node) search(ctx context.Context, g *token.Grant, q debuginfod.Query, yield func(debuginfod.File) bool) error {
	projects := g.Visible(tecken.Regular(n.projects(ctx)))
	isDone := false
	byID := func(id string) (err error) {
		isDone, err = n.searchID(ctx, projects, id, func(f debuginfod.File) bool {
			return q.IsName != nil && !q.IsName(f.Name) || yield(f)
		})
		return err
	}
	if q.ID != "" {
		return byID(q.ID)
	}
	seen := map[string]bool{}
	for before := ""; ; {
		uploads, err := n.uploads.files.List(ctx, projects, before, uploadsRead)
		if err != nil || len(uploads) == 0 {
			return err
		}
		for _, u := range uploads {
			before = u.ID
			for _, id := range idsOfNames(u, q.IsName) {
				if seen[id] {
					continue
				}
				seen[id] = true
				if err := byID(id); err != nil || isDone {
					return err
				}
			}
		}
	}
}

// idsOfNames returns the build ids of the files of an upload whose names match.
func idsOfNames(u *store.Upload, isName func(string) bool) (ids []string) {
	for i := range u.Files {
		if !isName(path.Base(u.Files[i].Name)) {
			continue
		}
		for _, id := range u.Files[i].IDs {
			ids = append(ids, id.CodeID.String(), windowsID(id.DebugID))
		}
	}
	return ids
}

// windowsID returns the id of a Windows binary, its GUID and age, as LLDB sends it.
func windowsID(id ident.DebugID) string { return fmt.Sprintf("%x%08x", id.UUID(), id.Age()) }

// buildID returns the id by which a debugger asks for a binary.
func buildID(o *store.Object) string {
	switch o.Kind {
	case source.PE, source.PDB, source.PortablePDB:
		return windowsID(o.Module.DebugID)
	}
	return o.Module.CodeID.String()
}

// searchID yields the uploaded files of a build id until yield returns false.
func (n *Node) searchID(ctx context.Context, projects []string, id string, yield func(debuginfod.File) bool) (isDone bool, err error) {
	for _, word := range debuginfod.Words() {
		for f, err := range n.uploaded(ctx, projects, source.ByID(id, word)) {
			if err != nil {
				return false, err
			}
			if !yield(debuginfod.File{Type: word, BuildID: buildID(&f.Record.Objects[f.Object]), Name: path.Base(f.Name)}) {
				return true, nil
			}
		}
	}
	return false, nil
}
