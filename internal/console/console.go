// Package console formats text for people at terminals.
package console

import (
	"fmt"
	"io"
	"strings"
	"unicode"
)

// Printf writes to w and ignores errors: a terminal may be closed at any time.
func Printf(w io.Writer, format string, args ...any) { _, _ = fmt.Fprintf(w, format, args...) }

// Count returns a number with its noun, such as "1,234 entries" for "entry".
func Count[N int | int64 | uint64](n N, noun string) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	if stem, ok := strings.CutSuffix(noun, "ry"); ok && n != 1 {
		return text + " " + stem + "ries"
	}
	if n != 1 {
		noun += "s"
	}
	return text + " " + noun
}

// Printable replaces the characters of s that could move the cursor of a terminal
// or reorder its text: names come from untrusted files.
func Printable(s string) string {
	if isPlain(s) {
		return s
	}
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

// isPlain reports whether s has printable characters of ASCII only.
func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// OneLine is like Printable, and keeps s on its line: it replaces newlines and tabs too.
func OneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return unicode.ReplacementChar
		}
		return r
	}, Printable(s))
}
