package source

import (
	"io"

	"symbolon/internal/fault"
)

// asyncWriter writes in a goroutine of its own, so that decoding and the use of
// the decoded bytes run in parallel. The bytes of a Write may not be changed
// before the next Write has returned.
type asyncWriter struct {
	w    io.Writer
	next chan []byte
	done chan error
	err  error // result of the goroutine
	over bool  // Close was called
}

func newAsyncWriter(w io.Writer) *asyncWriter {
	b := &asyncWriter{w: w, next: make(chan []byte), done: make(chan error, 1)}
	go b.run()
	return b
}

func (b *asyncWriter) run() {
	var err error
	defer func() { b.done <- err }()
	defer fault.Recover("", &err)
	for p := range b.next {
		if _, err = b.w.Write(p); err != nil {
			return
		}
	}
}

// Write passes p to the goroutine, after the bytes before are written.
func (b *asyncWriter) Write(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	select {
	case b.next <- p:
		return len(p), nil
	case b.err = <-b.done: // before Close it ends only with an error
		return 0, b.err
	}
}

// Close waits until all bytes are written. It may be called twice.
func (b *asyncWriter) Close() error {
	if !b.over {
		b.over = true
		close(b.next)
		if b.err == nil {
			b.err = <-b.done
		}
	}
	return b.err
}
