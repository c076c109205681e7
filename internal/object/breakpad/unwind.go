package breakpad

import (
	"bytes"

	"symbolon/internal/format/breakpad"
	"symbolon/internal/object"
	"symbolon/internal/sym"
)

// CFI yields the STACK records of the file.
func (f *file) CFI(yield func(*sym.Unwind) error) error {
	buf := make([]byte, 0, 256<<10)
	var u sym.Unwind // one for all lines, as it escapes
	for off := int64(0); off < f.src.Size(); {
		n := int(min(int64(cap(buf)-len(buf)), f.src.Size()-off))
		if n == 0 { // a line that fills all memory is not a record
			return nil
		}
		from := len(buf)
		buf = buf[:from+n]
		if got, err := f.src.ReadAt(buf[from:], off); got < n {
			return object.ReadFault(off, err)
		}
		off += int64(n)
		end := bytes.LastIndexByte(buf, '\n') + 1
		if off == f.src.Size() {
			end = len(buf)
		}
		for line := range bytes.Lines(buf[:end]) {
			var ok bool
			if u, ok = breakpad.ParseStack(line); ok {
				if err := yield(&u); err != nil {
					return err
				}
			}
		}
		buf = append(buf[:0], buf[end:]...)
	}
	return nil
}

// lengthBits are the lowest bits of the Ref of a piece, the number of bytes of its
// records. The others are their offset.
const lengthBits = 24

// sortFrames sorts the STACK records.
func (f *file) sortFrames() {
	pieces := func(spans []breakpad.Span) []object.Piece {
		list := make([]object.Piece, len(spans))
		for i, s := range spans {
			list[i] = object.Piece{Start: s.Addr, End: s.End(), Ref: uint64(s.Off)<<lengthBits | uint64(s.Len)}
		}
		return list
	}
	f.frames = [3]object.Pieces{
		object.LastPieces(pieces(f.ix.Win)), object.LastPieces(pieces(f.ix.WinFPO)), object.FirstPieces(pieces(f.ix.CFI)),
	}
	f.ix.Win, f.ix.WinFPO, f.ix.CFI = nil, nil, nil
}

// CFIAt yields the STACK records of an address.
func (f *file) CFIAt(addr uint64, yield func(*sym.Unwind) error) error {
	var buf []byte
	for _, pieces := range f.frames {
		p, ok := pieces.At(addr)
		if !ok {
			continue
		}
		var err error
		off := int64(p.Ref >> lengthBits)
		if buf, err = readInto(buf, f.src, off, int(p.Ref&(1<<lengthBits-1))); err != nil {
			return err
		}
		for line := range bytes.Lines(buf) {
			if u, ok := breakpad.ParseStack(line); ok {
				if err := yield(&u); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
