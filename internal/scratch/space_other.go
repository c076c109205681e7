//go:build unix && !linux

package scratch

import "os"

// reserve writes every page of a file.
func reserve(f *os.File, n int64) error {
	zeros := make([]byte, 1<<20)
	for at := int64(0); at < n; at += int64(len(zeros)) {
		if _, err := f.WriteAt(zeros[:min(int64(len(zeros)), n-at)], at); err != nil {
			return err
		}
	}
	return nil
}
