package elastic

import (
	"errors"
	"strconv"
	"strings"

	"symbolon/internal/ident"
)

// parseFile parses a file id. The zero id is invalid: elsewhere it means a missing id.
func parseFile(text string) (ident.FileID, error) {
	id, err := ident.ParseFileID(text)
	if err == nil && id.IsZero() {
		err = errors.New("invalid file id: must not be zero")
	}
	return id, err
}

// parseAddr parses hexadecimal digits after 0x, or decimal ones.
func parseAddr(text string) (uint64, error) {
	if digits, ok := strings.CutPrefix(strings.ToLower(text), "0x"); ok {
		return strconv.ParseUint(digits, 16, 64)
	}
	return strconv.ParseUint(text, 10, 64)
}
