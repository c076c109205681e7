package difs

import "io"

// ReadParts reads a request to assemble files. It returns their number.
func ReadParts(body io.Reader) (int, error) {
	parts, err := readParts(body)
	return len(parts), err
}
