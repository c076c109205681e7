package macho

import (
	"path"
	"strings"
)

// maxBundle limits the parent folders of a binary that are checked for a
// bundle.
const maxBundle = 8

// DSYMPaths returns the paths where the debug file of a binary may be, the most
// likely first: in the .dSYM folder next to the binary, or next to an enclosing
// bundle (X.app.dSYM). Only the UUID identifies the right file.
func DSYMPaths(binary string) []string {
	dir, name := path.Split(path.Clean(binary))
	inside := ".dSYM/Contents/Resources/DWARF/" + name
	paths := []string{dir + name + inside}
	for range maxBundle {
		dir = strings.TrimSuffix(dir, "/")
		if folder := path.Base(dir); path.Ext(folder) != "" && strings.Trim(folder, ".") != "" {
			paths = append(paths, dir+inside)
		}
		dir, _ = path.Split(dir)
	}
	return paths
}
