package push

import (
	"context"
	"fmt"
	"sync"

	"symbolon/internal/transfer"
)

// progress is that of a file, which several requests make.
type progress struct {
	mu          sync.Mutex
	show        func(name string, done, total int64)
	name        string
	done, total int64
}

// begin begins a file, which is read at first.
func (p *progress) begin(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.name, p.done, p.total = name, 0, 0
	p.show(name, 0, 0)
}

// expect says that so many bytes more are sent.
func (p *progress) expect(n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.total += n
}

// add says that so many bytes were sent.
func (p *progress) add(n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += n
	p.show(p.name, p.done, p.total)
}

// stalled returns why a request with this context failed.
func stalled(ctx context.Context, err error) error {
	if context.Cause(ctx) == transfer.ErrStalled {
		return fmt.Errorf("nothing moved for %v", pushStall)
	}
	return err
}
