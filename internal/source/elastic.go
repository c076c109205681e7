package source

import "symbolon/internal/ident"

// The files of a binary in the layout elastic, that of the mirrors which
// Elastic's profilers read.
const (
	RangesFile   = "ranges"
	PadsFile     = "returnpads"
	MetadataFile = "metadata.json"
)

// ElasticPath is where a file of a binary lies in the layout elastic.
func ElasticPath(id ident.FileID, name string) string {
	text := id.Base64()
	return text[:2] + "/" + text[2:4] + "/" + text + "/" + name
}

// elastic is the layout of mirrors, which know a binary by its file id alone.
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
