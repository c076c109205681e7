//go:build !unix

package node

import (
	"context"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
)

// hold takes size bytes of the memory for builds, as all of it is on the heap.
func (n *Node) hold(ctx context.Context, size int64, do func() error) (release func(), err error) {
	if most := n.memory.builds.Max(); size > most {
		return nil, fault.New(fault.Internal, "memory", "%v are more than the %v for one file; raise memory", bin.Size(size), bin.Size(most))
	}
	release, err = n.memory.builds.Acquire(ctx, size)
	if err != nil {
		return nil, fault.New(fault.Internal, "memory", "no room for %v: %w", bin.Size(size), err)
	}
	return release, do()
}
