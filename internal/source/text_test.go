package source_test

import (
	"strings"
	"testing"

	"symbolon/internal/source"
)

func TestTextHasABound(t *testing.T) {
	text := &source.Text{Max: 5}
	for _, part := range []string{"two", "", "of"} {
		if n, err := text.Write([]byte(part)); n != len(part) || err != nil {
			t.Error(part, n, err)
		}
	}
	if n, err := text.Write([]byte("m")); n != 0 || err == nil || !strings.Contains(err.Error(), "more than 5 bytes") || string(text.Bytes) != "twoof" {
		t.Errorf("%d, %v, %q", n, err, text.Bytes)
	}
}
