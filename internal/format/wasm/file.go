package wasm

import (
	"encoding/binary"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
)

// Ids of sections.
const (
	idCustom = 0
	idImport = 2
	idFuncs  = 3
	idMemory = 5
	idCode   = 10
)

const (
	maxSections = 1 << 16
	maxHead     = 256 // bytes of a section that contain its size and name
)

// memory64 is the flag of a memory with 64-bit addresses.
const memory64 = 4

// Section is a section of the file.
type Section struct {
	ID   uint8
	Name string // of a custom section
	Off  int64  // of the content, in a custom section after the name
	Size int64  // truncated to the file
}

// File is an open module.
type File struct {
	Sections []Section
	Problems bin.Problems

	src          bin.Source
	names        []byte // the name section, or without one that for linkers
	isLinking    bool   // names is the latter
	imports      uint32 // number of imported functions
	importsValid bool   // imports is valid
	is64         bool
}

// Open reads the sections of a module.
func Open(src bin.Source) (*File, error) {
	head, err := bin.Read(src, 0, int(min(src.Size(), 8)))
	if err != nil {
		return nil, err
	}
	if len(head) < 8 || string(head[:4]) != "\x00asm" {
		return nil, fault.New(fault.Malformed, "wasm, header", "invalid magic")
	}
	if version := binary.LittleEndian.Uint32(head[4:]); version != 1 {
		return nil, fault.New(fault.Unsupported, "wasm, header", "version %#x is not that of a module", version)
	}
	f := &File{src: src, importsValid: true}
	for at := int64(8); at < src.Size(); {
		if len(f.Sections) == maxSections {
			f.Problems.Add("sections", at, "more than %d", maxSections)
			break
		}
		if at, err = f.section(at); err != nil {
			return nil, err
		}
	}
	if s := f.find(idImport, ""); s != nil {
		f.readImports(s)
	}
	if c := f.cursor(f.find(idMemory, "")); c.Uleb() > 0 {
		f.is64 = f.is64 || c.U8()&memory64 != 0
	}
	if f.names, err = f.Data("name"); len(f.names) == 0 && err == nil {
		f.names, err = f.Data(linking)
		f.isLinking = true
	}
	return f, err
}

// linking is the name of the section for linkers, which only objects have.
const linking = "linking"

// section reads the header of the section at an offset and returns the offset
// of the next one.
func (f *File) section(at int64) (next int64, err error) {
	left := f.src.Size() - at
	head, err := bin.Read(f.src, at, int(min(left, maxHead)))
	if err != nil {
		return 0, err
	}
	c := bin.NewCursor(head, binary.LittleEndian)
	id, size := c.U8(), c.Uleb()
	if c.Err() != nil {
		f.Problems.Add("sections", at, "invalid size: %v", c.Err())
		return f.src.Size(), nil
	}
	s := Section{ID: id, Off: at + int64(c.Off())}
	if rest := f.src.Size() - s.Off; size > uint64(rest) {
		f.Problems.Add("sections", at, "the file has %d of %d bytes of section %d", rest, size, id)
		size = uint64(rest)
	}
	next = s.Off + int64(size)
	if id == idCustom {
		start := c.Off()
		n := c.Uleb()
		name := c.Bytes(int(min(n, maxHead)))
		if c.Err() != nil || uint64(c.Off()-start) > size {
			f.Problems.Add("sections", at, "custom section with an invalid name")
			return next, nil
		}
		s.Name, s.Off = string(name), at+int64(c.Off())
	}
	s.Size = next - s.Off
	f.Sections = append(f.Sections, s)
	return next, nil
}

// find returns the first section of an id, and, if custom, of a name.
func (f *File) find(id uint8, name string) *Section {
	for i := range f.Sections {
		if s := &f.Sections[i]; s.ID == id && s.Name == name {
			return s
		}
	}
	return nil
}

// content returns the bytes of a section, nil for a nil section.
func (f *File) content(s *Section) ([]byte, error) {
	if s == nil {
		return nil, nil
	}
	return bin.Read(f.src, s.Off, int(s.Size))
}

// cursor returns a cursor over a section, empty if the section is nil or
// unreadable.
func (f *File) cursor(s *Section) *bin.Cursor {
	b, _ := f.content(s)
	return bin.NewCursor(b, binary.LittleEndian)
}

// readImports counts the imported functions, which have the first numbers.
func (f *File) readImports(s *Section) {
	c := f.cursor(s)
	for n := c.Uleb(); n > 0 && c.Err() == nil; n-- {
		text(c)
		text(c)
		switch kind := c.U8(); kind {
		case 0:
			c.Uleb()
			f.imports++
		case 1:
			skipType(c)
			limits(c)
		case 2:
			f.is64 = limits(c)&memory64 != 0 || f.is64
		case 3:
			skipType(c)
			c.U8()
		case 4:
			c.U8()
			c.Uleb()
		default:
			c.Skip(-1) // fails
		}
	}
	if c.Err() != nil {
		f.Problems.Add("import section", s.Off+int64(c.Off()), "invalid import; names of functions are ignored")
		f.importsValid = false
	}
}

// text reads a string.
func text(c *bin.Cursor) []byte { return c.Bytes(int(min(c.Uleb(), 1<<30))) }

// limits reads the limits of a table or a memory and returns their flags.
func limits(c *bin.Cursor) uint8 {
	flags := c.U8()
	c.Uleb()
	if flags&1 != 0 {
		c.Uleb()
	}
	return flags
}

// skipType skips a type, which may be a reference to one by number.
func skipType(c *bin.Cursor) {
	if t := c.U8(); t == 0x63 || t == 0x64 {
		c.Sleb()
	}
}

// Section returns the first custom section of a name, or nil.
func (f *File) Section(name string) *Section {
	return f.find(idCustom, name)
}

// Data returns the content of a custom section in place, nil without one.
func (f *File) Data(name string) ([]byte, error) { return f.content(f.Section(name)) }

// CodeOffset returns the offset of the content of the code section, which is
// address 0 of DWARF.
func (f *File) CodeOffset() uint64 {
	s := f.find(idCode, "")
	if s == nil {
		return 0
	}
	return uint64(s.Off)
}

// Code returns the content of the code section in place, nil without one.
func (f *File) Code() ([]byte, error) { return f.content(f.find(idCode, "")) }

// Arch returns ArchWasm64 if the memory has 64-bit addresses, else ArchWasm32.
func (f *File) Arch() ident.Arch {
	if f.is64 {
		return ident.ArchWasm64
	}
	return ident.ArchWasm32
}

// Kind returns "rel" for an object, "lib" for a module that declares functions,
// else "dbg".
func (f *File) Kind() string {
	if f.Section(linking) != nil {
		return "rel"
	}
	if f.cursor(f.find(idFuncs, "")).Uleb() > 0 {
		return "lib"
	}
	return "dbg"
}

// BuildID returns the id of the module as stored, and without its length if it
// is preceded by one. Peers use the first form, tools that follow the
// convention the second.
func (f *File) BuildID() (whole, id []byte) {
	whole, err := f.Data("build_id")
	if err != nil || len(whole) == 0 {
		return nil, nil
	}
	c := bin.NewCursor(whole, binary.LittleEndian)
	if n := c.Uleb(); c.Err() == nil && n > 0 && n == uint64(c.Len()) {
		id = c.Bytes(c.Len())
	}
	return whole, id
}

// ExternalDebugInfo returns the URL of the module with the debug information,
// nil without one.
func (f *File) ExternalDebugInfo() []byte {
	return text(f.cursor(f.Section("external_debug_info")))
}
