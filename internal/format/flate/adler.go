package flate

import "encoding/binary"

const (
	adlerMod = 65521
	// The lanes of 16 bits must hold the sum of the bytes of this many words of
	// eight bytes, each weighted by the number of words from it on: 255*22*23/2
	// < 1<<16.
	adlerWords = 22
	even       = 0x00ff00ff00ff00ff
)

// adler32 updates the checksum sum by p, eight bytes at a time: a and b are the
// two sums of RFC 1950, and the lanes of lo, hi, wlo and whi the sums of every
// eighth byte since the last reduction, plain and weighted by words.
func adler32(sum uint32, p []byte) uint32 {
	a, b := uint64(sum&0xffff), uint64(sum>>16)
	for len(p) >= 8 {
		words := min(len(p)/8, adlerWords)
		var lo, hi, wlo, whi uint64
		q := p[:8*words]
		for len(q) >= 8 {
			v := binary.LittleEndian.Uint64(q)
			lo += v & even
			hi += v >> 8 & even
			wlo += lo
			whi += hi
			q = q[8:]
		}
		p = p[8*words:]
		b += uint64(8*words) * a
		a += lanes(lo) + lanes(hi)
		// A byte of the first word counts 8*words times for b if it is the
		// first of its word, and once less for each position after that.
		b += 8*(lanes(wlo)+lanes(whi)) - 2*(lo>>16&0xffff+2*(lo>>32&0xffff)+3*(lo>>48)) -
			lanes(hi) - 2*(hi>>16&0xffff+2*(hi>>32&0xffff)+3*(hi>>48))
		a %= adlerMod
		b %= adlerMod
	}
	for _, c := range p {
		a += uint64(c)
		b += a
	}
	return uint32(b%adlerMod)<<16 | uint32(a%adlerMod)
}

// lanes returns the sum of the four 16-bit numbers in v.
func lanes(v uint64) uint64 { return v&0xffff + v>>16&0xffff + v>>32&0xffff + v>>48 }
