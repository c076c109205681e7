package disk

import (
	"encoding/binary"
	"hash/crc32"

	"symbolon/internal/bin"
	"symbolon/internal/cache"
)

// A record of index.db, little endian:
//
//	0   u16  size of the rest
//	2   u8   form
//	3   u8   number of the kind
//	4   32   key; the record of a removed entry ends after it
//	36  u64  size of the file, or the expiry of the fault
//	44  u64  created
//	52  u64  last used
//	60       the fault, as cache.AppendFault writes it
//	end u32  CRC-32C of everything before
const (
	recordHead = 2
	recordSum  = 4
	maxRecord  = 4 << 10 // none is larger: see cache.MaxFault
)

// The forms of a record.
const (
	formFile = 1 + iota
	formFault
	formRemoved
)

// appendRecord appends the record of an entry; nil is one that was removed.
func appendRecord(b []byte, of id, e *entry) []byte {
	order, start := binary.LittleEndian, len(b)
	form, number := byte(formRemoved), int64(0)
	switch {
	case e == nil:
	case e.fault != nil:
		form, number = formFault, e.fault.until
	default:
		form, number = formFile, e.size
	}
	b = append(b, 0, 0, form, of.kind)
	b = append(b, of.key[:]...)
	if e != nil {
		for _, n := range [...]int64{number, e.created, e.used} {
			b = order.AppendUint64(b, uint64(n))
		}
	}
	if form == formFault {
		b = cache.AppendFault(b, &e.fault.Error)
	}
	order.PutUint16(b[start:], uint16(len(b)-start+recordSum-recordHead))
	return order.AppendUint32(b, crc32.Checksum(b[start:], bin.Castagnoli))
}

// readRecord parses a record. The entry is nil if it was removed.
func readRecord(b []byte) (of id, e *entry, ok bool) {
	body := len(b) - recordSum
	if body < recordHead || binary.LittleEndian.Uint32(b[body:]) != crc32.Checksum(b[:body], bin.Castagnoli) {
		return of, nil, false
	}
	c := bin.NewCursor(b[recordHead:body], binary.LittleEndian)
	form := c.U8()
	of.kind = c.U8()
	copy(of.key[:], c.Bytes(len(of.key)))
	if form != formRemoved {
		number := int64(c.U64())
		e = &entry{id: of, created: int64(c.U64()), used: int64(c.U64())}
		if form == formFile {
			e.size = number
		} else if f, ok := cache.ReadFault(c); ok && form == formFault {
			e.fault = &negative{*f, number}
		} else {
			return of, nil, false
		}
	}
	return of, e, c.Err() == nil && c.Len() == 0 && int(of.kind) < len(kinds) && (e == nil || e.size >= 0)
}
