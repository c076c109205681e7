package xz

import "encoding/binary"

const (
	states   = 12
	minMatch = 2
	maxMatch = 273
	half     = 1024 // a probability of 1/2; all are fractions of 2048
)

// lengths is the model of match lengths.
type lengths struct {
	choice [2]uint16
	low    [16][8]uint16 // by position
	mid    [16][8]uint16
	high   [256]uint16
}

// model has the probabilities of a zero bit in all contexts.
type model struct {
	isMatch    [states][16]uint16
	isRep      [states]uint16
	isRep0     [states]uint16 // zero: repeat the last distance
	isRep1     [states]uint16
	isRep2     [states]uint16
	isRep0Long [states][16]uint16
	once, rep  lengths
	slot       [4][64]uint16
	special    [128]uint16
	align      [16]uint16
	literal    [16][0x300]uint16 // by position and previous byte
}

// lzma decodes the LZMA chunks of a file.
type lzma struct {
	model
	lc, lp, pb uint
	state      int
	reps       [4]int // the last distances, less one
	dict       int    // start of the dictionary in the output

	// State of the range decoder. After the end of src it reads zeros; pos then
	// exceeds len(src).
	src       []byte
	pos       int
	rng, code uint32
}

// setProps decodes the properties byte: the numbers of bits of the previous
// byte (lc) and of the position (lp, pb) in a context. It returns false if they
// are invalid.
func (l *lzma) setProps(b byte) bool {
	l.lc, l.lp, l.pb = uint(b%9), uint(b/9%5), uint(b/45)
	return l.pb <= 4 && l.lc+l.lp <= 4
}

func (l *lzma) reset() {
	m := &l.model
	for i := range m.isMatch {
		fill(m.isMatch[i][:])
		fill(m.isRep0Long[i][:])
	}
	for _, p := range [][]uint16{m.isRep[:], m.isRep0[:], m.isRep1[:], m.isRep2[:], m.special[:], m.align[:]} {
		fill(p)
	}
	for _, n := range []*lengths{&m.once, &m.rep} {
		fill(n.choice[:])
		for i := range n.low {
			fill(n.low[i][:])
			fill(n.mid[i][:])
		}
		fill(n.high[:])
	}
	for i := range m.slot {
		fill(m.slot[i][:])
	}
	for i := range m.literal[:1<<(l.lc+l.lp)] {
		fill(m.literal[i][:])
	}
	l.state, l.reps = 0, [4]int{}
}

func fill(p []uint16) {
	for i := range p {
		p[i] = half
	}
}

// start starts a chunk.
func (l *lzma) start(src []byte) bool {
	if len(src) < 5 || src[0] != 0 {
		return false
	}
	l.src, l.pos, l.rng, l.code = src, 5, 1<<32-1, binary.BigEndian.Uint32(src[1:])
	return true
}

// finished reports whether a chunk ends with its data.
func (l *lzma) finished() bool {
	l.normalize()
	return l.code == 0 && l.pos == len(l.src)
}

func (l *lzma) normalize() {
	if l.rng < 1<<24 {
		l.shift()
	}
}

func (l *lzma) shift() {
	l.rng <<= 8
	l.code <<= 8
	if l.pos < len(l.src) {
		l.code |= uint32(l.src[l.pos])
	}
	l.pos++
}

// bit decodes a bit, and adapts its probability.
func (l *lzma) bit(p *uint16) int {
	if l.rng < 1<<24 {
		l.shift()
	}
	bound := l.rng >> 11 * uint32(*p)
	if l.code < bound {
		l.rng = bound
		*p += (2048 - *p) >> 5
		return 0
	}
	l.rng -= bound
	l.code -= bound
	*p -= *p >> 5
	return 1
}

// tree decodes a number of log2(len(p)) bits, highest bit first.
func (l *lzma) tree(p []uint16) int {
	i := 1
	for i < len(p) {
		i = i<<1 | l.bit(&p[i])
	}
	return i - len(p)
}

// reverse decodes a number of n bits, lowest bit first.
func (l *lzma) reverse(p []uint16, n int) int {
	v, i := 0, 1
	for at := range n {
		b := l.bit(&p[i])
		i = i<<1 | b
		v |= b << at
	}
	return v
}

// direct decodes n bits without a model.
func (l *lzma) direct(n int) int {
	v := 0
	for range n {
		l.normalize()
		l.rng >>= 1
		b := 1
		if l.code < l.rng {
			b = 0
		} else {
			l.code -= l.rng
		}
		v = v<<1 | b
	}
	return v
}

func (l *lzma) length(n *lengths, position int) int {
	switch {
	case l.bit(&n.choice[0]) == 0:
		return minMatch + l.tree(n.low[position][:])
	case l.bit(&n.choice[1]) == 0:
		return minMatch + 8 + l.tree(n.mid[position][:])
	}
	return minMatch + 16 + l.tree(n.high[:])
}

// distance decodes the distance of a match, less one.
func (l *lzma) distance(length int) int {
	slot := l.tree(l.slot[min(length-minMatch, 3)][:])
	if slot < 4 {
		return slot
	}
	n := slot/2 - 1
	base := (2 | slot&1) << n
	if slot < 14 {
		return base + l.reverse(l.special[base-slot:], n)
	}
	return base + l.direct(n-4)<<4 + l.reverse(l.align[:], 4)
}

// literalByte decodes a byte. After a match, guess, the byte that would have
// continued it, is the context as long as the decoded bits are equal to its
// bits.
func (l *lzma) literalByte(p *[0x300]uint16, guess int) byte {
	v := 1
	if l.state >= 7 {
		for same := 0x100; v < 0x100; {
			guess <<= 1
			b := l.bit(&p[(same+guess&same+v)%0x300])
			v = v<<1 | b
			if same &= ^(guess ^ b<<8); same == 0 {
				break
			}
		}
	}
	// The hot loop, with local copies of the state.
	rng, code := l.rng, l.code
	for v < 0x100 {
		if rng < 1<<24 {
			rng <<= 8
			code <<= 8
			if l.pos < len(l.src) {
				code |= uint32(l.src[l.pos])
			}
			l.pos++
		}
		q := p[v]
		bound := rng >> 11 * uint32(q)
		if code < bound {
			rng = bound
			p[v] = q + (2048-q)>>5
			v <<= 1
		} else {
			rng -= bound
			code -= bound
			p[v] = q - q>>5
			v = v<<1 | 1
		}
	}
	l.rng, l.code = rng, code
	return byte(v)
}

// decode appends to out until it has at least until bytes; no match may extend
// past end. The capacity of out is at least until+maxMatch or end.
func (l *lzma) decode(out []byte, until, end int) ([]byte, bool) {
	mask, litMask := 1<<l.pb-1, 1<<l.lp-1
	for len(out) < until {
		if l.pos > len(l.src) {
			return out, false
		}
		position, before := len(out)-l.dict, 0
		if position > 0 {
			before = int(out[len(out)-1])
		}
		if l.bit(&l.isMatch[l.state][position&mask]) == 0 {
			context := (position&litMask)<<l.lc | before>>(8-l.lc)
			guess := 0
			if l.state >= 7 {
				guess = int(out[len(out)-1-l.reps[0]])
			}
			out = append(out, l.literalByte(&l.literal[context&15], guess))
			switch {
			case l.state < 4:
				l.state = 0
			case l.state < 10:
				l.state -= 3
			default:
				l.state -= 6
			}
			continue
		}
		length := l.match(position & mask)
		if uint(l.reps[0]) >= uint(position) || length > end-len(out) {
			return out, false
		}
		out = repeat(out, l.reps[0]+1, length)
	}
	return out, true
}

// match decodes a match. It returns the length; the distance is in reps[0].
func (l *lzma) match(position int) int {
	s := l.state
	match, rep, short := 10, 11, 11 // the next state
	if s < 7 {                      // after a literal
		match, rep, short = 7, 8, 9
	}
	if l.bit(&l.isRep[s]) == 0 {
		length := l.length(&l.once, position)
		l.state = match
		l.reps = [4]int{l.distance(length), l.reps[0], l.reps[1], l.reps[2]}
		return length
	}
	r := &l.reps
	switch {
	case l.bit(&l.isRep0[s]) == 0:
		if l.bit(&l.isRep0Long[s][position]) == 0 {
			l.state = short
			return 1
		}
	case l.bit(&l.isRep1[s]) == 0:
		r[0], r[1] = r[1], r[0]
	case l.bit(&l.isRep2[s]) == 0:
		r[0], r[1], r[2] = r[2], r[0], r[1]
	default:
		r[0], r[1], r[2], r[3] = r[3], r[0], r[1], r[2]
	}
	l.state = rep
	return l.length(&l.rep, position)
}

// repeat appends length bytes from dist bytes before the end; source and
// destination may overlap.
func repeat(out []byte, dist, length int) []byte {
	start := len(out) - dist
	for length > 0 {
		n := min(length, len(out)-start)
		out = append(out, out[start:start+n]...)
		length -= n
	}
	return out
}
