package node

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"slices"

	"symbolon/internal/console"
)

// ProjectQuery is a command of symbolon project.
type ProjectQuery struct {
	Name   string       `json:"name,omitempty"` // to set; empty: list all
	Public bool         `json:"public"`
	JSON   bool         `json:"json"`
	Look   console.Look `json:"look,omitempty"`
}

// projectEntry is a line of the output.
type projectEntry struct {
	Name   string `json:"name"`
	Public bool   `json:"public"`
}

// Project runs a command of symbolon project, and writes the projects that it has listed
// or set to w.
func (n *Node) Project(ctx context.Context, q ProjectQuery, w io.Writer) error {
	all, err := map[string]bool{q.Name: q.Public}, error(nil)
	if q.Name != "" {
		err = n.uploads.files.SetProject(ctx, q.Name, q.Public)
	} else {
		all, err = n.uploads.files.Projects(ctx)
	}
	if err != nil {
		return err
	}
	t := console.NewTable(w, q.Look, "PROJECT", "READERS")
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if q.JSON {
			if err := json.NewEncoder(w).Encode(projectEntry{name, all[name]}); err != nil {
				return err
			}
			continue
		}
		word := "private"
		if all[name] {
			word = "public"
		}
		console.Printf(t, "%s\t%s\n", name, word)
	}
	return t.Flush()
}
