package core

// IsLower reports whether c is a lower-case letter.
func IsLower(c byte) bool { return c >= 'a' && c <= 'z' }

// IsUpper reports whether c is an upper-case letter.
func IsUpper(c byte) bool { return c >= 'A' && c <= 'Z' }

// IsDigit reports whether c is a decimal digit.
func IsDigit(c byte) bool { return c >= '0' && c <= '9' }

// HexDigit returns the value of a lower-case hexadecimal digit, -1 for other
// bytes. No mangling has upper-case ones.
func HexDigit(c byte) int {
	switch {
	case IsDigit(c):
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	}
	return -1
}

// IsHash reports whether text has hexadecimal digits only. LLVM writes at signs
// between them.
func IsHash(text []byte) bool {
	for _, c := range text {
		if HexDigit(c|0x20) < 0 && c != '@' {
			return false
		}
	}
	return true
}
