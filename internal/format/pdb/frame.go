package pdb

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strconv"
)

const (
	fpoSize   = 16
	frameSize = 32
)

// Frames passes the unwind information of x86 code to yield as Breakpad's STACK
// WIN records, in batches that are valid until yield returns.
func (f *File) Frames(yield func(records []byte) error) error {
	const piece = 64 << 10
	var dst []byte
	var last winRecord
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
				read := frameOf
				if i == 0 {
					read = fpoOf
				}
				w := read(data)
				if w.key != last.key {
					dst = f.appendWin(dst, w)
				}
				if last = w; len(dst) < piece {
					continue
				}
				if err := yield(dst); err != nil {
					return err
				}
				dst = dst[:0]
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

// winRecord has the fields common to both kinds of frames.
type winRecord struct {
	key
	params, saved, locals, stack uint32
	program                      uint32 // offset of the program; only of kindFrame
	base                         byte   // '1' if it uses the base pointer; only of other kinds
}

// key identifies a frame: compilers repeat frames.
type key struct{ kind, start, size, prolog uint32 }

// kindFrame is the kind of a frame with a program.
const kindFrame = 4

// fpoOf reads a frame without frame pointer.
func fpoOf(b []byte) winRecord {
	u32 := func(at int) uint32 { return binary.LittleEndian.Uint32(b[at:]) }
	attributes := binary.LittleEndian.Uint16(b[14:])
	return winRecord{
		key:    key{uint32(attributes >> 14), u32(0), u32(4), uint32(attributes & 0xff)},
		locals: 4 * u32(8), params: 4 * uint32(binary.LittleEndian.Uint16(b[12:])), saved: 4 * uint32(attributes>>8&7),
		base: byte(attributes >> 12 & 1),
	}
}

// frameOf reads a frame with a program.
func frameOf(b []byte) winRecord {
	u32 := func(at int) uint32 { return binary.LittleEndian.Uint32(b[at:]) }
	return winRecord{
		key:    key{kindFrame, u32(0), u32(4), uint32(binary.LittleEndian.Uint16(b[24:]))},
		locals: u32(8), params: u32(12), stack: u32(16), program: u32(20), saved: uint32(binary.LittleEndian.Uint16(b[26:])),
	}
}

// appendWin appends a record. If its code was split, it appends one for each
// range of its prologue and of the rest.
func (f *File) appendWin(dst []byte, w winRecord) []byte {
	if int32(w.size) < 0 {
		return dst // larger than any function
	}
	all := f.pieces(w.start, w.size)
	if len(all) == 1 && all[0].End-all[0].Start == w.size {
		return f.appendPiece(dst, w, all[0], w.prolog)
	}
	prolog := min(w.prolog, w.size)
	for _, r := range f.pieces(w.start, prolog) {
		dst = f.appendPiece(dst, w, r, r.End-r.Start)
	}
	for _, r := range f.pieces(w.start+prolog, w.size-prolog) {
		dst = f.appendPiece(dst, w, r, 0)
	}
	return dst
}

// pieces returns the ranges of code, at most 64 for a function.
func (f *File) pieces(start, size uint32) []Range {
	const limit = 64
	all := f.moved(nil, start, size)
	return all[:min(len(all), limit)]
}

func (f *File) appendPiece(dst []byte, w winRecord, r Range, prolog uint32) []byte {
	dst = append(dst, "STACK WIN "...)
	for _, v := range [...]uint32{w.kind, r.Start, r.End - r.Start, prolog, 0, w.params, w.saved, w.locals, w.stack} {
		dst = append(strconv.AppendUint(dst, uint64(v), 16), ' ')
	}
	if w.kind != kindFrame {
		return append(dst, '0', ' ', '0'+w.base, '\n')
	}
	const longest = 1 << 10 // of programs
	dst = append(dst, '1', ' ')
	from := len(dst)
	dst = f.AppendString(dst, w.program)
	return append(bytes.TrimRight(dst[:min(len(dst), from+longest)], " "), '\n')
}
