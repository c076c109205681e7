package pe

import (
	"encoding/binary"
	"slices"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
)

// File is an open image, or an object file.
type File struct {
	Object                   bool // it is not linked; Addr of its sections is 0 until the caller sets it
	Machine, Characteristics uint16
	Timestamp, ImageSize     uint32 // the parts of the code id
	Wide                     bool   // PE32+, with addresses of 64 bits
	ImageBase                uint64
	Linker                   uint8 // its major version
	Sections                 []Section
	PDB                      PDB
	HasPDB                   bool
	Problems                 bin.Problems

	src          bin.Source
	headerSize   uint32
	sector       uint32 // offset bits of sections that the loader clears
	big          bool   // symbols of an object have wide section numbers
	dirs         [16]directory
	symbols      []byte // COFF symbols
	names        []byte // string table
	exports      exports
	embedded     []byte
	embeddedSize int
}

// directory is the address and size of a table.
type directory struct{ addr, size uint32 }

// Supported directories.
const (
	dirExport    = 0
	dirException = 3
	dirDebug     = 6
)

const (
	magicDOS    = "MZ"
	magicPE     = "PE\x00\x00"
	magicWide   = 0x20b
	magicNarrow = 0x10b
)

var le = binary.LittleEndian

// Open reads the headers and the tables that they refer to. It fails only
// without a usable header; other damage is listed in Problems.
func Open(src bin.Source) (*File, error) {
	f := &File{src: src}
	dos, err := f.bytes(0, 64)
	if err != nil {
		return nil, err
	}
	if len(dos) < 64 || string(dos[:2]) != magicDOS {
		return nil, malformed("invalid DOS header")
	}
	at := int64(le.Uint32(dos[60:]))
	head, err := f.bytes(at, 24)
	if err != nil {
		return nil, err
	}
	if len(head) < 24 || string(head[:4]) != magicPE {
		return nil, fault.New(fault.Unsupported, "pe, header", "missing PE header at offset %#x; the file may be for DOS or 16-bit Windows", at)
	}
	c := bin.NewCursor(head[4:], le)
	f.Machine = c.U16()
	sections := int64(c.U16())
	f.Timestamp = c.U32()
	symbols, count := int64(c.U32()), int64(c.U32())
	size := int64(c.U16())
	f.Characteristics = c.U16()
	f.optional(at+24, size)
	f.readSymbols(symbols, count)
	f.readSections(at+24+size, sections)
	f.readDebug()
	f.readExports()
	f.mapped("exception directory", f.dirs[dirException].addr, int64(f.dirs[dirException].size))
	return f, nil
}

func malformed(text string) error {
	return fault.New(fault.Malformed, "pe, header", "%s", text)
}

// optional reads the optional header. Missing fields are zero.
func (f *File) optional(at, size int64) {
	const place = "optional header"
	b, _ := f.bytes(at, size)
	whole := append(make([]byte, 0, 256), b[:min(len(b), 256)]...)[:256]
	magic := le.Uint16(whole)
	f.Wide = magic == magicWide
	f.Linker = whole[2]
	f.ImageBase, f.ImageSize, f.headerSize = uint64(le.Uint32(whole[28:])), le.Uint32(whole[56:]), le.Uint32(whole[60:])
	if le.Uint32(whole[32:]) >= 4096 {
		f.sector = 511
	}
	dirs := 92
	if f.Wide {
		f.ImageBase, dirs = le.Uint64(whole[24:]), 108
	}
	if len(b) < dirs+4 || !f.Wide && magic != magicNarrow {
		f.Problems.Add(place, at, "invalid optional header of %d bytes, magic %#x", len(b), magic)
		return
	}
	c := bin.NewCursor(b[dirs+4:], le)
	for i := range min(int(le.Uint32(b[dirs:])), len(f.dirs)) {
		f.dirs[i] = directory{c.U32(), c.U32()}
	}
	if c.Err() != nil {
		f.Problems.Add(place, at, "the directories are truncated")
	}
}

// Instruction sets. An image for both x64 and arm64 counts as x64.
const (
	machineX64   = 0x8664
	machineARM64 = 0xaa64
	machineEC    = 0xa641
	machineBoth  = 0xa64e
)

// Arch returns the instruction set.
func (f *File) Arch() ident.Arch { return ident.MachineArch(f.Machine) }

// characteristicDLL marks a library.
const characteristicDLL = 0x2000

// Kind returns the purpose of the file: exe or lib, rel for an object, or dbg if
// it has sections of code, all without bytes.
func (f *File) Kind() string {
	if f.Object {
		return "rel"
	}
	code := func(s Section) bool { return s.Code() && s.Size > 0 }
	if slices.ContainsFunc(f.Sections, code) &&
		!slices.ContainsFunc(f.Sections, func(s Section) bool { return code(s) && s.FileSize > 0 }) {
		return "dbg"
	}
	if f.Characteristics&characteristicDLL != 0 {
		return "lib"
	}
	return "exe"
}

// CodeID returns the identity of the code.
func (f *File) CodeID() ident.CodeID { return ident.PECodeID(f.Timestamp, f.ImageSize) }

// table returns n bytes at an offset, truncated to the file.
func (f *File) table(place string, off, n int64) []byte {
	b, err := f.bytes(off, n)
	if err != nil {
		f.Problems.Add(place, off, "%v", err)
	} else if int64(len(b)) < n {
		f.Problems.Add(place, off, "the file has %d of %d bytes", len(b), n)
	}
	return b
}

// bytes returns up to n bytes at an offset.
func (f *File) bytes(off, n int64) ([]byte, error) {
	if off < 0 || off >= f.src.Size() || n <= 0 {
		return nil, nil
	}
	return bin.Read(f.src, off, int(min(n, f.src.Size()-off)))
}
