package il2cpp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"

	"symbolon/internal/fault"
)

// reader parses JSON in one pass.
type reader struct {
	text  []byte
	at    int
	limit limits

	m       *Map
	numbers map[string]uint32 // of files of C#
	entries []entry           // of one C++ file
	lines   int               // number of lines of all files
	names   int               // bytes of names
	free    []byte            // allocated for further lines
}

func (r *reader) errorf(format string, args ...any) error {
	return fault.New(fault.Malformed, "il2cpp mapping, byte "+strconv.Itoa(r.at), "%s", fmt.Sprintf(format, args...))
}

// peek returns the next byte that is not a space, 0 at the end.
func (r *reader) peek() byte {
	for ; r.at < len(r.text); r.at++ {
		switch c := r.text[r.at]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

// take consumes a byte, which must be the next one.
func (r *reader) take(c byte) error {
	if r.peek() != c || r.at == len(r.text) {
		return r.errorf("expected %q", c)
	}
	r.at++
	return nil
}

// end returns an error unless the text ends here.
func (r *reader) end() error {
	if r.peek(); r.at < len(r.text) {
		return r.errorf("unexpected data after the mapping")
	}
	return nil
}

// members calls value for each key of an object, to read its value. A key is
// valid until then. A value of another type is skipped.
func (r *reader) members(depth int, value func(key []byte) error) error {
	if r.peek() != '{' {
		return r.skip(depth)
	}
	r.at++
	if r.peek() == '}' {
		r.at++
		return nil
	}
	for {
		key, err := r.string()
		if err == nil {
			err = r.take(':')
		}
		if err == nil {
			err = value(key)
		}
		if err != nil {
			return err
		}
		if r.peek() != ',' {
			return r.take('}')
		}
		r.at++
	}
}

// string reads a string, which aliases the text unless it has escapes.
func (r *reader) string() ([]byte, error) {
	if err := r.take('"'); err != nil {
		return nil, err
	}
	from, plain := r.at, true
	for ; r.at < len(r.text); r.at++ {
		switch c := r.text[r.at]; {
		case c == '"':
			whole := r.text[from-1 : r.at+1]
			r.at++
			if len(whole) > r.limit.text {
				return nil, r.errorf("string exceeds %d bytes", r.limit.text)
			}
			if !utf8.Valid(whole) {
				return nil, r.errorf("invalid string: must be UTF-8")
			}
			if plain {
				return whole[1 : len(whole)-1], nil
			}
			var s string
			if json.Unmarshal(whole, &s) != nil || hasLoneSurrogate(whole) {
				return nil, r.errorf("invalid escape in string")
			}
			return []byte(s), nil
		case c == '\\':
			plain = false
			r.at++
		case c < ' ':
			return nil, r.errorf("control character in string")
		}
	}
	return nil, r.errorf("unterminated string")
}

// hasLoneSurrogate reports whether a valid string has an escape that is half of
// a surrogate pair.
func hasLoneSurrogate(s []byte) bool {
	high := false // the previous escape is a high surrogate
	for i := 0; i < len(s); i++ {
		code := uint64(0)
		if s[i] == '\\' {
			if i++; s[i] == 'u' {
				code, _ = strconv.ParseUint(string(s[i+1:i+5]), 16, 16)
				i += 4
			}
		}
		if low := code >= 0xdc00 && code < 0xe000; low != high {
			return true
		}
		high = code >= 0xd800 && code < 0xdc00
	}
	return false
}

// number consumes the digits and signs of a number.
func (r *reader) number() []byte {
	r.peek()
	from := r.at
	for r.at < len(r.text) && bytes.IndexByte([]byte("+-.0123456789Ee"), r.text[r.at]) >= 0 {
		r.at++
	}
	return r.text[from:r.at]
}

// line reads a line number.
func (r *reader) line() (uint32, error) {
	text := r.number()
	n, err := strconv.ParseUint(string(text), 10, 32)
	if err != nil || len(text) > 1 && text[0] == '0' {
		return 0, r.errorf("expected a line number")
	}
	return uint32(n), nil
}

// skip skips a value.
func (r *reader) skip(depth int) error {
	if depth == r.limit.depth {
		return r.errorf("more than %d levels", r.limit.depth)
	}
	switch c := r.peek(); {
	case c == '{':
		return r.members(depth, func([]byte) error { return r.skip(depth + 1) })
	case c == '[':
		return r.skipArray(depth)
	case c == '"':
		_, err := r.string()
		return err
	case c == '-' || c >= '0' && c <= '9':
		if text := r.number(); !json.Valid(text) {
			return r.errorf("invalid number")
		}
		return nil
	}
	for _, word := range [...]string{"null", "true", "false"} {
		if bytes.HasPrefix(r.text[r.at:], []byte(word)) {
			r.at += len(word)
			return nil
		}
	}
	return r.errorf("expected a value")
}

func (r *reader) skipArray(depth int) error {
	r.at++
	if r.peek() == ']' {
		r.at++
		return nil
	}
	for {
		if err := r.skip(depth + 1); err != nil {
			return err
		}
		if r.peek() != ',' {
			return r.take(']')
		}
		r.at++
	}
}
