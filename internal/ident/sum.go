package ident

import (
	"crypto/sha1"
	"crypto/sha256"
	"fmt"
)

// SHA256 is a sum of the content of a file. Its text is hex in lower case.
type SHA256 [sha256.Size]byte

// SHA1 is a sum of the content of a file, by which some clients name files.
type SHA1 [sha1.Size]byte

func (s SHA256) String() string { return string(appendHex(nil, s[:], lowerHex)) }

func (s SHA1) String() string { return string(appendHex(nil, s[:], lowerHex)) }

// IsZero reports whether s is the zero value.
func (s SHA256) IsZero() bool { return s == SHA256{} }

// IsZero reports whether s is the zero value.
func (s SHA1) IsZero() bool { return s == SHA1{} }

// MarshalText returns the text of String.
func (s SHA256) MarshalText() ([]byte, error) { return appendHex(nil, s[:], lowerHex), nil }

// MarshalText returns the text of String.
func (s SHA1) MarshalText() ([]byte, error) { return appendHex(nil, s[:], lowerHex), nil }

// UnmarshalText parses hex digits of any case.
func (s *SHA256) UnmarshalText(text []byte) error { return parseSum(s[:], string(text)) }

// UnmarshalText parses hex digits of any case.
func (s *SHA1) UnmarshalText(text []byte) error { return parseSum(s[:], string(text)) }

func parseSum(sum []byte, text string) error {
	if !hexBytes(sum, text) {
		return fmt.Errorf("invalid sum %s: must be %d hex digits", excerpt(text), 2*len(sum))
	}
	return nil
}
