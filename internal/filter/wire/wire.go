// Package wire reads and writes messages of protocol buffers without their schemas.
//
// A Reader returns the fields of a message in their order, as slices of the message:
// nothing is copied, and a nested message costs nothing until it gets a Reader of its
// own. Fields that a program does not know have a place, so they can be copied byte
// for byte. The functions that append fields write the shortest encoding, as the
// libraries of all languages do.
//
// Groups are not supported; no format of ours has any. All lengths are checked
// against the message. A Reader belongs to one goroutine.
package wire

import (
	"encoding/binary"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
)

// Tag is the number of a field, shifted by three, and one of the types.
type Tag uint64

const (
	Varint  Tag = 0
	Fixed64 Tag = 1
	Bytes   Tag = 2 // texts, messages, and lists of numbers
	Fixed32 Tag = 5
)

// maxTag is the tag with the greatest number and type.
const maxTag = 1<<32 - 1

// Num returns the number of the field.
func (t Tag) Num() int { return int(t >> 3) }

// Reader is a Reader of the fields of a message. Next proceeds to the next field,
// whose content is in the exported fields.
type Reader struct {
	Tag        Tag
	Value      uint64 // of a Varint, Fixed64 or Fixed32
	Bytes      []byte // of Bytes
	Start, End int    // of the field with its tag, in the message

	msg []byte
	err error
}

// NewReader returns a Reader before the first field of a message.
func NewReader(msg []byte) Reader { return Reader{msg: msg} }

// Err returns the error that ended the message. The fields before Start are valid then.
func (r *Reader) Err() error {
	if r.err == nil {
		return nil
	}
	return fault.New(fault.Malformed, "protobuf", "field at byte %d: %w", r.Start, r.err)
}

// Next reads a field. It returns false at the end of the message, and before a
// field that is damaged.
func (r *Reader) Next() bool {
	r.Start = r.End
	if r.err != nil || r.Start == len(r.msg) {
		return false
	}
	tag, at, err := varint(r.msg, r.Start)
	if err == nil && (tag>>3 == 0 || tag > maxTag) {
		err = errNumber
	}
	if err == nil {
		r.Tag = Tag(tag)
		at, err = r.content(at)
	}
	if err != nil {
		r.err = err
		return false
	}
	r.End = at
	return true
}

const (
	errNumber = constError("invalid field number: must be 1 to 536870911")
	errType   = constError("unsupported wire type")
)

type constError string

func (e constError) Error() string { return string(e) }

// content reads the field that follows a tag and returns its end.
func (r *Reader) content(at int) (int, error) {
	r.Value, r.Bytes = 0, nil
	var err error
	switch r.Tag & 7 {
	case Varint:
		r.Value, at, err = varint(r.msg, at)
	case Bytes:
		var n uint64
		if n, at, err = varint(r.msg, at); err != nil {
			return 0, err
		}
		if n > uint64(len(r.msg)-at) {
			return 0, bin.ErrShort
		}
		end := at + int(n)
		r.Bytes, at = r.msg[at:end:end], end
	case Fixed64:
		if len(r.msg)-at < 8 {
			return 0, bin.ErrShort
		}
		r.Value, at = binary.LittleEndian.Uint64(r.msg[at:]), at+8
	case Fixed32:
		if len(r.msg)-at < 4 {
			return 0, bin.ErrShort
		}
		r.Value, at = uint64(binary.LittleEndian.Uint32(r.msg[at:])), at+4
	default:
		err = errType
	}
	return at, err
}

// varint returns the number at a place of a message, and the place after it.
func varint(msg []byte, at int) (uint64, int, error) {
	if at < len(msg) && msg[at] < 0x80 {
		return uint64(msg[at]), at + 1, nil
	}
	v, n := binary.Uvarint(msg[at:])
	switch {
	case n > 0:
		return v, at + n, nil
	case n == 0:
		return 0, 0, bin.ErrShort
	}
	return 0, 0, bin.ErrOverflow
}

// Numbers is a reader of a packed list of Varints.
type Numbers struct {
	Value uint64
	list  []byte
}

// NewNumbers returns Numbers before the first one of a list.
func NewNumbers(list []byte) Numbers { return Numbers{list: list} }

// Next reads a number. It returns false at the end of the list, and before a number
// that is damaged.
func (n *Numbers) Next() bool {
	v, at, err := varint(n.list, 0)
	if err != nil {
		return false
	}
	n.Value, n.list = v, n.list[at:]
	return true
}

// AppendVarint appends a field with a number.
func AppendVarint(b []byte, num int, v uint64) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(b, uint64(num)<<3), v)
}

// AppendBytes appends a field with a text or a message.
func AppendBytes[T []byte | string](b []byte, num int, text T) []byte {
	return append(AppendLength(b, num, len(text)), text...)
}

// AppendLength appends the beginning of a field whose n bytes follow.
func AppendLength(b []byte, num, n int) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(b, uint64(num)<<3|uint64(Bytes)), uint64(n))
}

// AppendWithout appends the fields of a valid message, except for those with a
// number in the set of bits drop.
func AppendWithout(b, msg []byte, drop uint64) []byte {
	for r := NewReader(msg); r.Next(); {
		if r.Tag.Num() > 63 || drop>>r.Tag.Num()&1 == 0 {
			b = append(b, msg[r.Start:r.End]...)
		}
	}
	return b
}
