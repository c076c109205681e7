package flate

import "encoding/binary"

const (
	// The largest number of bytes that a round of decodeFast may consume, and
	// write beyond the output that it counts: four literals, a match, and the
	// excess of copyMatch.
	roundIn  = 16
	roundOut = 4 + 258 + 16

	// sumEvery is the number of bytes of output between updates of the
	// checksum; they are still in the cache then.
	sumEvery = 1 << 15
)

// decodeFast decodes symbols of a block until limit bytes are written, the
// block ends, or less than a round is left of input or output.
func (d *decoder) decodeFast(limit int) {
	src, dst := d.src, d.dst
	pos, n, buf, nbits := d.pos, d.n, d.buf, d.nbits
	inLimit, outLimit := len(src)-roundIn, min(limit, len(dst)-roundOut)
	for pos <= inLimit && n < outLimit {
		// Read eight bytes, but count only those that fit entirely. The bits
		// above nbits are correct and are read again.
		buf |= binary.LittleEndian.Uint64(src[pos:]) << (nbits & 63)
		pos += int(63-nbits) >> 3
		nbits |= 56

		e := d.lit[buf&(1<<litBits-1)]
		binary.LittleEndian.PutUint16(dst[n:], uint16(e>>16))
		n += int(e >> 12 & 3)
		if e&(match|special) == 0 {
			buf >>= e & 63
			nbits -= uint(e & 63)
			e = d.lit[buf&(1<<litBits-1)]
			binary.LittleEndian.PutUint16(dst[n:], uint16(e>>16))
			n += int(e >> 12 & 3)
			if e&(match|special) == 0 {
				buf >>= e & 63
				nbits -= uint(e & 63)
				continue
			}
		}
		if e&special != 0 {
			if e&match != 0 {
				buf >>= litBits
				nbits -= litBits
				e = d.lit[(uint(e>>16)+uint(buf)&(1<<(e>>8&15)-1))&(litSize-1)]
			}
			if e&literal != 0 {
				buf >>= e & 63
				nbits -= uint(e & 63)
				dst[n] = uint8(e >> 16)
				n++
				continue
			}
			if e&special != 0 {
				buf >>= e & 63
				nbits -= uint(e & 63)
				d.pos, d.n, d.buf, d.nbits = pos, n, buf, nbits
				d.special(e)
				return
			}
		}
		length := 3 + int(e>>24) + int(buf&(1<<(e&63)-1)>>(e>>8&15))
		buf >>= e & 63
		nbits -= uint(e & 63)

		buf |= binary.LittleEndian.Uint64(src[pos:]) << (nbits & 63)
		pos += int(63-nbits) >> 3
		nbits |= 56
		e = d.dist[buf&(1<<distBits-1)]
		if e&subtable == subtable {
			buf >>= distBits
			nbits -= distBits
			e = d.dist[(uint(e>>16)+uint(buf)&(1<<(e>>8&15)-1))&(distSize-1)]
		}
		dist := int(e>>16) + int(buf&(1<<(e&63)-1)>>(e>>8&15))
		buf >>= e & 63
		nbits -= uint(e & 63)
		if e&special != 0 || dist > n {
			d.pos, d.n, d.buf, d.nbits = pos, n, buf, nbits
			d.failDist(e, dist)
			return
		}
		copyMatch(dst, n, dist, length)
		n += length
	}
	d.pos, d.n, d.buf, d.nbits = pos, n, buf, nbits
}

// copyMatch copies length bytes from dist bytes before n, in steps of eight. It
// writes up to 15 bytes more.
func copyMatch(dst []byte, n, dist, length int) {
	to := dst[n : n+length+15]
	from := dst[n-dist:][:len(to)]
	if dist >= 8 {
		binary.LittleEndian.PutUint64(to, binary.LittleEndian.Uint64(from))
		binary.LittleEndian.PutUint64(to[8:], binary.LittleEndian.Uint64(from[8:]))
		for i := 16; i < length; i += 8 {
			binary.LittleEndian.PutUint64(to[i:], binary.LittleEndian.Uint64(from[i:]))
		}
		return
	}
	for i := range 8 {
		to[i] = from[i]
	}
	// The pattern repeats after each multiple of dist; step is the largest one
	// up to 8.
	step := 8 - 8%dist
	v := binary.LittleEndian.Uint64(to)
	for i := step; i < length; i += step {
		binary.LittleEndian.PutUint64(to[i:], v)
	}
}

// special handles an entry that is neither a literal nor a length.
func (d *decoder) special(e uint32) {
	if e&endOf != 0 {
		d.endBlock()
		return
	}
	d.fail("invalid code")
}

func (d *decoder) failDist(e uint32, dist int) {
	if e&special != 0 {
		d.fail("invalid distance code")
		return
	}
	d.fail("invalid distance %d", dist)
}

// decodeSlow decodes like decodeFast, with bounds checks.
func (d *decoder) decodeSlow(limit int) {
	for d.n < limit || d.n == len(d.dst) {
		e := d.symbol(d.lit[:], litBits)
		if d.err != nil {
			return
		}
		if e&special != 0 {
			d.special(e)
			return
		}
		for v := e >> 16; e&counted != 0; e -= literal {
			if d.n == len(d.dst) {
				d.failTooLong()
				return
			}
			d.dst[d.n] = uint8(v)
			d.n++
			v >>= 8
		}
		if e&match == 0 {
			continue
		}
		length := 3 + int(e>>24) + d.extra(e)
		e = d.symbol(d.dist[:], distBits)
		dist := int(e>>16) + d.extra(e)
		if d.err != nil {
			return
		}
		if e&special != 0 || dist > d.n {
			d.failDist(e, dist)
			return
		}
		if length > len(d.dst)-d.n {
			d.failTooLong()
			return
		}
		for range length {
			d.dst[d.n] = d.dst[d.n-dist]
			d.n++
		}
	}
}

// symbol consumes a code and returns its entry, but not the extra bits.
func (d *decoder) symbol(table []uint32, width uint) uint32 {
	if d.nbits < 2*maxCode {
		d.fill()
	}
	e := table[d.buf&(1<<width-1)]
	if e&subtable == subtable {
		d.take(width)
		e = table[uint64(e>>16)+d.buf&(1<<(e>>8&15)-1)]
	}
	d.take(uint(e >> 8 & 15))
	return e
}

// extra consumes the extra bits of an entry and returns them.
func (d *decoder) extra(e uint32) int { return int(d.take(uint(e&63 - e>>8&15))) }

// addSum updates the checksum.
func (d *decoder) addSum() {
	d.sum = adler32(d.sum, d.dst[d.summed:d.n])
	d.summed = d.n
}
