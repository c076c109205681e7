package ident

import (
	"crypto/rand"
	"encoding/hex"
	"strings"
)

// NewUUID returns a random UUID (version 4) in lower case.
func NewUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return uuidText(hex.EncodeToString(b[:]))
}

// ParseUUID returns the UUID in the spelling of NewUUID. The text may have any
// case and any dashes.
func ParseUUID(text string) (uuid string, ok bool) {
	digits := strings.ToLower(strings.ReplaceAll(text, "-", ""))
	if _, err := hex.DecodeString(digits); err != nil || len(digits) != 32 {
		return "", false
	}
	return uuidText(digits), true
}

func uuidText(digits string) string {
	return strings.Join([]string{digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]}, "-")
}
