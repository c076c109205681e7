//go:build !unix

package node

import (
	"context"

	"symbolon/internal/bin"
	"symbolon/internal/cache/disk"
	"symbolon/internal/fault"
)

// hold calls do, which allocates size bytes on the heap, and counts them in the
// memory for builds until release is called.
func hold(ctx context.Context, _ *disk.Store, builds *bin.Budget, size int64, do func() error) (release func(), err error) {
	if limit := builds.Max(); size > limit {
		return nil, fault.New(fault.Internal, "memory", "%v exceed the %v for one file; raise memory", bin.Size(size), bin.Size(limit))
	}
	release, err = builds.Acquire(ctx, size)
	if err != nil {
		return nil, fault.New(fault.Internal, "memory", "no memory for %v: %w", bin.Size(size), err)
	}
	return release, do()
}
