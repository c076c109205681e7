package json

import "unicode/utf8"

// AppendEscaped appends s as the inside of a JSON string. Bytes that are not
// UTF-8 become U+FFFD.
func AppendEscaped[T string | []byte](dst []byte, s T) []byte {
	const digits = "0123456789abcdef"
	for i := 0; i < len(s); {
		from := i
		for i < len(s) && plain[s[i]] {
			i++
		}
		dst = append(dst, s[from:i]...)
		if i == len(s) {
			break
		}
		switch c := s[i]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
			i++
		case c == '\n':
			dst = append(dst, '\\', 'n')
			i++
		case c == '\t':
			dst = append(dst, '\\', 't')
			i++
		case c < 0x20:
			dst = append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
			i++
		default:
			r, size := utf8.DecodeRuneInString(string(s[i:min(i+utf8.UTFMax, len(s))]))
			dst = utf8.AppendRune(dst, r)
			i += size
		}
	}
	return dst
}
