package crash

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
)

// maxUnpacked limits a decompressed file.
const maxUnpacked = 64 << 30

// Decompress returns the file that src has compressed with zstd, as systemd-coredump
// does with core files, or src itself. The result is a temporary file until done is
// called.
func Decompress(ctx context.Context, src bin.Source) (out bin.Source, done func(), err error) {
	head := make([]byte, 4)
	if _, err := src.ReadAt(head, 0); err != nil || !bytes.Equal(head, []byte{0x28, 0xb5, 0x2f, 0xfd}) {
		return src, func() {}, nil
	}
	d, err := zstd.NewReader(io.NewSectionReader(src, 0, src.Size()), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil, nil, err
	}
	defer d.Close()
	f, err := os.CreateTemp("", "symbolon-*")
	if err != nil {
		return nil, nil, err
	}
	done = func() { _, _ = f.Close(), os.Remove(f.Name()) }
	size := int64(0)
	for n := int64(0); err == nil && size <= maxUnpacked; size += n {
		if n, err = io.CopyN(f, d, 1<<20); ctx.Err() != nil {
			err = context.Cause(ctx)
		}
	}
	switch {
	case size > maxUnpacked:
		err = fault.New(fault.Unsupported, "zstd", "more than %d bytes", maxUnpacked)
	case errors.Is(err, io.EOF):
		return temporary{f, size}, done, nil
	case errors.Is(err, io.ErrUnexpectedEOF), ctx.Err() == nil:
		err = fault.New(fault.Malformed, "zstd", "after %d bytes: %w", size, err)
	}
	done()
	return nil, nil, err
}

// temporary is a file and its size.
type temporary struct {
	*os.File
	size int64
}

// Size returns the size.
func (t temporary) Size() int64 { return t.size }
