package rawjson

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// isPlain has true for the bytes that may occur unescaped in a string.
var isPlain = func() (t [256]bool) {
	for c := 0x20; c < len(t); c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// isEscape has true for the bytes that follow a backslash, but u.
var isEscape = [256]bool{'"': true, '\\': true, '/': true, 'b': true, 'f': true, 'n': true, 'r': true, 't': true}

// skipScalar skips the value that begins with c, which is not an array or object.
func (r *Reader) skipScalar(c byte) {
	switch c {
	case '"':
		r.skipString()
	case 't':
		r.skipWord("true")
	case 'f':
		r.skipWord("false")
	case 'n':
		r.skipWord("null")
	default:
		r.skipNumber()
	}
}

func (r *Reader) skipWord(word string) {
	if end := r.Pos + len(word); end <= len(r.Data) && string(r.Data[r.Pos:end]) == word {
		r.Pos = end
		return
	}
	r.unexpected()
}

// skipString skips a string and reports whether it has escapes.
func (r *Reader) skipString() (escaped bool) {
	data, i := r.Data, r.Pos+1
	for {
		for i < len(data) && isPlain[data[i]] {
			i++
		}
		switch {
		case i == len(data):
		case data[i] == '"':
			r.Pos = i + 1
			return escaped
		case data[i] == '\\':
			if n := lenEscape(data[i:]); n > 0 {
				escaped = true
				i += n
				continue
			}
		}
		r.Pos = i
		r.unexpected()
		return false
	}
}

// lenEscape returns the length of the escape that text begins with, or zero if it
// is invalid.
func lenEscape(text []byte) int {
	if len(text) < 2 {
		return 0
	}
	switch {
	case isEscape[text[1]]:
		return 2
	case text[1] == 'u' && hex4(text[2:]) >= 0:
		return 6
	}
	return 0
}

// skipNumber skips a number: an integer, and then a fraction and an exponent if
// there are any.
func (r *Reader) skipNumber() {
	i := r.Pos
	if i < len(r.Data) && r.Data[i] == '-' {
		i++
	}
	whole := r.countDigits(i)
	isBad := whole == 0 || whole > 1 && r.Data[i] == '0'
	i += whole
	if i < len(r.Data) && r.Data[i] == '.' {
		n := r.countDigits(i + 1)
		isBad = isBad || n == 0
		i += 1 + n
	}
	if i < len(r.Data) && r.Data[i]|0x20 == 'e' {
		i++
		if i < len(r.Data) && (r.Data[i] == '+' || r.Data[i] == '-') {
			i++
		}
		n := r.countDigits(i)
		isBad = isBad || n == 0
		i += n
	}
	if isBad {
		r.unexpected()
		return
	}
	r.Pos = i
}

// countDigits returns the number of decimal digits at i.
func (r *Reader) countDigits(i int) (n int) {
	for i+n < len(r.Data) && '0' <= r.Data[i+n] && r.Data[i+n] <= '9' {
		n++
	}
	return n
}

func isNumeric(c byte) bool {
	return '0' <= c && c <= '9' || c == '.' || c == 'e' || c == 'E'
}

// appendText appends the text of a string, which is given with its quotes as in a
// document that has been read. Lone surrogates become U+FFFD.
func appendText(dst, quoted []byte) []byte {
	for s := quoted[1 : len(quoted)-1]; ; {
		i := bytes.IndexByte(s, '\\')
		if i < 0 {
			return append(dst, s...)
		}
		dst = append(dst, s[:i]...)
		c := s[i+1]
		s = s[i+2:]
		switch c {
		case 'b':
			c = '\b'
		case 'f':
			c = '\f'
		case 'n':
			c = '\n'
		case 'r':
			c = '\r'
		case 't':
			c = '\t'
		case 'u':
			char := hex4(s)
			s = s[4:]
			if utf16.IsSurrogate(char) {
				second := rune(-1)
				if bytes.HasPrefix(s, []byte(`\u`)) {
					second = hex4(s[2:])
				}
				if char = utf16.DecodeRune(char, second); char != utf8.RuneError {
					s = s[6:]
				}
			}
			dst = utf8.AppendRune(dst, char)
			continue
		}
		dst = append(dst, c)
	}
}

// hex4 returns the value of the four hexadecimal digits that text begins with, or -1.
func hex4(text []byte) (v rune) {
	if len(text) < 4 {
		return -1
	}
	for _, c := range text[:4] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = (c | 0x20) - 'a' + 10
		default:
			return -1
		}
		v = v<<4 | rune(c)
	}
	return v
}
