package main

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"

	"symbolon/internal/transfer"
)

// pushBar is the progress of a file, which several requests make.
type pushBar struct {
	mu          sync.Mutex
	bar         progress
	name        string
	done, total int64
}

// begin begins a file, which is read at first.
func (b *pushBar) begin(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.name, b.done, b.total = printable(filepath.Base(name)), 0, 0
	b.bar.show("%s: reading", b.name)
}

// expect says that so many bytes more are sent.
func (b *pushBar) expect(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.total += n
}

// add says that so many bytes were sent.
func (b *pushBar) add(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done += n
	b.bar.show("%s: %s of %s", b.name, bytesText(b.done), bytesText(b.total))
}

func (b *pushBar) clear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bar.clear()
}

// stalled returns why a request with this context failed.
func stalled(ctx context.Context, err error) error {
	if context.Cause(ctx) == transfer.ErrStalled {
		return fmt.Errorf("nothing moved for %v", pushStall)
	}
	return err
}
