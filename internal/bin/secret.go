package bin

import (
	"encoding/base64"
	"fmt"
	"io"
	"strings"
)

// Redacted replaces a secret in all output.
const Redacted = "[redacted]"

// Secret is a text that is never printed: formatting, marshalling and logging
// print Redacted. Only Reveal returns the text. The text is kept through a
// pointer because fmt prints unexported fields of other structs without calling
// their methods.
type Secret struct{ text *string }

// NewSecret returns a Secret of text.
func NewSecret(text string) Secret {
	if text == "" {
		return Secret{}
	}
	return Secret{&text}
}

// Reveal returns the text, for use as a credential.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// IsZero reports whether the text is empty.
func (s Secret) IsZero() bool { return s.Reveal() == "" }

// String returns Redacted, or "" if the text is empty.
func (s Secret) String() string {
	if s.IsZero() {
		return ""
	}
	return Redacted
}

// Format writes Redacted, whatever the verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) } // fmt.Formatter cannot return an error

// MarshalText returns Redacted.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// MarshalYAML returns Redacted.
func (s Secret) MarshalYAML() (any, error) { return s.String(), nil }

// UnmarshalText sets the secret to text.
func (s *Secret) UnmarshalText(text []byte) error {
	*s = NewSecret(string(text))
	return nil
}

// tokenLength is the length of a token that the server makes (package token). It is
// the base64 of capital letters, digits and a colon.
const tokenLength = 43

// RedactTokens returns a text with Redacted in place of each token that the server
// made.
func RedactTokens(text string) string {
	var out strings.Builder
	rest := text
	for i := 0; i+tokenLength <= len(rest); i++ {
		if isToken(rest[i : i+tokenLength]) {
			out.WriteString(rest[:i] + Redacted)
			rest, i = rest[i+tokenLength:], -1
		}
	}
	if out.Len() == 0 {
		return text
	}
	return out.String() + rest
}

func isToken(text string) bool {
	if text[0] < 'M' || text[0] > 'W' { // the first six bits of a capital letter or a digit
		return false
	}
	var in [tokenLength]byte
	var out [tokenLength * 6 / 8]byte
	copy(in[:], text)
	if _, err := base64.RawStdEncoding.Decode(out[:], in[:]); err != nil {
		return false
	}
	colons := 0
	for _, c := range out {
		switch {
		case c == ':':
			colons++
		case (c < 'A' || c > 'Z') && (c < '0' || c > '9'):
			return false
		}
	}
	return colons == 1
}
