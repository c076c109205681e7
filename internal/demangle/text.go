package demangle

import (
	"strings"
	"unicode/utf8"
)

// Text returns a line of text with its mangled names demangled. A name of Go is
// recognized only if it is the whole line.
func Text(line string, style Style) string {
	if text := Name(line, style); text != line && !strings.Contains(line, " ") {
		return text
	}
	var out strings.Builder
	for len(line) > 0 {
		n := wordLength(line)
		word := line[:max(n, 1)]
		text := Name(word, style)
		if text == word { // the end of a sentence, or of a name in brackets
			bare := strings.TrimRight(word, ".>?")
			text = Name(bare, style) + word[len(bare):]
		}
		out.WriteString(text)
		line = line[len(word):]
	}
	return out.String()
}

// wordLength returns the length of the word at the start of a text, 0 if there is
// another character. Names of MSVC have more characters than others.
func wordLength(text string) int {
	const more = "?@<>"
	start := strings.TrimPrefix(text, ".")
	msvc := strings.HasPrefix(start, "?")
	n := 0
	if strings.HasPrefix(text, "@__swiftmacro_") {
		n = 1
	}
	for n < len(text) {
		c := text[n]
		switch {
		case c == '_', c == '$', c == '.', c >= '0' && c <= '9', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= utf8.RuneSelf:
		case strings.IndexByte(more, c) >= 0 && (msvc || c == '?' && n > 0):
			msvc = true // a name does not begin inside a word
		default:
			return n
		}
		n++
	}
	return n
}
