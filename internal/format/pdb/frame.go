package pdb

import (
	"encoding/binary"
	"fmt"
	"strconv"
)

const (
	fpoSize   = 16
	frameSize = 32
)

// Frames gives the unwind information of x86 code to yield as Breakpad's STACK
// WIN records, some at a time, which are valid until yield returns.
func (f *File) Frames(yield func(records []byte) error) error {
	const piece = 64 << 10
	var dst []byte
	for i, s := range f.frames {
		size := int64(fpoSize)
		if i == 1 {
			size = frameSize
		}
		var room [piece]byte
		for off := int64(0); off+size <= s.Size(); {
			n := min(piece, s.Size()-off) / size * size
			data, err := s.Bytes(off, int(n), room[:])
			if err != nil {
				return fmt.Errorf("frame data, offset %#x: %w", off, err)
			}
			for ; len(data) > 0; data = data[size:] {
				if i == 0 {
					dst = f.appendFPO(dst, data)
				} else {
					dst = f.appendFrame(dst, data)
				}
			}
			if err := yield(dst); err != nil {
				return err
			}
			dst = dst[:0]
			off += n
		}
	}
	return nil
}

// winRecord is what both kinds of frames say.
type winRecord struct {
	kind, start, size, prolog, params, saved, locals, stack uint32
}

// appendWin appends the fields of a record. Where its code was torn apart there
// is one for each piece of its prologue and of the rest.
func (f *File) appendWin(dst []byte, w winRecord, rest func(dst []byte) []byte) []byte {
	if int32(w.size) < 0 {
		return dst // no function is that long
	}
	write := func(r Range, prolog uint32) {
		dst = append(dst, "STACK WIN "...)
		for _, v := range [...]uint32{w.kind, r.Start, r.End - r.Start, prolog, 0, w.params, w.saved, w.locals, w.stack} {
			dst = append(strconv.AppendUint(dst, uint64(v), 16), ' ')
		}
		dst = append(rest(dst), '\n')
	}
	all := f.moved(nil, w.start, w.size)
	if len(all) == 1 && all[0].End-all[0].Start == w.size {
		write(all[0], w.prolog)
		return dst
	}
	prolog := min(w.prolog, w.size)
	for _, r := range f.moved(nil, w.start, prolog) {
		write(r, r.End-r.Start)
	}
	for _, r := range f.moved(nil, w.start+prolog, w.size-prolog) {
		write(r, 0)
	}
	return dst
}

// appendFPO appends the record of a frame without frame pointer.
func (f *File) appendFPO(dst, b []byte) []byte {
	u32 := func(at int) uint32 { return binary.LittleEndian.Uint32(b[at:]) }
	attributes := binary.LittleEndian.Uint16(b[14:])
	w := winRecord{
		kind: uint32(attributes >> 14), start: u32(0), size: u32(4), locals: 4 * u32(8), params: 4 * uint32(binary.LittleEndian.Uint16(b[12:])),
		prolog: uint32(attributes & 0xff), saved: 4 * uint32(attributes>>8&7),
	}
	return f.appendWin(dst, w, func(dst []byte) []byte {
		return append(dst, '0', ' ', '0'+byte(attributes>>12&1))
	})
}

// appendFrame appends the record of a frame with a program.
func (f *File) appendFrame(dst, b []byte) []byte {
	u32 := func(at int) uint32 { return binary.LittleEndian.Uint32(b[at:]) }
	w := winRecord{
		kind: 4, start: u32(0), size: u32(4), locals: u32(8), params: u32(12), stack: u32(16),
		prolog: uint32(binary.LittleEndian.Uint16(b[24:])), saved: uint32(binary.LittleEndian.Uint16(b[26:])),
	}
	return f.appendWin(dst, w, func(dst []byte) []byte {
		dst = append(dst, '1', ' ')
		from := len(dst)
		dst = f.AppendString(dst, u32(20))
		for len(dst) > from && dst[len(dst)-1] == ' ' {
			dst = dst[:len(dst)-1]
		}
		return dst
	})
}
