//go:build unix

package node

import "context"

// hold counts size bytes that do puts on the disk of the cache.
func (n *Node) hold(ctx context.Context, size int64, do func() error) (release func(), err error) {
	return n.store.Hold(ctx, size, do)
}
