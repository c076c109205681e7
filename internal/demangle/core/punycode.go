package core

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxPunycode bounds the letters of one encoded name: putting them in their
// places takes time with the square of it.
const maxPunycode = 1 << 10

// DecodePunycode decodes a name in the form of RFC 3492, with plain letters up
// to the last hyphen. ok is false if the name is not valid.
func DecodePunycode(name string) (text string, ok bool) {
	if strings.Contains(name, "_") {
		return "", false
	}
	rust := []byte(name)
	if at := strings.LastIndexByte(name, '-'); at >= 0 {
		rust[at] = '_' // where Rust ends the plain letters
	}
	out, ok := AppendPunycode(nil, rust, false)
	return string(out), ok
}

// AppendPunycode appends a name that is encoded as in RFC 3492: plain letters up
// to the last underscore, after it the others and their positions. Swift has
// upper-case letters for the digits above 25, Rust has decimal ones.
func AppendPunycode(dst, name []byte, upper bool) ([]byte, bool) {
	if len(name) > maxPunycode {
		return dst, false
	}
	out := make([]rune, 0, len(name))
	if i := bytes.LastIndexByte(name, '_'); i >= 0 {
		for _, c := range name[:i] {
			out = append(out, rune(c))
		}
		name = name[i+1:]
	}
	n, bias, i := 128, 72, 0
	for first := true; len(name) > 0; first = false {
		before, weight := i, 1
		for k := 36; ; k += 36 {
			if len(name) == 0 {
				return dst, false
			}
			digit := punycodeDigit(name[0], upper)
			name = name[1:]
			if digit < 0 || weight > 1<<30 {
				return dst, false
			}
			i += digit * weight
			t := min(max(k-bias, 1), 26)
			if digit < t {
				break
			}
			weight *= 36 - t
		}
		places := len(out) + 1
		delta := (i - before) / 2
		if first {
			delta = (i - before) / 700
		}
		delta += delta / places
		for bias = 0; delta > 455; bias += 36 {
			delta /= 35
		}
		bias += 36 * delta / (delta + 38)
		n += i / places
		i %= places
		// Swift moves ASCII letters that no identifier can have.
		r := n
		if upper && r >= 0xD800 && r < 0xD880 {
			r -= 0xD800
		}
		if r > utf8.MaxRune || !utf8.ValidRune(rune(r)) {
			return dst, false
		}
		out = slices.Insert(out, i, rune(r))
		i++
	}
	for _, r := range out {
		dst = utf8.AppendRune(dst, r)
	}
	return dst, true
}

func punycodeDigit(c byte, upper bool) int {
	switch {
	case c >= 'a' && c <= 'z':
		return int(c - 'a')
	case upper && c >= 'A' && c <= 'J':
		return int(c-'A') + 26
	case !upper && c >= '0' && c <= '9':
		return int(c-'0') + 26
	}
	return -1
}
