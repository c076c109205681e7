package macho

import (
	"path"
	"strings"
)

// maxBundle is how many folders above a binary are looked at for a bundle.
const maxBundle = 8

// DSYMPaths lists where the debug file of a binary is kept, the likeliest
// first: in the .dSYM folder beside it, or beside a bundle that it is in
// (X.app.dSYM). Only the UUID tells whether a file is the right one.
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
