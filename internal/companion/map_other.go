//go:build !unix

package companion

import "os"

// mapFile returns nil: files are not mapped on this system.
func mapFile(*os.File, int64) []byte { return nil }

func unmap([]byte) error { return nil }
