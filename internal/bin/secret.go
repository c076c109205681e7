package bin

import (
	"fmt"
	"io"
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
