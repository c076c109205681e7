package source

import (
	"strings"

	"symbolon/internal/ident"
)

// The files of a binary in the layout elastic, the one of the mirrors that
// Elastic's profilers read.
const (
	RangesFile   = "ranges"
	PadsFile     = "returnpads"
	MetadataFile = "metadata.json"
)

// ElasticPath returns the path of a file of a binary in the layout elastic.
func ElasticPath(id ident.FileID, name string) string {
	text := id.Base64()
	return text[:2] + "/" + text[2:4] + "/" + text + "/" + name
}

// elastic returns the path in the layout of mirrors, which identify a binary by
// its file id alone.
func elastic(m ident.Module, kind string) string {
	switch {
	case m.FileID.IsZero():
	case kind == Symbfile:
		return ElasticPath(m.FileID, RangesFile)
	case kind == ReturnPads:
		return ElasticPath(m.FileID, PadsFile)
	}
	return ""
}

// Alias is a record of such a folder for another id of a binary: its file id, and
// the base of the addresses in its symbols.
type Alias struct {
	FileID ident.FileID `json:"fileid"`
	Base   uint64       `json:"base"`
}

// AliasPaths returns the paths of the aliases of a module, by its build id and by
// its debug id. An id that is too short has none.
func AliasPaths(m ident.Module) (paths []string) {
	ids := []string{m.CodeID.String()}
	if !m.DebugID.IsZero() {
		ids = append(ids, strings.ToLower(m.DebugID.Breakpad()))
	}
	for _, id := range ids {
		if len(id) > 2 && len(id) <= ident.MaxFileName {
			paths = append(paths, "known/"+id[:2]+"/"+id[2:])
		}
	}
	return paths
}
