package macho

import (
	"encoding/binary"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
)

// Magics, as read in little-endian order.
const (
	magic32  = 0xfeedface
	magic64  = 0xfeedfacf
	magicFat = 0xcafebabe // big endian
	magic64F = 0xcafebabf // big endian, offsets of 64 bits
)

// javaVersion is the lowest version of a Java class file, which has it at the
// offset of the number of slices of a fat file.
const javaVersion = 45

// Slice is an image in a file.
type Slice struct {
	Off, Size   int64 // the base of offsets in the image
	CPU, SubCPU uint32
	Entry       int64  // offset of the header in the slice; not 0 only in a fileset
	Name        string // of the fileset entry
}

// Slices lists the images in a file: the file itself if it is a plain Mach-O
// file, the slices of a fat one, and instead of a fileset its entries. A slice
// beyond the end of the file has the size 0.
func Slices(src bin.Source) ([]Slice, error) {
	slices := []Slice{{Size: src.Size()}}
	if src.Size() < 8 {
		return nil, fault.New(fault.Malformed, "macho, header", "the file has only %d bytes", src.Size())
	}
	head, err := bin.Read(src, 0, 8)
	if err != nil {
		return nil, err
	}
	if magic := binary.BigEndian.Uint32(head); magic == magicFat || magic == magic64F {
		if slices, err = fatSlices(src, binary.BigEndian.Uint32(head[4:]), magic == magic64F); err != nil {
			return nil, err
		}
	}
	var all []Slice
	for _, s := range slices {
		all = append(all, s.images(src)...)
	}
	return all, nil
}

// fatSlices reads the table of a fat file.
func fatSlices(src bin.Source, count uint32, wide bool) ([]Slice, error) {
	if count >= javaVersion || count == 0 {
		return nil, fault.New(fault.Unsupported, "macho, fat header", "%d slices; the file may be a Java class", count)
	}
	row := int64(20)
	if wide {
		row = 32
	}
	n := min(row*int64(count), src.Size()-8) / row * row
	if n == 0 {
		return nil, fault.New(fault.Malformed, "macho, fat header", "the file ends in the table of slices at offset 0x8")
	}
	table, err := bin.Read(src, 8, int(n))
	if err != nil {
		return nil, err
	}
	var slices []Slice
	for c := bin.NewCursor(table, binary.BigEndian); c.Len() > 0; {
		s := Slice{CPU: c.U32(), SubCPU: c.U32()}
		var off, size uint64
		if wide {
			off, size = c.U64(), c.U64()
			c.Skip(8)
		} else {
			off, size = uint64(c.U32()), uint64(c.U32())
			c.Skip(4)
		}
		end := uint64(src.Size())
		s.Off = int64(min(off, end))
		s.Size = int64(min(size, end-uint64(s.Off)))
		slices = append(slices, s)
	}
	return slices, nil
}

// images returns the slice itself, or the entries of the fileset that it
// contains.
func (s Slice) images(src bin.Source) []Slice {
	f, err := openImage(src, s)
	if err != nil {
		return []Slice{s}
	}
	s.CPU, s.SubCPU = f.CPU, f.SubCPU
	if f.FileType != fileTypeFileset {
		return []Slice{s}
	}
	var entries []Slice
	f.commands(func(cmd uint32, _ int64, c *bin.Cursor) {
		if cmd != cmdFilesetEntry {
			return
		}
		c.Skip(8) // address
		e := s
		e.Entry = int64(min(c.U64(), uint64(s.Size)))
		c.Skip(int(min(max(c.U32(), 28), 1<<16)) - 28) // the name follows the known part of the command
		e.Name = string(c.CString())
		if inner, err := openImage(src, e); err == nil && inner.FileType != fileTypeFileset {
			e.CPU, e.SubCPU = inner.CPU, inner.SubCPU
			entries = append(entries, e)
		}
	})
	if len(entries) == 0 {
		return []Slice{s}
	}
	return entries
}
