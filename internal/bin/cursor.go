package bin

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/bits"
)

var (
	// ErrShort means that the data ends before the requested bytes.
	ErrShort = errors.New("data ends early")
	// ErrOverflow means that a variable-length number has more than 64 bits.
	ErrOverflow = errors.New("number has more than 64 bits")
)

// A Cursor reads numbers and strings from the front of a byte slice. Its errors
// are sticky: after the first one every read returns zero and Len returns 0, so
// a parser can read a whole record and check Err once.
type Cursor struct {
	b   []byte
	off int
	big bool
	err error
}

// NewCursor returns a Cursor at the start of b. Any order other than
// binary.BigEndian is little endian.
func NewCursor(b []byte, order binary.ByteOrder) *Cursor {
	return &Cursor{b: b, big: order == binary.BigEndian}
}

// Off returns the number of bytes read so far, or the offset of the first read
// that failed.
func (c *Cursor) Off() int { return c.off }

// Len returns the number of bytes left, 0 after an error.
func (c *Cursor) Len() int { return len(c.b) - c.off }

// Err returns the first error, ErrShort or ErrOverflow.
func (c *Cursor) Err() error { return c.err }

// fail records err and drops the remaining bytes, so that later reads fail and
// loops over Len end without a check of Err.
func (c *Cursor) fail(err error) {
	if c.err == nil {
		c.err = err
	}
	c.b = c.b[:c.off:c.off]
}

// Bytes returns the next n bytes without copying them.
func (c *Cursor) Bytes(n int) []byte {
	if uint(n) > uint(len(c.b)-c.off) {
		c.fail(ErrShort)
		return nil
	}
	p := c.b[c.off : c.off+n : c.off+n]
	c.off += n
	return p
}

// Skip skips n bytes.
func (c *Cursor) Skip(n int) {
	if uint(n) > uint(len(c.b)-c.off) {
		c.fail(ErrShort)
		return
	}
	c.off += n
}

func (c *Cursor) U8() uint8 {
	if c.off >= len(c.b) {
		c.fail(ErrShort)
		return 0
	}
	v := c.b[c.off]
	c.off++
	return v
}

func (c *Cursor) U16() uint16 {
	p := c.Bytes(2)
	if p == nil {
		return 0
	}
	v := binary.LittleEndian.Uint16(p)
	if c.big {
		v = bits.ReverseBytes16(v)
	}
	return v
}

func (c *Cursor) U32() uint32 {
	p := c.Bytes(4)
	if p == nil {
		return 0
	}
	v := binary.LittleEndian.Uint32(p)
	if c.big {
		v = bits.ReverseBytes32(v)
	}
	return v
}

func (c *Cursor) U64() uint64 {
	p := c.Bytes(8)
	if p == nil {
		return 0
	}
	v := binary.LittleEndian.Uint64(p)
	if c.big {
		v = bits.ReverseBytes64(v)
	}
	return v
}

// Word reads a number of 8 bytes, or of 4.
func (c *Cursor) Word(isWide bool) uint64 {
	if isWide {
		return c.U64()
	}
	return uint64(c.U32())
}

// Uleb reads an unsigned LEB128 number. Redundant zero padding, which some
// assemblers write, is accepted.
func (c *Cursor) Uleb() uint64 {
	if c.off < len(c.b) && c.b[c.off] < 0x80 {
		v := uint64(c.b[c.off])
		c.off++
		return v
	}
	var v uint64
	for shift, i := uint(0), c.off; i < len(c.b); i++ {
		x := c.b[i]
		part := uint64(x & 0x7f)
		if part != 0 && (shift > 63 || part<<shift>>shift != part) {
			c.fail(ErrOverflow)
			return 0
		}
		v |= part << shift
		if x < 0x80 {
			c.off = i + 1
			return v
		}
		shift += 7
	}
	c.fail(ErrShort)
	return 0
}

// Sleb reads a signed LEB128 number. Padding with copies of the sign is
// accepted.
func (c *Cursor) Sleb() int64 {
	var v int64
	for shift, i := uint(0), c.off; i < len(c.b); i++ {
		x := c.b[i]
		part := int64(x & 0x7f)
		switch {
		case shift < 63:
			v |= part << shift
		case shift == 63 && (part == 0 || part == 0x7f):
			v |= part << 63
		case shift > 63 && part == v>>63&0x7f:
		default:
			c.fail(ErrOverflow)
			return 0
		}
		shift += 7
		if x < 0x80 {
			if x&0x40 != 0 && shift < 64 {
				v |= -1 << shift
			}
			c.off = i + 1
			return v
		}
	}
	c.fail(ErrShort)
	return 0
}

// CString returns the bytes up to the next NUL without copying them, and skips
// the NUL. Without a NUL, it fails with ErrShort.
func (c *Cursor) CString() []byte {
	n := bytes.IndexByte(c.b[c.off:], 0)
	if n < 0 {
		c.fail(ErrShort)
		return nil
	}
	p := c.b[c.off : c.off+n : c.off+n]
	c.off += n + 1
	return p
}
