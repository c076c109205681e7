// Package wire reads and writes messages of protocol buffers without their schemas.
//
// A Reader returns the fields of a message in their order, as slices of the message:
// nothing is copied, and a nested message costs nothing until it gets a Reader of its
// own. Fields that a program does not know have a place, so they can be copied byte
// for byte. The functions that append fields write the shortest encoding, as the
// libraries of all languages do.
//
// Groups are not supported; no format of ours has any. A Reader belongs to one
// goroutine.
package wire

import (
	"errors"
	"iter"

	"google.golang.org/protobuf/encoding/protowire"

	"symbolon/internal/fault"
)

// Tag is the number of a field, shifted by three, and one of the types.
type Tag uint64

const (
	Varint  = Tag(protowire.VarintType)
	Fixed64 = Tag(protowire.Fixed64Type)
	Bytes   = Tag(protowire.BytesType) // texts, messages, and lists of numbers
	Fixed32 = Tag(protowire.Fixed32Type)
)

// Num returns the number of the field.
func (t Tag) Num() int { return int(t >> 3) }

// A Reader reads the fields of a message. Next proceeds to the next field,
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

var errType = errors.New("unsupported wire type")

// Next reads a field. It returns false at the end of the message, and before a
// field that is damaged.
func (r *Reader) Next() bool {
	r.Start = r.End
	if r.err != nil || r.Start == len(r.msg) {
		return false
	}
	num, kind, n := protowire.ConsumeTag(r.msg[r.Start:])
	if n < 0 {
		r.err = protowire.ParseError(n)
		return false
	}
	r.Tag, r.Value, r.Bytes = Tag(num)<<3|Tag(kind), 0, nil
	at := r.Start + n
	switch Tag(kind) {
	case Varint:
		r.Value, n = protowire.ConsumeVarint(r.msg[at:])
	case Bytes:
		r.Bytes, n = protowire.ConsumeBytes(r.msg[at:])
	case Fixed64:
		r.Value, n = protowire.ConsumeFixed64(r.msg[at:])
	case Fixed32:
		var v uint32
		v, n = protowire.ConsumeFixed32(r.msg[at:])
		r.Value = uint64(v)
	default:
		r.err = errType
		return false
	}
	if n < 0 {
		r.err = protowire.ParseError(n)
		return false
	}
	r.End = at + n
	return true
}

// Numbers yields the numbers of a packed list of Varints, up to one that is damaged.
func Numbers(list []byte) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for len(list) > 0 {
			v, n := protowire.ConsumeVarint(list)
			if n < 0 || !yield(v) {
				return
			}
			list = list[n:]
		}
	}
}

// AppendVarint appends a field with a number.
func AppendVarint(b []byte, num int, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendVarint(b, uint64(num)<<3), v)
}

// AppendBytes appends a field with a text or a message.
func AppendBytes[T []byte | string](b []byte, num int, text T) []byte {
	return append(AppendLength(b, num, len(text)), text...)
}

// AppendLength appends the beginning of a field whose n bytes follow.
func AppendLength(b []byte, num, n int) []byte {
	return protowire.AppendVarint(protowire.AppendVarint(b, uint64(num)<<3|uint64(Bytes)), uint64(n))
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
