package pdb

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
)

// Magic is the start of a PDB.
const Magic = "Microsoft C/C++ MSF 7.00\r\n\x1aDS\x00\x00\x00"

// Magics of similar files that are not supported.
const (
	oldMagic    = "Microsoft C/C++ program database 2.00\r\n\x1aJG"
	packedMagic = "Microsoft MSFZ Container\r\n\x1aALD\x00\x00"
)

// superSize is the size of the superblock.
const superSize = 56

// maxStreams exceeds the number of streams that can be referred to.
const maxStreams = 1 << 17

// maxBlocks exceeds the number of blocks that linkers write, which is 2^20.
const maxBlocks = 1 << 22

// nilStream is the size of a stream that does not exist.
const nilStream = 0xffffffff

// container is a multi-stream file: blocks of one size, and a directory of the
// blocks of each stream.
type container struct {
	src       bin.Source
	whole     []byte // the content if it is in memory
	blockSize int64
	shift     int // log2 of blockSize
	directory []byte
	streams   []span // of block numbers in the directory
}

// span is the size of a stream and the offset of its block numbers.
type span struct {
	size int64 // -1: unreadable
	at   int
}

// openContainer reads the superblock and the directory.
func openContainer(src bin.Source, problem func(place string, off int64, format string, args ...any)) (*container, error) {
	c := &container{src: src}
	c.whole, _ = bin.Whole(src)
	head, err := bin.Read(src, 0, int(min(superSize, src.Size())))
	if err != nil {
		return nil, fault.New(fault.Internal, "PDB", "read at offset 0: %w", err)
	}
	switch {
	case bytes.HasPrefix(head, []byte(oldMagic)):
		return nil, fault.New(fault.Unsupported, "PDB", "version 2, of Visual C++ 6 and older")
	case bytes.HasPrefix(head, []byte(packedMagic)):
		return nil, fault.New(fault.Unsupported, "PDB", "compressed file (MSFZ)")
	case len(head) < superSize || !bytes.HasPrefix(head, []byte(Magic)):
		return nil, fault.New(fault.Malformed, "PDB", "superblock: the file ends early")
	}
	h := bin.NewCursor(head[len(Magic):], binary.LittleEndian)
	blockSize, _, _, dirSize, _, mapAt := h.U32(), h.U32(), h.U32(), h.U32(), h.U32(), h.U32()
	if blockSize < 512 || blockSize > 1<<16 || blockSize&(blockSize-1) != 0 {
		return nil, fault.New(fault.Malformed, "PDB", "superblock, offset %#x: invalid block size %d", len(Magic), blockSize)
	}
	c.blockSize, c.shift = int64(blockSize), bits.TrailingZeros32(blockSize)
	if n := c.fileBlocks(); n > maxBlocks {
		return nil, fault.New(fault.Unsupported, "PDB", "the file has %d blocks of %d bytes: must have at most %d", n, blockSize, maxBlocks)
	}
	if c.directory, err = c.readDirectory(int64(dirSize), int64(mapAt)); err != nil {
		return nil, fault.New(fault.Malformed, "PDB", "stream directory: %w", err)
	}
	if err := c.readStreams(problem); err != nil {
		return nil, fault.New(fault.Malformed, "PDB", "stream directory: %w", err)
	}
	return c, nil
}

// readDirectory reads the directory, whose blocks are listed in blocks of their
// own from mapAt on.
func (c *container) readDirectory(size, mapAt int64) ([]byte, error) {
	blocks := c.blocksOf(size)
	if size < 4 || blocks > c.fileBlocks() || size > 4*(c.fileBlocks()+maxStreams+1) {
		return nil, fmt.Errorf("invalid size %d in a file of %d bytes", size, c.src.Size())
	}
	list, err := bin.Read(c.src, mapAt*c.blockSize, int(blocks)*4)
	if err != nil {
		return nil, fmt.Errorf("list of blocks at block %d: %w", mapAt, err)
	}
	s := Stream{c: c, size: size, blocks: list}
	return s.Bytes(0, int(size), nil)
}

// blocksOf returns the number of blocks of size bytes.
func (c *container) blocksOf(size int64) int64 { return (size + c.blockSize - 1) / c.blockSize }

// fileBlocks returns the number of blocks of the file; the last one may be
// partial.
func (c *container) fileBlocks() int64 { return c.blocksOf(c.src.Size()) }

// readStreams reads the block numbers of each stream. As no block belongs to
// two streams, all together have at most those of the file: a stream that
// exceeds this is skipped, so that a small file cannot claim any amount of
// data.
func (c *container) readStreams(problem func(place string, off int64, format string, args ...any)) error {
	count := int64(binary.LittleEndian.Uint32(c.directory))
	at := 4 + 4*count
	if at > int64(len(c.directory)) {
		return fmt.Errorf("invalid count: %d streams in %d bytes", count, len(c.directory))
	}
	left := c.fileBlocks()
	c.streams = make([]span, min(count, maxStreams))
	for i := range c.streams {
		size := binary.LittleEndian.Uint32(c.directory[4+4*i:])
		s := &c.streams[i]
		s.size = -1
		if size == nilStream {
			continue
		}
		n := c.blocksOf(int64(size))
		switch {
		case at+4*n > int64(len(c.directory)):
			problem("stream directory", at, "truncated in the blocks of stream %d", i)
			return nil
		case n > left:
			problem("stream directory", at, "stream %d has %d blocks, only %d are left in the file", i, n, left)
		default:
			s.size, s.at = int64(size), int(at)
			left -= n
		}
		at += 4 * n
	}
	return nil
}

// stream returns the stream of a number; one that does not exist is empty.
func (c *container) stream(n int) Stream {
	if n < 0 || n >= len(c.streams) || c.streams[n].size <= 0 {
		return Stream{}
	}
	s := c.streams[n]
	return Stream{c: c, size: s.size, blocks: c.directory[s.at:][:4*c.blocksOf(s.size)]}
}

// Stream is a stream of the file. The zero value is empty.
type Stream struct {
	c      *container
	size   int64
	blocks []byte // block numbers
}

// Size returns the number of bytes.
func (s Stream) Size() int64 { return s.size }

// run returns the file offset of the stream's bytes from off on, and the number
// of contiguous ones, up to want.
func (s Stream) run(off, want int64) (at, n int64) {
	size := s.c.blockSize
	block := func(i int64) int64 { return int64(binary.LittleEndian.Uint32(s.blocks[4*i:])) }
	i := off / size
	first := block(i)
	n = size - off%size
	for k := int64(1); n < want && block(i+k) == first+k; k++ {
		n += size
	}
	return first*size + off%size, min(n, want)
}

// ReadAt implements io.ReaderAt.
func (s Stream) ReadAt(p []byte, off int64) (n int, err error) {
	if off < 0 || off > s.size {
		return 0, io.EOF
	}
	short := int64(len(p)) > s.size-off
	p = p[:min(int64(len(p)), s.size-off)]
	for n < len(p) {
		at, m := s.run(off+int64(n), int64(len(p)-n))
		k, err := s.c.src.ReadAt(p[n:n+int(m)], at)
		n += k
		if int64(k) < m {
			if err == nil || err == io.EOF {
				err = bin.ErrShort // the file has fewer blocks than the stream
			}
			return n, err
		}
	}
	if short {
		return n, io.EOF
	}
	return n, nil
}

// Bytes returns n bytes of the stream from off on: in place if they are
// contiguous in memory, else copied into buf, which may be nil.
func (s Stream) Bytes(off int64, n int, buf []byte) ([]byte, error) {
	if off < 0 || n < 0 || off > s.size || int64(n) > s.size-off {
		return nil, fmt.Errorf("bytes %d to %d of a stream of %d: %w", off, off+int64(n), s.size, bin.ErrShort)
	}
	if n == 0 {
		return nil, nil
	}
	if b := s.inPlace(off, int64(n)); b != nil {
		return b, nil
	}
	if cap(buf) < n {
		buf = make([]byte, n)
	}
	buf = buf[:n]
	if _, err := s.ReadAt(buf, off); err != nil {
		return nil, err
	}
	return buf, nil
}

// view is a fast path of Bytes for a few bytes. It returns nil if the stream
// does not have them.
func (s Stream) view(off int64, n int, buf []byte) []byte {
	if s.c == nil || off < 0 || int64(n) > s.size-off {
		return nil
	}
	if in := off & (s.c.blockSize - 1); in+int64(n) <= s.c.blockSize && s.c.whole != nil {
		at := int64(binary.LittleEndian.Uint32(s.blocks[off>>s.c.shift<<2:]))<<s.c.shift + in
		if at+int64(n) <= int64(len(s.c.whole)) {
			return s.c.whole[at : at+int64(n) : at+int64(n)]
		}
	}
	b, err := s.Bytes(off, n, buf)
	if err != nil {
		return nil
	}
	return b
}

// inPlace returns n bytes of the stream, nil if they are not contiguous in
// memory.
func (s Stream) inPlace(off, n int64) []byte {
	if s.c.whole == nil {
		return nil
	}
	at, m := s.run(off, n)
	if m < n || at+m > int64(len(s.c.whole)) {
		return nil
	}
	return s.c.whole[at : at+m : at+m]
}
