package cab

import "fmt"

const (
	rootBits = 10 // of the table of short words
	maxWord  = 16
	maxMain  = 256 + 8*50
)

// code is a prefix code. The words of a length are counted up in the order of the
// symbols.
type code struct {
	// short has what a word of up to rootBits bits means, whatever follows it: the
	// symbol, and in the lowest four bits the length. Zero is a longer word or none.
	short  [1 << rootBits]uint16
	end    [maxWord + 1]uint32 // behind the last word of each length
	shift  [maxWord + 1]int32  // of words of each length to places in sorted
	sorted [maxMain]uint16     // symbols by their words
}

// build makes the code whose words have the given lengths. There may be fewer words
// than fit: some codes are never used.
func (c *code) build(lengths []uint8) error {
	var count, at [maxWord + 1]uint32
	for _, n := range lengths {
		count[n]++
	}
	word, place := uint32(0), uint32(0)
	for n := 1; n <= maxWord; n++ {
		word <<= 1
		at[n], c.shift[n] = place, int32(place)-int32(word)
		word += count[n]
		place += count[n]
		if c.end[n] = word; word > 1<<n {
			return fmt.Errorf("a code has more words than there are")
		}
	}
	for symbol, n := range lengths {
		if n > 0 {
			c.sorted[at[n]] = uint16(symbol)
			at[n]++
		}
	}
	filled := c.short[:0]
	for n, i := 1, uint32(0); n <= rootBits; n++ {
		for ; i < at[n]; i++ {
			for range 1 << (rootBits - n) {
				filled = append(filled, c.sorted[i]<<4|uint16(n))
			}
		}
	}
	clear(c.short[len(filled):])
	return nil
}

// long finds the word that 16 bits begin with, if it is not a short one. A length
// of zero says that there is none.
func (c *code) long(bits uint32) (symbol, length uint) {
	for n := uint(rootBits + 1); n <= maxWord; n++ {
		if word := bits >> (maxWord - n); word < c.end[n] {
			return uint(c.sorted[int32(word)+c.shift[n]]), n
		}
	}
	return 0, 0
}
