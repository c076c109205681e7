package cache

import (
	"context"
	"hash"
	"hash/crc32"
	"io"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
)

// Spooled writes the bytes of fill to a spool, for a tier that stores them
// elsewhere, and returns their CRC-32C. When ctx ends, the next Write of fill
// fails; the error of fill is returned unchanged.
func Spooled(ctx context.Context, spool func() (Spool, error), fill func(io.Writer) error) (out Spool, sum uint32, err error) {
	if err := ctx.Err(); err != nil {
		return nil, 0, fault.Of(err)
	}
	if out, err = spool(); err != nil {
		return nil, 0, err
	}
	w := &filler{ctx: ctx, out: out, sum: crc32.New(bin.Castagnoli)}
	kept := false
	defer func() {
		if !kept { // also when fill panics
			_ = w.out.Close() // its content is incomplete
		}
	}()
	if err = fill(w); err == nil {
		err = w.err // fill has ignored it
	}
	if err != nil {
		return nil, 0, err
	}
	kept = true
	return out, w.sum.Sum32(), nil
}

// filler is the writer that fill gets.
type filler struct {
	ctx context.Context
	out Spool
	sum hash.Hash32
	err error
}

func (f *filler) Write(p []byte) (n int, err error) {
	if f.err == nil {
		f.err = f.ctx.Err()
	}
	if f.err == nil {
		n, f.err = f.out.Write(p)
		f.sum.Write(p[:n])
	}
	return n, f.err
}
