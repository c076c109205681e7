package ident

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxFileName is the length in bytes of the longest name that file systems
// accept.
const MaxFileName = 255

// CheckFileName returns an error if name cannot be one segment of a path.
func CheckFileName(name string) error {
	var reason string
	switch {
	case name == "":
		reason = "must not be empty"
	case name == "." || name == "..":
		reason = "must not be a relative path"
	case strings.ContainsAny(name, `/\`):
		reason = "must not contain a slash or a backslash"
	case len(name) > MaxFileName:
		reason = fmt.Sprintf("must have at most %d bytes", MaxFileName)
	case !utf8.ValidString(name):
		reason = "must be UTF-8"
	case strings.ContainsFunc(name, unicode.IsControl):
		reason = "must not contain control characters"
	default:
		return nil
	}
	return fmt.Errorf("invalid file name %s: %s", excerpt(name), reason)
}

// FileName returns the last part of a path of any system.
func FileName[T string | []byte](path T) T {
	for i := len(path) - 1; i >= 0; i-- {
		if path[i] == '/' || path[i] == '\\' {
			return path[i+1:]
		}
	}
	return path
}
