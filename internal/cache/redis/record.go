package redis

import (
	"encoding/binary"
	"hash/crc32"

	"symbolon/internal/bin"
	"symbolon/internal/cache"
	"symbolon/internal/fault"
)

// A record is the value of a main key, little endian:
//
//	0    u8   form
//	1         small    the content
//	          chunked  u64 size and u32 checksum of the content, u32 number of chunks
//	          failed   u8 kind of the fault, place and detail as u16 length and bytes
//	end  u32  checksum of the main key and everything before
//
// Checksums are CRC-32C. The zstd stream has one more.
type record struct {
	form    uint8
	content []byte // small
	size    int64  // chunked
	sum     uint32
	chunks  int
	fault   *fault.Error // failed
}

const (
	small = iota
	chunked
	failed
)

func checksum(name string, body []byte) uint32 {
	return crc32.Update(crc32.Checksum([]byte(name), bin.Castagnoli), bin.Castagnoli, body)
}

// text is the record as it stands under the main key name.
func (r *record) text(name string) string {
	order := binary.LittleEndian
	b := []byte{r.form}
	switch r.form {
	case small:
		b = append(b, r.content...)
	case chunked:
		b = order.AppendUint64(b, uint64(r.size))
		b = order.AppendUint32(b, r.sum)
		b = order.AppendUint32(b, uint32(r.chunks))
	case failed:
		b = append(b, byte(r.fault.Kind))
		for _, text := range []string{cache.Clip(r.fault.Place), cache.Clip(r.fault.Detail)} {
			b = order.AppendUint16(b, uint16(len(text)))
			b = append(b, text...)
		}
	}
	return string(order.AppendUint32(b, checksum(name, b)))
}

// readRecord reads what stands under the main key name.
func readRecord(name string, b []byte) (*record, bool) {
	body := len(b) - 4
	if body < 1 || binary.LittleEndian.Uint32(b[body:]) != checksum(name, b[:body]) {
		return nil, false
	}
	c := bin.NewCursor(b[:body], binary.LittleEndian)
	r := &record{form: c.U8()}
	switch r.form {
	case small:
		r.content = c.Bytes(c.Len())
	case chunked:
		r.size, r.sum, r.chunks = int64(c.U64()), c.U32(), int(c.U32())
	case failed:
		r.fault = &fault.Error{Kind: fault.Kind(c.U8())}
		r.fault.Place = string(c.Bytes(int(c.U16())))
		r.fault.Detail = string(c.Bytes(int(c.U16())))
		if r.fault.Kind == fault.Internal || r.fault.Kind > fault.Unsupported {
			return nil, false
		}
	}
	return r, c.Err() == nil && c.Len() == 0 && r.form <= failed && r.size >= 0
}
