package cab

import (
	"encoding/binary"
	"fmt"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
)

// openFolder moves to the start of a folder.
func (r *Reader) openFolder(folder int) {
	f := &r.folders[folder]
	r.folder, r.block, r.off, r.at = folder, 0, f.off, 0
	r.pending, r.err, r.have = nil, nil, 0
	switch method := f.method & methodMask; method {
	case methodStored:
	case methodMSZIP:
		if r.zip == nil {
			r.zip = make([]byte, 2*maxBlock)
		}
	case methodLZX:
		if !r.lzx.reset(int(f.method >> 8 & 0x1f)) {
			r.err = r.fail(fault.Malformed, "invalid LZX window of 2^%d bytes: must be 2^15 to 2^21", f.method>>8&0x1f)
		}
	case methodQuantum:
		r.err = r.fail(fault.Unsupported, "compression method Quantum")
	default:
		r.err = r.fail(fault.Unsupported, "unknown compression method %d", method)
	}
}

// fail returns an error in the current block.
func (r *Reader) fail(kind fault.Kind, format string, args ...any) error {
	place := fmt.Sprintf("cab, folder %d, block %d at offset %#x", r.folder, r.block, r.off)
	return fault.New(kind, place, format, args...)
}

// consume consumes n of the pending bytes.
func (r *Reader) consume(n int) {
	r.pending = r.pending[n:]
	r.at += int64(n)
}

// unpack decodes the next block.
func (r *Reader) unpack() error {
	f := &r.folders[r.folder]
	if r.block == f.blocks {
		return r.fail(fault.Malformed, "the folder ends early, after %d bytes", r.at)
	}
	head, err := r.read(r.off, blockHead)
	if err != nil {
		return err
	}
	sum, sizes := binary.LittleEndian.Uint32(head), binary.LittleEndian.Uint32(head[4:])
	packed, size := int(sizes&0xffff), int(sizes>>16)
	if r.packed += int64(blockHead + r.reserve + packed); r.packed > r.src.Size() {
		return r.fail(fault.Malformed, "folders share blocks")
	}
	switch r.left -= int64(size); {
	case size == 0:
		return r.fail(fault.Unsupported, "the block ends in another cabinet of the set")
	case size > maxBlock:
		return r.fail(fault.Malformed, "the block unpacks to %d bytes, more than 32 KiB", size)
	case r.left < 0:
		return r.fail(fault.Malformed, "%w", bin.ErrLimit)
	}
	data, err := r.read(r.off+int64(blockHead+r.reserve), packed)
	if err != nil {
		return err
	}
	if got := checksum(data) ^ sizes; sum != 0 && got != sum {
		return r.fail(fault.Malformed, "checksum mismatch: %08x, expected %08x", got, sum)
	}
	if err := r.decode(f.method&methodMask, data, size); err != nil {
		return r.fail(fault.Malformed, "%w", err)
	}
	r.block++
	r.off += int64(blockHead + r.reserve + packed)
	return nil
}

// read returns n bytes of the cabinet at off, valid until the next call.
func (r *Reader) read(off int64, n int) ([]byte, error) {
	if off > r.src.Size() || int64(n) > r.src.Size()-off {
		return nil, r.fail(fault.Malformed, "the cabinet ends early, at offset %#x", r.src.Size())
	}
	if all, ok := bin.Whole(r.src); ok {
		return all[off:][:n], nil
	}
	if cap(r.buf) < n {
		r.buf = make([]byte, max(n, maxBlock))
	}
	if got, err := r.src.ReadAt(r.buf[:n], off); got < n {
		return nil, r.fail(fault.Internal, "read %d of %d bytes: %w", got, n, err)
	}
	return r.buf[:n], nil
}

// decode decodes a block of size bytes into pending.
func (r *Reader) decode(method uint16, data []byte, size int) (err error) {
	switch method {
	case methodMSZIP:
		r.pending, err = r.inflateBlock(data, size)
		return err
	case methodLZX:
		r.pending, err = r.lzx.decodeFrame(data, size)
		return err
	}
	if len(data) != size {
		return fmt.Errorf("stored block of %d bytes, expected %d", len(data), size)
	}
	r.pending = data
	return nil
}

// inflateBlock decodes an MSZIP block, which may refer to the block before it.
func (r *Reader) inflateBlock(data []byte, size int) ([]byte, error) {
	if len(data) < 2 || string(data[:2]) != "CK" {
		return nil, fmt.Errorf("invalid MSZIP signature")
	}
	if r.have > maxBlock {
		r.have = copy(r.zip, r.zip[r.have-maxBlock:r.have])
	}
	end := r.have + size
	n, err := r.Inflate(r.zip[:end], r.have, data[2:])
	if err != nil {
		return nil, err
	}
	if n < end {
		return nil, fmt.Errorf("MSZIP block unpacks to %d bytes, expected %d", n-r.have, size)
	}
	out := r.zip[r.have:end]
	r.have = end
	return out, nil
}

// checksum returns the XOR of the little-endian words of data. The bytes after
// the last word form a big-endian number.
func checksum(data []byte) (sum uint32) {
	for ; len(data) >= 8; data = data[8:] {
		v := binary.LittleEndian.Uint64(data)
		sum ^= uint32(v) ^ uint32(v>>32)
	}
	if len(data) >= 4 {
		sum ^= binary.LittleEndian.Uint32(data)
		data = data[4:]
	}
	var rest uint32
	for _, b := range data {
		rest = rest<<8 | uint32(b)
	}
	return sum ^ rest
}
