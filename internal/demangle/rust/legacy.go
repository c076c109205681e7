package rust

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"symbolon/internal/demangle/core"
)

// hashLength is the length of the last part of a legacy name: h and sixteen
// hexadecimal digits.
const hashLength = 17

// Signs have a short name between dollars, other letters their number. Two dots
// are the colons inside of a part.
var (
	legacySigns = strings.NewReplacer("$SP$", "@", "$BP$", "*", "$RF$", "&", "$LT$", "<", "$GT$", ">",
		"$LP$", "(", "$RP$", ")", "$C$", ",", "..", "::")
	legacyLetters = regexp.MustCompile(`\$u[0-9a-f]{1,6}\$`)
	// rustSign is a sign that no name of another language has. A comma is $C$,
	// which may be an inner class of Java.
	rustSign = regexp.MustCompile(`\$(?:[SBRL]P|RF|[LG]T|u[0-9a-f]{2,6})\$`)
)

// AppendLegacy appends the readable form of a name of the older Rust mangling,
// without its hash, and reports whether it is one. Only the hash, or a sign in it,
// distinguishes it from a C++ name.
func AppendLegacy(dst, name []byte, style core.Style, _ *int) ([]byte, bool) {
	start := bytes.Index(name, []byte("_ZN"))
	if start < 0 || start > 1 || name[0] != '_' {
		return dst, false
	}
	var buffer [16][]byte
	parts := buffer[:0]
	c := core.Cursor{Text: name, Pos: start + len("_ZN"), End: len(name)}
	for !c.Accept('E') {
		n := c.Natural()
		if n <= 0 || n > c.End-c.Pos || !printable(name[c.Pos:c.Pos+n]) {
			return dst, false
		}
		parts = append(parts, name[c.Pos:c.Pos+n])
		c.Pos += n
	}
	after, ok := trimSuffix(name[c.Pos:])
	last := len(parts) - 1
	switch {
	case ok && last > 0 && len(parts[last]) == hashLength && parts[last][0] == 'h' && core.IsHash(parts[last][1:]):
		parts = parts[:last]
	case !ok || !rustSign.Match(name):
		return dst, false
	}
	at := len(dst)
	for i, part := range parts {
		if i > 0 {
			dst = append(dst, "::"...)
		}
		dst = appendLegacyPart(dst, part)
	}
	if style == core.Simple {
		dst = removeArguments(dst, at)
	}
	return append(dst, after...), true
}

// appendLegacyPart appends a part with its signs put back.
func appendLegacyPart(dst, part []byte) []byte {
	if !bytes.ContainsAny(part, "$.") {
		return append(dst, part...)
	}
	if bytes.HasPrefix(part, []byte("_$")) {
		part = part[1:]
	}
	text := legacyLetters.ReplaceAllStringFunc(legacySigns.Replace(string(part)), func(letter string) string {
		n, _ := strconv.ParseUint(letter[2:len(letter)-1], 16, 31)
		if !utf8.ValidRune(rune(n)) || unicode.IsControl(rune(n)) {
			return letter
		}
		return string(rune(n))
	})
	return append(dst, text...)
}

// removeArguments drops generic arguments from a text after a place. Angle
// brackets at the start of a path have a type in them and stay.
func removeArguments(text []byte, at int) []byte {
	out := text[:at]
	depth := 0
	for i := at; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '<' && (depth > 0 || i > at && (isWord(text[i-1]) || text[i-1] == ':')):
			if depth == 0 && len(out) > at+2 && out[len(out)-1] == ':' {
				out = out[:len(out)-2]
			}
			depth++
		case c == '>' && depth > 0 && text[i-1] != '.': // .> is an arrow
			depth--
		case depth == 0:
			out = append(out, c)
		}
	}
	return out
}

func isWord(c byte) bool {
	return c == '_' || core.IsDigit(c) || core.IsUpper(c) || core.IsLower(c) || c >= utf8.RuneSelf
}
