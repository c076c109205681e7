package shared

import (
	"bytes"
	"errors"
	"hash/crc32"
	"io"
	"os"
	"sync"

	"github.com/klauspost/compress/zstd"

	"symbolon/internal/bin"
	"symbolon/internal/cache"
)

const (
	window = 1 << 20 // of zstd, which bounds the memory of both sides
	piece  = 128 << 10
)

// packed is an object as it is written: a head, and what src has as zstd. Once
// it is closed src is read no more, so src belongs to its owner again, whoever
// still holds the reader.
type packed struct {
	mu   sync.Mutex
	src  *io.SectionReader // nil: read to its end, or closed
	part []byte
	out  bytes.Buffer
	z    *zstd.Encoder
	err  error
}

func pack(head []byte, src bin.Source) (*packed, error) {
	p := &packed{src: io.NewSectionReader(src, 0, src.Size()), part: make([]byte, piece)}
	p.out.Write(head)
	var err error
	p.z, err = zstd.NewWriter(&p.out, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(window), zstd.WithLowerEncoderMem(true), zstd.WithZeroFrames(true))
	return p, err
}

func (p *packed) Read(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.out.Len() == 0 && p.src != nil {
		n, err := p.src.Read(p.part)
		_, failed := p.z.Write(p.part[:n])
		if err == io.EOF {
			p.src, err = nil, p.z.Close()
		}
		if p.err = errors.Join(err, failed); p.err != nil {
			p.src = nil
		}
	}
	if p.err != nil {
		return 0, p.err
	}
	return p.out.Read(b)
}

// failed tells whether src could not be read.
func (p *packed) failed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err != nil
}

// Close takes src back.
func (p *packed) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.src != nil {
		p.src, p.err = nil, os.ErrClosed
	}
}

// most is the size of the longest stream of zstd that has n bytes.
func most(n int64) int64 { return n + n>>8 + 1<<10 }

// unpack writes the content of h, whose stream r is, to w, and never more than h
// says. The error is errBad if that is not the content, a broken if it is the one
// of r, else the one of w.
func unpack(w io.Writer, r io.Reader, h head) error {
	in := &origin{r: io.LimitReader(r, most(h.size))}
	z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(window))
	if err != nil {
		return bad("%v", err)
	}
	defer z.Close()
	sum := crc32.New(bin.Castagnoli)
	out := &cache.Sink{W: w}
	n, err := io.Copy(io.MultiWriter(out, sum), io.LimitReader(z, h.size))
	switch {
	case in.err != nil:
		return broken{in.err}
	case out.Err != nil:
		return out.Err
	case err != nil:
		return bad("%v", err)
	case n != h.size:
		return bad("it ends early")
	case sum.Sum32() != h.sum:
		return bad("the checksum of the content is wrong")
	}
	if n, err := z.Read(make([]byte, 1)); n > 0 || err != io.EOF { // also checks zstd's own checksum
		if in.err != nil {
			return broken{in.err}
		}
		return bad("it does not end where it should")
	}
	return nil
}

// broken is a failure of the bucket in the middle of an object.
type broken struct{ error }

// origin keeps the error of reading, which is not one of what was read.
type origin struct {
	r   io.Reader
	err error
}

func (o *origin) Read(p []byte) (int, error) {
	n, err := o.r.Read(p)
	if err != nil && err != io.EOF {
		o.err = err
	}
	return n, err
}
