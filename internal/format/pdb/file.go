package pdb

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"sync"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
)

// Streams with a fixed number.
const (
	streamInfo  = 1
	streamTypes = 2
	streamDebug = 3
	streamItems = 4
	noStream    = 0xffff
)

// File is an open PDB.
type File struct {
	GUID     [16]byte
	Age      uint32 // of the debug information, the one that binaries refer to
	Machine  uint16 // for ident.MachineArch; 0: unknown
	Stripped bool   // private symbols and lines were removed
	Modules  []Module
	TypeFile *TypeFile // of an object; nil: none
	Problems bin.Problems

	msf      *container
	named    map[string]uint16
	names    Stream // of source files and frame programs
	debug    debugHeader
	symbols  Stream // global ones
	publics  []byte // offsets in symbols, by address
	parts    []byte // section contributions
	partSize int
	sections []section // to which addresses in the file refer
	codes    []section // of the binary
	omap     bool      // code was moved after linking
	toBinary []byte    // map from linked addresses to those of the binary
	toSource []byte    // the reverse map
	frames   [2]Stream // FPO and frame data
	types    *table
	items    *table
	exports  exports
	object   bool    // it is the debug information of an object file
	code     []Range // of an object
}

// Module is a compilation unit.
type Module struct {
	Name     string
	stream   uint16
	base     int64 // offset of its records in those of all modules
	symbols  int64 // bytes of symbols
	lines    int64 // bytes of line information in the old form
	sections int64 // bytes of line information in the new form
}

// section is a section of a binary.
type section struct {
	addr, size uint32
	flags      uint32
}

// Flags of sections.
const (
	flagCode    = 0x20
	flagExecute = 0x20000000
)

// Open reads the headers and the tables of a PDB. It fails only without a usable
// directory or identity; other damage is listed in Problems.
func Open(src bin.Source) (*File, error) {
	f, err := OpenHeaders(src)
	if err != nil {
		return nil, err
	}
	f.names = f.openNames()
	f.types, f.items = f.openTable("type stream", streamTypes), f.openTable("item stream", streamItems)
	if err := f.readTables(); err != nil {
		f.Problems.Add("debug information stream", 0, "%v", err)
	}
	return f, nil
}

// OpenHeaders opens a PDB for its identity and the methods Has…, Named and
// SourceServerBrief. It takes 20 MiB at most, and 5 bytes for each block.
func OpenHeaders(src bin.Source) (*File, error) {
	f := &File{}
	var err error
	if f.msf, err = openContainer(src, f.Problems.Add); err != nil {
		return nil, err
	}
	if err := f.readInfo(); err != nil {
		return nil, fault.New(fault.Malformed, "PDB", "info stream: %w", err)
	}
	if err := f.readDebug(); err != nil {
		f.Problems.Add("debug information stream", 0, "%v", err)
	}
	return f, nil
}

// read returns all bytes of a stream.
func (f *File) read(s Stream) ([]byte, error) { return s.Bytes(0, int(s.Size()), nil) }

// readInfo reads the identity and the names of streams.
func (f *File) readInfo() error {
	s := f.msf.stream(streamInfo)
	if s.Size() < 28 {
		return fmt.Errorf("invalid size %d", s.Size())
	}
	data, err := s.Bytes(0, int(min(s.Size(), 1<<20)), nil)
	if err != nil {
		return err
	}
	c := bin.NewCursor(data, binary.LittleEndian)
	version := c.U32()
	if version < 20000404 { // the version of Visual Studio 7
		return fmt.Errorf("unsupported version %d", version)
	}
	c.U32()         // creation time
	f.Age = c.U32() // unless the debug information has another one
	f.GUID = [16]byte(c.Bytes(16))
	if f.named, err = namedStreams(c); err != nil {
		f.Problems.Add("info stream", int64(c.Off()), "names of streams: %v", err)
	}
	return nil
}

// namedStreams reads a hash table of names: the strings, and for each used slot
// the offset of a name and the number of its stream.
func namedStreams(c *bin.Cursor) (map[string]uint16, error) {
	text := c.Bytes(int(c.U32()))
	size, _ := c.U32(), c.U32()
	c.Skip(4 * int(c.U32())) // bit set of used slots
	c.Skip(4 * int(c.U32())) // bit set of deleted slots
	named := map[string]uint16{}
	for range size {
		at, stream := c.U32(), c.U32()
		if c.Err() != nil {
			return named, c.Err()
		}
		if uint64(at) >= uint64(len(text)) || stream >= noStream {
			return named, fmt.Errorf("invalid name at %#x of %d bytes for stream %d", at, len(text), stream)
		}
		name, _, _ := bytes.Cut(text[at:], []byte{0})
		named[string(name)] = uint16(stream)
	}
	return named, nil
}

// Named returns the stream of a name, empty without one.
func (f *File) Named(name string) Stream {
	if n, ok := f.named[name]; ok {
		return f.msf.stream(int(n))
	}
	return Stream{}
}

// openNames returns the stream of strings.
func (f *File) openNames() Stream {
	const magic = 0xeffeeffe
	s := f.Named("/names")
	if s.Size() == 0 {
		return Stream{}
	}
	head, err := s.Bytes(0, int(min(12, s.Size())), nil)
	if err != nil || len(head) < 12 || binary.LittleEndian.Uint32(head) != magic {
		f.Problems.Add("/names stream", 0, "invalid header")
		return Stream{}
	}
	return s
}

// namesHead is the size of the header before the strings.
const namesHead = 12

// AppendString appends the string at an offset of the names of the file,
// truncated to the stream.
func (f *File) AppendString(dst []byte, off uint32) []byte {
	if f.object {
		return appendCString(dst, f.names, int64(off))
	}
	return appendCString(dst, f.names, int64(off)+namesHead)
}

// maxString limits the length of a name.
const maxString = 64 << 10

// appendCString appends the string at off of a stream.
func appendCString(dst []byte, s Stream, off int64) []byte {
	var room [256]byte
	for from := len(dst); off < s.Size() && len(dst)-from < maxString; off += int64(len(room)) {
		b, err := s.Bytes(off, int(min(int64(len(room)), s.Size()-off)), room[:])
		if err != nil {
			return dst
		}
		if i := bytes.IndexByte(b, 0); i >= 0 {
			return append(dst, b[:i]...)
		}
		dst = append(dst, b...)
	}
	return dst
}

// Footprint estimates the memory of the file in bytes, without its source,
// after all parts have been read.
func (f *File) Footprint() int64 {
	const module, perType = 160, 1
	numbers := int64(f.types.end-f.types.begin) + int64(f.items.end-f.items.begin)
	return int64(len(f.msf.directory)+len(f.publics)+len(f.parts)+module*len(f.Modules)) + perType*numbers
}

// HasPublics reports whether the file has public symbols of code.
func (f *File) HasPublics() (has bool) {
	var room [16]byte
	for i := range len(f.publics) / 4 {
		if _, _, _, ok := f.publicAt(i, room[:]); ok {
			return true
		}
	}
	_ = f.Publics(func(Public) bool { has = true; return false }) // an error is returned when they are read
	return has
}

// HasCode reports whether a module has a procedure, whatever Stripped is.
// Thunks do not count, since they remain in stripped modules.
func (f *File) HasCode() (has bool) {
	if f.object {
		return f.hasCodeInParts()
	}
	var room []byte
	f.eachModule(func(m *Module) bool {
		s := f.msf.stream(int(m.stream))
		end := min(m.symbols, s.Size())
		for off := int64(symbolsHead); off < end && !has; {
			data, err := s.Bytes(off, int(min(symbolPiece, end-off)), room)
			if err != nil {
				break
			}
			if f.msf.whole == nil {
				room = data
			}
			n := 0
			if n, has = hasProcedure(data, 0); n == 0 { // or it is found
				break
			}
			off += int64(n)
		}
		return !has
	}, func(string, int64, string, ...any) {})
	return has
}

// hasProcedure reports whether one of the records from an offset on is a
// procedure, other than a thunk. Otherwise end is the offset after the last one.
func hasProcedure(data []byte, from int) (end int, has bool) {
	end = from
	for r := range records(data, from) {
		if p, ok := r.procedure(); ok && p.size > 0 && r.kind != symThunk && r.kind != symThunkST {
			return end, true
		}
		end = r.end()
	}
	return end, false
}

// symbolPiece is the number of bytes of a module that are searched at a time. A
// record is shorter than 64 KiB + 2.
const symbolPiece = 128 << 10

// HasFrames reports whether there is unwind information.
func (f *File) HasFrames() bool {
	return f.frames[0].Size() >= fpoSize || f.frames[1].Size() >= frameSize
}

// exports has the numbers that modules export to others, read on first use.
type exports struct {
	mu       sync.Mutex
	byName   map[string]int // by lower-case name
	byOffset map[uint32]int // by offset of the name, plus 1; 0: unknown module
	of       map[int]map[uint32]uint32
	imports  map[int][]byte // of modules that refer to others
}
