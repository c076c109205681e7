package standin

import (
	"os"
	"strings"
	"unicode"
)

// maxNesting is the depth to which files of arguments may name others.
const maxNesting = 8

// expand replaces each argument @FILE by the arguments in the file. It keeps the
// argument if the file cannot be read.
func expand(args []string, depth int) []string {
	var all []string
	for _, a := range args {
		if len(a) > 1 && a[0] == '@' && depth > 0 {
			if st, err := os.Stat(a[1:]); err == nil && st.Mode().IsRegular() {
				if text, err := os.ReadFile(a[1:]); err == nil {
					all = append(all, expand(words(string(text)), depth-1)...)
					continue
				}
			}
		}
		all = append(all, a)
	}
	return all
}

// words splits text at white space like a shell: both kinds of quotes keep words
// together, and a backslash quotes the next character.
func words(text string) []string {
	var all []string
	var word strings.Builder
	var quote rune
	inWord, escaped := false, false
	for _, c := range text {
		switch {
		case escaped:
			word.WriteRune(c)
			escaped = false
		case c == '\\' && quote != '\'':
			escaped, inWord = true, true
		case quote != 0:
			if c == quote {
				quote = 0
			} else {
				word.WriteRune(c)
			}
		case c == '"' || c == '\'':
			quote, inWord = c, true
		case unicode.IsSpace(c):
			if inWord {
				all = append(all, word.String())
				word.Reset()
				inWord = false
			}
		default:
			word.WriteRune(c)
			inWord = true
		}
	}
	if inWord {
		all = append(all, word.String())
	}
	return all
}
