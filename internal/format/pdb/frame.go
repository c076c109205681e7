package pdb

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"symbolon/internal/sym"
)

const (
	fpoSize   = 16
	frameSize = 32
)

// Frames yields the unwind information of x86 code, until yield returns an error.
func (f *File) Frames(yield func(*sym.Unwind) error) error {
	var rules []byte
	return f.eachFrame(func(w winRecord) error {
		rules = f.appendProgram(rules[:0], w)
		return f.eachPiece(w, rules, yield)
	})
}

// FrameRanges yields the ranges of code of all frames, and for each its kind (the Type
// of a WindowsFrame) and a reference for FrameAt.
func (f *File) FrameRanges(yield func(start, end uint64, kind uint32, ref uint64)) error {
	return f.eachFrame(func(w winRecord) error {
		return f.eachPiece(w, nil, func(u *sym.Unwind) error {
			yield(u.Addr, u.Addr+u.Size, w.kind, w.ref)
			return nil
		})
	})
}

// FrameAt yields the records of a frame.
func (f *File) FrameAt(ref uint64, yield func(*sym.Unwind) error) error {
	s, size, read := f.frames[ref&1], int64(fpoSize), fpoOf
	if ref&1 == 1 {
		size, read = frameSize, frameOf
	}
	data, err := s.Bytes(int64(ref>>1), int(size), nil)
	if err != nil {
		return fmt.Errorf("frame data, offset %#x: %w", ref>>1, err)
	}
	w := read(data)
	return f.eachPiece(w, f.appendProgram(nil, w), yield)
}

// eachFrame calls yield with all frames that differ from the one before, until it
// returns an error.
func (f *File) eachFrame(yield func(w winRecord) error) error {
	const piece = 64 << 10
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
				w.ref = uint64(off)<<1 | uint64(i)
				if w.key != last.key {
					if err := yield(w); err != nil {
						return err
					}
				}
				last = w
				off += size
			}
		}
	}
	return nil
}

// winRecord has the fields common to both kinds of frames.
type winRecord struct {
	key
	params, saved, locals, stack uint32
	program                      uint32 // offset of the program; only of kindFrame
	usesBase                     bool   // only of other kinds
	ref                          uint64 // offset in the stream, and as the lowest bit its number
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
		usesBase: attributes>>12&1 != 0,
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

// eachPiece yields a record for a frame. If the code of the frame was split, it
// yields one for each range of its prologue and of the rest.
func (f *File) eachPiece(w winRecord, rules []byte, yield func(*sym.Unwind) error) error {
	if int32(w.size) < 0 {
		return nil // larger than any function
	}
	record := sym.Unwind{Kind: sym.UnwindWindows, Rules: rules, Windows: sym.WindowsFrame{
		Type: w.kind, Params: w.params, Saved: w.saved, Locals: w.locals, Stack: w.stack,
		HasProgram: w.kind == kindFrame, UsesBase: w.usesBase,
	}}
	emit := func(r Range, prolog uint32) error {
		record.Addr, record.Size, record.Windows.Prolog = uint64(r.Start), uint64(r.End-r.Start), prolog
		return yield(&record)
	}
	all := f.pieces(w.start, w.size)
	if len(all) == 1 && all[0].End-all[0].Start == w.size {
		return emit(all[0], w.prolog)
	}
	prolog := min(w.prolog, w.size)
	for _, r := range f.pieces(w.start, prolog) {
		if err := emit(r, r.End-r.Start); err != nil {
			return err
		}
	}
	for _, r := range f.pieces(w.start+prolog, w.size-prolog) {
		if err := emit(r, 0); err != nil {
			return err
		}
	}
	return nil
}

// pieces returns the ranges of code, at most 64 for a function.
func (f *File) pieces(start, size uint32) []Range {
	const limit = 64
	all := f.moved(nil, start, size)
	return all[:min(len(all), limit)]
}

// maxProgram is the most bytes of a program.
const maxProgram = 1 << 10

// appendProgram appends the program of a frame, if it has one.
func (f *File) appendProgram(dst []byte, w winRecord) []byte {
	if w.kind != kindFrame {
		return dst
	}
	dst = f.AppendString(dst, w.program)
	return bytes.TrimRight(dst[:min(len(dst), maxProgram)], " ")
}
