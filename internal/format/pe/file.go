package pe

import (
	"encoding/binary"
	"fmt"
	"slices"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
)

// Problem is a part of a file that is broken, and was left out or cut.
type Problem struct {
	Place  string // which part
	Off    int64  // where in the file, or, of what is loaded, its address
	Reason string
}

// maxProblems is how many Problems are kept.
const maxProblems = 64

// File is one image.
type File struct {
	Machine, Characteristics uint16
	Timestamp, ImageSize     uint32 // which make the code id
	Wide                     bool   // PE32+, for addresses of 64 bits
	ImageBase                uint64
	Sections                 []Section
	PDB                      PDB
	HasPDB                   bool
	Problems                 []Problem

	src          bin.Source
	headerSize   uint32
	sector       uint32 // the bits that the loader takes from the offset of a section
	dirs         [16]directory
	symbols      []byte // of COFF
	names        []byte // the table of strings
	exports      exports
	embedded     []byte
	embeddedSize int
}

// directory is where in memory one of the tables is.
type directory struct{ addr, size uint32 }

// The directories that are read.
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

// Open reads the headers and the tables that they refer to. It fails only if
// there is no usable header; what else is broken is in Problems.
func Open(src bin.Source) (*File, error) {
	f := &File{src: src}
	dos, err := f.bytes(0, 64)
	if err != nil {
		return nil, err
	}
	if len(dos) < 64 || string(dos[:2]) != magicDOS {
		return nil, bad("no DOS header")
	}
	at := int64(le.Uint32(dos[60:]))
	head, err := f.bytes(at, 24)
	if err != nil {
		return nil, err
	}
	if len(head) < 24 || string(head[:4]) != magicPE {
		return nil, fault.New(fault.Unsupported, "pe, header", "no PE header at offset %#x: a program for DOS or 16-bit Windows?", at)
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

func bad(format string, args ...any) error {
	return fault.New(fault.Malformed, "pe, header", format, args...)
}

func (f *File) problem(place string, off int64, format string, args ...any) {
	if len(f.Problems) < maxProblems {
		f.Problems = append(f.Problems, Problem{place, off, fmt.Sprintf(format, args...)})
	}
}

// optional reads the optional header. What is not there of it is zero.
func (f *File) optional(at, size int64) {
	const place = "optional header"
	b, _ := f.bytes(at, size)
	whole := append(make([]byte, 0, 256), b[:min(len(b), 256)]...)[:256]
	magic := le.Uint16(whole)
	f.Wide = magic == magicWide
	f.ImageBase, f.ImageSize, f.headerSize = uint64(le.Uint32(whole[28:])), le.Uint32(whole[56:]), le.Uint32(whole[60:])
	if le.Uint32(whole[32:]) >= 4096 {
		f.sector = 511
	}
	dirs := 92
	if f.Wide {
		f.ImageBase, dirs = le.Uint64(whole[24:]), 108
	}
	if len(b) < dirs+4 || !f.Wide && magic != magicNarrow {
		f.problem(place, at, "%d bytes with the magic %#x are no optional header", len(b), magic)
		return
	}
	c := bin.NewCursor(b[dirs+4:], le)
	for i := range min(int(le.Uint32(b[dirs:])), len(f.dirs)) {
		f.dirs[i] = directory{c.U32(), c.U32()}
	}
	if c.Err() != nil {
		f.problem(place, at, "the directories are cut")
	}
}

// The instruction sets. An image for both x64 and arm64 is of the first.
const (
	machineX64   = 0x8664
	machineARM64 = 0xaa64
	machineEC    = 0xa641
	machineBoth  = 0xa64e
)

// Arch is the instruction set.
func (f *File) Arch() ident.Arch { return ident.MachineArch(f.Machine) }

// characteristicDLL marks a library.
const characteristicDLL = 0x2000

// Kind is what sort of file it is: exe or lib, or dbg if there are sections of
// code and none of them has bytes.
func (f *File) Kind() string {
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

// CodeID is the identity of the code.
func (f *File) CodeID() ident.CodeID { return ident.PECodeID(f.Timestamp, f.ImageSize) }

// table is n bytes at an offset, cut where the file ends.
func (f *File) table(place string, off, n int64) []byte {
	b, err := f.bytes(off, n)
	if err != nil {
		f.problem(place, off, "%v", err)
	} else if int64(len(b)) < n {
		f.problem(place, off, "%d of %d bytes are in the file", len(b), n)
	}
	return b
}

// bytes is as many of n bytes at an offset as there are.
func (f *File) bytes(off, n int64) ([]byte, error) {
	if off < 0 || off >= f.src.Size() || n <= 0 {
		return nil, nil
	}
	return bin.Read(f.src, off, int(min(n, f.src.Size()-off)))
}
