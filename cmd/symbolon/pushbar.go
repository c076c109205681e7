package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"time"
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

var errStalled = fmt.Errorf("nothing moved for %v", pushStall)

// watched is a context that ends when nothing was alive for too long.
func watched(ctx context.Context) (within context.Context, alive, stop func()) {
	within, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(pushStall, func() { cancel(errStalled) })
	return within, func() { timer.Reset(pushStall) }, func() { timer.Stop(); cancel(nil) }
}

// stalled is why a request failed.
func stalled(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), errStalled) {
		return errStalled
	}
	return err
}

// watchedReader is a body that is alive as long as it is read.
type watchedReader struct {
	r     io.Reader
	alive func()
}

func (w watchedReader) Read(b []byte) (int, error) {
	n, err := w.r.Read(b)
	w.alive()
	return n, err
}
