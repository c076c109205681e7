package node

import (
	"context"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/scratch"
)

// holdWait is how long a file waits for others to let go of what they unpacked. A
// request may hold one file while it waits for another one.
const holdWait = 30 * time.Second

// space makes space in a folder of the data directory, within the bounds of the
// disk cache.
func (n *Node) space(dir string) func(context.Context) bin.Space {
	return func(ctx context.Context) bin.Space {
		return scratch.NewSpace(dir, func(size int64, do func() error) (func(), error) {
			ctx, cancel := context.WithTimeout(ctx, holdWait)
			defer cancel()
			return n.hold(ctx, size, do)
		})
	}
}
