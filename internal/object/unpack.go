package object

import (
	"github.com/klauspost/compress/zstd"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/format/flate"
)

const (
	// freeBytes may be unpacked from any file.
	freeBytes = 32 << 20
	// maxRatio is how many more may come out of each byte of a file. Debug
	// information has less than 50.
	maxRatio = 200
	// bestRatio is what zlib packs at best.
	bestRatio = 1100
	// maxUnpacked bounds all sections of a file.
	maxUnpacked = 4 << 30
)

// room is how much may still be unpacked from a file, and where to.
type room struct {
	left  int64
	space bin.Space
	relax func() // what is unpacked is not read for a while, most often
	heap  int64  // bytes that were unpacked to the heap
}

// unpackRoom is the room of an archive that src is in, or that of src.
func (opt *Options) unpackRoom(src bin.Source) *room {
	if opt.room != nil {
		return opt.room
	}
	return &room{left: unpackLimit(src.Size()), space: opt.Space, relax: opt.relax}
}

// relax gives pages back, if there is a way.
func (opt *Options) relax() {
	if opt.Relax != nil {
		opt.Relax()
	}
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

// maxHeap is how many bytes of sections are unpacked to the heap if there is
// space elsewhere.
const maxHeap = 48 << 20

// memory is n bytes to unpack to.
func (r *room) memory(n int) []byte {
	if r.space != nil && r.heap+int64(n) > maxHeap {
		if b, err := r.space.Take(n); err == nil {
			return b
		}
	}
	r.heap += int64(n)
	return make([]byte, n)
}

// inflate gives exactly size bytes of a bare DEFLATE stream.
func (r *room) inflate(packed []byte, size int) ([]byte, error) {
	if err := r.take(uint64(size)); err != nil {
		return nil, err
	}
	if size > len(packed)*bestRatio {
		return nil, fault.New(fault.Malformed, "deflate", "%d bytes cannot come out of %d", size, len(packed))
	}
	out := r.memory(size)
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
	if !isZstd {
		if size > uint64(len(packed))*bestRatio {
			return nil, fault.New(fault.Malformed, "zlib", "%d bytes cannot come out of %d", size, len(packed))
		}
		return flate.Zlib(r.memory(int(size)), packed, r.relax)
	}
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(max(size, 1<<20)))
	if err != nil {
		return nil, fault.New(fault.Internal, "zstd", "%w", err)
	}
	defer d.Close()
	out, err := d.DecodeAll(packed, make([]byte, 0, min(size, uint64(len(packed))*8)))
	if err != nil {
		return nil, fault.New(fault.Malformed, "zstd", "%w", err)
	}
	if uint64(len(out)) != size {
		return nil, fault.New(fault.Malformed, "zstd", "%d bytes came out instead of %d", len(out), size)
	}
	r.heap += int64(len(out))
	return out, nil
}
