package extract

import "testing"

// WithoutClone exports withoutClone.
func WithoutClone(name string) string { return string(withoutClone([]byte(name))) }

// SetTexts sets the limits of texts for a test.
func SetTexts(t *testing.T, texts, bytes int) {
	before := [2]int{maxTexts, maxBytes}
	maxTexts, maxBytes = texts, bytes
	t.Cleanup(func() { maxTexts, maxBytes = before[0], before[1] })
}
