package scratch

import "syscall"

// Relax gives the pages of a mapped file back. They come back when they are read
// again.
func Relax(b []byte) {
	_ = syscall.Madvise(b, syscall.MADV_DONTNEED) // the content is in the file
}
