package cab

import (
	"errors"
	"fmt"
)

// Types of LZX blocks.
const (
	kindVerbatim = 1 + iota
	kindAligned
	kindRaw
)

const (
	minWindow, maxWindow = 15, 21 // bits
	literals             = 256
	numLengths           = 249 // symbols of the code of lengths
	numAligned           = 8
	numPre               = 20 // symbols of the code for code lengths
	minMatch             = 2
	longMatch            = 7 // from here on, the length is in the code of lengths
)

// slots is the number of distance slots for each size of window.
var slots = [maxWindow + 1]int{15: 30, 32, 34, 36, 38, 42, 50}

var (
	errShort = errors.New("LZX data ends early")
	errCode  = errors.New("invalid LZX code word")
)

// lzx is the state of an LZX stream. A frame, the content of a block of the
// cabinet, continues the stream of the frame before it.
type lzx struct {
	window  int
	buf     []byte // twice the window
	pos     int    // index in buf
	done    int64  // bytes before this frame
	symbols int    // symbols of the main code
	recent  [3]int // the most recent distances
	started bool
	calls   uint32 // size of the program if the targets of its calls are absolute, else zero
	kind    uint8
	left    int  // bytes left of the block
	padded  bool // a padding byte follows the block
	err     error
	bitReader

	mainLengths [maxMain]uint8
	lengths     [numLengths]uint8
	main        code
	length      code
	aligned     code
	out         []byte // a frame with converted calls
}

// reset starts a stream with a window of 2^bits bytes. It returns false if the
// size is invalid.
func (d *lzx) reset(bits int) bool {
	if bits < minWindow || bits > maxWindow {
		return false
	}
	d.window, d.symbols = 1<<bits, literals+8*slots[bits]
	if len(d.buf) < 2*d.window {
		d.buf = make([]byte, 2*d.window)
	}
	d.pos, d.done, d.recent, d.started, d.left, d.padded, d.err = 0, 0, [3]int{1, 1, 1}, false, 0, false, nil
	clear(d.mainLengths[:])
	clear(d.lengths[:])
	return true
}

// decodeFrame decodes a block of the cabinet to n bytes, which are valid until the next
// call.
func (d *lzx) decodeFrame(src []byte, n int) ([]byte, error) {
	d.bitReader = bitReader{src: src}
	if !d.started {
		d.started, d.calls = true, 0
		if d.take(1) == 1 {
			d.calls = d.take(16)<<16 | d.take(16)
		}
	}
	if d.pos+n > 2*d.window {
		d.pos = copy(d.buf, d.buf[d.pos-d.window:d.pos])
	}
	start := d.pos
	for end := start + n; d.pos < end && d.err == nil; {
		if d.left == 0 {
			d.readBlock()
			continue
		}
		stop := min(end, d.pos+d.left)
		d.left -= stop - d.pos
		if d.kind == kindRaw {
			d.copyRaw(stop)
		} else {
			d.decodeMatches(stop)
		}
	}
	if d.err == nil && d.isPastEnd() {
		d.err = errShort
	}
	if d.err != nil {
		return nil, fmt.Errorf("%w after %d bytes", d.err, d.done+int64(d.pos-start))
	}
	out := d.relativeCalls(d.buf[start:d.pos])
	d.done += int64(n)
	return out, nil
}

// readBlock reads the header of a block, with its codes.
func (d *lzx) readBlock() {
	d.skipPadding()
	d.kind = uint8(d.take(3))
	size := d.take(16)<<8 | d.take(8)
	d.left, d.padded = int(size), d.kind == kindRaw && size&1 == 1
	switch d.kind {
	case kindRaw:
		d.align()
		for i := range d.recent {
			d.recent[i] = int(d.word())
		}
	case kindAligned:
		var lengths [numAligned]uint8
		for i := range lengths {
			lengths[i] = uint8(d.take(3))
		}
		d.build(&d.aligned, lengths[:])
		fallthrough
	case kindVerbatim:
		d.readLengths(d.mainLengths[:literals])
		d.readLengths(d.mainLengths[literals:d.symbols])
		d.build(&d.main, d.mainLengths[:d.symbols])
		d.readLengths(d.lengths[:])
		d.build(&d.length, d.lengths[:])
	default:
		d.err = fmt.Errorf("unknown LZX block type %d", d.kind)
	}
	if d.isPastEnd() && d.err == nil {
		d.err = errShort
	}
}

// skipPadding skips the byte after a raw block of odd size, which may be in this frame or
// in the next one.
func (d *lzx) skipPadding() {
	if d.padded && len(d.rest()) > 0 {
		d.advance(1)
		d.padded = false
	}
}

func (d *lzx) build(c *code, lengths []uint8) {
	if err := c.build(lengths); err != nil && d.err == nil {
		d.err = err
	}
}

// readLengths updates the lengths of words from the stream, which encodes the
// differences in a code of its own.
func (d *lzx) readLengths(lengths []uint8) {
	var pre [numPre]uint8
	for i := range pre {
		pre[i] = uint8(d.take(4))
	}
	d.build(&d.length, pre[:]) // free until it is built from the lengths
	for i := 0; i < len(lengths) && d.err == nil; {
		symbol := d.symbol(&d.length)
		n, value := 1, uint8(0)
		switch symbol {
		case 17:
			n = 4 + int(d.take(4))
		case 18:
			n = 20 + int(d.take(5))
		case 19:
			n = 4 + int(d.take(1))
			if symbol = d.symbol(&d.length); symbol > 16 {
				d.err = errCode
				return
			}
			fallthrough
		default:
			value = (lengths[i] + 17 - uint8(symbol)) % 17
		}
		if n > len(lengths)-i {
			d.err = errors.New("too many LZX code lengths")
			return
		}
		for range n {
			lengths[i] = value
			i++
		}
	}
}

// symbol reads a word and returns its symbol.
func (d *lzx) symbol(c *code) uint {
	d.fill()
	e := c.short[d.peek(rootBits)]
	if e != 0 {
		d.skip(uint(e & 15))
		return uint(e >> 4)
	}
	symbol, n := c.lookupLong(d.peek(maxWord))
	if n == 0 && d.err == nil {
		d.err = errCode
	}
	d.skip(n)
	return symbol
}

// copyRaw copies bytes of an uncompressed block.
func (d *lzx) copyRaw(stop int) {
	n := copy(d.buf[d.pos:stop], d.rest())
	d.advance(n)
	if d.pos += n; d.pos < stop {
		d.err = errShort
	} else if d.left == 0 {
		d.skipPadding()
	}
}

// decodeMatches decodes up to stop, where a match must end too.
func (d *lzx) decodeMatches(stop int) {
	for d.pos < stop && d.err == nil {
		symbol := d.symbol(&d.main)
		if symbol < literals {
			d.buf[d.pos] = uint8(symbol)
			d.pos++
			continue
		}
		symbol -= literals
		n := int(symbol&7) + minMatch
		if symbol&7 == longMatch {
			n += int(d.symbol(&d.length))
		}
		distance := d.distance(symbol >> 3)
		switch {
		case d.err != nil:
		case n > stop-d.pos:
			d.err = errors.New("LZX match exceeds its block")
		case distance < 1 || distance > d.window || distance > d.pos:
			d.err = fmt.Errorf("invalid LZX distance %d", distance)
		default:
			repeat(d.buf, d.pos, distance, n)
			d.pos += n
		}
	}
}

// repeat copies n bytes from distance bytes back, which may be less than n.
func repeat(buf []byte, pos, distance, n int) {
	from, to := buf[pos-distance:], buf[pos:pos+n]
	for len(to) > distance {
		copy(to, from[:distance])
		to = to[distance:]
		distance *= 2
	}
	copy(to, from)
}

// distance returns the distance of a slot, and makes it the most recent one.
func (d *lzx) distance(slot uint) int {
	if slot < 3 {
		d.recent[0], d.recent[slot] = d.recent[slot], d.recent[0]
		return d.recent[0]
	}
	base, extra := slotOf(slot)
	d.fill()
	if extra >= 3 && d.kind == kindAligned {
		base += int(d.bits(extra-3)) << 3
		base += int(d.symbol(&d.aligned))
	} else {
		base += int(d.bits(extra))
	}
	d.recent = [3]int{base, d.recent[0], d.recent[1]}
	return base
}

// slotOf returns the smallest distance of a slot, and the number of extra bits.
func slotOf(slot uint) (base int, extra uint) {
	switch {
	case slot < 4:
		return int(slot) - 2, 0
	case slot < 36:
		extra = slot/2 - 1
		return int(2+slot&1)<<extra - 2, extra
	}
	return 1<<18 + int(slot-36)<<17 - 2, 17
}
