package wasm_test

import (
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/fixture"
	"symbolon/internal/format/wasm"
)

// FuzzOpen checks that every reader terminates, that functions are in the file
// and in ascending order, and that Name accepts their numbers.
func FuzzOpen(f *testing.F) {
	f.Add(module().Bytes())
	f.Add(relocatable().Bytes())
	f.Add(fixture.NewWasm().Imports("\x02\x05\x01\x02", importRef).Section(5, []byte{1, 4, 1}).Code([]byte("\x00\x0b")).Bytes())
	f.Add(fixture.NewWasm().Section(10, []byte{3, 2, 0, 11, 9, 0}).Custom("name", []byte{1, 9, 2, 0, 1, 'a', 1, 200}).Bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		x, err := wasm.Open(bin.Bytes(b))
		if err != nil {
			return
		}
		for _, s := range x.Sections {
			if s.Off < 8 || s.Size < 0 || s.Off+s.Size > int64(len(b)) {
				t.Fatalf("section %+v of %d bytes", s, len(b))
			}
		}
		last := x.CodeOffset()
		x.Functions(func(name []byte, off uint32, start, end uint64) bool {
			if start < last || end < start || end > uint64(len(b)) || string(x.Name(off)) != string(name) {
				t.Fatalf("function %q, %d, at %d to %d after %d", name, off, start, end, last)
			}
			last = end
			return true
		})
		x.BuildID()
		x.ExternalDebugInfo()
		x.Kind()
		x.Arch()
	})
}
