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
//	          failed   the fault, as cache.AppendFault writes it
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

// text returns the record as it is stored under the main key name.
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
		b = cache.AppendFault(b, r.fault)
	}
	return string(order.AppendUint32(b, checksum(name, b)))
}

// readRecord parses the value of the main key name.
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
		var ok bool
		if r.fault, ok = cache.ReadFault(c); !ok {
			return nil, false
		}
	}
	return r, c.Err() == nil && c.Len() == 0 && r.form <= failed && r.size >= 0
}
