package flate

import "encoding/binary"

const (
	// What one round of fast may take of the input, and write behind the
	// output that it counts: four literals, a match, and what copying writes
	// too much.
	roundIn  = 16
	roundOut = 4 + 258 + 16

	// sumEvery is after how many bytes of output the checksum catches up,
	// while they are still near.
	sumEvery = 1 << 15
)

// fast decodes symbols of a block until limit bytes are done, the block is
// over, or input or output come near their ends.
func (d *decoder) fast(limit int) {
	src, dst := d.src, d.dst
	pos, n, buf, nbits := d.pos, d.n, d.buf, d.nbits
	inLimit, outLimit := len(src)-roundIn, min(limit, len(dst)-roundOut)
	for pos <= inLimit && n < outLimit {
		// Eight more bytes, of which those count that fit whole. The bits
		// above nbits are right and come again.
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
				d.other(e)
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
		if e&deeper == deeper {
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

// copyMatch repeats length bytes from dist bytes before n, in steps of eight.
// It writes up to 15 bytes too many.
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
	// The eight bytes fit again after each whole number of repetitions.
	step := 8 - 8%dist
	v := binary.LittleEndian.Uint64(to)
	for i := step; i < length; i += step {
		binary.LittleEndian.PutUint64(to[i:], v)
	}
}

// other deals with an entry that is no literal and no length.
func (d *decoder) other(e uint32) {
	if e&endOf != 0 {
		d.endBlock()
		return
	}
	d.fail("bits without meaning")
}

func (d *decoder) failDist(e uint32, dist int) {
	if e&special != 0 {
		d.fail("distance without meaning")
		return
	}
	d.fail("distance of %d", dist)
}

// slow does the same as fast, with an eye on the ends.
func (d *decoder) slow(limit int) {
	for d.n < limit || d.n == len(d.dst) {
		e := d.symbol(d.lit[:], litBits)
		if d.err != nil {
			return
		}
		if e&special != 0 {
			d.other(e)
			return
		}
		for v := e >> 16; e&counted != 0; e -= literal {
			if d.n == len(d.dst) {
				d.failLong()
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
			d.failLong()
			return
		}
		for range length {
			d.dst[d.n] = d.dst[d.n-dist]
			d.n++
		}
	}
}

// symbol takes a word and gives its entry. The extra bits stay, for extra.
func (d *decoder) symbol(table []uint32, width uint) uint32 {
	if d.nbits < 2*maxWord {
		d.fill()
	}
	e := table[d.buf&(1<<width-1)]
	if e&deeper == deeper {
		d.take(width)
		e = table[uint64(e>>16)+d.buf&(1<<(e>>8&15)-1)]
	}
	d.take(uint(e >> 8 & 15))
	return e
}

// extra is the extra bits of an entry.
func (d *decoder) extra(e uint32) int { return int(d.take(uint(e&63 - e>>8&15))) }

// addSum brings the checksum up to date.
func (d *decoder) addSum() {
	d.sum = adler32(d.sum, d.dst[d.summed:d.n])
	d.summed = d.n
}
