//go:build unix

package node

import (
	"context"

	"symbolon/internal/bin"
	"symbolon/internal/cache/disk"
)

// hold calls do, which writes size bytes to the disk of the cache, and counts them
// until release is called.
func hold(ctx context.Context, store *disk.Store, _ *bin.Budget, size int64, do func() error) (release func(), err error) {
	return store.Hold(ctx, size, do)
}
