package bucket_test

import (
	"strings"
	"testing"

	"symbolon/internal/bucket"
)

func TestCut(t *testing.T) {
	for _, c := range [][5]int64{ // off, n, size, from, length
		{0, -1, 10, 0, 10}, {2, 3, 10, 2, 3}, {8, 5, 10, 8, 2}, {10, 1, 10, 10, 0}, {99, -1, 10, 10, 0},
		{-5, 3, 10, 0, 3}, {0, 0, 10, 0, 0}, {0, -1, 0, 0, 0}, {1, 1<<63 - 1, 10, 1, 9},
	} {
		if from, length := bucket.Cut(c[0], c[1], c[2]); from != c[3] || length != c[4] {
			t.Errorf("Cut(%d, %d, %d) = %d, %d; want %d, %d", c[0], c[1], c[2], from, length, c[3], c[4])
		}
	}
}

func TestLongestKeyIsValid(t *testing.T) {
	if err := bucket.Check(strings.Repeat("k", bucket.MaxKey)); err != nil {
		t.Error(err)
	}
	if bucket.Check(strings.Repeat("k", bucket.MaxKey+1)) == nil {
		t.Error("Check accepts a longer key")
	}
}
