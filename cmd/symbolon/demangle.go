package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"strings"
	"unicode/utf8"

	"symbolon/internal/console"
	"symbolon/internal/demangle"
)

func demangleCommand() *command {
	var style string
	styles := map[string]demangle.Style{"full": demangle.Full, "noparams": demangle.NoParams, "simple": demangle.Simple}
	return &command{
		name:  "demangle",
		args:  "[NAME...]",
		short: "Turn mangled names into readable ones",
		long: `Names are arguments, or in the text on standard input. Mangled names of C++
(Itanium and MSVC), Rust, Swift, OCaml and Go are replaced, and other text is not
changed. A name of Go is recognized only if it is the whole line.`,
		flags: func(fs *flag.FlagSet) {
			fs.StringVar(&style, "style", "full", "full, noparams (no parameters) or simple (no template arguments either) as `STYLE`")
		},
		run: func(ctx context.Context, e *env, args []string) error {
			st, ok := styles[style]
			if !ok {
				return &usageError{text: fmt.Sprintf("invalid --style %q: must be full, noparams or simple", style)}
			}
			out := bufio.NewWriter(e.stdout)
			for _, a := range args {
				say(out, "%s\n", demangle.Name(a, st))
			}
			if len(args) > 0 {
				return out.Flush()
			}
			return console.EachLine(ctx, e.stdin, func(line string) error {
				say(out, "%s\n", readable(line, st))
				return out.Flush()
			})
		},
	}
}

// readable returns a line with its mangled names made readable.
func readable(line string, style demangle.Style) string {
	if text := demangle.Name(line, style); text != line && !strings.Contains(line, " ") {
		return text
	}
	var out strings.Builder
	for len(line) > 0 {
		n := wordLength(line)
		word := line[:max(n, 1)]
		text := demangle.Name(word, style)
		if text == word { // the end of a sentence, or of a name in brackets
			bare := strings.TrimRight(word, ".>?")
			text = demangle.Name(bare, style) + word[len(bare):]
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
