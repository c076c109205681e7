package bucket

import (
	"bytes"
	"context"
	"io"

	"symbolon/internal/bin"
)

// Parts splits the body of a Put into parts and keeps one part in memory.
type Parts struct {
	from    io.Reader
	end     func() error
	size    int64
	part    bytes.Buffer
	next    [1]byte // the first byte of the next part, if hasNext
	hasNext bool
}

// NewParts splits r into parts of size bytes. Like Copy it fails when ctx ends,
// and before the last part if the size differs from a.Size.
func NewParts(ctx context.Context, r io.Reader, a Attrs, size int64) *Parts {
	p := &Parts{size: size}
	count := bin.NewCount(Bound(ctx, r))
	p.from, p.end = count, func() error {
		if err := Ended(ctx); err != nil {
			return err
		}
		return checkSize(a, count.N())
	}
	if a.Size > 0 {
		p.from = io.LimitReader(count, a.Size+1)
	}
	return p
}

// Next returns the next part, valid until the next call, and whether it is the
// last one. All but the last have the full size.
func (p *Parts) Next() (part []byte, last bool, err error) {
	p.part.Reset()
	if p.hasNext {
		p.part.Write(p.next[:])
	}
	// Allocate a whole part at once for a body above this size.
	if err = p.fill(min(p.size, 256<<10)); err == nil {
		p.part.Grow(int(p.size) - p.part.Len() + bytes.MinRead)
		err = p.fill(p.size)
	}
	if err == nil {
		_, err = io.ReadFull(p.from, p.next[:])
		p.hasNext = err == nil
	}
	if err == io.EOF {
		return p.part.Bytes(), true, p.end()
	}
	return p.part.Bytes(), false, err
}

// fill reads until the part has size bytes.
func (p *Parts) fill(size int64) error {
	_, err := io.CopyN(&p.part, p.from, size-int64(p.part.Len()))
	return err
}
