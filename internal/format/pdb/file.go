package pdb

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"sync"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
)

// Problem is a part of a file that is broken, and was left out.
type Problem struct {
	Place  string // which part
	Off    int64  // where in it
	Reason string
}

// maxProblems is how many Problems are kept.
const maxProblems = 64

// The streams that have a fixed number.
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
	Age      uint32 // of the debug information, which is the one that binaries name
	Machine  uint16 // for ident.MachineArch; 0: it is not known
	Stripped bool   // it was made for the public: without private symbols and lines
	Modules  []Module
	Problems []Problem

	msf      *container
	named    map[string]uint16
	names    Stream // of source files and frame programs
	symbols  Stream // global ones
	publics  []byte // offsets in symbols, by address
	parts    []byte // section contributions
	partSize int
	sections []section // those that the addresses in the file speak of
	codes    []section // those of the binary
	omap     bool      // code was moved after it was linked
	toBinary []byte    // to where, by the addresses in the file
	toSource []byte    // and from where
	frames   [2]Stream // of FPO and frame data
	types    *table
	items    *table
	exports  exports
}

// Module is what was compiled as one.
type Module struct {
	Name     string
	stream   uint16
	base     int64 // of its records among those of all modules
	symbols  int64 // bytes of symbols
	lines    int64 // bytes of line information of the old form
	sections int64 // bytes of line information of the new form
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

// Open reads the headers of a PDB. It fails only if there is no usable
// directory or identity; what else is broken is in Problems.
func Open(src bin.Source) (*File, error) {
	f := &File{}
	var err error
	if f.msf, err = openContainer(src, f.problem); err != nil {
		return nil, err
	}
	if err := f.readInfo(); err != nil {
		return nil, fault.New(fault.Malformed, "PDB", "info stream: %w", err)
	}
	f.names = f.openNames()
	f.types, f.items = f.openTable("type stream", streamTypes), f.openTable("item stream", streamItems)
	if err := f.readDebug(); err != nil {
		f.problem("debug information stream", 0, "%v", err)
	}
	return f, nil
}

func (f *File) problem(place string, off int64, format string, args ...any) {
	if len(f.Problems) < maxProblems {
		f.Problems = append(f.Problems, Problem{place, off, fmt.Sprintf(format, args...)})
	}
}

// read is all bytes of a stream.
func (f *File) read(s Stream) ([]byte, error) { return s.Bytes(0, int(s.Size()), nil) }

// readInfo reads the identity and the names of streams.
func (f *File) readInfo() error {
	s := f.msf.stream(streamInfo)
	if s.Size() < 28 {
		return fmt.Errorf("it has %d bytes", s.Size())
	}
	data, err := s.Bytes(0, int(min(s.Size(), 1<<20)), nil)
	if err != nil {
		return err
	}
	c := bin.NewCursor(data, binary.LittleEndian)
	version := c.U32()
	if version < 20000404 { // of Visual Studio 7
		return fmt.Errorf("a version of %d", version)
	}
	c.U32()         // when it was made
	f.Age = c.U32() // unless the debug information says another one
	f.GUID = [16]byte(c.Bytes(16))
	if f.named, err = namedStreams(c); err != nil {
		f.problem("info stream", int64(c.Off()), "its names of streams: %v", err)
	}
	return nil
}

// namedStreams reads a hash table of names: its strings, and for each slot in
// use where in them the name is, and which stream it is of.
func namedStreams(c *bin.Cursor) (map[string]uint16, error) {
	text := c.Bytes(int(c.U32()))
	size, _ := c.U32(), c.U32()
	c.Skip(4 * int(c.U32())) // which slots are in use
	c.Skip(4 * int(c.U32())) // and which were
	named := map[string]uint16{}
	for range size {
		at, stream := c.U32(), c.U32()
		if c.Err() != nil {
			return named, c.Err()
		}
		if uint64(at) >= uint64(len(text)) || stream >= noStream {
			return named, fmt.Errorf("a name at %#x of %d bytes for stream %d", at, len(text), stream)
		}
		name, _, _ := bytes.Cut(text[at:], []byte{0})
		named[string(name)] = uint16(stream)
	}
	return named, nil
}

// Named is a stream that has a name; without bytes if there is none.
func (f *File) Named(name string) Stream {
	if n, ok := f.named[name]; ok {
		return f.msf.stream(int(n))
	}
	return Stream{}
}

// openNames finds the strings of the file.
func (f *File) openNames() Stream {
	const magic = 0xeffeeffe
	s := f.Named("/names")
	if s.Size() == 0 {
		return Stream{}
	}
	head, err := s.Bytes(0, int(min(12, s.Size())), nil)
	if err != nil || len(head) < 12 || binary.LittleEndian.Uint32(head) != magic {
		f.problem("/names stream", 0, "it has no usable header")
		return Stream{}
	}
	return s
}

// namesHead is the size of the header before the strings.
const namesHead = 12

// AppendString appends the string at an offset of the names of the file, as far
// as it is there.
func (f *File) AppendString(dst []byte, off uint32) []byte {
	return appendCString(dst, f.names, int64(off)+namesHead)
}

// maxString bounds the length of a name.
const maxString = 64 << 10

// appendCString appends the string of a stream that begins at off.
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

// Footprint is about how many bytes of memory the file takes, its source aside,
// once all of it was asked for.
func (f *File) Footprint() int64 {
	const module, perType = 160, 1
	numbers := int64(f.types.end-f.types.begin) + int64(f.items.end-f.items.begin)
	return int64(len(f.msf.directory)+len(f.publics)+len(f.parts)+module*len(f.Modules)) + perType*numbers
}

// HasPublics says whether there are symbols of code that were linked by name.
func (f *File) HasPublics() (has bool) {
	var room [16]byte
	for i := range len(f.publics) / 4 {
		if _, _, _, ok := f.publicAt(i, room[:]); ok {
			return true
		}
	}
	_ = f.Publics(func(Public) bool { has = true; return false }) // told when they are read
	return has
}

// HasCode says whether a module has a procedure, whatever Stripped says. Modules
// that were stripped keep thunks, and those of objects without debug information the name of the
// compiler.
func (f *File) HasCode() bool {
	var room []byte
	for i := range f.Modules {
		m := &f.Modules[i]
		if m.stream == noStream || m.symbols <= 4 {
			continue
		}
		s := f.msf.stream(int(m.stream))
		all := min(m.symbols, s.Size())
		for _, size := range [...]int64{min(all, firstSymbols), all} { // mostly one of the first
			data, err := s.Bytes(0, int(size), room)
			if err != nil {
				break
			}
			if f.msf.whole == nil {
				room = data
			}
			for r := range records(data, 4) {
				if p, ok := r.procedure(); ok && p.size > 0 && r.kind != symThunk && r.kind != symThunkST {
					return true
				}
			}
			if size == all {
				break
			}
		}
	}
	return false
}

// firstSymbols is how much of a module is looked at first.
const firstSymbols = 64 << 10

// HasFrames says whether there is unwind information.
func (f *File) HasFrames() bool {
	return f.frames[0].Size() >= fpoSize || f.frames[1].Size() >= frameSize
}

// exports are what modules give names to for others, read when first needed.
type exports struct {
	mu      sync.Mutex
	byName  map[string]int // in lower case
	byPlace map[uint32]int // of the name, plus 1; 0: there is no such module
	of      map[int]map[uint32]uint32
	imports map[int][]byte // of modules that speak of others
}
