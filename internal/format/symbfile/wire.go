package symbfile

import (
	"cmp"
	"io"

	"google.golang.org/protobuf/encoding/protowire"
)

// The wire types of protobuf in keys.
const (
	wireVarint = uint32(protowire.VarintType)
	wireBytes  = uint32(protowire.BytesType)
)

// maxGroups is how deep groups may be nested.
const maxGroups = 100

// Offsets that stand for a number that cannot be read.
const (
	short = -1 // its end is missing
	long  = -2 // it has more than 64 bits
)

// uvarint reads the number at b[at:] and returns the offset behind it.
func uvarint(b []byte, at int) (v uint64, next int) {
	if at < len(b) && b[at] < 0x80 {
		return uint64(b[at]), at + 1
	}
	return longUvarint(b, at)
}

// longUvarint is uvarint for numbers of more than one byte: two functions, so
// that uvarint is inlined.
func longUvarint(b []byte, at int) (v uint64, next int) {
	v, n := protowire.ConsumeVarint(b[at:])
	if n < 0 {
		return 0, unread(n)
	}
	return v, at + n
}

// unread returns short or long for an error code of protowire.
func unread(code int) int {
	if protowire.ParseError(code) == io.ErrUnexpectedEOF {
		return short
	}
	return long
}

// headUvarint reads a number in front of a message: bits beyond 64 are dropped,
// as other readers do.
func headUvarint(b []byte, at int) (v uint64, next int) {
	for i := at; i < len(b); i++ {
		if i-at == 10 {
			return 0, long
		}
		v |= uint64(b[i]&0x7f) << (7 * (i - at))
		if b[i] < 0x80 {
			return v, i + 1
		}
	}
	if len(b)-at >= 10 {
		return 0, long
	}
	return 0, short
}

// fields iterates over the fields of a message.
type fields struct {
	b    []byte
	from int    // start of the field
	head int    // start of its value, or of the length of that
	at   int    // end of the field
	key  uint32 // its number and its wire type
	val  uint64 // of a number
	data []byte // of bytes
	err  error
}

// next reads the next field. It returns false at the end of the message and
// after an error.
func (f *fields) next() bool {
	if f.at >= len(f.b) || f.err != nil {
		return false
	}
	key, n := uint64(f.b[f.at]), 1
	if key >= 0x80 {
		key, n = protowire.ConsumeVarint(f.b[f.at:])
	}
	if n < 0 || key>>32 != 0 || key>>3 == 0 {
		return f.fail(n, errNumber)
	}
	at := f.at + n
	f.from, f.head, f.key = f.at, at, uint32(key)
	switch f.key & 7 {
	case wireVarint, wireBytes:
		v, n := uint64(0x80), 1
		if at < len(f.b) {
			v = uint64(f.b[at])
		}
		if v >= 0x80 {
			if v, n = protowire.ConsumeVarint(f.b[at:]); n < 0 {
				return f.fail(n, nil)
			}
		}
		at += n
		f.val = v
		if f.key&7 == wireVarint {
			break
		}
		if v > uint64(len(f.b)-at) {
			f.err = errField
			return false
		}
		f.data = f.b[at : at+int(v) : at+int(v)]
		at += int(v)
	default:
		if at = f.skip(f.key, at, maxGroups); f.err != nil {
			return false
		}
	}
	f.at = at
	return true
}

// fail keeps the error of a number for which protowire returned n, or else err.
// It returns false.
func (f *fields) fail(n int, err error) bool {
	switch {
	case n >= 0:
		f.err = err
	case protowire.ParseError(n) == io.ErrUnexpectedEOF:
		f.err = errField
	default:
		f.err = errOverflow
	}
	return false
}

// skip returns the offset behind the value at the offset at, or sets err.
// Groups may be nested depth times.
func (f *fields) skip(key uint32, at, depth int) int {
	number, kind := protowire.DecodeTag(uint64(key))
	switch kind {
	case protowire.StartGroupType:
		if depth > 0 {
			return f.skipGroup(number, at, depth)
		}
		f.err = errNested
	case protowire.EndGroupType:
		f.err = errGroup
	case protowire.VarintType, protowire.BytesType, protowire.Fixed32Type, protowire.Fixed64Type:
		n := protowire.ConsumeFieldValue(number, kind, f.b[at:])
		f.fail(n, nil)
		return at + n
	default:
		f.err = errWire
	}
	return at
}

// skipGroup returns the offset behind the group of this number, or sets err.
func (f *fields) skipGroup(number protowire.Number, at, depth int) int {
	for at < len(f.b) && f.err == nil {
		key, n := protowire.ConsumeVarint(f.b[at:])
		if n < 0 || key>>32 != 0 || key>>3 == 0 {
			f.fail(n, errNumber)
			return at
		}
		if at += n; key == protowire.EncodeTag(number, protowire.EndGroupType) {
			return at
		}
		at = f.skip(uint32(key), at, depth-1)
	}
	f.err = cmp.Or(f.err, errGroup)
	return at
}

// column appends the numbers of 32 bits in the field, packed or not, to col,
// which may have limit of them.
func (f *fields) column(col []uint32, limit int) []uint32 {
	if f.key&7 == wireVarint {
		if len(col) == limit {
			f.err = errRows
			return col
		}
		return append(col, uint32(f.val))
	}
	for at := 0; at < len(f.data); {
		v, n := uint64(f.data[at]), 1
		if v >= 0x80 {
			if v, n = protowire.ConsumeVarint(f.data[at:]); n < 0 {
				f.fail(n, nil)
				return col
			}
		}
		if len(col) == limit {
			f.err = errRows
			return col
		}
		col = append(col, uint32(v))
		at += n
	}
	return col
}
