package cache

import "context"

// Lease is the right to do a piece of work alone among the nodes that share a
// store. It saves work and protects nothing: what two nodes make of one key is
// the same.
//
// Acquire takes the lease of key and returns what gives it back; release may
// be called twice. It is not ok when another node has the lease, and then the
// other one's result will be in the store soon. A store that cannot tell, being
// down or slow, lets everybody work.
type Lease interface {
	Acquire(ctx context.Context, key Key) (release func(), ok bool)
}
