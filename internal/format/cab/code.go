package cab

import "fmt"

const (
	rootBits = 10 // of the table of short words
	maxWord  = 16
	maxMain  = 256 + 8*50
)

// code is a prefix code. The words of each length are assigned in ascending
// order to the symbols.
type code struct {
	// short maps the next rootBits bits to the symbol, and in the lowest four
	// bits the length, of a word of at most rootBits bits. Zero is a longer or
	// an invalid word.
	short  [1 << rootBits]uint16
	end    [maxWord + 1]uint32 // the word after the last one of each length
	shift  [maxWord + 1]int32  // from words of each length to indexes of sorted
	sorted [maxMain]uint16     // symbols in the order of their words
}

// build builds the code of words with the given lengths. The code may be
// incomplete: some codes are never used.
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
			return fmt.Errorf("oversubscribed code")
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

// lookupLong returns the symbol of a long word at the start of 16 bits. The length is
// zero if the word is invalid.
func (c *code) lookupLong(bits uint32) (symbol, length uint) {
	for n := uint(rootBits + 1); n <= maxWord; n++ {
		if word := bits >> (maxWord - n); word < c.end[n] {
			return uint(c.sorted[int32(word)+c.shift[n]]), n
		}
	}
	return 0, 0
}
