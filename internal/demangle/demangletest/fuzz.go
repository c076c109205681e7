// Package demangletest tests the properties that every reader of mangled names has for
// any input: the text and the time are bounded, and the text does not depend on the
// buffer that it is appended to.
package demangletest

import (
	"bytes"
	"testing"
	"time"

	"symbolon/internal/demangle/core"
)

const (
	maxTime = 2 * time.Second // on a busy machine
	maxText = 2 * core.MaxText
)

// A Reader appends the readable form of a name, as itanium.Append does.
type Reader func(dst, name []byte, style core.Style, steps *int) ([]byte, bool)

// Fuzz runs a fuzz target for a reader that starts with the seeds of f.
func Fuzz(f *testing.F, read Reader) {
	f.Fuzz(func(t *testing.T, name []byte) {
		if len(name) < 3 || len(name) > 8<<10 { // demangle refuses these
			return
		}
		for style := core.Full; style <= core.Bare; style++ {
			start := time.Now()
			steps := core.Steps(len(name))
			text, ok := read(nil, name, style, &steps)
			if took := time.Since(start); took > maxTime {
				t.Errorf("style %d of %q: took %v", style, name, took)
			}
			if ok && len(text) > max(len(name), maxText) {
				t.Errorf("style %d of %q: %d bytes", style, name, len(text))
			}
			steps = core.Steps(len(name))
			after, again := read([]byte("x"), name, style, &steps)
			if again != ok {
				t.Errorf("style %d of %q: readable is %t, after other text %t", style, name, ok, again)
			} else if ok && !bytes.Equal(after[1:], text) {
				t.Errorf("style %d of %q: %q, after other text %q", style, name, text, after[1:])
			}
		}
	})
}
