package flate

import (
	"encoding/binary"
	"sync"

	"symbolon/internal/fault"
)

// place is the place of all errors. The caller adds the section and the file.
const place = "deflate stream"

// stage is the next part of a stream.
type stage uint8

const (
	atBlock  stage = iota // the header of a block
	inStored              // bytes of a stored block
	inCodes               // symbols of a compressed block
	atEnd                 // after the last block
	atDone                // after the checksum
)

// decoder inflates a stream into a slice.
type decoder struct {
	src, dst []byte
	pos      int    // bytes of src that are in buf or consumed
	buf      uint64 // the next bits, the first one lowest
	nbits    uint   // number of valid bits of buf
	n        int    // bytes written to dst
	summed   int    // bytes of dst that are in sum
	sum      uint32
	stored   int // bytes left of a stored block
	stage    stage
	last     bool // this is the last block
	zlib     bool
	fixed    bool // the tables are those of the fixed codes
	err      error
	tables
}

// decoders reuses decoders, for their tables.
var decoders = sync.Pool{New: func() any { return new(decoder) }}

// Zlib inflates a zlib stream into the whole of dst. A stream with fewer or more bytes is
// Malformed, and so is one with a wrong checksum. With an error it returns the bytes
// inflated before it. It calls tick, unless nil, after every 16 MiB of output.
func Zlib(dst, src []byte, tick func()) ([]byte, error) {
	d := decoders.Get().(*decoder)
	defer d.release()
	d.reset(dst, src, true)
	d.run(tick)
	if d.err == nil {
		d.finish()
	}
	return dst[:d.n], d.err
}

// Raw inflates a bare DEFLATE stream into dst and returns its length. A stream
// longer than dst is Malformed. It calls tick like Zlib.
func Raw(dst, src []byte, tick func()) (n int, err error) {
	return inflate(dst, 0, src, tick)
}

// Follow inflates a bare DEFLATE stream into dst after its first have bytes,
// which the stream may refer to. It returns the new number of bytes in dst.
func Follow(dst []byte, have int, src []byte) (n int, err error) {
	return inflate(dst, have, src, nil)
}

func inflate(dst []byte, have int, src []byte, tick func()) (n int, err error) {
	d := decoders.Get().(*decoder)
	defer d.release()
	d.reset(dst, src, false)
	d.n = have
	d.run(tick)
	return d.n, d.err
}

// tickEvery is the number of bytes of output between calls of tick.
const tickEvery = 16 << 20

// run inflates all blocks.
func (d *decoder) run(tick func()) {
	for next := d.n + tickEvery; d.stage < atEnd && d.err == nil; {
		d.step(min(len(d.dst), d.n+sumEvery))
		if d.zlib {
			d.addSum()
		}
		if d.n >= next && tick != nil {
			tick()
			next = d.n + tickEvery
		}
	}
}

func (d *decoder) release() {
	d.src, d.dst, d.err = nil, nil, nil
	decoders.Put(d)
}

func (d *decoder) reset(dst, src []byte, zlib bool) {
	d.src, d.dst, d.zlib = src, dst, zlib
	d.pos, d.buf, d.nbits, d.n, d.summed, d.sum, d.stored = 0, 0, 0, 0, 0, 1, 0
	d.stage, d.last, d.fixed, d.err = atBlock, false, false, nil
	if !zlib {
		return
	}
	switch {
	case len(src) < 2:
		d.fail("unexpected end of stream in the header")
	case src[0]&15 != 8 || src[0]>>4 > 7 || (int(src[0])<<8|int(src[1]))%31 != 0:
		d.fail("invalid zlib header %02x %02x", src[0], src[1])
	case src[1]&0x20 != 0:
		d.err = fault.New(fault.Unsupported, place, "preset dictionary")
	default:
		d.pos = 2
	}
}

// fail records the first error, with the position in the input.
func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		args = append(args, d.pos-int(d.nbits/8), d.n)
		d.err = fault.New(fault.Malformed, place, format+" at offset %#x, after %d bytes of output", args...)
	}
}

// step does a part of the current stage, at least one byte of input or output.
// It may stop as soon as limit bytes are written.
func (d *decoder) step(limit int) {
	switch d.stage {
	case atBlock:
		d.block()
	case inStored:
		d.copyStored()
	case inCodes:
		d.decodeFast(limit)
		if d.stage == inCodes && d.err == nil {
			d.decodeSlow(limit)
		}
	}
}

// fill reads whole bytes into buf while they fit. decodeFast may have left
// uncounted bits of the next byte in buf: they are the same bits.
func (d *decoder) fill() {
	d.buf &= 1<<(d.nbits&63) - 1
	for d.nbits < 56 && d.pos < len(d.src) {
		d.buf |= uint64(d.src[d.pos]) << (d.nbits & 63)
		d.pos++
		d.nbits += 8
	}
}

// take consumes n bits, at most 32. At the end of the input it fails and
// returns zero.
func (d *decoder) take(n uint) uint32 {
	if d.nbits < n {
		if d.fill(); d.nbits < n {
			d.fail("unexpected end of stream")
			d.buf, d.nbits = 0, 0
			return 0
		}
	}
	v := uint32(d.buf & (1<<(n&63) - 1))
	d.buf >>= n & 63
	d.nbits -= n
	return v
}

// endBlock moves to the next block.
func (d *decoder) endBlock() {
	d.stage = atBlock
	if d.last {
		d.stage = atEnd
	}
}

// block reads the header of a block, with its codes.
func (d *decoder) block() {
	d.last = d.take(1) == 1
	switch kind := d.take(2); {
	case d.err != nil:
	case kind == 0:
		d.take(d.nbits & 7)
		size := d.take(16)
		if check := d.take(16); d.err == nil && size != ^check&0xffff {
			d.fail("length check of stored block mismatch: %#x, expected %#x,", ^check&0xffff, size)
		}
		d.stored, d.stage = int(size), inStored
	case kind == 1:
		if !d.fixed {
			d.fixed = true
			d.fixedTables()
		}
		d.stage = inCodes
	case kind == 2:
		d.fixed = false
		d.readCodes()
		d.stage = inCodes
	default:
		d.fail("invalid block type")
	}
}

// copyStored copies the rest of a stored block.
func (d *decoder) copyStored() {
	d.pos -= int(d.nbits / 8) // buf holds whole bytes here
	d.buf, d.nbits = 0, 0
	have := d.src[d.pos:]
	have = have[:min(len(have), d.stored)]
	n := copy(d.dst[d.n:], have)
	d.n += n
	d.pos += n
	d.stored -= n
	switch {
	case d.stored == 0:
		d.endBlock()
	case n < len(have):
		d.failTooLong()
	default:
		d.fail("unexpected end of stream in a stored block")
	}
}

func (d *decoder) failTooLong() { d.fail("the stream inflates to more than %d bytes", len(d.dst)) }

// finish checks the size and the checksum.
func (d *decoder) finish() {
	d.addSum()
	d.stage = atDone
	if d.n < len(d.dst) {
		d.fail("the stream inflates to fewer than %d bytes", len(d.dst))
		return
	}
	d.take(d.nbits & 7)
	var sum [4]byte
	for i := range sum {
		sum[i] = byte(d.take(8))
	}
	if want := binary.BigEndian.Uint32(sum[:]); d.err == nil && want != d.sum {
		d.fail("checksum mismatch: %08x, expected %08x", d.sum, want)
	}
}
