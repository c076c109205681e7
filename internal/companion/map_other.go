//go:build !unix

package companion

import "os"

// mapFile maps no file here.
func mapFile(*os.File, int64) (*mapped, bool) { return nil, false }
