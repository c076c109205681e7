package strtab

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

func TestReferencesRoundTrip(t *testing.T) {
	for _, c := range []struct {
		id   uint32
		size int
	}{
		{0, 1}, {63, 1}, {64, 2}, {8255, 2}, {8256, 3}, {1581119, 3}, {1581120, 4}, {68689983, 4}, {68689984, 5}, {1<<32 - 1, 5},
	} {
		b := appendRef(nil, c.id)
		if len(b) != c.size || TokenSize(b[0]) != c.size || Ref(b) != uint64(c.id) || b[0] < Lead1 || b[0] >= Escape {
			t.Errorf("%d is encoded as % x and decoded as %d, with %d bytes", c.id, b, Ref(b), TokenSize(b[0]))
		}
	}
}

// The depth of references is limited for all forms of nested names.
func TestLevelsAreLimited(t *testing.T) {
	for _, c := range []struct {
		form, name   string
		rounds, want int
	}{
		{"scope_number_%d<%s, argument_%[1]d>::end_%[1]d", "%s", 120, maxLevel + 1},
		{"inside_number_%d<%s>", "name<%s>", 50, 52}, // each content is known when the next one is added
	} {
		n := NewBuilder()
		inner := strings.Repeat("x", 20)
		deepest := uint8(0)
		for k := range c.rounds {
			inner = fmt.Sprintf(c.form, k, inner)
			n.Add(fmt.Appendf(nil, c.name, inner))
		}
		for i := range n.entries {
			deepest = max(deepest, n.entries[i].level)
		}
		if int(deepest) != c.want {
			t.Errorf("%s: deepest entry is at level %d, want %d", c.form, deepest, c.want)
		}
	}
}

// Pieces of the arena may be full, and texts longer than a piece.
func TestTextsAcrossPieces(t *testing.T) {
	const piece = 1 << arenaShift
	for _, sizes := range [][]int{{piece - 1, 1, 0, 2}, {piece, 0, 1}, {piece + 1, 0, piece - 2, 2, 1}, {3 * piece, 7, 0}, {0, piece - 1, 1}, {piece - 1, 1, 0}, {2 * piece, 0}} {
		n := NewBuilder()
		for _, size := range sizes {
			n.number(bytes.Repeat([]byte{byte(size) & 0x7f}, size), 1)
		}
		for id, size := range sizes {
			if got := n.text(uint32(id)); !bytes.Equal(got, bytes.Repeat([]byte{byte(size) & 0x7f}, size)) {
				t.Errorf("texts of %d bytes: text %d is %.10q of %d", sizes, id, got, len(got))
			}
		}
	}
}
