package bin

import (
	"fmt"
	"io"
)

// Redacted stands where a secret is.
const Redacted = "[redacted]"

// Secret is a text that no output ever shows: formatting, marshalling and
// logging all give a stand-in. Only Reveal has the text. The text is behind
// a pointer because fmt prints the fields of foreign structs without asking
// their methods.
type Secret struct{ text *string }

// NewSecret makes a secret of text.
func NewSecret(text string) Secret {
	if text == "" {
		return Secret{}
	}
	return Secret{&text}
}

// Reveal is the text itself, to be sent to those it was made for.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// IsZero tells whether there is no secret at all.
func (s Secret) IsZero() bool { return s.Reveal() == "" }

// String is the stand-in, or nothing if there is no secret.
func (s Secret) String() string {
	if s.IsZero() {
		return ""
	}
	return Redacted
}

// Format writes the stand-in whatever the verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) } // fmt has no way to take an error

// MarshalText gives the stand-in.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// MarshalYAML gives the stand-in.
func (s Secret) MarshalYAML() (any, error) { return s.String(), nil }

// UnmarshalText reads the secret as it is.
func (s *Secret) UnmarshalText(text []byte) error {
	*s = NewSecret(string(text))
	return nil
}
