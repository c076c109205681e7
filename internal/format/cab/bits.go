package cab

import "encoding/binary"

// bitReader reads bits from little-endian words of 16 bits, the highest bit
// first. After the end it returns zeros, and over reports true.
type bitReader struct {
	src []byte
	at  int    // bytes of src that have been moved to buf, including those after the end
	buf uint64 // the next bits, below those that are consumed
	n   uint   // number of valid bits of buf
}

// fill reads words until buf has at least 48 bits.
func (r *bitReader) fill() {
	for r.n < 48 {
		var w uint16
		if r.at+2 <= len(r.src) {
			w = binary.LittleEndian.Uint16(r.src[r.at:])
		}
		r.buf = r.buf<<16 | uint64(w)
		r.at += 2
		r.n += 16
	}
}

// peek returns the next n bits. The caller has called fill.
func (r *bitReader) peek(n uint) uint32 { return uint32(r.buf>>(r.n-n)) & (1<<n - 1) }

func (r *bitReader) skip(n uint) { r.n -= n }

// bits consumes n bits. The caller has called fill.
func (r *bitReader) bits(n uint) uint32 {
	v := r.peek(n)
	r.n -= n
	return v
}

// take consumes n bits, at most 16.
func (r *bitReader) take(n uint) uint32 {
	r.fill()
	return r.bits(n)
}

// used returns the number of bytes of src that are consumed, with the current
// word.
func (r *bitReader) used() int { return r.at - int(r.n/16)*2 }

// isPastEnd reports whether more bits were consumed than src has.
func (r *bitReader) isPastEnd() bool { return r.used() > len(r.src) }

// align moves to the start of the next word, even at the start of a word.
func (r *bitReader) align() {
	r.fill()
	r.at = r.used()
	if r.n%16 == 0 {
		r.at += 2
	}
	r.buf, r.n = 0, 0
}

// rest returns the bytes after the current word.
func (r *bitReader) rest() []byte { return r.src[min(r.used(), len(r.src)):] }

// advance skips the first n bytes of rest.
func (r *bitReader) advance(n int) { r.at, r.buf, r.n = r.used()+n, 0, 0 }

// word consumes the four bytes at the start of rest.
func (r *bitReader) word() uint32 {
	b := r.rest()
	r.advance(4)
	if len(b) < 4 {
		return 0
	}
	return binary.LittleEndian.Uint32(b)
}
