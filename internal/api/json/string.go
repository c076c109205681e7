package json

import (
	"unicode/utf16"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// isPlain has true for the ASCII characters that need no escape in a string.
var isPlain = func() (t [256]bool) {
	for c := 0x20; c < utf8.RuneSelf; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// ReadString reads the string at the present position. If keep is set, it stores
// the string in Text, with U+FFFD for lone surrogates.
func (d *Decoder) ReadString(keep bool) {
	d.Text, d.Truncated = d.Text[:0], false
	d.pos++
	for d.Err == nil {
		i := d.pos
		for i < d.end && isPlain[d.buf[i]] {
			i++
		}
		if keep && i > d.pos {
			d.keep(d.buf[d.pos:i])
		}
		d.pos = i
		if i == d.end {
			if !d.fill() {
				d.fail()
			}
			continue
		}
		switch c := d.buf[i]; {
		case c == '"':
			d.pos++
			return
		case c == '\\':
			d.readEscape(keep)
		case c < 0x20:
			d.fail()
		default:
			d.need(utf8.UTFMax)
			r, size := utf8.DecodeRune(d.buf[d.pos:d.end])
			if r == utf8.RuneError && size == 1 {
				d.fail()
				return
			}
			if keep {
				d.keep(d.buf[d.pos : d.pos+size])
			}
			d.pos += size
		}
	}
}

// keep appends b to Text, up to MaxString.
func (d *Decoder) keep(b []byte) {
	if room := d.MaxString - len(d.Text); len(b) > room {
		d.Truncated = true
		b = b[:room]
	}
	d.Text = append(d.Text, b...)
}

func (d *Decoder) readEscape(keep bool) {
	d.need(2)
	if d.end-d.pos < 2 {
		d.fail()
		return
	}
	c := d.buf[d.pos+1]
	d.pos += 2
	r := rune(c)
	switch c {
	case '"', '\\', '/':
	case 'b':
		r = '\b'
	case 'f':
		r = '\f'
	case 'n':
		r = '\n'
	case 'r':
		r = '\r'
	case 't':
		r = '\t'
	case 'u':
		if r = d.hex4(0); r < 0 {
			d.fail()
			return
		}
		d.pos += 4
		if utf16.IsSurrogate(r) {
			r = d.joinSurrogates(r)
		}
	default:
		d.fail()
		return
	}
	if keep {
		var b [utf8.UTFMax]byte
		d.keep(utf8.AppendRune(b[:0], r))
	}
}

// hex4 returns the value of the four hexadecimal digits at an offset from the
// present position, or -1.
func (d *Decoder) hex4(off int) rune {
	d.need(off + 4)
	if d.end-d.pos < off+4 {
		return -1
	}
	var r rune
	for _, c := range d.buf[d.pos+off : d.pos+off+4] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}

// joinSurrogates returns the character of two surrogates if the one that
// belongs to the first follows, and else U+FFFD.
func (d *Decoder) joinSurrogates(first rune) rune {
	d.need(6)
	if d.end-d.pos < 6 || d.buf[d.pos] != '\\' || d.buf[d.pos+1] != 'u' {
		return utf8.RuneError
	}
	r := utf16.DecodeRune(first, d.hex4(2))
	if r != utf8.RuneError {
		d.pos += 6
	}
	return r
}

// AppendQuoted appends s as a JSON string.
func AppendQuoted[T string | []byte](dst []byte, s T) []byte {
	dst = AppendEscaped(append(dst, '"'), s)
	return append(dst, '"')
}

// AppendEscaped appends s without quotes, with the escapes of a JSON string.
// Bytes that are not UTF-8 become U+FFFD.
func AppendEscaped[T string | []byte](dst []byte, s T) []byte {
	for i := 0; i < len(s); {
		from := i
		for i+8 <= len(s) && isPlainWord(word(s[i:i+8])) {
			i += 8
		}
		for i < len(s) && isPlain[s[i]] {
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
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
			i++
		default:
			r, size := utf8.DecodeRuneInString(string(s[i:min(i+utf8.UTFMax, len(s))]))
			dst = utf8.AppendRune(dst, r)
			i += size
		}
	}
	return dst
}

// word returns the first eight bytes of s. The compiler makes one load of it.
func word[T string | []byte](s T) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// isPlainWord is isPlain for eight bytes. If no byte has its high bit set, x-1 sets
// that of a byte only if x is zero, or that of a byte before it.
func isPlainWord(w uint64) bool {
	const (
		ones  = 0x0101010101010101
		highs = 0x80 * ones
	)
	quote, slash := w^'"'*ones, w^'\\'*ones
	return (w|(w-' '*ones)|(quote-ones)|(slash-ones))&highs == 0
}
