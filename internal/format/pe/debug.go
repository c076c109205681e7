package pe

import (
	"math"
	"strings"

	"symbolon/internal/bin"
	"symbolon/internal/ident"
)

// PDB identifies the PDB of the image.
type PDB struct {
	ID   ident.DebugID
	Path string // as written by the linker; may be empty
}

// Name returns the last part of the path.
func (p *PDB) Name() string { return ident.FileName(p.Path) }

// Supported entries of the debug directory.
const (
	debugCodeView = 2
	debugEmbedded = 17

	debugEntry = 28
	// debugPortable is the minor version of an entry for a portable PDB.
	debugPortable = 0x504d
)

// maxCodeView limits the bytes that are read of a CodeView record.
const maxCodeView = 24 + maxName

// readDebug reads the debug directory. The first one of several PDBs wins.
func (f *File) readDebug() {
	const place = "debug directory"
	d := f.dirs[dirDebug]
	b := f.mapped(place, d.addr, int64(d.size/debugEntry*debugEntry))
	for c := bin.NewCursor(b, le); c.Len() >= debugEntry; {
		c.Skip(4)
		time := c.U32()
		c.Skip(2)
		minor, kind, size, addr, off := c.U16(), c.U32(), c.U32(), c.U32(), c.U32()
		if kind != debugCodeView && kind != debugEmbedded {
			continue
		}
		data, _ := f.bytes(int64(off), int64(size))
		if off == 0 {
			data = f.Mapped(addr, int64(size))
		}
		if len(data) < int(size) {
			f.Problems.Add(place, int64(off), "the file has %[2]d of %[1]d bytes of an entry", size, len(data))
		}
		switch {
		case kind == debugEmbedded && f.embedded == nil:
			f.readEmbedded(data)
		case kind == debugCodeView && !f.HasPDB:
			if f.readCodeView(data); f.HasPDB && minor == debugPortable {
				f.PDB.ID = ident.NewDebugID(f.PDB.ID.UUID(), time)
			}
		}
	}
}

// readCodeView reads {"RSDS", GUID, age, path} or, of older linkers, {"NB10",
// offset, time, age, path}.
func (f *File) readCodeView(data []byte) {
	c := bin.NewCursor(data[:min(len(data), maxCodeView)], le)
	var id ident.DebugID
	switch string(c.Bytes(4)) {
	case "RSDS":
		if guid := c.Bytes(16); guid != nil {
			id = ident.NewGUID([16]byte(guid), c.U32())
		}
	case "NB10":
		c.Skip(4)
		id = ident.NewPDB20(c.U32(), c.U32())
	default:
		return
	}
	if c.Err() == nil {
		f.PDB, f.HasPDB = PDB{id, strings.ToValidUTF8(string(untilNUL(c.Bytes(c.Len()))), "\uFFFD")}, true
	}
}

// readEmbedded reads {"MPDB", size, deflated bytes}.
func (f *File) readEmbedded(data []byte) {
	if len(data) < 8 || string(data[:4]) != "MPDB" || le.Uint32(data[4:]) > math.MaxInt32 {
		f.Problems.Add("debug directory", 0, "invalid header of an embedded PDB")
		return
	}
	f.embedded, f.embeddedSize = data[8:], int(le.Uint32(data[4:]))
}

// EmbeddedPDB returns the portable PDB in the image: a DEFLATE stream and its
// inflated size.
func (f *File) EmbeddedPDB() (packed []byte, size int, ok bool) {
	return f.embedded, f.embeddedSize, f.embedded != nil
}

// DebugLink returns the name and checksum of the separate debug file, as
// written by the GNU tools.
func (f *File) DebugLink() (name string, crc uint32, ok bool) {
	s := f.Section(".gnu_debuglink")
	if s == nil {
		return "", 0, false
	}
	b, _ := f.Data(s)
	link := untilNUL(b)
	at := (len(link) + 4) &^ 3
	if len(link) == 0 || at+4 > len(b) {
		f.Problems.Add("section "+s.Name, s.Off, "missing name or checksum")
		return "", 0, false
	}
	return string(link), le.Uint32(b[at:]), true
}
