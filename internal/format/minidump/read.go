package minidump

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"symbolon/internal/bin"
)

const (
	maxEntries = 1 << 16  // entries of a list
	maxRanges  = 1 << 19  // ranges of memory in a list
	maxText    = 16 << 20 // bytes of all decoded texts
)

// A Location is a part of the file.
type Location struct{ Off, Size int64 }

type reader struct {
	src      bin.Source
	order    binary.ByteOrder
	sys      *System
	text     int64 // bytes of text that may still be decoded
	problems bin.Problems
}

func (r *reader) bytes(l Location) ([]byte, error) {
	if l.Size > math.MaxInt32 {
		return nil, fmt.Errorf("%d bytes are too large", l.Size)
	}
	return bin.Read(r.src, l.Off, int(l.Size))
}

func (r *reader) cursor(l Location) (*bin.Cursor, error) {
	b, err := r.bytes(l)
	return bin.NewCursor(b, r.order), err
}

// fixed returns a cursor on the first size bytes of l.
func (r *reader) fixed(l Location, size int64) (*bin.Cursor, error) {
	if l.Size < size {
		return nil, fmt.Errorf("%d bytes are too few, must be %d", l.Size, size)
	}
	return r.cursor(Location{l.Off, size})
}

// location reads a size and an offset.
func location(c *bin.Cursor) Location {
	size := c.U32()
	return Location{int64(c.U32()), int64(size)}
}

// list calls decode for each entry of a list.
func (r *reader) list(l Location, entry int64, most uint32, decode func(c *bin.Cursor)) error {
	head, err := r.cursor(Location{l.Off, 4})
	if err != nil {
		return err
	}
	count := head.U32()
	size := 4 + int64(count)*entry
	switch l.Size {
	case size:
		l.Off += 4
	case size + 4:
		l.Off += 8
	default:
		return fmt.Errorf("%d bytes do not fit a list of %d entries", l.Size, count)
	}
	return r.entries(l.Off, entry, uint64(count), most, decode)
}

// table calls decode for each entry of a table, whose count may be of 64 bits.
func (r *reader) table(l Location, entry int64, most uint32, isWide bool, decode func(c *bin.Cursor)) error {
	size := int64(12)
	if isWide {
		size = 16
	}
	c, err := r.fixed(l, size)
	if err != nil {
		return err
	}
	header, stride, count := int64(c.U32()), int64(c.U32()), c.Word(isWide)
	if header < size || stride < entry {
		return fmt.Errorf("invalid header of %d bytes with entries of %d bytes", header, stride)
	}
	if header > l.Size || count > uint64((l.Size-header)/stride) {
		return fmt.Errorf("%d entries of %d bytes do not fit %d bytes", count, stride, l.Size)
	}
	return r.entries(l.Off+header, stride, count, most, decode)
}

// entries calls decode with a cursor on each of count entries, but at most most.
func (r *reader) entries(off, stride int64, count uint64, most uint32, decode func(c *bin.Cursor)) error {
	if count > uint64(most) {
		r.problems.Add("list", off, "%d entries, of which %d are read", count, most)
		count = uint64(most)
	}
	b, err := bin.Read(r.src, off, int(int64(count)*stride))
	if err != nil {
		return err
	}
	for c := new(bin.Cursor); len(b) > 0; b = b[stride:] {
		*c = *bin.NewCursor(b[:stride], r.order)
		decode(c)
	}
	return nil
}

// charge accounts for n bytes of decoded text.
func (r *reader) charge(n int64) error {
	if n > r.text {
		return fmt.Errorf("all texts together have more than %d bytes", maxText)
	}
	r.text -= n
	return nil
}

// utf16 reads the string at an offset.
func (r *reader) utf16(off int64) (string, error) {
	head, err := r.cursor(Location{off, 4})
	if err != nil {
		return "", err
	}
	size := int64(head.U32())
	if size%2 != 0 {
		return "", fmt.Errorf("invalid length %d of a string: must be even", size)
	}
	c, err := r.cursor(Location{off + 4, size})
	if err != nil {
		return "", err
	}
	if err := r.charge(size); err != nil {
		return "", err
	}
	text := make([]byte, 0, size/2)
	for c.Len() > 0 {
		x := rune(c.U16())
		if utf16.IsSurrogate(x) {
			if x = utf16.DecodeRune(x, rune(c.U16())); x == utf8.RuneError {
				return "", fmt.Errorf("unpaired surrogate before offset %#x", off+4+int64(c.Off()))
			}
		}
		text = utf8.AppendRune(text, x)
	}
	return string(text), nil
}

// name reads the string at an offset. A damaged one costs only itself.
func (r *reader) name(place string, off int64) (string, bool) {
	text, err := r.utf16(off)
	if err != nil {
		r.problems.Add(place, off, "%v", err)
	}
	return text, err == nil
}

// utf8 reads a string of an annotation of Crashpad: its length, and its bytes.
func (r *reader) utf8(off int64) string {
	head, err := r.cursor(Location{off, 4})
	var b []byte
	if err == nil {
		b, err = r.bytes(Location{off + 4, int64(head.U32())})
	}
	if err == nil {
		err = r.charge(int64(len(b)))
	}
	if err != nil {
		r.problems.Add("annotation", off, "%v", err)
		return ""
	}
	return valid(b)
}

// valid returns b as text, with replacements for bytes that are not UTF-8.
func valid(b []byte) string { return strings.ToValidUTF8(string(b), "\ufffd") }
