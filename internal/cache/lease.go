package cache

import "context"

// Lease is the exclusive right of one node to do a piece of work whose result
// goes into a shared store. It saves work and protects nothing: two nodes make
// the same result for one key.
//
// Acquire acquires the lease of key; release may be called twice. ok is false if
// another node has the lease, whose result will be in the store soon. If the
// store is unavailable or slow, ok is true for every node.
type Lease interface {
	Acquire(ctx context.Context, key Key) (release func(), ok bool)
}
