package blob

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
)

const (
	firstTail = 4 << 10 // bytes that are read for the table at first
	maxCached = 4       // frames of a Reader
)

// A Reader reads the content of a blob. It is a bin.Source, and safe for concurrent
// use.
type Reader struct {
	ctx    context.Context
	pool   *Pool
	src    bin.Source
	starts []int64 // of each frame, and of the table
	stride int64   // size of the content of all frames but the last
	size   int64

	mu     sync.Mutex
	cached []cachedFrame // the last used one is the last
	err    error         // errClosed
}

// cachedFrame is a decoded frame.
type cachedFrame struct {
	index int
	*unpacker
}

// unpacker is the memory of a decoded frame.
type unpacker struct {
	z      *zstd.Decoder
	packed []byte
	plain  []byte
}

func newUnpacker() *unpacker {
	z, _ := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxMemory(maxFrame), zstd.WithDecoderMaxWindow(maxFrame)) // the options are valid
	return &unpacker{z: z}
}

// damaged returns the fault of a blob.
func damaged(format string, args ...any) error {
	return fault.New(fault.Malformed, "blob", format, args...)
}

// Open opens a blob. The Reader keeps src, and closes it if it is an io.Closer. It can be
// read until ctx ends.
func Open(ctx context.Context, src bin.Source) (*Reader, error) { return new(Pool).Open(ctx, src) }

// Open opens a blob, as the function Open does.
func (p *Pool) Open(ctx context.Context, src bin.Source) (*Reader, error) {
	r := &Reader{ctx: ctx, pool: p, src: src}
	tail, err := readTail(src, firstTail)
	if err != nil {
		return nil, err
	}
	count := int64(binary.LittleEndian.Uint32(tail[len(tail)-tailSize:]))
	total := headSize + count*entrySize + tailSize
	if total > src.Size() {
		return nil, damaged("its table has %d frames, more than the blob", count)
	}
	if int64(len(tail)) < total {
		if tail, err = readTail(src, total); err != nil {
			return nil, err
		}
	}
	return r, r.readTable(tail[int64(len(tail))-total:], count)
}

// readTail reads the last n bytes of a blob, or all.
func readTail(src bin.Source, n int64) ([]byte, error) {
	size := src.Size()
	if size < headSize+tailSize {
		return nil, damaged("it has %d bytes, less than a table", size)
	}
	n = min(n, size)
	tail, err := bin.Read(src, size-n, int(n))
	if err != nil {
		return nil, readFault(err)
	}
	if end := tail[len(tail)-tailSize:]; end[4] != 0 || binary.LittleEndian.Uint32(end[5:]) != seekable {
		return nil, damaged("it does not end with a table of frames")
	}
	return tail, nil
}

// readFault returns the fault of a read: a blob that ends too early is damaged.
func readFault(err error) error {
	var failed *fault.Error
	switch {
	case errors.As(err, &failed):
		return err
	case errors.Is(err, bin.ErrShort), errors.Is(err, io.ErrUnexpectedEOF), err == io.EOF:
		return damaged("it is cut off: %w", err)
	}
	return fault.New(fault.KindOf(err), "blob", "%w", err)
}

// readTable reads the table, of count frames.
func (r *Reader) readTable(b []byte, count int64) error {
	order := binary.LittleEndian
	if order.Uint32(b) != skippable || int64(order.Uint32(b[4:])) != int64(len(b)-headSize) {
		return damaged("its table does not begin with the head of a skippable frame")
	}
	r.starts = make([]int64, 0, count+1)
	at := int64(0)
	for i := range count {
		e := b[headSize+i*entrySize:]
		packed, plain := int64(order.Uint32(e)), int64(order.Uint32(e[4:]))
		isLast := i == count-1
		if i == 0 {
			r.stride = plain
		}
		switch {
		case packed == 0 || plain == 0 || plain > maxFrame || packed > maxPacked(plain):
			return damaged("frame %d has %d bytes for %d of content", i, packed, plain)
		case plain > r.stride || !isLast && plain != r.stride:
			return damaged("frame %d has %d bytes of content, and the first one %d", i, plain, r.stride)
		}
		r.starts = append(r.starts, at)
		at += packed
		r.size += plain
	}
	r.starts = append(r.starts, at)
	if at != r.src.Size()-int64(len(b)) {
		return damaged("its frames have %d bytes, and its table %d", r.src.Size()-int64(len(b)), at)
	}
	return nil
}

// maxPacked bounds the size of a frame: content that cannot be compressed, in blocks of
// at least 1 KiB with a head each, and the head and checksum of the frame.
func maxPacked(plain int64) int64 { return plain + plain/256 + 64 }

// Size returns the size of the content.
func (r *Reader) Size() int64 { return r.size }

// ReadAt reads content. It decodes the frames of the range only.
func (r *Reader) ReadAt(b []byte, off int64) (n int, err error) {
	if off < 0 {
		return 0, errors.New("read at a negative offset")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for n < len(b) {
		if off >= r.size {
			return n, io.EOF
		}
		i := off / r.stride
		plain, err := r.frame(int(i))
		if err != nil {
			return n, err
		}
		m := copy(b[n:], plain[off-i*r.stride:])
		n += m
		off += int64(m)
	}
	return n, nil
}

// frame returns the content of a frame. The caller holds mu.
func (r *Reader) frame(i int) ([]byte, error) {
	if r.err != nil {
		return nil, r.err
	}
	at := slices.IndexFunc(r.cached, func(c cachedFrame) bool { return c.index == i })
	if at >= 0 {
		if c := r.cached[at]; at < len(r.cached)-1 {
			r.cached = append(slices.Delete(r.cached, at, at+1), c)
		}
		return r.cached[len(r.cached)-1].plain, nil
	}
	var u *unpacker
	if len(r.cached) < maxCached {
		u = r.pool.unpacker()
	} else {
		u = r.cached[0].unpacker
		r.cached = slices.Delete(r.cached, 0, 1)
	}
	if err := r.decode(u, i); err != nil {
		r.pool.unpackers.Put(u)
		return nil, err
	}
	r.cached = append(r.cached, cachedFrame{i, u})
	return u.plain, nil
}

// decode reads and decodes a frame.
func (r *Reader) decode(u *unpacker, i int) error {
	if err := r.ctx.Err(); err != nil {
		return fault.New(fault.KindOf(err), "blob", "%w", err)
	}
	size := int(r.starts[i+1] - r.starts[i])
	plain := int(min(r.stride, r.size-int64(i)*r.stride))
	u.packed = slices.Grow(u.packed[:0], size)[:size]
	if n, err := r.src.ReadAt(u.packed, r.starts[i]); n < size {
		return readFault(cmp.Or(err, io.ErrUnexpectedEOF))
	}
	var err error
	u.plain, err = u.z.DecodeAll(u.packed, slices.Grow(u.plain[:0], plain))
	switch {
	case err != nil:
		return damaged("frame %d at offset %d: %w", i, r.starts[i], err)
	case len(u.plain) != plain:
		return damaged("frame %d at offset %d has %d bytes of content, and %d in the table", i, r.starts[i], len(u.plain), plain)
	}
	return nil
}

// Frames returns the stored bytes, a zstd stream of the content, and their number.
func (r *Reader) Frames() (frames io.ReadSeeker, size int64) {
	return io.NewSectionReader(r.src, 0, r.src.Size()), r.src.Size()
}

// Close releases the memory and the source. Nothing can be read afterwards.
func (r *Reader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.cached {
		r.pool.unpackers.Put(c.unpacker)
	}
	r.cached, r.err = nil, errClosed
	if c, ok := r.src.(io.Closer); ok {
		return c.Close()
	}
	return nil
}
