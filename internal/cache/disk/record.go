package disk

import (
	"encoding/binary"
	"hash/crc32"

	"symbolon/internal/bin"
	"symbolon/internal/cache"
)

// A record is the value of an entry in index.db, little endian:
//
//	0   u8   version
//	1   u8   1 for a fault, 0 for a file
//	2   u64  size of the file, or the expiry of the fault
//	10  u64  created
//	18  u64  last used
//	26       the fault, as cache.AppendFault writes it
//	end u32  CRC-32C of the kind's name, the key and everything before
//
// Readers drop a record of another version: its file is adopted like one
// without a record.
const recordVersion = 1

func checksum(of id, body []byte) uint32 {
	sum := crc32.Checksum([]byte(kinds[of.kind]), bin.Castagnoli)
	sum = crc32.Update(sum, bin.Castagnoli, of.key[:])
	return crc32.Update(sum, bin.Castagnoli, body)
}

// record returns the record of e.
func (e *entry) record() []byte {
	order := binary.LittleEndian
	first, second := byte(0), e.size
	if e.fault != nil {
		first, second = 1, e.fault.until
	}
	b := []byte{recordVersion, first}
	for _, v := range []int64{second, e.created, e.used} {
		b = order.AppendUint64(b, uint64(v))
	}
	if f := e.fault; f != nil {
		b = cache.AppendFault(b, &f.Error)
	}
	return order.AppendUint32(b, checksum(e.id, b))
}

// readRecord parses the record of an entry.
func readRecord(of id, b []byte) (*entry, bool) {
	body := len(b) - 4
	if body < 0 || binary.LittleEndian.Uint32(b[body:]) != checksum(of, b[:body]) {
		return nil, false
	}
	c := bin.NewCursor(b[:body], binary.LittleEndian)
	version, isFault := c.U8(), c.U8()
	number := int64(c.U64())
	e := &entry{id: of, created: int64(c.U64()), used: int64(c.U64())}
	if isFault == 1 {
		f, ok := cache.ReadFault(c)
		if !ok {
			return nil, false
		}
		e.fault = &negative{*f, number}
	} else {
		e.size = number
	}
	ok := c.Err() == nil && c.Len() == 0 && version == recordVersion && isFault <= 1 && e.size >= 0
	return e, ok
}
