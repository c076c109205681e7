package object

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
	// bestRatio is what zlib packs at best, and bestZstd what zstd does: a block
	// of 128 KiB in 4 bytes.
	bestRatio = 1100
	bestZstd  = 32 << 10
	// maxUnpacked bounds all sections of a file.
	maxUnpacked = 4 << 30
)

// room is how much may still be unpacked from a file, and where to.
type room struct {
	left  int64
	space bin.Space
	relax func() // what is unpacked is not read for a while, most often
	heap  int64  // bytes that were unpacked to the heap

	ahead  int64  // bytes that are about to be unpacked: they are taken from the space in one piece
	piece  []byte // what is left of such a piece
	failed error  // of the space; then the file cannot be opened, though nothing is wrong with it
}

// newRoom returns the room of a file.
func newRoom(size int64, space bin.Space, relax func()) *room {
	return &room{left: unpackLimit(size), space: space, relax: relax}
}

// unpackLimit is how many bytes may come out of a file.
func unpackLimit(size int64) int64 { return min(maxUnpacked, freeBytes+size*maxRatio) }

// take takes n bytes of the room.
func (r *room) take(n uint64) error {
	if n > maxUnpacked || int64(n) > r.left {
		return fault.New(fault.Malformed, "debug file", "unpacked it would have %d bytes, which is more than we read", n)
	}
	r.left -= int64(n)
	return nil
}

// maxHeap is how many bytes are unpacked to the heap if there is space elsewhere.
const maxHeap = 48 << 20

// memory returns n bytes to unpack to.
func (r *room) memory(n int) ([]byte, error) {
	if r.failed != nil {
		return nil, r.failed
	}
	if n > len(r.piece) {
		want := max(int64(n), r.ahead)
		if r.ahead = 0; r.space == nil || r.heap+want <= maxHeap {
			r.heap += int64(n)
			return make([]byte, n), nil
		}
		var err error
		if r.piece, err = r.space.Take(int(want)); err != nil {
			r.failed = fault.New(fault.Internal, "debug file", "find space for %v of unpacked data: %w", bin.Size(want), err)
			return nil, r.failed
		}
	}
	b := r.piece[:n:n]
	r.piece = r.piece[min(aligned(int64(n)), int64(len(r.piece))):]
	return b, nil
}

// clone is a copy of data; nil if there is no space for it.
func (r *room) clone(data []byte) []byte {
	b, err := r.memory(len(data))
	if err != nil {
		return nil // and r.failed tells it
	}
	copy(b, data)
	return b
}

// aligned is n with the bytes behind it that keep what follows aligned.
func aligned(n int64) int64 { return (n + 15) &^ 15 }

// inflate gives exactly size bytes of a bare DEFLATE stream.
func (r *room) inflate(packed []byte, size int) ([]byte, error) {
	if err := r.take(uint64(size)); err != nil {
		return nil, err
	}
	if size > len(packed)*bestRatio {
		return nil, fault.New(fault.Malformed, "deflate", "%d bytes cannot come out of %d", size, len(packed))
	}
	out, err := r.memory(size)
	if err != nil {
		return nil, err
	}
	n, err := flate.Raw(out, packed, r.relax)
	if err == nil && n < size {
		err = fault.New(fault.Malformed, "deflate", "%d bytes came out instead of %d", n, size)
	}
	return out, err
}

// unpack gives exactly size bytes of packed ones.
func (r *room) unpack(isZstd bool, packed []byte, size uint64) ([]byte, error) {
	if err := r.take(size); err != nil {
		return nil, err
	}
	name, ratio := "zlib", uint64(bestRatio)
	if isZstd {
		name, ratio = "zstd", bestZstd
	}
	if size > uint64(len(packed))*ratio {
		return nil, fault.New(fault.Malformed, name, "%d bytes cannot come out of %d", size, len(packed))
	}
	out, err := r.memory(int(size))
	if err != nil {
		return nil, err
	}
	if isZstd {
		return out, r.unzstd(out, packed)
	}
	return flate.Zlib(out, packed, r.relax)
}

const (
	// relaxStep is after how many bytes pages are given back.
	relaxStep = 16 << 20
	// maxWindow is how far back the zstd stream of a whole file may refer.
	maxWindow = 128 << 20
	// streamWindow is the same for a section that is unpacked as a stream: its
	// window is on the heap, and nothing counts it. With a larger window the
	// section itself is the window.
	streamWindow = 8 << 20
)

// unzstd unpacks exactly the bytes of out.
func (r *room) unzstd(out, packed []byte) error {
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
		err = fmt.Errorf("%d bytes came out instead of %d", len(all), len(out))
	}
	r.relax()
	if err != nil {
		return fault.New(fault.Malformed, "zstd", "%w", err)
	}
	return nil
}

// streamZstd is unzstd with little memory, for streams with a small window.
func (r *room) streamZstd(out, packed []byte) error {
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
		return fault.New(fault.Malformed, "zstd", "%d bytes came out instead of %d", done, len(out))
	case err == nil:
		var more [1]byte
		if _, err = io.ReadFull(d, more[:]); err == io.EOF {
			return nil
		}
		err = cmp.Or(err, errors.New("more came out than was announced"))
	}
	return fault.New(fault.Malformed, "zstd", "%w", err)
}

// unpackXz unpacks a file packed with xz.
func (r *room) unpackXz(packed []byte) ([]byte, error) {
	if r.space == nil {
		all, err := xz.Unpack(packed, r.left)
		if err == nil {
			err = r.take(uint64(len(all)))
		}
		return all, err
	}
	size, err := xz.Size(packed)
	if err == nil {
		err = r.take(uint64(size))
	}
	if err != nil {
		return nil, err
	}
	all, err := r.memory(int(size))
	if err == nil {
		err = xz.Into(all, packed)
	}
	return all, err
}

// unpackStream unpacks a file packed in a way that does not tell its size. What
// passes the bound of the heap is counted first, and then unpacked once more.
func (r *room) unpackStream(format string, src bin.Source) ([]byte, error) {
	plain, err := plainOf(format, src, r.left)
	if err != nil {
		return nil, err
	}
	defer plain.Close()
	most := r.left
	if r.space != nil {
		most = max(0, min(most, maxHeap-r.heap))
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
	if err := r.take(uint64(size)); err != nil {
		return nil, err
	}
	if all != nil || size == 0 {
		r.heap += size
		return all, nil
	}
	if all, err = r.memory(int(size)); err != nil {
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

// plainOf reads what is in a packed file, of which limit bytes may come.
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
