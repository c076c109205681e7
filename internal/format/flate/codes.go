package flate

import "math/bits"

// An entry of a table decodes the next bits. From the lowest bit on:
//
//	6 bits   the number of bits consumed, extra bits included
//	4 bits   at 8: the number of them that are code; of a sub-table: its width
//	4 bits   at 12: the number of literals, match, special
//	16 bits  at 16: literals, and the length less 3 in the upper byte; or the
//	         base of a distance; or the start of a sub-table
//
// An entry of the first code is one or two literals, a length, or a literal and
// a length.
const (
	literal  = 1 << 12
	counted  = 3 << 12 // the number of literals
	match    = 1 << 14
	special  = 1 << 15         // the end of the block if the value is endOf, else an invalid code
	subtable = match | special // continue in a sub-table
	endOf    = 1 << 16

	litBits  = 10
	distBits = 8
	// A complete code needs at most 2342 and 402 entries, sub-tables included;
	// indexes of a power of two need no bounds check.
	litSize  = 2048
	distSize = 512
	maxCode  = 15

	literals  = 286 // valid symbols of each code
	distances = 30
)

// tables has the two codes of a block.
type tables struct {
	lit  [litSize]uint32
	dist [distSize]uint32
}

// lengthOrder is the order in which the lengths of the code length code are
// stored.
var lengthOrder = [19]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// readCodes reads the two codes at the start of a dynamic block.
func (d *decoder) readCodes() {
	nlit, ndist, n := int(d.take(5))+257, int(d.take(5))+1, int(d.take(4))+4
	if d.err == nil && (nlit > literals || ndist > distances) {
		d.fail("invalid number of codes: %d literals and %d distances", nlit, ndist)
	}
	var lengths [320]uint8
	for _, at := range lengthOrder[:n] {
		lengths[at] = uint8(d.take(3))
	}
	if d.err != nil {
		return
	}
	// The table of distances is free for the code length code.
	if !build(d.dist[:], lengths[:len(lengthOrder)], distBits, func(s int) uint32 { return uint32(s) << 16 }) {
		d.fail("incomplete code length code")
		return
	}
	if lengths = [320]uint8{}; !d.readLengths(lengths[:nlit+ndist]) {
		return
	}
	if !build(d.lit[:], lengths[:nlit], litBits, litEntry) {
		d.fail("incomplete literal code")
	} else if !build(d.dist[:], lengths[nlit:nlit+ndist], distBits, distEntry) {
		d.fail("incomplete distance code")
	}
	join(&d.lit)
}

// readLengths reads the lengths of both codes.
func (d *decoder) readLengths(lengths []uint8) bool {
	for i := 0; i < len(lengths); {
		if d.nbits < 16 {
			d.fill()
		}
		e := d.dist[d.buf&(1<<distBits-1)]
		if e&special != 0 {
			d.fail("invalid code length")
			return false
		}
		d.take(uint(e & 63))
		var same uint8
		n := 1
		switch s := e >> 16; {
		case s < 16:
			same = uint8(s)
		case s == 16 && i == 0:
			d.fail("repeated code length without a previous one")
		case s == 16:
			same, n = lengths[i-1], 3+int(d.take(2))
		case s == 17:
			n = 3 + int(d.take(3))
		default:
			n = 11 + int(d.take(7))
		}
		if d.err == nil && n > len(lengths)-i {
			d.fail("too many code lengths")
		}
		if d.err != nil {
			return false
		}
		for range n {
			lengths[i] = same
			i++
		}
	}
	return true
}

// litEntry returns the entry of a symbol of the first code without its bits.
func litEntry(s int) uint32 {
	switch {
	case s < 256:
		return uint32(s)<<16 | literal
	case s == 256:
		return special | endOf
	case s < 265:
		return uint32(s-257)<<24 | match
	case s < 285:
		extra := uint32(s-261) / 4
		return (4+uint32(s-265)%4)<<extra<<24 | match | extra
	case s == 285:
		return 255<<24 | match
	}
	return special
}

// distEntry returns the entry of a symbol of the second code without its bits.
func distEntry(s int) uint32 {
	switch {
	case s < 4:
		return uint32(s+1) << 16
	case s < distances:
		extra := uint32(s-2) / 2
		return ((2+uint32(s)%2)<<extra+1)<<16 | extra
	}
	return special
}

// fixedTables builds the codes of fixed blocks.
func (d *decoder) fixedTables() {
	var lengths [288]uint8
	for i := range lengths {
		lengths[i] = 8
		if i >= 144 && i < 256 {
			lengths[i] = 9
		} else if i >= 256 && i < 280 {
			lengths[i] = 7
		}
	}
	build(d.lit[:], lengths[:], litBits, litEntry)
	join(&d.lit)
	for i := range 32 {
		lengths[i] = 5
	}
	build(d.dist[:], lengths[:32], distBits, distEntry)
}

// build fills a table for codes of the given lengths. The codes of a length are
// assigned in ascending order to the symbols, and are stored with their highest
// bit first; so a code is found at all indexes whose low bits are its reversed
// bits. Codes longer than width share an entry that leads to a sub-table. build
// returns false if the code is incomplete or oversubscribed.
func build(table []uint32, lengths []uint8, width uint8, entry func(symbol int) uint32) bool {
	var next [maxCode + 1]uint16
	if ok := firstCodes(&next, lengths); !ok {
		return false
	}
	first := table[:1<<width]
	for i := range first {
		first[i] = special
	}
	var codes [320]uint16
	hasLong := false
	for s, n := range lengths {
		if n == 0 {
			continue
		}
		word := bits.Reverse16(next[n]) >> (16 - n)
		next[n]++
		if n > width { // so far, the width of the sub-table
			codes[s], hasLong = word, true
			first[int(word)%len(first)] = max(first[int(word)%len(first)], special|subtable|uint32(n-width)<<8)
			continue
		}
		e := entry(s) + uint32(n) | uint32(n)<<8
		for i := int(word); i < len(first); i += 1 << n {
			first[i] = e
		}
	}
	if !hasLong {
		return true
	}
	free := len(first)
	for s, n := range lengths {
		if n <= width {
			continue
		}
		at := &first[int(codes[s])%len(first)]
		if *at>>16 == 0 {
			*at |= uint32(free)<<16 | uint32(width)
			free += 1 << (*at >> 8 & 15)
		}
		sub := table[*at>>16:][:1<<(*at>>8&15)]
		n -= width
		e := entry(s) + uint32(n) | uint32(n)<<8
		for i := int(codes[s] >> width); i < len(sub); i += 1 << n {
			sub[i] = e
		}
	}
	return true
}

// firstCodes computes the first code of each length. It returns false if the
// codes are oversubscribed, or incomplete: then some bits would be undefined.
func firstCodes(next *[maxCode + 1]uint16, lengths []uint8) bool {
	var count [maxCode + 1]int
	for _, n := range lengths {
		count[n&maxCode]++
	}
	total, code := 0, 0
	for n := 1; n <= maxCode; n++ {
		code <<= 1
		next[n] = uint16(code)
		total += count[n]
		code += count[n]
	}
	return code == 1<<maxCode || total == 0 || total == 1 && count[1] == 1
}

// join merges a literal and the next symbol into one entry if both codes fit
// into the index of the first table.
func join(table *[litSize]uint32) {
	for i := 1<<litBits - 1; i >= 0; i-- {
		e := table[i]
		if e&(counted|match|special) != literal {
			continue
		}
		// Entries at lower indexes are not joined yet.
		n := e & 63
		f := table[i>>n]
		if f&special != 0 || n+f>>8&15 > litBits {
			continue
		}
		e = e&(255<<16) | f&63 + n | (f>>8&15+n)<<8
		if f&match != 0 {
			e |= f>>24<<24 | literal | match
		} else {
			e |= f>>16<<24 | 2*literal
		}
		table[i] = e
	}
}
