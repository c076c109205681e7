package cab

import "encoding/binary"

// bitReader takes bits from little endian words of 16 bits, the highest one first.
// Behind the end there are zeros, which over tells.
type bitReader struct {
	src []byte
	at  int    // bytes of src that are in buf, or used, and those behind the end
	buf uint64 // the next bits, below those that are used
	n   uint   // bits of buf
}

// fill takes words until there are at least 48 bits.
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

// peek is the next n bits, which fill has taken.
func (r *bitReader) peek(n uint) uint32 { return uint32(r.buf>>(r.n-n)) & (1<<n - 1) }

func (r *bitReader) drop(n uint) { r.n -= n }

// bits takes n bits, which fill has taken.
func (r *bitReader) bits(n uint) uint32 {
	v := r.peek(n)
	r.n -= n
	return v
}

// take takes n bits, 16 at most.
func (r *bitReader) take(n uint) uint32 {
	r.fill()
	return r.bits(n)
}

// used is how many bytes of src are used, the present word among them.
func (r *bitReader) used() int { return r.at - int(r.n/16)*2 }

// over says that more bits were used than there are.
func (r *bitReader) over() bool { return r.used() > len(r.src) }

// align goes to the start of the next word, even if it is at that of one.
func (r *bitReader) align() {
	r.fill()
	r.at = r.used()
	if r.n%16 == 0 {
		r.at += 2
	}
	r.buf, r.n = 0, 0
}

// rest is the bytes behind the present word.
func (r *bitReader) rest() []byte { return r.src[min(r.used(), len(r.src)):] }

// advance goes on behind the first n bytes of rest.
func (r *bitReader) advance(n int) { r.at, r.buf, r.n = r.used()+n, 0, 0 }

// word is the four bytes at the start of rest.
func (r *bitReader) word() uint32 {
	b := r.rest()
	r.advance(4)
	if len(b) < 4 {
		return 0
	}
	return binary.LittleEndian.Uint32(b)
}
