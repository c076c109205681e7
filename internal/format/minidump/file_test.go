package minidump_test

import (
	"encoding/binary"
	"errors"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/format/minidump"
)

// header returns a header for a directory of count streams after it.
func header(signature, version, count uint32) []byte {
	b := make([]byte, 0, 32)
	for _, v := range []uint32{signature, version, count, 32, 0, 1700000000, 0, 0} {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}

func TestUnusableFilesAreRefusedByName(t *testing.T) {
	for _, c := range []struct {
		name string
		file []byte
		want error
	}{
		{"empty", nil, minidump.ErrMissingHeader},
		{"cut header", header(0x504d444d, 0xa793, 0)[:31], minidump.ErrMissingHeader},
		{"magic", header(0x504d444e, 0xa793, 0), minidump.ErrHeaderMismatch},
		{"version", header(0x504d444d, 0xa794, 0), minidump.ErrVersionMismatch},
		{"cut directory", header(0x504d444d, 0xa793, 1), minidump.ErrMissingDirectory},
		{"huge directory", header(0x504d444d, 0xa793, 1<<32-1), minidump.ErrMissingDirectory},
		{"no streams", header(0x504d444d, 0xabcda793, 0), minidump.ErrMissingSystemInfo},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := minidump.Open(bin.Bytes(c.file)); !errors.Is(err, c.want) {
				t.Errorf("%v, must be %v", err, c.want)
			}
		})
	}
}
