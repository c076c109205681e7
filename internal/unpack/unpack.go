// Package unpack decompresses files and sections of them within a budget.
//
// A Budget belongs to one file, with everything that is packed in it. It bounds
// the bytes that come out: 32 MiB and 200 more for each byte of the file, and
// 4 GiB in all. It also hands out their memory: up to 48 MiB of the heap, the
// rest from the caller's bin.Space. A Budget belongs to one goroutine.
package unpack

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/format/flate"
	"symbolon/internal/format/xz"
)

const (
	// freeBytes may be unpacked from any file.
	freeBytes = 32 << 20
	// maxRatio is how many more may come out of each byte of a file. Debug
	// information has less than 50.
	maxRatio = 200
	// bestRatio is the best compression ratio of zlib, bestZstd that of zstd: a block of
	// 128 KiB in 4 bytes.
	bestRatio = 1100
	bestZstd  = 32 << 10
	// MaxUnpacked bounds all sections of a file.
	MaxUnpacked = 4 << 30
)

// Budget bounds the bytes that are unpacked from a file, and has their memory.
type Budget struct {
	Left  int64 // bytes that may still be unpacked
	space bin.Space
	relax func() // releases pages: unpacked data is not read for a while, most often
	Heap  int64  // bytes that were unpacked to the heap

	Ahead  int64  // bytes that are about to be unpacked: they are taken from the space in one piece
	piece  []byte // the rest of such a piece
	Failed error  // of the space; then the file cannot be opened, though it is not damaged
}

// New returns the budget of a file.
func New(size int64, space bin.Space, relax func()) *Budget {
	return &Budget{Left: unpackLimit(size), space: space, relax: relax}
}

// unpackLimit returns the largest number of bytes to which a file may unpack.
func unpackLimit(size int64) int64 { return min(MaxUnpacked, freeBytes+size*maxRatio) }

// Reserve takes n bytes of the budget.
func (r *Budget) Reserve(n uint64) error {
	if n > MaxUnpacked || int64(n) > r.Left {
		return fault.New(fault.Malformed, "debug file", "unpacked size of %d bytes is above the limit", n)
	}
	r.Left -= int64(n)
	return nil
}

// maxHeap is how many bytes are unpacked to the heap if there is space elsewhere.
const maxHeap = 48 << 20

// Memory returns n bytes to unpack to.
func (r *Budget) Memory(n int) ([]byte, error) {
	if r.Failed != nil {
		return nil, r.Failed
	}
	if n > len(r.piece) {
		want := max(int64(n), r.Ahead)
		if r.Ahead = 0; r.space == nil || r.Heap+want <= maxHeap {
			r.Heap += int64(n)
			return make([]byte, n), nil
		}
		var err error
		if r.piece, err = r.space.Take(int(want)); err != nil {
			r.Failed = fault.New(fault.Internal, "debug file", "find space for %v of unpacked data: %w", bin.Size(want), err)
			return nil, r.Failed
		}
	}
	b := r.piece[:n:n]
	r.piece = r.piece[min(Aligned(int64(n)), int64(len(r.piece))):]
	return b, nil
}

// Clone returns a copy of data; nil if there is not enough space.
func (r *Budget) Clone(data []byte) []byte {
	b, err := r.Memory(len(data))
	if err != nil {
		return nil // and r.Failed is set
	}
	copy(b, data)
	return b
}

// Aligned rounds n up so that the next piece is aligned.
func Aligned(n int64) int64 { return (n + 15) &^ 15 }

// Inflate returns exactly size bytes of a bare DEFLATE stream.
func (r *Budget) Inflate(packed []byte, size int) ([]byte, error) {
	if err := r.Reserve(uint64(size)); err != nil {
		return nil, err
	}
	if size > len(packed)*bestRatio {
		return nil, fault.New(fault.Malformed, "deflate", "invalid size %d: cannot be unpacked from %d bytes", size, len(packed))
	}
	out, err := r.Memory(size)
	if err != nil {
		return nil, err
	}
	n, err := flate.Raw(out, packed, r.relax)
	if err == nil && n < size {
		err = fault.New(fault.Malformed, "deflate", "unpacked %d bytes instead of %d", n, size)
	}
	return out, err
}

// Section unpacks exactly size bytes of a section.
func (r *Budget) Section(isZstd bool, packed []byte, size uint64) ([]byte, error) {
	if err := r.Reserve(size); err != nil {
		return nil, err
	}
	name, ratio := "zlib", uint64(bestRatio)
	if isZstd {
		name, ratio = "zstd", bestZstd
	}
	if size > uint64(len(packed))*ratio {
		return nil, fault.New(fault.Malformed, name, "invalid size %d: cannot be unpacked from %d bytes", size, len(packed))
	}
	out, err := r.Memory(int(size))
	if err != nil {
		return nil, err
	}
	if isZstd {
		return out, r.unzstd(out, packed)
	}
	return flate.Zlib(out, packed, r.relax)
}

const (
	// relaxStep is after how many bytes pages are released.
	relaxStep = 16 << 20
	// maxWindow is how far back the zstd stream of a whole file may refer.
	maxWindow = 128 << 20
	// streamWindow is the same for a section that is unpacked as a stream: its
	// window is on the heap, and nothing counts it. With a larger window the
	// section itself is the window.
	streamWindow = 8 << 20
)

// unzstd unpacks exactly the bytes of out.
func (r *Budget) unzstd(out, packed []byte) error {
	err := r.streamZstd(out, packed)
	if !errors.Is(err, zstd.ErrWindowSizeExceeded) {
		return err
	}
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		return fault.New(fault.Malformed, "zstd", "%w", err)
	}
	defer d.Close()
	all, err := d.DecodeAll(packed, out[:0:len(out)])
	if err == nil && len(all) < len(out) {
		err = fmt.Errorf("unpacked %d bytes instead of %d", len(all), len(out))
	}
	r.relax()
	if err != nil {
		return fault.New(fault.Malformed, "zstd", "%w", err)
	}
	return nil
}

// streamZstd is unzstd with little memory, for streams with a small window.
func (r *Budget) streamZstd(out, packed []byte) error {
	d, err := zstd.NewReader(bytes.NewReader(packed), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(streamWindow), zstd.WithDecodeBuffersBelow(0)) // which would unpack to the heap
	if err != nil {
		return fault.New(fault.Malformed, "zstd", "%w", err)
	}
	defer d.Close()
	done := 0
	for err == nil && done < len(out) {
		var n int
		n, err = io.ReadFull(d, out[done:min(done+relaxStep, len(out))])
		done += n
		r.relax()
	}
	switch {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return fault.New(fault.Malformed, "zstd", "unpacked %d bytes instead of %d", done, len(out))
	case err == nil:
		var more [1]byte
		if _, err = io.ReadFull(d, more[:]); err == io.EOF {
			return nil
		}
		err = cmp.Or(err, errors.New("unpacked more than the declared size"))
	}
	return fault.New(fault.Malformed, "zstd", "%w", err)
}

// Xz unpacks a file packed with xz.
func (r *Budget) Xz(packed []byte) ([]byte, error) {
	if r.space == nil {
		all, err := xz.Unpack(packed, r.Left)
		if err == nil {
			err = r.Reserve(uint64(len(all)))
		}
		return all, err
	}
	size, err := xz.Size(packed)
	if err == nil {
		err = r.Reserve(uint64(size))
	}
	if err != nil {
		return nil, err
	}
	all, err := r.Memory(int(size))
	if err == nil {
		err = xz.Into(all, packed)
	}
	return all, err
}

// Stream unpacks a file of a format that does not contain the unpacked size. Data
// above the bound of the heap is counted first, and then unpacked once more.
func (r *Budget) Stream(format string, src bin.Source) ([]byte, error) {
	plain, err := plainOf(format, src, r.Left)
	if err != nil {
		return nil, err
	}
	defer plain.Close()
	most := r.Left
	if r.space != nil {
		most = max(0, min(most, maxHeap-r.Heap))
	}
	all, err := io.ReadAll(io.LimitReader(plain, most+1))
	size := int64(len(all))
	if err == nil && size > most {
		all = nil
		var rest int64
		rest, err = io.Copy(io.Discard, plain)
		size += rest
	}
	if err != nil {
		return nil, fault.New(fault.Malformed, format, "%w", err)
	}
	if err := r.Reserve(uint64(size)); err != nil {
		return nil, err
	}
	if all != nil || size == 0 {
		r.Heap += size
		return all, nil
	}
	if all, err = r.Memory(int(size)); err != nil {
		return nil, err
	}
	again, err := plainOf(format, src, size)
	if err != nil {
		return nil, err
	}
	defer again.Close()
	for done := 0; done < len(all); {
		n, err := io.ReadFull(again, all[done:min(done+relaxStep, len(all))])
		if err != nil {
			return nil, fault.New(fault.Malformed, format, "%w", err)
		}
		done += n
		r.relax()
	}
	return all, nil
}

// plainOf returns a reader of a packed file that yields up to limit bytes.
func plainOf(format string, src bin.Source, limit int64) (io.ReadCloser, error) {
	packed := bin.NewCount(io.NewSectionReader(src, 0, src.Size()))
	var z io.ReadCloser
	var err error
	switch format {
	case "gzip":
		z, err = gzip.NewReader(packed)
	case "zlib":
		z, err = zlib.NewReader(packed)
	default:
		var d *zstd.Decoder
		if d, err = zstd.NewReader(packed, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow)); err == nil {
			z = d.IOReadCloser()
		}
	}
	if err != nil {
		return nil, fault.New(fault.Malformed, format, "%w", err)
	}
	return struct {
		io.Reader
		io.Closer
	}{bin.Meter(z, packed, bin.Limit{Bytes: limit}), z}, nil
}
