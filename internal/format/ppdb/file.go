package ppdb

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
)

// Magic is what metadata begins with.
const Magic = "BSJB"

// Problem is a part of a file that is broken, and was left out or cut.
type Problem struct {
	Place  string // which part
	Off    int64  // where in the file
	Reason string
}

// maxProblems is how many Problems are kept.
const maxProblems = 64

// File is a portable PDB.
type File struct {
	GUID     [16]byte // its first three fields are little endian
	Stamp    uint32
	Link     []byte // the text that says where on the web sources are; nil: there is none
	Problems []Problem

	src      bin.Source
	streams  []stream
	blob     []byte
	guids    []byte
	tables   [numTables]table
	embedded []embedded // by document
}

// stream is a part of the file.
type stream struct {
	name      string
	off, size int64
}

const (
	maxRoot = 64 << 10 // bytes from the start in which the names of all streams are
	maxName = 32       // bytes of the name of a stream, with its NUL
	pdbHead = 20       // bytes of the id
)

// Open reads what the tables say about documents and methods.
func Open(src bin.Source) (*File, error) {
	f := &File{src: src}
	if err := f.readRoot(); err != nil {
		return nil, err
	}
	rows, err := f.readID()
	if err != nil {
		return nil, err
	}
	if f.blob, err = f.heap("#Blob"); err != nil {
		return nil, err
	}
	if f.guids, err = f.heap("#GUID"); err != nil {
		return nil, err
	}
	if err := f.readTables(rows); err != nil {
		return nil, err
	}
	f.boundMethods()
	f.findEmbedded()
	return f, nil
}

func (f *File) problem(place string, off int64, format string, args ...any) {
	if len(f.Problems) < maxProblems {
		f.Problems = append(f.Problems, Problem{place, off, fmt.Sprintf(format, args...)})
	}
}

// readRoot finds the streams.
func (f *File) readRoot() error {
	head, err := bin.Read(f.src, 0, int(min(f.src.Size(), maxRoot)))
	if err != nil {
		return err
	}
	c := bin.NewCursor(head, binary.LittleEndian)
	if string(c.Bytes(len(Magic))) != Magic {
		return fault.New(fault.Malformed, "ppdb, root", "no magic at offset 0x0")
	}
	c.Skip(8) // versions
	c.Skip(int(min(c.U32(), maxRoot)))
	c.Skip(2) // flags
	count := c.U16()
	if c.Err() != nil {
		return fault.New(fault.Malformed, "ppdb, root", "no streams at offset %#x: %w", c.Off(), c.Err())
	}
	for range count {
		at := int64(c.Off())
		s := stream{off: int64(c.U32()), size: int64(c.U32())}
		name, _, ended := bytes.Cut(head[c.Off():min(c.Off()+maxName, len(head))], []byte{0})
		c.Skip((len(name) + 4) &^ 3)
		if c.Err() != nil || !ended {
			f.problem("root", at, "%d of %d streams have a name", len(f.streams), count)
			break
		}
		s.name = string(name)
		if left := f.src.Size() - s.off; s.size > left {
			f.problem("root", at, "%d of %d bytes of %s are in the file", max(left, 0), s.size, s.name)
			s.size = max(left, 0)
		}
		f.streams = append(f.streams, s)
	}
	return nil
}

// stream is the first stream of a name, or one without bytes.
func (f *File) stream(name string) stream {
	for _, s := range f.streams {
		if s.name == name {
			return s
		}
	}
	return stream{name: name}
}

// heap is the bytes of a stream.
func (f *File) heap(name string) ([]byte, error) {
	s := f.stream(name)
	if s.size == 0 {
		return nil, nil
	}
	return bin.Read(f.src, s.off, int(s.size))
}

// readID reads #Pdb: the id, and how many rows the tables of the assembly have.
func (f *File) readID() (rows [numTables]uint32, err error) {
	b, err := f.heap("#Pdb")
	if err != nil {
		return rows, err
	}
	if len(b) == 0 {
		return rows, fault.New(fault.Unsupported, "ppdb, root", "no stream #Pdb: metadata that is not of a portable PDB")
	}
	at := f.stream("#Pdb").off
	c := bin.NewCursor(b, binary.LittleEndian)
	id := c.Bytes(pdbHead)
	if id == nil {
		return rows, fault.New(fault.Malformed, "ppdb, #Pdb", "no id at offset %#x", at)
	}
	f.GUID, f.Stamp = [16]byte(id), binary.LittleEndian.Uint32(id[16:])
	c.Skip(4) // entry point
	readRows(c, c.U64(), &rows)
	if c.Err() != nil {
		f.problem("#Pdb", at, "it ends in the rows of tables")
	}
	return rows, nil
}

// readRows reads how many rows each table of a set has.
func readRows(c *bin.Cursor, set uint64, rows *[numTables]uint32) {
	for i := range 64 {
		if set>>i&1 == 0 {
			continue
		}
		if n := c.U32(); i < numTables {
			rows[i] = n
		}
	}
}

// blobAt is a piece of #Blob, and whether it is whole. The first one is empty.
func (f *File) blobAt(off uint32) ([]byte, bool) {
	if off == 0 || uint64(off) >= uint64(len(f.blob)) {
		return nil, off == 0
	}
	b := f.blob[off:]
	n, width := number(b)
	if width == 0 || int(n) > len(b)-width {
		return nil, false
	}
	return b[width:][:n:n], true
}

// number is the compressed number that b begins with, and how many bytes it
// takes: none if it is broken.
func number(b []byte) (v uint32, width int) {
	switch {
	case len(b) >= 1 && b[0] < 0x80:
		return uint32(b[0]), 1
	case len(b) >= 2 && b[0] < 0xc0:
		return uint32(b[0]&0x3f)<<8 | uint32(b[1]), 2
	case len(b) >= 4 && b[0] < 0xe0:
		return binary.BigEndian.Uint32(b) & 0x1fffffff, 4
	}
	return 0, 0
}

// signed is number with a sign, which stands in the lowest bit.
func signed(b []byte) (v int32, width int) {
	u, width := number(b)
	v = int32(u >> 1)
	if u&1 != 0 {
		v -= [...]int32{1: 1 << 6, 2: 1 << 13, 4: 1 << 28}[width]
	}
	return v, width
}
