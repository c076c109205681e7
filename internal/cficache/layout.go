package cficache

import (
	"encoding/binary"
	"hash/crc32"
	"math/bits"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
)

// Version is the version of the format and of its content: it also increases
// when a file gets other rows. Open rejects every other version: a table is
// cheap to build again.
const Version = 1

// Magic is the start of every table.
const Magic = "\x89unwtab\n"

// Constants of the format, which do not change within a Version.
const (
	pageShift = 12 // of the addresses of a page record
	pageSize  = 1 << pageShift
	maxGap    = 4 // pages without a record in an extent

	fixedHead  = 120     // size of the head before its texts
	maxHead    = 1 << 16 // limit of the size of the head
	extentSize = 12
	slack      = 8 // zeros after the ranges, so that each can be read as a word
)

// Info describes a table and the file that it was built from.
type Info struct {
	Module     ident.Module // Arch, DebugID and CodeID
	InputSize  int64
	InputHash  [32]byte
	BadRecords uint64 // records of the input that could not be used
}

// head is the content of the head.
type head struct {
	info   Info
	size   int
	body   uint64 // size of the body
	check  uint32 // checksum of the body
	stride uint8  // bytes of a range

	extents, pages, ranges, rows, rowBytes uint64
}

// stride returns the bytes of a range if there are n rows.
func stride(n uint64) uint8 { return uint8(pageShift+bits.Len64(n)+7) / 8 }

// sections returns the offsets of the sections in the body, and the end of the
// last one.
func (h *head) sections() (at [6]uint64) {
	for i, size := range [...]uint64{
		h.extents * extentSize, h.pages * 4, h.ranges*uint64(h.stride) + slack, h.rows * 4, h.rowBytes,
	} {
		at[i+1] = at[i] + size
	}
	return at
}

// append appends the head to b.
func (h *head) append(b []byte) []byte {
	le := binary.LittleEndian
	start := len(b)
	b = append(b, Magic...)
	b = le.AppendUint32(b, Version)
	b = le.AppendUint32(b, 0) // size, set below
	b = le.AppendUint64(b, h.body)
	b = le.AppendUint32(b, h.check)
	b = append(b, pageShift, h.stride, 0, 0)
	b = le.AppendUint64(b, uint64(h.info.InputSize))
	b = append(b, h.info.InputHash[:]...)
	for _, n := range [...]uint64{h.info.BadRecords, h.extents, h.pages, h.ranges, h.rows, h.rowBytes} {
		b = le.AppendUint64(b, n)
	}
	m := &h.info.Module
	for _, text := range [...]string{m.Arch.String(), m.DebugID.String(), string(m.CodeID)} {
		b = append(binary.AppendUvarint(b, uint64(len(text))), text...)
	}
	le.PutUint32(b[start+12:], uint32(len(b)-start+4))
	return le.AppendUint32(b, crc32.Checksum(b[start:], bin.Castagnoli))
}

func malformed(place, format string, args ...any) *fault.Error {
	return fault.New(fault.Malformed, "cficache, "+place, format, args...)
}

// parseHead parses the head at the start of a file.
func parseHead(b []byte) (*head, error) {
	if len(b) < fixedHead || string(b[:len(Magic)]) != Magic {
		return nil, malformed("head", "not a table")
	}
	le := binary.LittleEndian
	if v := le.Uint32(b[8:]); v != Version {
		return nil, fault.New(fault.Unsupported, "cficache, head", "version %d is not supported, only %d", v, Version)
	}
	size := le.Uint32(b[12:])
	if size < fixedHead+4 || size > maxHead || uint64(size) > uint64(len(b)) {
		return nil, malformed("head", "invalid size %d", size)
	}
	if crc32.Checksum(b[:size-4], bin.Castagnoli) != le.Uint32(b[size-4:]) {
		return nil, malformed("head", "checksum mismatch")
	}
	h := &head{size: int(size)}
	c := bin.NewCursor(b[:size-4], le)
	c.Skip(16)
	h.body, h.check = c.U64(), c.U32()
	page := c.U8()
	h.stride = c.U8()
	c.Skip(2)
	h.info.InputSize = int64(c.U64())
	copy(h.info.InputHash[:], c.Bytes(32))
	h.info.BadRecords = c.U64()
	for _, n := range [...]*uint64{&h.extents, &h.pages, &h.ranges, &h.rows, &h.rowBytes} {
		if *n = c.U64(); *n >= 1<<32 {
			return nil, malformed("head", "section of %d records", *n)
		}
	}
	text := func() string { return string(c.Bytes(int(min(c.Uleb(), maxHead)))) }
	m := &h.info.Module
	m.Arch = ident.ParseArch(text())
	m.DebugID, _ = ident.ParseDebugID(text())
	m.CodeID = ident.CodeID(text())
	switch {
	case c.Err() != nil || c.Len() != 0:
		return nil, malformed("head", "%d extra bytes: %v", c.Len(), c.Err())
	case page != pageShift || h.stride != stride(h.rows):
		return nil, malformed("head", "pages of %d bits and ranges of %d bytes for %d rows", page, h.stride, h.rows)
	case h.sections()[5] != h.body:
		return nil, malformed("head", "sections have %d bytes, but the body %d", h.sections()[5], h.body)
	}
	return h, nil
}
