package symbfile_test

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"
)

// A table of empty strings takes four times its size in memory.
func TestStrictLimitsStrings(t *testing.T) {
	for n, strict := range map[int]bool{1 << 20: true, 1<<20 + 1: false} {
		b := append([]byte("symbfile"), 0, 1)
		b = append(binary.AppendUvarint(b, uint64(2*n)), 4)
		b = append(b, bytes.Repeat([]byte{1<<3 | 2, 0}, n)...)
		if _, err := read(b); err != nil {
			t.Errorf("%d strings: %v", n, err)
		}
		if _, err := strictly(b); (err == nil) != strict || err != nil && !strings.Contains(err.Error(), "a million strings") {
			t.Errorf("%d strings in a strict Reader: %v", n, err)
		}
	}
}
