package applecrash

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// MaxSize is the size of the largest report that is read. Usual ones have 20 KB
// to 2 MB.
const MaxSize = 16 << 20

// maxParts bounds the lines of a text, and the values of JSON.
const maxParts = 1 << 19

// Read reads a report.
func Read(text []byte) (*Report, error) {
	if len(text) > MaxSize {
		return nil, bad("size", "invalid report: has %d bytes, more than %d", len(text), MaxSize)
	}
	if bytes.IndexByte(text, 0) >= 0 && !utf8.Valid(text) {
		return nil, bad("text", "invalid report: must be UTF-8")
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if !bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		return readText(text, 0)
	}
	if parts := bytes.Count(text, []byte{','}) + bytes.Count(text, []byte{'{'}); parts > maxParts {
		return nil, bad("JSON", "invalid report: has more than %d values", maxParts)
	}
	var header, body json.RawMessage
	dec := json.NewDecoder(bytes.NewReader(text))
	if err := dec.Decode(&header); err != nil {
		return nil, bad("JSON", "invalid report: %w", err)
	}
	body = bytes.TrimSpace(text[dec.InputOffset():])
	switch {
	case len(body) == 0:
		return readJSON(nil, header)
	case body[0] == '{':
		return readJSON(header, body)
	}
	return readText(body, bytes.Count(text[:len(text)-len(body)], []byte{'\n'}))
}
