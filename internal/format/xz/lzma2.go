package xz

import "encoding/binary"

// data decodes the LZMA2 chunks of a block.
//
// The first byte of a chunk is its type:
//
//	0          the end
//	1, 2       uncompressed; 1 resets the dictionary
//	80 and up  LZMA; bits 5 and 6 select the reset: nothing, the state, the
//	           state with new properties, or these and the dictionary
func (u *unpacker) data() error {
	needDict := true  // the dictionary must be reset
	needProps := true // LZMA must set its properties
	for {
		if u.pos >= len(u.src) {
			return u.malformed("data", "unexpected end of file")
		}
		control := u.src[u.pos]
		u.pos++
		if control == 0 {
			return nil
		}
		if control >= 0xe0 || control == 1 {
			needDict, needProps = false, true
			u.lzma.dict = len(u.out)
		}
		if needDict || control > 2 && control < 0x80 {
			return u.malformed("data", "invalid chunk type %#x", control)
		}
		var err error
		if control < 0x80 {
			err = u.copyChunk()
		} else {
			needProps = needProps && control < 0xc0
			err = u.lzmaChunk(control, needProps)
		}
		if err != nil {
			return err
		}
	}
}

// take consumes the next n bytes.
func (u *unpacker) take(n int) ([]byte, error) {
	if n > len(u.src)-u.pos {
		return nil, u.malformed("data", "unexpected end of file")
	}
	p := u.src[u.pos : u.pos+n]
	u.pos += n
	return p, nil
}

// copyChunk reads an uncompressed chunk.
func (u *unpacker) copyChunk() error {
	p, err := u.take(2)
	if err == nil {
		p, err = u.take(int(binary.BigEndian.Uint16(p)) + 1)
	}
	if err == nil && u.sizeOnly {
		u.size += len(p)
		return nil
	}
	if err == nil {
		err = u.grow(len(p))
	}
	if err == nil {
		u.out = append(u.out, p...)
	}
	return err
}

// lzmaChunk reads a chunk of LZMA.
func (u *unpacker) lzmaChunk(control byte, needProps bool) error {
	p, err := u.take(4)
	if err != nil {
		return err
	}
	unpacked := int(control&0x1f)<<16 + int(binary.BigEndian.Uint16(p)) + 1
	packed := int(binary.BigEndian.Uint16(p[2:])) + 1
	if control >= 0xc0 {
		p, err = u.take(1)
		if err != nil {
			return err
		}
		if needProps = !u.lzma.setProps(p[0]); needProps {
			return u.malformed("data", "invalid properties %#x", p[0])
		}
	}
	if needProps {
		return u.malformed("data", "invalid chunk type %#x", control)
	}
	if control >= 0xa0 {
		u.lzma.reset()
	}
	start := u.pos
	if p, err = u.take(packed); err != nil {
		return err
	}
	if u.sizeOnly {
		u.size += unpacked
		return nil
	}
	l := &u.lzma
	if !l.start(p) {
		return u.malformed("data", "invalid start of LZMA data")
	}
	for end := len(u.out) + unpacked; len(u.out) < end && err == nil; {
		// Grow by at most the size of the output so far, plus a match.
		step := min(end-len(u.out), max(len(u.out), 1<<16))
		if err = u.grow(min(step+maxMatch, end-len(u.out))); err != nil {
			return err
		}
		ok := false
		u.out, ok = l.decode(u.out, len(u.out)+step, end)
		if !ok {
			u.pos = start + min(l.pos, len(p))
			return u.malformed("data", "invalid LZMA data")
		}
	}
	if !l.finished() {
		return u.malformed("data", "LZMA data does not end with its chunk")
	}
	return nil
}
