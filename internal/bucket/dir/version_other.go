//go:build !linux && !darwin && !freebsd && !netbsd

package dir

import "io/fs"

// inode returns nothing: FileInfo has no inode here.
func inode(fs.FileInfo) string { return "" }
