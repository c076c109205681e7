package bin

// Space allocates memory outside the heap: pages of a file, which the system
// may write out. The memory is valid until Close. It belongs to one goroutine.
type Space interface {
	Take(n int) ([]byte, error)
	Close() error
}
