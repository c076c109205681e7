package scratch

import "syscall"

// Relax drops the resident pages of a mapped file. They are read from it when used
// again.
func Relax(b []byte) {
	_ = syscall.Madvise(b, syscall.MADV_DONTNEED) // the content is in the file
}
