package ident

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxFileName is the length in bytes of the longest name that file systems take.
const MaxFileName = 255

// CheckFileName says why name cannot be one segment of a path. It is nil for a
// name that can.
func CheckFileName(name string) error {
	why := ""
	switch {
	case name == "":
		why = "it is empty"
	case name == "." || name == "..":
		why = "it leads to another folder"
	case strings.ContainsAny(name, `/\`):
		why = "it has a slash or a backslash"
	case len(name) > MaxFileName:
		why = fmt.Sprintf("it is longer than %d bytes", MaxFileName)
	case !utf8.ValidString(name):
		why = "it is not UTF-8"
	case strings.ContainsFunc(name, unicode.IsControl):
		why = "it has a control character"
	default:
		return nil
	}
	return fmt.Errorf("invalid file name %s: %s", excerpt(name), why)
}
