package shared

import (
	"encoding/binary"
	"hash/crc32"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/cache"
	"symbolon/internal/cache/remote"
	"symbolon/internal/fault"
)

const (
	magic    = "symbolon"
	version  = 1
	headSize = 80
	kindSize = 8
)

// The forms of an object.
const (
	entry = 1 + iota
	failed
	deleted
)

// id is a kind and a key.
type id struct {
	kind cache.Kind
	key  cache.Key
}

// head is the beginning of an object.
type head struct {
	form uint32
	size int64     // of the content
	end  time.Time // expiry of a fault
	sum  uint32    // of the content
}

// bytes returns h as it is stored in the object of the entry of.
func (h head) bytes(of id) []byte {
	order := binary.LittleEndian
	b := make([]byte, 0, headSize)
	b = append(b, magic...)
	b = order.AppendUint32(b, version)
	b = order.AppendUint32(b, h.form)
	b = append(b, kindField(of.kind)...)
	b = append(b, of.key[:]...)
	b = order.AppendUint64(b, uint64(h.size))
	end := int64(0)
	if h.form == failed {
		end = h.end.UnixMilli()
	}
	b = order.AppendUint64(b, uint64(end))
	b = order.AppendUint32(b, h.sum)
	return order.AppendUint32(b, crc32.Checksum(b, bin.Castagnoli))
}

func kindField(kind cache.Kind) []byte {
	var field [kindSize]byte
	copy(field[:], kind)
	return field[:]
}

// readHead parses the head of the object of the entry of.
func readHead(b []byte, of id) (head, error) {
	var h head
	c := bin.NewCursor(b, binary.LittleEndian)
	if len(b) != headSize || string(c.Bytes(len(magic))) != magic {
		return h, remote.Damaged("unknown magic")
	}
	if v := c.U32(); v != version {
		return h, remote.Damaged("version %d, must be %d", v, version)
	}
	if crc32.Checksum(b[:headSize-4], bin.Castagnoli) != binary.LittleEndian.Uint32(b[headSize-4:]) {
		return h, remote.Damaged("wrong checksum of the head")
	}
	h.form = c.U32()
	if string(c.Bytes(kindSize)) != string(kindField(of.kind)) || cache.Key(c.Bytes(len(of.key))) != of.key {
		return h, remote.Damaged("the head has another key")
	}
	h.size, h.end, h.sum = int64(c.U64()), time.UnixMilli(int64(c.U64())), c.U32()
	if h.form < entry || h.form > deleted || h.size < 0 || h.form == failed && h.size > cache.MaxFault {
		return h, remote.Damaged("invalid head")
	}
	return h, nil
}

// readFault parses the content of a fault.
func readFault(b []byte) (*fault.Error, error) {
	f, ok := cache.ReadFault(bin.NewCursor(b, binary.LittleEndian))
	if !ok {
		return nil, remote.Damaged("invalid fault")
	}
	return f, nil
}
