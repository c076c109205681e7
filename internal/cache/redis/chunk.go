package redis

import (
	"errors"
	"io"

	"symbolon/internal/bin"
	"symbolon/internal/cache/remote"
)

const (
	// chunkSize fills 256 KiB in Redis, with the overhead of its allocator.
	chunkSize = 256<<10 - 64
	maxRatio  = 16 // content that is larger than this times max_entry is not shared
)

var (
	errGone   = errors.New("a chunk is missing")
	errTooBig = errors.New("the entry is larger than max_entry")
)

// pack compresses src, passes its chunks to put, and returns their number.
func pack(src bin.Source, put func(n int, chunk string) error) (int, error) {
	stream, err := remote.NewPacker(nil, src)
	if err != nil {
		return 0, err
	}
	chunk := make([]byte, chunkSize)
	for n := 0; ; n++ {
		size, err := io.ReadFull(stream, chunk)
		switch {
		case err == io.EOF:
			return n, nil
		case err != nil && err != io.ErrUnexpectedEOF:
			return n, err
		}
		if err := put(n, string(chunk[:size])); err != nil {
			return n, err
		}
	}
}

// unpack writes the content of r, whose chunks get returns, to w.
func unpack(w io.Writer, r *record, get func(n int) ([]byte, error)) error {
	return remote.Unpack(w, &chunks{get: get, left: r.chunks}, r.size, r.sum)
}

// chunks reads chunks as one stream.
type chunks struct {
	get  func(n int) ([]byte, error)
	next int
	left int
	part []byte
}

func (c *chunks) Read(p []byte) (n int, err error) {
	for len(c.part) == 0 {
		if c.left == 0 {
			return 0, io.EOF
		}
		if c.part, err = c.get(c.next); err != nil {
			return 0, err
		}
		c.next, c.left = c.next+1, c.left-1
	}
	n = copy(p, c.part)
	c.part = c.part[n:]
	return n, nil
}
