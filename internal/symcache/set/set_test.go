package set_test

import (
	"testing"

	"symbolon/internal/symcache/set"
)

// word is a key with eight different hashes, so that most keys collide.
type word uint64

func (w word) Hash(uint64) uint64 { return uint64(w % 8) }

func TestItemsAreNumberedInTheOrderOfTheirFirstUse(t *testing.T) {
	const items = 1000
	var s set.Set[word]
	for round := range 2 {
		for i := range word(items) {
			n, isNew := s.Number(i * i)
			if n != uint32(i) {
				t.Fatalf("round %d: item %d has number %d", round, i, n)
			}
			if isNew != (round == 0) {
				t.Fatalf("round %d: item %d is new: %t", round, i, isNew)
			}
		}
	}
	if len(s.Items) != items {
		t.Errorf("got %d items, want %d", len(s.Items), items)
	}
	if held := s.Held(8); held < items*(8+8) {
		t.Errorf("holds %d bytes, want %d or more", held, items*(8+8))
	}
}
