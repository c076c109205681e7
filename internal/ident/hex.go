package ident

// nibble returns the value of a hex digit, or 0xff for any other character.
func nibble(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10
	}
	return 0xff
}

// hexBytes fills dst from exactly as many pairs of hex digits.
func hexBytes(dst []byte, text string) bool {
	if len(text) != 2*len(dst) {
		return false
	}
	for i := range dst {
		hi, lo := nibble(text[2*i]), nibble(text[2*i+1])
		if hi|lo > 15 {
			return false
		}
		dst[i] = hi<<4 | lo
	}
	return true
}

// hex32 parses one to eight hex digits.
func hex32(text string) (uint32, bool) {
	if len(text) == 0 || len(text) > 8 {
		return 0, false
	}
	var v uint32
	for i := range len(text) {
		d := nibble(text[i])
		if d > 15 {
			return 0, false
		}
		v = v<<4 | uint32(d)
	}
	return v, true
}

// hexUUID parses the form 8-4-4-4-12.
func hexUUID(dst *[16]byte, text string) bool {
	if len(text) != 36 || text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-' {
		return false
	}
	return hexBytes(dst[:], text[:8]+text[9:13]+text[14:18]+text[19:23]+text[24:])
}

const (
	lowerHex = "0123456789abcdef"
	upperHex = "0123456789ABCDEF"
)

func appendHex(dst, b []byte, digits string) []byte {
	for _, x := range b {
		dst = append(dst, digits[x>>4], digits[x&15])
	}
	return dst
}

func appendUUID(dst []byte, u *[16]byte) []byte {
	for i, part := range [...][]byte{u[:4], u[4:6], u[6:8], u[8:10], u[10:]} {
		if i > 0 {
			dst = append(dst, '-')
		}
		dst = appendHex(dst, part, lowerHex)
	}
	return dst
}

// swapFields reverses the bytes of the first three fields of a UUID, the
// difference between network order and a little-endian struct.
func swapFields(u [16]byte) [16]byte {
	u[0], u[1], u[2], u[3] = u[3], u[2], u[1], u[0]
	u[4], u[5] = u[5], u[4]
	u[6], u[7] = u[7], u[6]
	return u
}
