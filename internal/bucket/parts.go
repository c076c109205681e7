package bucket

import (
	"bytes"
	"context"
	"io"
)

// Parts cuts the body of a Put into parts, one of which is in memory.
type Parts struct {
	from io.Reader
	end  func() error
	size int64
	part bytes.Buffer
	next [1]byte // the first byte of the next part, if more
	more bool
}

// NewParts cuts r into parts of size bytes. Like Copy it fails when ctx ends,
// and before the last part if a promises another size.
func NewParts(ctx context.Context, r io.Reader, a Attrs, size int64) *Parts {
	p := &Parts{size: size}
	count := &counter{r: Bound(ctx, r)}
	p.from, p.end = count, func() error {
		if err := ended(ctx); err != nil {
			return err
		}
		return promised(a, count.n)
	}
	if a.Size > 0 {
		p.from = io.LimitReader(count, a.Size+1)
	}
	return p
}

// Next is the next part, until the one after it, and whether it is the last
// one. All but the last are of the full size.
func (p *Parts) Next() (part []byte, last bool, err error) {
	p.part.Reset()
	if p.more {
		p.part.Write(p.next[:])
	}
	// A body that is larger than this gets the memory of a whole part at once.
	if err = p.fill(min(p.size, 256<<10)); err == nil {
		p.part.Grow(int(p.size) - p.part.Len() + bytes.MinRead)
		err = p.fill(p.size)
	}
	if err == nil {
		_, err = io.ReadFull(p.from, p.next[:])
		p.more = err == nil
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

type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}
