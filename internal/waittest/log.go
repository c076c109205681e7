package waittest

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// Log is a log or the output of a process. It can be read while it is written.
type Log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write appends p.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// String returns the text up to now.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Count returns how often the log has text.
func (l *Log) Count(text string) int { return strings.Count(l.String(), text) }

// Await waits until the log has text, and fails the test if it does not within a
// minute.
func (l *Log) Await(t testing.TB, text string) {
	t.Helper()
	Until(t, fmt.Sprintf("%q in the log, which is", text), func() bool { return l.Count(text) > 0 }, l)
}
