package symbfile

import "math/bits"

// The wire types of protobuf.
const (
	wireVarint = 0
	wire64     = 1
	wireBytes  = 2
	wireStart  = 3
	wireEnd    = 4
	wire32     = 5
)

// maxGroups is how deep groups may be.
const maxGroups = 100

// What uvarint gives instead of a place.
const (
	short = -1
	long  = -2
)

// uvarint is the number at b[at:], and the place behind it.
func uvarint(b []byte, at int) (v uint64, next int) {
	if at < len(b) && b[at] < 0x80 {
		return uint64(b[at]), at + 1
	}
	return longUvarint(b, at)
}

func longUvarint(b []byte, at int) (v uint64, next int) {
	for i := at; i < len(b); i++ {
		x := b[i]
		if i-at == 9 && x > 1 {
			return 0, long
		}
		v |= uint64(x&0x7f) << (7 * (i - at))
		if x < 0x80 {
			return v, i + 1
		}
	}
	return 0, short
}

// headUvarint is the same for a number in front of a message, where what does not
// fit into 64 bits is lost.
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

// uvarintSize is how many bytes v takes.
func uvarintSize(v uint64) int { return (bits.Len64(v|1) + 6) / 7 }

func zigzag(v int64) uint64   { return uint64(v)<<1 ^ uint64(v>>63) }
func unzigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }

// fields goes through the fields of a message.
type fields struct {
	b    []byte
	from int    // where the present field begins
	head int    // where its value begins, or the length of that
	at   int    // where it ends
	key  uint32 // its number and its wire type
	val  uint64 // wireVarint
	data []byte // wireBytes
	err  error
}

// next goes to the next field. At the end of the message, or if something is
// wrong, it is false.
func (f *fields) next() bool {
	if f.at >= len(f.b) || f.err != nil {
		return false
	}
	key, at := uint64(f.b[f.at]), f.at+1
	if key >= 0x80 {
		key, at = longUvarint(f.b, f.at)
	}
	if at < 0 || key>>32 != 0 || key>>3 == 0 {
		return f.fail(at, errNumber)
	}
	f.from, f.head, f.key = f.at, at, uint32(key)
	switch key & 7 {
	case wireVarint:
		f.val, at = uvarint(f.b, at)
	case wireBytes:
		var n uint64
		if n, at = uvarint(f.b, at); at < 0 {
			break
		}
		if n > uint64(len(f.b)-at) {
			at = short
			break
		}
		f.data = f.b[at : at+int(n) : at+int(n)]
		at += int(n)
	default:
		at = f.pass(at)
	}
	if at < 0 || at > len(f.b) {
		return f.fail(at, errField)
	}
	f.at = at
	return true
}

// fail keeps what is wrong: with the number of which at is the place, or err.
func (f *fields) fail(at int, err error) bool {
	switch {
	case f.err != nil:
	case at == short:
		f.err = errField
	case at == long:
		f.err = errOverflow
	default:
		f.err = err
	}
	return false
}

// pass passes over the value at the place at, the key of which is f.key, if it is
// of a wire type that no known field has.
func (f *fields) pass(at int) int {
	switch f.key & 7 {
	case wire64:
		return at + 8
	case wire32:
		return at + 4
	case wireStart:
		return f.group(at)
	case wireEnd:
		f.err = errGroup
	default:
		f.err = errWire
	}
	return short
}

// group passes over a group and those in it.
func (f *fields) group(at int) int {
	var open [maxGroups]uint32
	open[0] = f.key >> 3
	for depth := 1; depth > 0; {
		if at >= len(f.b) {
			f.err = errGroup
			return short
		}
		key, next := uvarint(f.b, at)
		if next < 0 {
			return next
		}
		if at = next; key>>32 != 0 || key>>3 == 0 {
			f.err = errNumber
			return short
		}
		switch key & 7 {
		case wireVarint:
			_, at = uvarint(f.b, at)
		case wire64:
			at += 8
		case wire32:
			at += 4
		case wireBytes:
			n, next := uvarint(f.b, at)
			if next >= 0 && n > uint64(len(f.b)-next) {
				next = short
			}
			if at = next; at >= 0 {
				at += int(n)
			}
		case wireStart:
			if depth == maxGroups {
				f.err = errNested
				return short
			}
			open[depth] = uint32(key >> 3)
			depth++
		case wireEnd:
			if depth--; open[depth] != uint32(key>>3) {
				f.err = errGroup
				return short
			}
		default:
			f.err = errWire
			return short
		}
		if at < 0 {
			return at
		}
	}
	return at
}

// column appends the numbers of 32 bits in the present field, packed or not, to
// col, which may have limit of them.
func (f *fields) column(col []uint32, limit int) []uint32 {
	if f.key&7 == wireVarint {
		if len(col) == limit {
			f.err = errRows
			return col
		}
		return append(col, uint32(f.val))
	}
	for at := 0; at < len(f.data); {
		v, next := uint64(f.data[at]), at+1
		if v >= 0x80 {
			v, next = longUvarint(f.data, at)
		}
		if next < 0 {
			f.fail(next, nil)
			return col
		}
		if len(col) == limit {
			f.err = errRows
			return col
		}
		col = append(col, uint32(v))
		at = next
	}
	return col
}
