package bin

// Space gives memory that is not on the heap: pages of a file, which the system
// may write out. What it gave is valid until Close, and nothing may use it
// then. It belongs to one goroutine.
type Space interface {
	Take(n int) ([]byte, error)
	Close() error
}
