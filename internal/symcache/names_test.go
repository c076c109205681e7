package symcache

import (
	"fmt"
	"strings"
	"testing"
)

func TestReferencesOfEveryLengthComeBack(t *testing.T) {
	for _, c := range []struct {
		id   uint32
		size int
	}{
		{0, 1}, {63, 1}, {64, 2}, {8255, 2}, {8256, 3}, {1581119, 3}, {1581120, 4}, {68689983, 4}, {68689984, 5}, {1<<32 - 1, 5},
	} {
		b := appendRef(nil, c.id)
		if len(b) != c.size || tokenSize(b[0]) != c.size || ref(b) != uint64(c.id) || b[0] < lead1 || b[0] >= escape {
			t.Errorf("%d is % x, read as %d of %d bytes", c.id, b, ref(b), tokenSize(b[0]))
		}
	}
}

// However names are nested in one another, what they share is reached in a
// bounded number of steps.
func TestLevelsOfEntriesAreBounded(t *testing.T) {
	n := newNames()
	inner := strings.Repeat("x", 20)
	deepest := uint8(0)
	for k := range 120 {
		inner = fmt.Sprintf("scope_number_%d<%s, argument_%d>::end_%d", k, inner, k, k)
		n.add([]byte(inner))
	}
	for i := range n.entries {
		deepest = max(deepest, n.entries[i].level)
	}
	if deepest != maxLevel+1 {
		t.Errorf("the deepest entry is at level %d, the bound is %d", deepest, maxLevel+1)
	}
}
