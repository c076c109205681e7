package macho

import (
	"encoding/binary"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
)

// Supported load commands.
const (
	cmdSegment        = 0x1
	cmdSymtab         = 0x2
	cmdSegment64      = 0x19
	cmdUUID           = 0x1b
	cmdEncryption     = 0x21
	cmdFunctionStarts = 0x26
	cmdEncryption64   = 0x2c
	cmdFilesetEntry   = 0x80000035
)

// openImage reads the header of an image.
func openImage(src bin.Source, s Slice) (*File, error) {
	const place = "macho, header"
	if s.Off < 0 || s.Off > src.Size() || s.Entry < 0 || s.Entry > s.Size {
		return nil, fault.New(fault.Malformed, place, "invalid slice at offset %#x", s.Off)
	}
	f := &File{Order: binary.LittleEndian, src: src, base: s.Off, size: min(s.Size, src.Size()-s.Off), cmdsAt: s.Entry + 28}
	b, err := f.bytes(s.Entry, 32)
	if err != nil {
		return nil, err
	}
	magic := bin.NewCursor(b, f.Order).U32()
	if magic != magic32 && magic != magic64 {
		f.Order = binary.BigEndian
		magic = bin.NewCursor(b, f.Order).U32()
	}
	if magic != magic32 && magic != magic64 {
		return nil, fault.New(fault.Malformed, place, "invalid magic at offset %#x", s.Off+s.Entry)
	}
	c := bin.NewCursor(b, f.Order)
	c.Skip(4)
	f.CPU, f.SubCPU, f.FileType, f.count, f.cmdsSize, f.Flags = c.U32(), c.U32(), c.U32(), c.U32(), c.U32(), c.U32()
	if f.Is64 = magic == magic64; f.Is64 {
		c.Skip(4)
		f.cmdsAt += 4
	}
	if c.Err() != nil {
		return nil, fault.New(fault.Malformed, place, "the file ends in the header at offset %#x", s.Off+s.Entry)
	}
	return f, nil
}

// commands calls yield for each load command with its offset in the slice and a
// cursor after its first two words.
func (f *File) commands(yield func(cmd uint32, at int64, c *bin.Cursor)) {
	const place = "load commands"
	cmds := f.table(place, f.cmdsAt, int64(f.cmdsSize))
	at := f.cmdsAt
	for range f.count {
		c := bin.NewCursor(cmds, f.Order)
		cmd, size := c.U32(), c.U32()
		switch {
		case c.Err() != nil:
			f.Problems.Add(place, at, "the table ends before the last command")
			return
		case size < 8 || size > uint32(len(cmds)):
			f.Problems.Add(place, at, "invalid command size %d of %d bytes", size, len(cmds))
			return
		}
		yield(cmd, at, bin.NewCursor(cmds[8:size], f.Order))
		cmds = cmds[size:]
		at += int64(size)
	}
}
