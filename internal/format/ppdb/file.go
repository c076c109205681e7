package ppdb

import (
	"bytes"
	"encoding/binary"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
)

// Magic is the start of metadata.
const Magic = "BSJB"

// File is an open portable PDB.
type File struct {
	GUID     [16]byte // the first three fields are little endian
	Stamp    uint32
	Link     []byte // the text of Source Link, nil without it
	Problems bin.Problems

	src      bin.Source
	streams  []stream
	blob     []byte
	guids    []byte
	tables   [numTables]table
	embedded []embedded // by document
}

// stream is a stream of the file.
type stream struct {
	name      string
	off, size int64
}

const (
	maxRoot = 64 << 10 // bytes at the start that contain the names of all streams
	maxName = 32       // bytes of the name of a stream, with its NUL
	pdbHead = 20       // bytes of the id
)

// Open reads the tables of documents and methods.
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

// readRoot reads the list of streams.
func (f *File) readRoot() error {
	head, err := bin.Read(f.src, 0, int(min(f.src.Size(), maxRoot)))
	if err != nil {
		return err
	}
	c := bin.NewCursor(head, binary.LittleEndian)
	if string(c.Bytes(len(Magic))) != Magic {
		return fault.New(fault.Malformed, "ppdb, root", "invalid magic")
	}
	c.Skip(8) // versions
	c.Skip(int(min(c.U32(), maxRoot)))
	c.Skip(2) // flags
	count := c.U16()
	if c.Err() != nil {
		return fault.New(fault.Malformed, "ppdb, root", "truncated list of streams at offset %#x: %w", c.Off(), c.Err())
	}
	for range count {
		at := int64(c.Off())
		s := stream{off: int64(c.U32()), size: int64(c.U32())}
		name, _, ended := bytes.Cut(head[c.Off():min(c.Off()+maxName, len(head))], []byte{0})
		c.Skip((len(name) + 4) &^ 3)
		if c.Err() != nil || !ended {
			f.Problems.Add("root", at, "only %d of %d streams have a name", len(f.streams), count)
			break
		}
		s.name = string(name)
		if left := f.src.Size() - s.off; s.size > left {
			f.Problems.Add("root", at, "the file has %d of %d bytes of %s", max(left, 0), s.size, s.name)
			s.size = max(left, 0)
		}
		f.streams = append(f.streams, s)
	}
	return nil
}

// stream returns the first stream of a name, or an empty one.
func (f *File) stream(name string) stream {
	for _, s := range f.streams {
		if s.name == name {
			return s
		}
	}
	return stream{name: name}
}

// heap returns the bytes of a stream.
func (f *File) heap(name string) ([]byte, error) {
	s := f.stream(name)
	if s.size == 0 {
		return nil, nil
	}
	return bin.Read(f.src, s.off, int(s.size))
}

// readID reads #Pdb: the id, and the number of rows of the assembly's tables.
func (f *File) readID() (rows [numTables]uint32, err error) {
	b, err := f.heap("#Pdb")
	if err != nil {
		return rows, err
	}
	if len(b) == 0 {
		return rows, fault.New(fault.Unsupported, "ppdb, root", "missing stream #Pdb: the metadata is not that of a portable PDB")
	}
	at := f.stream("#Pdb").off
	c := bin.NewCursor(b, binary.LittleEndian)
	id := c.Bytes(pdbHead)
	if id == nil {
		return rows, fault.New(fault.Malformed, "ppdb, #Pdb", "truncated id at offset %#x", at)
	}
	f.GUID, f.Stamp = [16]byte(id), binary.LittleEndian.Uint32(id[16:])
	c.Skip(4) // entry point
	readRows(c, c.U64(), &rows)
	if c.Err() != nil {
		f.Problems.Add("#Pdb", at, "the stream ends in the numbers of rows")
	}
	return rows, nil
}

// readRows reads the number of rows of each table of a set.
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

// blobAt returns a byte string of #Blob, and whether it is complete. Offset 0
// is empty.
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

// number returns the compressed number at the start of b and its width, 0 if it
// is invalid.
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

// signed is number with the sign in the lowest bit.
func signed(b []byte) (v int32, width int) {
	u, width := number(b)
	v = int32(u >> 1)
	if u&1 != 0 {
		v -= [...]int32{1: 1 << 6, 2: 1 << 13, 4: 1 << 28}[width]
	}
	return v, width
}
