//go:build !unix

package companion

import "os"

// mapFile does nothing: files are not mapped on this system.
func (s *Source) mapFile(*os.File, int64) {}
