package remote

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"sync"

	"github.com/klauspost/compress/zstd"

	"symbolon/internal/bin"
)

const (
	window = 1 << 20 // of zstd, which bounds the memory of both sides
	piece  = 128 << 10
)

// ErrDamaged means that an entry is not the one that was written for its key.
var ErrDamaged = errors.New("the entry is damaged")

// Damaged returns an ErrDamaged with a reason.
func Damaged(reason string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(reason, args...))
}

// Packer reads as a head and the content of a source as one zstd stream. After
// Close it does not read the source, even if a reader is still in use.
type Packer struct {
	mu   sync.Mutex
	src  *io.SectionReader // nil: read to its end, or closed
	part []byte
	out  bytes.Buffer
	z    *zstd.Encoder
	err  error
}

// NewPacker returns a Packer of src.
func NewPacker(head []byte, src bin.Source) (*Packer, error) {
	p := &Packer{src: io.NewSectionReader(src, 0, src.Size()), part: make([]byte, piece)}
	p.out.Write(head)
	var err error
	p.z, err = zstd.NewWriter(&p.out, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(window), zstd.WithLowerEncoderMem(true), zstd.WithZeroFrames(true))
	return p, err
}

func (p *Packer) Read(b []byte) (int, error) {
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

// HasFailed reports whether the source could not be read.
func (p *Packer) HasFailed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err != nil
}

// Close ends the use of the source.
func (p *Packer) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.src != nil {
		p.src, p.err = nil, os.ErrClosed
	}
}

// MaxStream returns the size of the longest zstd stream of n bytes.
func MaxStream(n int64) int64 { return n + n>>8 + 1<<10 }

// Unpack writes the content of the zstd stream r to w, and never more than size
// bytes. The error is a ReadError if r fails, the one of w if w fails, and
// ErrDamaged unless the content has this size and this CRC-32C.
func Unpack(w io.Writer, r io.Reader, size int64, sum uint32) error {
	in, out := &bin.ErrReader{R: io.LimitReader(r, MaxStream(size))}, &bin.ErrWriter{W: w}
	z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(window))
	if err != nil {
		return Damaged("%v", err)
	}
	defer z.Close()
	got := crc32.New(bin.Castagnoli)
	n, err := io.Copy(io.MultiWriter(out, got), io.LimitReader(z, size))
	switch {
	case in.Err != nil:
		return ReadError{in.Err}
	case out.Err != nil:
		return out.Err
	case err != nil:
		return Damaged("%v", err)
	case n != size:
		return Damaged("it ends early")
	case got.Sum32() != sum:
		return Damaged("wrong checksum of the content")
	}
	if n, err := z.Read(make([]byte, 1)); n > 0 || err != io.EOF { // also checks zstd's own checksum
		if in.Err != nil {
			return ReadError{in.Err}
		}
		return Damaged("wrong end of the stream")
	}
	return nil
}

// ReadError is a failure to read an entry, which need not be damaged.
type ReadError struct{ Err error }

func (e ReadError) Error() string { return e.Err.Error() }

// Unwrap returns the error of the reader.
func (e ReadError) Unwrap() error { return e.Err }
