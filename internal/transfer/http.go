package transfer

import (
	"strconv"
	"strings"
)

// EscapePath returns a slash-separated path escaped for a URL: all bytes except
// letters, digits and "-._~", because servers disagree about others, such as "+".
// It is the form that signatures of S3 require.
func EscapePath(path string) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(path) {
		switch c := path[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-._~/", c) >= 0:
			b.WriteByte(c)
		default:
			b.WriteByte('%')
			b.WriteByte(digits[c>>4])
			b.WriteByte(digits[c&15])
		}
	}
	return b.String()
}

// ContentRange parses the header of that name: "bytes 0-99/200".
func ContentRange(text string) (first, last, size int64, ok bool) {
	text, ok = strings.CutPrefix(text, "bytes ")
	span, whole, _ := strings.Cut(text, "/")
	from, to, _ := strings.Cut(span, "-")
	number := func(text string) int64 {
		v, err := strconv.ParseUint(text, 10, 63)
		ok = ok && err == nil
		return int64(v)
	}
	first, last, size = number(from), number(to), number(whole)
	return first, last, size, ok && first <= last && last < size
}
