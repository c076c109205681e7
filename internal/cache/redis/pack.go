package redis

import (
	"errors"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/zstd"

	"symbolon/internal/bin"
	"symbolon/internal/cache"
)

const (
	// chunkSize fills 256 KiB in Redis, with what its allocator adds.
	chunkSize = 256<<10 - 64
	window    = 1 << 20 // of zstd, which bounds the memory of both sides
	maxRatio  = 16      // content that is larger than this times max_entry is not shared
)

var (
	errGone    = errors.New("a chunk is gone")
	errDamaged = errors.New("it is not what was written")
	errTooBig  = errors.New("it is larger than max_entry")
)

// pack compresses src and gives its chunks to put. It returns their number.
func pack(src bin.Source, put func(n int, chunk string) error) (int, error) {
	out := &cutter{put: put}
	z, err := zstd.NewWriter(out, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(window), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(z, io.NewSectionReader(src, 0, src.Size()))
	if err = errors.Join(err, z.Close()); err == nil {
		err = out.flush()
	}
	return out.n, err
}

// cutter cuts what is written to it into chunks.
type cutter struct {
	put  func(n int, chunk string) error
	n    int // chunks that were put
	part []byte
	err  error // of put; nothing more is put then
}

func (c *cutter) Write(p []byte) (int, error) {
	size := len(p)
	for len(p) > 0 {
		fits := min(len(p), chunkSize-len(c.part))
		c.part, p = append(c.part, p[:fits]...), p[fits:]
		if len(c.part) == chunkSize {
			if err := c.flush(); err != nil {
				return size - len(p), err
			}
		}
	}
	return size, nil
}

func (c *cutter) flush() error {
	if c.err == nil && len(c.part) > 0 {
		c.err = c.put(c.n, string(c.part))
		c.n++
		c.part = c.part[:0]
	}
	return c.err
}

// unpack writes the content of r, whose chunks are what get returns, to w, and
// never more than r says. It fails if that is not the content.
func unpack(w io.Writer, r *record, get func(n int) ([]byte, error)) error {
	in := &joiner{get: get, chunks: r.chunks}
	z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(window))
	if err != nil {
		return errors.Join(errDamaged, err)
	}
	defer z.Close()
	sum := crc32.New(bin.Castagnoli)
	out := &cache.Sink{W: io.MultiWriter(w, sum)}
	n, err := io.Copy(out, io.LimitReader(z, r.size))
	switch {
	case in.err != nil:
		return in.err
	case out.Err != nil:
		return out.Err
	case err != nil || n != r.size || sum.Sum32() != r.sum:
		return errDamaged
	}
	if n, err := z.Read(make([]byte, 1)); n > 0 || err != io.EOF { // also checks zstd's own checksum
		return errors.Join(in.err, errDamaged)
	}
	return nil
}

// joiner reads chunks as one stream, and keeps the error of getting one.
type joiner struct {
	get    func(n int) ([]byte, error)
	n      int
	chunks int
	part   []byte
	err    error
}

func (j *joiner) Read(p []byte) (int, error) {
	for len(j.part) == 0 {
		if j.err != nil {
			return 0, j.err
		}
		if j.n == j.chunks {
			return 0, io.EOF
		}
		j.part, j.err = j.get(j.n)
		j.n++
	}
	n := copy(p, j.part)
	j.part = j.part[n:]
	return n, nil
}
