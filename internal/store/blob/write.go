package blob

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash"
	"io"

	"github.com/klauspost/compress/zstd"

	"symbolon/internal/ident"
)

// A Writer encodes a file. NewWriter creates it.
type Writer struct {
	out    io.Writer
	pool   *Pool
	pack   *packer // nil: closed
	table  []byte
	sha256 hash.Hash
	sha1   hash.Hash
	err    error // of the first Write that failed
}

// packer is the memory of a Writer.
type packer struct {
	z      *zstd.Encoder
	plain  []byte // the content of the next frame
	packed []byte
}

func newPacker() *packer {
	z, _ := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(frameSize), zstd.WithLowerEncoderMem(true)) // the options are valid
	return &packer{z: z}
}

// NewWriter returns a Writer that writes the blob to w.
func NewWriter(w io.Writer) *Writer { return new(Pool).NewWriter(w) }

// NewWriter returns a Writer that writes the blob to w.
func (p *Pool) NewWriter(w io.Writer) *Writer {
	return &Writer{out: w, pool: p, pack: p.packer(), sha256: sha256.New(), sha1: sha1.New()}
}

var errClosed = errors.New("the blob is closed")

// Write encodes the next bytes of the file. It fails with errors of the underlying
// writer.
func (w *Writer) Write(b []byte) (n int, err error) {
	if w.pack == nil {
		return 0, errClosed
	}
	for w.err == nil && n < len(b) {
		p := w.pack
		m := min(frameSize-len(p.plain), len(b)-n)
		p.plain = append(p.plain, b[n:n+m]...)
		n += m
		if len(p.plain) == frameSize {
			w.err = w.frame()
		}
	}
	return n, w.err
}

// frame writes the buffered content as a frame.
func (w *Writer) frame() error {
	p := w.pack
	w.sha256.Write(p.plain)
	w.sha1.Write(p.plain)
	p.packed = p.z.EncodeAll(p.plain, p.packed[:0])
	w.table = binary.LittleEndian.AppendUint32(w.table, uint32(len(p.packed)))
	w.table = binary.LittleEndian.AppendUint32(w.table, uint32(len(p.plain)))
	p.plain = p.plain[:0]
	_, err := w.out.Write(p.packed)
	return err
}

// Close writes the end of the blob unless a Write failed, and releases the memory. It
// does not close the underlying writer. Closing again does nothing.
func (w *Writer) Close() error {
	if w.pack == nil {
		return w.err
	}
	if w.err == nil && len(w.pack.plain) > 0 {
		w.err = w.frame()
	}
	w.pack.plain = w.pack.plain[:0]
	w.pool.packers.Put(w.pack)
	w.pack = nil
	if w.err != nil {
		return w.err
	}
	end := binary.LittleEndian.AppendUint32(nil, skippable)
	end = binary.LittleEndian.AppendUint32(end, uint32(len(w.table)+tailSize))
	end = append(end, w.table...)
	end = binary.LittleEndian.AppendUint32(end, uint32(len(w.table)/entrySize))
	end = append(end, 0)
	end = binary.LittleEndian.AppendUint32(end, seekable)
	_, w.err = w.out.Write(end)
	return w.err
}

// Sums returns the sums of the file, after Close.
func (w *Writer) Sums() (s256 ident.SHA256, s1 ident.SHA1) {
	w.sha256.Sum(s256[:0])
	w.sha1.Sum(s1[:0])
	return s256, s1
}
