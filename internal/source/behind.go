package source

import (
	"io"
	"runtime/debug"

	"symbolon/internal/fault"
)

// behind writes in a goroutine of its own, so that unpacking and what is done
// with the unpacked bytes go on side by side. Who writes must not touch the
// bytes of a Write before the next one has returned.
type behind struct {
	w    io.Writer
	next chan []byte
	done chan error
	err  error // how it ended
	over bool  // Close was called
}

func newBehind(w io.Writer) *behind {
	b := &behind{w: w, next: make(chan []byte), done: make(chan error, 1)}
	go b.run()
	return b
}

func (b *behind) run() {
	var err error
	defer func() {
		if p := recover(); p != nil {
			err = fault.New(fault.Internal, "", "panic: %v\n%s", p, debug.Stack())
		}
		b.done <- err
	}()
	for p := range b.next {
		if _, err = b.w.Write(p); err != nil {
			return
		}
	}
}

// Write hands p over when what was handed over before is written.
func (b *behind) Write(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	select {
	case b.next <- p:
		return len(p), nil
	case b.err = <-b.done: // it never ends well before Close
		return 0, b.err
	}
}

// Close waits until all is written. It may be called twice.
func (b *behind) Close() error {
	if !b.over {
		b.over = true
		close(b.next)
		if b.err == nil {
			b.err = <-b.done
		}
	}
	return b.err
}
