// Package console writes to people at terminals.
package console

import (
	"fmt"
	"io"
	"strings"
	"unicode"
)

// Printf writes for people. It ignores errors of the writer: a terminal may go away.
func Printf(w io.Writer, format string, args ...any) { _, _ = fmt.Fprintf(w, format, args...) }

// Count writes a number of things, for people; "entry" becomes "entries".
func Count[N int | int64 | uint64](n N, what string) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	if stem, ok := strings.CutSuffix(what, "ry"); ok && n != 1 {
		return text + " " + stem + "ries"
	}
	if n != 1 {
		what += "s"
	}
	return text + " " + what
}

// Printable replaces what could move a terminal's cursor or reorder its text:
// names come from files that anybody may have made.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}
