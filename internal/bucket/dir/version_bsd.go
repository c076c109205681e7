//go:build darwin || freebsd || netbsd

package dir

import (
	"fmt"
	"io/fs"
	"syscall"
)

// inode returns the inode of a file and its change time, which no program can
// set: files of one size and modification time differ in them.
func inode(info fs.FileInfo) string {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprintf("-%x-%x", s.Ino, s.Ctimespec.Nano())
}
