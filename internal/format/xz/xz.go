package xz

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"hash/crc32"
	"hash/crc64"
	"slices"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
)

// Magic is the start of a file.
const Magic = "\xfd7zXZ\x00"

const (
	headerSize  = 12 // of a stream header, and of a footer
	filterLZMA2 = 0x21
)

// record is the index entry of a block.
type record struct{ packed, unpacked uint64 }

// unpacker reads a file.
type unpacker struct {
	src    []byte
	pos    int
	out    []byte
	limit  int
	blocks []record // of the current stream
	lzma   lzma

	sizeOnly bool // nothing is unpacked; sizes of chunks are only counted
	size     int  // bytes counted
}

// Unpack returns the content of src, which must not exceed limit bytes. With an
// error it returns the bytes unpacked before it; the check of the last block
// may be missing.
func Unpack(src []byte, limit int64) ([]byte, error) {
	u := &unpacker{src: src, limit: int(max(0, min(limit, 1<<62-1)))}
	err := u.run()
	return u.out, err
}

// Size returns the number of bytes that Unpack returns, provided that the
// contents of chunks are not damaged.
func Size(src []byte) (int64, error) {
	u := &unpacker{src: src, sizeOnly: true}
	err := u.run()
	return int64(u.size), err
}

// Into unpacks src into dst, whose length is that returned by Size.
func Into(dst, src []byte) error {
	u := &unpacker{src: src, out: dst[:0], limit: len(dst)}
	if err := u.run(); err != nil || len(u.out) == len(dst) {
		return err
	}
	return u.malformed("data", "unpacked %d bytes, expected %d", len(u.out), len(dst))
}

// run reads all streams.
func (u *unpacker) run() error {
	for first := true; first || u.pos < len(u.src); first = false {
		if err := u.stream(); err != nil {
			return err
		}
		if err := u.padding(); err != nil {
			return err
		}
	}
	return nil
}

func (u *unpacker) malformed(place, format string, args ...any) error {
	return fault.New(fault.Malformed, "xz, "+place, format+" at offset %#x", append(args, u.pos)...)
}

// padding skips the zeros after a stream.
func (u *unpacker) padding() error {
	start := u.pos
	for u.pos < len(u.src) && u.src[u.pos] == 0 {
		u.pos++
	}
	if (u.pos-start)%4 != 0 {
		return u.malformed("padding", "size %d is not a multiple of 4", u.pos-start)
	}
	return nil
}

// stream reads a stream from its header to its footer.
func (u *unpacker) stream() error {
	head := u.src[u.pos:]
	if len(head) < headerSize || string(head[:len(Magic)]) != Magic {
		return u.malformed("stream header", "invalid magic")
	}
	flags := head[6:8]
	if crc32.ChecksumIEEE(flags) != binary.LittleEndian.Uint32(head[8:]) {
		return u.malformed("stream header", "checksum mismatch")
	}
	if flags[0] != 0 || flags[1] > 15 {
		return fault.New(fault.Unsupported, "xz, stream header", "unknown flags % x", flags)
	}
	u.pos += headerSize
	u.blocks = u.blocks[:0]
	for u.pos < len(u.src) && u.src[u.pos] != 0 {
		if err := u.block(flags[1]); err != nil {
			return err
		}
	}
	size, err := u.index()
	if err != nil {
		return err
	}
	foot := u.src[u.pos:]
	switch {
	case len(foot) < headerSize || foot[10] != 'Y' || foot[11] != 'Z':
		return u.malformed("stream footer", "invalid magic")
	case crc32.ChecksumIEEE(foot[4:10]) != binary.LittleEndian.Uint32(foot):
		return u.malformed("stream footer", "checksum mismatch")
	case !bytes.Equal(foot[8:10], flags):
		return u.malformed("stream footer", "flags % x, expected % x", foot[8:10], flags)
	case (int64(binary.LittleEndian.Uint32(foot[4:]))+1)*4 != int64(size):
		return u.malformed("stream footer", "index size mismatch")
	}
	u.pos += headerSize
	return nil
}

// block reads a block: header, data, padding, check.
func (u *unpacker) block(check byte) error {
	start := u.pos
	size := (int(u.src[start]) + 1) * 4
	if size > len(u.src)-start {
		return u.malformed("block header", "unexpected end of file")
	}
	packed, unpacked, err := u.blockHeader(u.src[start : start+size])
	if err != nil {
		return err
	}
	u.pos += size
	first, counted := len(u.out), u.size
	if err := u.data(); err != nil {
		return err
	}
	got := record{uint64(u.pos - start - size), uint64(len(u.out) - first + u.size - counted)}
	if packed != unknown && packed != got.packed || unpacked != unknown && unpacked != got.unpacked {
		return u.malformed("block", "size differs from the header")
	}
	pad := -(u.pos - start) & 3
	var sum []byte
	if !u.sizeOnly {
		sum = appendCheck(nil, check, u.out[first:])
	}
	rest := u.src[u.pos:]
	switch {
	case len(rest) < pad+checkSize(check):
		return u.malformed("block", "unexpected end of file")
	case len(bytes.TrimLeft(rest[:pad], "\x00")) > 0:
		return u.malformed("block", "padding is not zero")
	case !bytes.HasPrefix(rest[pad:], sum):
		return u.malformed("block", "check mismatch")
	}
	u.pos += pad + checkSize(check)
	u.blocks = append(u.blocks, record{got.packed + uint64(size+checkSize(check)), got.unpacked})
	return nil
}

// unknown is a size that the header of a block omits.
const unknown = ^uint64(0)

// blockHeader returns the sizes in a header.
func (u *unpacker) blockHeader(p []byte) (packed, unpacked uint64, err error) {
	p, sum := p[:len(p)-4], p[len(p)-4:]
	if crc32.ChecksumIEEE(p) != binary.LittleEndian.Uint32(sum) {
		return 0, 0, u.malformed("block header", "checksum mismatch")
	}
	flags := p[1]
	c := bin.NewCursor(p[2:], binary.LittleEndian)
	packed, unpacked = unknown, unknown
	if flags&0x40 != 0 {
		packed = c.Uleb()
	}
	if flags&0x80 != 0 {
		unpacked = c.Uleb()
	}
	id, n := c.Uleb(), c.Uleb()
	props := c.Bytes(int(min(n, uint64(len(p)))))
	switch {
	case c.Err() != nil:
		return 0, 0, u.malformed("block header", "%w", c.Err())
	case flags&0x3f != 0 || id != filterLZMA2:
		return 0, 0, fault.New(fault.Unsupported, "xz, block header", "flags %#x, filter %#x", flags, id)
	case n != 1 || props[0] > 40 || len(bytes.TrimLeft(c.Bytes(c.Len()), "\x00")) > 0:
		return 0, 0, u.malformed("block header", "invalid filter properties or padding")
	}
	return packed, unpacked, nil
}

// checkSize returns the size of a check.
func checkSize(kind byte) int {
	if kind == 0 {
		return 0
	}
	return 4 << ((kind - 1) / 3)
}

// appendCheck appends the check of p, or nothing if the kind is unknown.
func appendCheck(dst []byte, kind byte, p []byte) []byte {
	switch kind {
	case 1:
		return binary.LittleEndian.AppendUint32(dst, crc32.ChecksumIEEE(p))
	case 4:
		return binary.LittleEndian.AppendUint64(dst, crc64.Checksum(p, crc64.MakeTable(crc64.ECMA)))
	case 10:
		sum := sha256.Sum256(p)
		return append(dst, sum[:]...)
	}
	return dst
}

// index compares the index with the blocks and returns its size.
func (u *unpacker) index() (int, error) {
	start := u.pos
	c := bin.NewCursor(u.src[start:], binary.LittleEndian)
	c.Skip(1)
	same := c.Uleb() == uint64(len(u.blocks))
	for i := 0; same && i < len(u.blocks); i++ {
		same = u.blocks[i] == record{c.Uleb(), c.Uleb()}
	}
	if c.Err() == nil && !same {
		return 0, u.malformed("index", "index differs from the blocks")
	}
	pad := c.Bytes(-c.Off() & 3)
	sum := crc32.ChecksumIEEE(u.src[start : start+c.Off()])
	switch want := c.U32(); {
	case c.Err() != nil:
		return 0, u.malformed("index", "%w", c.Err())
	case want != sum || slices.ContainsFunc(pad, func(b byte) bool { return b != 0 }):
		return 0, u.malformed("index", "checksum mismatch")
	}
	u.pos += c.Off()
	return c.Off(), nil
}

// grow allocates n more bytes of output within the limit. The allocation is
// proportional to the output so far, not to the sizes in the file.
func (u *unpacker) grow(n int) error {
	if n > u.limit-len(u.out) {
		return u.malformed("data", "output exceeds %d bytes: %w", u.limit, bin.ErrLimit)
	}
	if n > cap(u.out)-len(u.out) {
		u.out = slices.Grow(u.out, min(max(n, len(u.out)), u.limit-len(u.out)))
	}
	return nil
}
