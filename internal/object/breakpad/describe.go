package breakpad

import (
	"bytes"

	"symbolon/internal/bin"
	"symbolon/internal/object"
)

// records are the beginnings of the lines that give a file its features.
var records = [...]struct {
	begin   []byte
	feature object.Features
}{{[]byte("\nPUBLIC "), object.HasSymbols}, {[]byte("\nFUNC "), object.HasDebug}, {[]byte("\nSTACK "), object.HasUnwind}}

const (
	describeStep = 1 << 20
	describeTail = 64 << 10 // most files end with STACK records
)

// Describe describes a file by its first lines and the kinds of its records. It keeps no
// records, and reads until it has seen each kind.
func Describe(src bin.Source) ([]object.Info, error) {
	info, err := readHead(src)
	if err != nil {
		return nil, err
	}
	all := object.HasSymbols | object.HasDebug | object.HasUnwind
	const overlap = 8 // a line that begins at the end of a step
	buf := make([]byte, min(describeStep+overlap, src.Size()))
	look := func(off, n int64) error {
		b := buf[:min(n, src.Size()-off)]
		m, err := src.ReadAt(b, off)
		if m == len(b) {
			err = nil // which may be io.EOF
		}
		for _, r := range records {
			if info.Features&r.feature == 0 && bytes.Contains(b, r.begin) {
				info.Features |= r.feature
			}
		}
		return err
	}
	if err := look(max(src.Size()-describeTail, 0), describeTail); err != nil {
		return nil, err
	}
	for off := int64(0); off < src.Size() && info.Features != all; off += describeStep {
		if err := look(off, describeStep+overlap); err != nil {
			return nil, err
		}
	}
	return []object.Info{info}, nil
}
