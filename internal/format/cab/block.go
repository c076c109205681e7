package cab

import (
	"encoding/binary"
	"fmt"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
)

// begin goes to the start of a folder.
func (r *Reader) begin(folder int) {
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
			r.err = r.fail(fault.Malformed, "LZX with a window of 2^%d bytes", f.method>>8&0x1f)
		}
	case methodQuantum:
		r.err = r.fail(fault.Unsupported, "it is packed with Quantum")
	default:
		r.err = r.fail(fault.Unsupported, "it is packed with the unknown method %d", method)
	}
}

// fail is an error in the present block.
func (r *Reader) fail(kind fault.Kind, format string, args ...any) error {
	place := fmt.Sprintf("cab, folder %d, block %d at offset %#x", r.folder, r.block, r.off)
	return fault.New(kind, place, format, args...)
}

// pass gives away, or passes over, n of the pending bytes.
func (r *Reader) pass(n int) {
	r.pending = r.pending[n:]
	r.at += int64(n)
}

// unpack unpacks the next block.
func (r *Reader) unpack() error {
	f := &r.folders[r.folder]
	if r.block == f.blocks {
		return r.fail(fault.Malformed, "the folder ends after %d bytes", r.at)
	}
	head, err := r.read(r.off, blockHead)
	if err != nil {
		return err
	}
	sum, sizes := binary.LittleEndian.Uint32(head), binary.LittleEndian.Uint32(head[4:])
	packed, size := int(sizes&0xffff), int(sizes>>16)
	if r.packed += int64(blockHead + r.reserve + packed); r.packed > r.src.Size() {
		return r.fail(fault.Malformed, "folders share their blocks")
	}
	switch r.left -= int64(size); {
	case size == 0:
		return r.fail(fault.Unsupported, "it ends in another cabinet of the set")
	case size > maxBlock:
		return r.fail(fault.Malformed, "it unpacks to %d bytes", size)
	case r.left < 0:
		return r.fail(fault.Malformed, "%w", bin.ErrLimit)
	}
	data, err := r.read(r.off+int64(blockHead+r.reserve), packed)
	if err != nil {
		return err
	}
	if got := checksum(data) ^ sizes; sum != 0 && got != sum {
		return r.fail(fault.Malformed, "checksum %08x instead of %08x", got, sum)
	}
	if err := r.decode(f.method&methodMask, data, size); err != nil {
		return r.fail(fault.Malformed, "%w", err)
	}
	r.block++
	r.off += int64(blockHead + r.reserve + packed)
	return nil
}

// read gives bytes of the cabinet, valid until the next call.
func (r *Reader) read(off int64, n int) ([]byte, error) {
	if off > r.src.Size() || int64(n) > r.src.Size()-off {
		return nil, r.fail(fault.Malformed, "the cabinet ends at offset %#x", r.src.Size())
	}
	if all, ok := bin.Whole(r.src); ok {
		return all[off:][:n], nil
	}
	if cap(r.buf) < n {
		r.buf = make([]byte, max(n, maxBlock))
	}
	if got, err := r.src.ReadAt(r.buf[:n], off); got < n {
		return nil, r.fail(fault.Internal, "%d of %d bytes were read: %w", got, n, err)
	}
	return r.buf[:n], nil
}

// decode makes size bytes pending.
func (r *Reader) decode(method uint16, data []byte, size int) (err error) {
	switch method {
	case methodMSZIP:
		r.pending, err = r.unzip(data, size)
		return err
	case methodLZX:
		r.pending, err = r.lzx.frame(data, size)
		return err
	}
	if len(data) != size {
		return fmt.Errorf("%d bytes that are not packed unpack to %d", len(data), size)
	}
	r.pending = data
	return nil
}

// unzip unpacks a block of MSZIP behind the one before it.
func (r *Reader) unzip(data []byte, size int) ([]byte, error) {
	if len(data) < 2 || string(data[:2]) != "CK" {
		return nil, fmt.Errorf("no MSZIP block")
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
		return nil, fmt.Errorf("%d bytes came out instead of %d", n-r.have, size)
	}
	out := r.zip[r.have:end]
	r.have = end
	return out, nil
}

// checksum is the words of data, taken together bit by bit. What is left at the
// end is a word with its first byte highest.
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
