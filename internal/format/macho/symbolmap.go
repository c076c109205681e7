package macho

import (
	"bytes"
	"encoding/hex"
	"math"
	"strconv"

	"symbolon/internal/fault"
)

// SymbolMap is a BCSymbolMap: the names that were replaced by numbers in a
// binary built from bitcode.
type SymbolMap struct {
	text  []byte
	lines []uint32 // the offset of each name, and the end
}

// ReadSymbolMap reads a BCSymbolMap: a header line, and a name on each line.
// Its binary is identified only by the name of the file.
func ReadSymbolMap(text []byte) (*SymbolMap, error) {
	head, _, _ := bytes.Cut(text[:min(len(text), 64)], []byte("\n"))
	if !bytes.Equal(bytes.TrimRight(head, "\r"), []byte("BCSymbolMap Version: 2.0")) || uint64(len(text)) >= math.MaxUint32 {
		return nil, fault.New(fault.Malformed, "bcsymbolmap, first line", "invalid header: must be BCSymbolMap Version: 2.0")
	}
	m := &SymbolMap{text: text, lines: make([]uint32, 0, bytes.Count(text, []byte("\n"))+1)}
	for at := min(len(head)+1, len(text)); at < len(text); {
		m.lines = append(m.lines, uint32(at))
		n := bytes.IndexByte(text[at:], '\n')
		if n < 0 {
			break
		}
		at += n + 1
	}
	return m, nil
}

// Name returns the name of s, "__hidden#N_", and s itself in every other case.
// It is for names of all kinds, also of directories.
func (m *SymbolMap) Name(s []byte) []byte {
	digits, ok := bytes.CutPrefix(s, []byte(hidden))
	if !ok || len(digits) < 2 || len(digits) > 11 || digits[len(digits)-1] != '_' {
		return s
	}
	n, err := strconv.ParseUint(string(digits[:len(digits)-1]), 10, 32)
	if err != nil || n >= uint64(len(m.lines)) {
		return s
	}
	line, _, _ := bytes.Cut(m.text[m.lines[n]:], []byte("\n"))
	return bytes.TrimRight(line, "\r")
}

// Symbol is Name for symbols of the symbol table: it removes the underscore of
// C.
func (m *SymbolMap) Symbol(s []byte) []byte {
	if !bytes.HasPrefix(s, []byte(hidden)) {
		return s
	}
	return trimUnderscore(m.Name(s))
}

// ReadUUIDMap reads the property list next to a dSYM built from bitcode and
// returns the original UUID of the binary, which identifies its BCSymbolMap. It
// looks only for that key and value.
func ReadUUIDMap(plist []byte) (original [16]byte, err error) {
	_, rest, ok := bytes.Cut(plist, []byte("<key>DBGOriginalUUID</key>"))
	if !ok || !bytes.Contains(plist, []byte("<plist")) {
		return original, fault.New(fault.Malformed, "uuid map", "missing key DBGOriginalUUID of an XML property list")
	}
	value, ok := bytes.CutPrefix(bytes.TrimSpace(rest[:min(len(rest), 256)]), []byte("<string>"))
	value, _, closed := bytes.Cut(value, []byte("</string>"))
	digits := bytes.ReplaceAll(bytes.TrimSpace(value), []byte("-"), nil)
	if len(digits) != 32 || !ok || !closed {
		return original, fault.New(fault.Malformed, "uuid map, DBGOriginalUUID", "invalid UUID %.40q", value)
	}
	if _, err := hex.Decode(original[:], digits); err != nil {
		return [16]byte{}, fault.New(fault.Malformed, "uuid map, DBGOriginalUUID", "%w", err)
	}
	return original, nil
}
