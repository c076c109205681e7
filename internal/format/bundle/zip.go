package bundle

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"hash/crc32"
	"io"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
)

const (
	endSize    = 22 // of the end record, without its comment
	end64Size  = 56
	locateSize = 20
	entrySize  = 46 // of a directory entry, without its names
	localSize  = 30 // of the header before an entry

	stored   = 0
	deflated = 8
)

// entry is a file of the archive.
type entry struct {
	name     []byte // aliases the directory
	off      int64  // offset of its local header
	size     int64  // compressed size
	unpacked int64
	crc      uint32
	method   uint16
	flags    uint16
}

func malformed(part, format string, args ...any) *fault.Error {
	return fault.New(fault.Malformed, "source bundle, "+part, format, args...)
}

// directory reads the list of entries. If an entry is damaged, it returns the
// entries before it and an error.
func directory(src bin.Source) ([]entry, error) {
	base, off, size, err := findDirectory(src)
	if err != nil {
		return nil, err
	}
	data, err := bin.Read(src, off, int(size))
	if err != nil {
		return nil, malformed("directory", "%w", err)
	}
	var list []entry
	c := bin.NewCursor(data, binary.LittleEndian)
	for c.Len() > 0 {
		at := off + int64(c.Off())
		e, ok := readEntry(c)
		if !ok {
			return list, malformed("directory", "invalid entry at offset %#x", at)
		}
		if e.off += base; e.off < 0 || e.off > src.Size() || e.size < 0 || e.size > src.Size()-e.off {
			return list, malformed("directory", "invalid entry at offset %#x: %d bytes at offset %#x of %#x", at, e.size, e.off, src.Size())
		}
		list = append(list, e)
	}
	return list, nil
}

// findDirectory returns the position of the directory, and the base of offsets.
func findDirectory(src bin.Source) (base, off, size int64, err error) {
	n := min(src.Size(), endSize+1<<16-1)
	tail, err := bin.Read(src, src.Size()-n, int(n))
	if err != nil {
		return 0, 0, 0, malformed("end", "%w", err)
	}
	le := binary.LittleEndian
	for i := len(tail) - endSize; ; i-- {
		if i = bytes.LastIndex(tail[:max(0, i+4)], []byte("PK\x05\x06")); i < 0 {
			return 0, 0, 0, malformed("end", "missing end record of the zip archive")
		}
		if i+endSize+int(le.Uint16(tail[i+20:])) <= len(tail) {
			end := src.Size() - n + int64(i)
			size, off := int64(le.Uint32(tail[i+12:])), int64(le.Uint32(tail[i+16:]))
			if le.Uint16(tail[i+10:]) == 0xffff || size == 0xffffffff || off == 0xffffffff {
				end, size, off = findZip64(src, end, size, off)
			}
			if size < 0 || off < 0 || size > end || off > end-size {
				return 0, 0, 0, malformed("end", "invalid directory: %d bytes at offset %#x, before offset %#x", size, off, end)
			}
			return end - size - off, end - size, size, nil
		}
	}
}

// findZip64 reads the zip64 record before the end record, if there is one.
func findZip64(src bin.Source, end, size, off int64) (end64, size64, off64 int64) {
	const n = end64Size + locateSize
	p, err := bin.Read(src, end-n, n)
	if err != nil || string(p[:4]) != "PK\x06\x06" || string(p[end64Size:end64Size+4]) != "PK\x06\x07" {
		return end, size, off
	}
	le := binary.LittleEndian
	return end - n, int64(le.Uint64(p[40:])), int64(le.Uint64(p[48:]))
}

// readEntry reads an entry of the directory.
func readEntry(c *bin.Cursor) (e entry, ok bool) {
	p := c.Bytes(entrySize)
	if p == nil || string(p[:4]) != "PK\x01\x02" {
		return e, false
	}
	le := binary.LittleEndian
	e.flags, e.method, e.crc = le.Uint16(p[8:]), le.Uint16(p[10:]), le.Uint32(p[16:])
	e.size, e.unpacked, e.off = int64(le.Uint32(p[20:])), int64(le.Uint32(p[24:])), int64(le.Uint32(p[42:]))
	e.name = c.Bytes(int(le.Uint16(p[28:])))
	extra := bin.NewCursor(c.Bytes(int(le.Uint16(p[30:]))), le)
	c.Skip(int(le.Uint16(p[32:])))
	for extra.Len() >= 4 {
		id, field := extra.U16(), bin.NewCursor(extra.Bytes(int(extra.U16())), le)
		if id != 1 { // zip64: the numbers that exceed 32 bits, in this order
			continue
		}
		for _, v := range []*int64{&e.unpacked, &e.size, &e.off} {
			if *v == 0xffffffff {
				*v = int64(field.U64())
			}
		}
	}
	return e, c.Err() == nil
}

// read returns the content of an entry. It fails if that exceeds limit bytes.
func (e *entry) read(src bin.Source, limit int64) ([]byte, error) {
	head, err := bin.Read(src, e.off, localSize)
	if err != nil || string(head[:4]) != "PK\x03\x04" {
		return nil, malformed("file "+string(e.name), "invalid local header at offset %#x", e.off)
	}
	le := binary.LittleEndian
	at := e.off + localSize + int64(le.Uint16(head[26:])) + int64(le.Uint16(head[28:]))
	if at > src.Size() || e.size > src.Size()-at {
		return nil, malformed("file "+string(e.name), "%d bytes at offset %#x of %#x", e.size, at, src.Size())
	}
	if e.flags&1 != 0 || e.method != stored && e.method != deflated {
		return nil, fault.New(fault.Unsupported, "source bundle, file "+string(e.name), "compression method %d, flags %#x", e.method, e.flags)
	}
	var r io.Reader = io.NewSectionReader(src, at, e.size)
	if e.method == deflated {
		r = flate.NewReader(r)
	}
	var b bytes.Buffer
	b.Grow(int(max(0, min(e.unpacked, limit, 4*e.size))) + bytes.MinRead)
	n, err := b.ReadFrom(io.LimitReader(r, limit+1))
	switch {
	case n > limit:
		return nil, malformed("file "+string(e.name), "content exceeds %d bytes: %w", limit, bin.ErrLimit)
	case err != nil:
		return nil, malformed("file "+string(e.name), "%w", err)
	case crc32.ChecksumIEEE(b.Bytes()) != e.crc:
		return nil, malformed("file "+string(e.name), "checksum mismatch")
	}
	return b.Bytes(), nil
}
