// Package debugfile opens debug files of every format.
//
// The format is recognized by the first bytes. Files compressed with gzip, zlib,
// zstd or xz, and the members of ar, zip, tar and cabinet files, are opened like
// others, up to two levels deep. Unpacked data is bounded by the size of the
// file (package unpack); beyond 48 MiB it is kept in Options.Space.
//
// A Stream reads a file while it is downloaded, so that Breakpad files are not
// scanned a second time. It belongs to one goroutine. Identify reads the
// identifiers only.
package debugfile

import (
	"bytes"
	"io"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/format/cab"
	"symbolon/internal/format/pe"
	"symbolon/internal/object"
	"symbolon/internal/object/breakpad"
	"symbolon/internal/object/bundle"
	"symbolon/internal/object/image"
	"symbolon/internal/object/pdb"
	"symbolon/internal/object/ppdb"
	"symbolon/internal/object/symbfile"
	"symbolon/internal/unpack"
)

// kind is a format of files.
type kind uint8

const (
	kindUnknown kind = iota
	kindBreakpad
	kindELF
	kindMachO
	kindPE
	kindCOFF
	kindWasm
	kindPDB
	kindBundle
	kindPortable
	kindSymbfile
	kindBitcode
	kindGzip
	kindZlib
	kindZstd
	kindXz
	kindAr
	kindZip
	kindTar
	kindCab
)

var kindNames = [...]string{
	"unknown", "breakpad", "elf", "macho", "pe", "coff", "wasm", "pdb", "sourcebundle", "portablepdb", "symbfile",
	"LLVM bitcode",
	"gzip", "zlib", "zstd", "xz", "ar", "zip", "tar", "cab",
}

// headSize is how many bytes are needed to recognize the format.
const headSize = 264

// magics are the first bytes of files.
var magics = [...]struct {
	magic string
	kind  kind
}{
	{"MODULE ", kindBreakpad},
	{"\x7fELF", kindELF},
	{"\xfe\xed\xfa\xce", kindMachO},
	{"\xfe\xed\xfa\xcf", kindMachO},
	{"\xce\xfa\xed\xfe", kindMachO},
	{"\xcf\xfa\xed\xfe", kindMachO},
	{"\xca\xfe\xba\xbe", kindMachO},
	{"\xca\xfe\xba\xbf", kindMachO},
	{"MZ", kindPE},
	{"\x00asm", kindWasm},
	{"SYSB", kindBundle},
	{"BSJB", kindPortable},
	{"symbfile", kindSymbfile},
	{"BC\xc0\xde", kindBitcode},
	{"\xde\xc0\x17\x0b", kindBitcode},
	{"\x1f\x8b", kindGzip},
	{"\x78\x01", kindZlib},
	{"\x78\x9c", kindZlib},
	{"\x78\xda", kindZlib},
	{"\x28\xb5\x2f\xfd", kindZstd},
	{"\xfd7zXZ\x00", kindXz},
	{"!<arch>\n", kindAr},
	{"PK\x03\x04", kindZip},
	{cab.Magic, kindCab},
	{"Microsoft C/C++ MSF 7.00\r\n\x1aDS\x00\x00\x00", kindPDB},
	{"Microsoft C/C++ program database 2.00\r\n\x1aJG", kindPDB},
	{"Microsoft MSFZ Container\r\n\x1aALD\x00\x00", kindPDB},
}

// tarMagic is in the middle of the first header of a tar file.
const (
	tarMagic   = "ustar"
	tarMagicAt = 257
)

// sniff returns the format of a file, given its beginning.
func sniff(head []byte) kind {
	for _, m := range magics {
		if bytes.HasPrefix(head, []byte(m.magic)) {
			return m.kind
		}
	}
	if len(head) >= tarMagicAt+len(tarMagic) && string(head[tarMagicAt:][:len(tarMagic)]) == tarMagic {
		return kindTar
	}
	if pe.IsObject(head) {
		return kindCOFF
	}
	return kindUnknown
}

// opener opens files, also those inside of packed ones.
type opener struct {
	opt    object.Options // Relax is not nil
	budget *unpack.Budget // of the archive that the file is in; nil: the file has its own
	role   object.Role
	size   int64 // of the file around it
	mapped bool  // that file is mapped
	depth  int   // number of files that it is packed in
}

// withRelax returns options with a Relax that can be called.
func withRelax(opt object.Options) object.Options {
	if opt.Relax == nil {
		opt.Relax = func() {}
	}
	return opt
}

// budgetFor returns the budget of the archive that src is in, or that of src.
func (o opener) budgetFor(src bin.Source) *unpack.Budget {
	if o.budget != nil {
		return o.budget
	}
	return unpack.New(src.Size(), o.opt.Space, o.opt.Relax)
}

// input returns what a reader needs to open src.
func (o opener) input(src bin.Source) object.Input {
	return object.Input{
		Options: o.opt, Role: o.role, Size: o.size, Mapped: o.mapped, Budget: o.budgetFor(src),
		Open: func(src bin.Source, role object.Role) (*object.File, error) {
			return opener{opt: o.opt, budget: o.budget, role: role, size: o.size, mapped: o.mapped, depth: o.depth}.open(src)
		},
	}
}

// relaxScan is after how many bytes of a Breakpad file pages are released.
const relaxScan = 8 << 20

// Open opens the file in src, which the File keeps.
func Open(src bin.Source, opt object.Options) (*object.File, error) {
	return opener{opt: withRelax(opt)}.open(src)
}

// open opens a file.
func (o opener) open(src bin.Source) (*object.File, error) {
	s := NewStream()
	if all, ok := bin.Whole(src); ok {
		for len(all) > 0 && (s.kind == kindBreakpad || len(s.head) < headSize) {
			n := min(len(all), relaxScan)
			s.feed(all[:n])
			all = all[n:]
			o.opt.Relax()
		}
		return s.finish(src, o)
	}
	buf := make([]byte, min(max(src.Size(), 1), 1<<20))
	for off := int64(0); off < src.Size(); {
		n, err := src.ReadAt(buf[:min(int64(len(buf)), src.Size()-off)], off)
		if n == 0 {
			if err == nil {
				err = io.ErrNoProgress
			}
			return nil, fault.New(fault.Internal, "debug file", "read at offset %d: %w", off, err)
		}
		s.feed(buf[:n])
		if off += int64(n); s.kind != kindBreakpad && len(s.head) == headSize {
			break
		}
	}
	return s.finish(src, o)
}

// Stream reads a file as it is written.
type Stream struct {
	size     int64
	head     []byte
	kind     kind
	breakpad *breakpad.Scanner
}

// NewStream returns a Stream at the beginning of a file.
func NewStream() *Stream { return &Stream{breakpad: breakpad.NewScanner()} }

// Write takes the next bytes of the file. It never fails: Finish reports damage.
func (s *Stream) Write(p []byte) (int, error) {
	s.feed(p)
	return len(p), nil
}

func (s *Stream) feed(p []byte) {
	s.size += int64(len(p))
	if s.kind == kindUnknown && len(s.head) < headSize {
		n := min(headSize-len(s.head), len(p))
		s.head = append(s.head, p[:n]...)
		p = p[n:]
		if s.kind = sniff(s.head); s.kind == kindUnknown {
			return
		}
		s.pass(s.head)
	}
	s.pass(p)
}

// pass hands bytes to the reader of their format.
func (s *Stream) pass(p []byte) {
	if s.kind == kindBreakpad {
		_, _ = s.breakpad.Write(p) // never fails
	}
}

// Finish opens the file that was written and is now in src. It does not scan it
// again. The File keeps src.
func (s *Stream) Finish(src bin.Source, opt object.Options) (*object.File, error) {
	return s.finish(src, opener{opt: withRelax(opt)})
}

func (s *Stream) finish(src bin.Source, o opener) (f *object.File, err error) {
	defer object.RecoverFault(&err)()
	o.size = max(o.size, src.Size())
	if s.kind != kindBreakpad {
		in, mapped := bin.InPlace(src)
		src, o.mapped = in, o.mapped || mapped
	}
	switch s.kind {
	case kindBreakpad:
		if s.size != src.Size() {
			return nil, fault.New(fault.Internal, "debug file", "%d bytes were written, and the file has %d", s.size, src.Size())
		}
	case kindGzip, kindZlib, kindZstd, kindXz:
		return o.openPacked(s.kind, src)
	case kindAr, kindZip, kindTar, kindCab:
		return o.openArchive(s.kind, src)
	case kindBitcode:
		return nil, fault.New(fault.Unsupported, kindNames[s.kind], "missing machine code, which is generated by link-time optimization")
	case kindUnknown:
		if src.Size() == 0 {
			return nil, fault.New(fault.Malformed, "debug file", "empty file")
		}
		return nil, fault.New(fault.Unsupported, "debug file", "unknown format: the file begins with %q", s.head[:min(len(s.head), 7)])
	}
	all, err := s.objects(src, o.input(src))
	if err != nil {
		return nil, err
	}
	return object.NewFile(kindNames[s.kind], all), nil
}

// objects opens the objects of a file that is neither packed nor an archive.
func (s *Stream) objects(src bin.Source, in object.Input) ([]*object.Object, error) {
	var o *object.Object
	var err error
	switch s.kind {
	case kindMachO:
		return image.OpenMachO(src, in)
	case kindPE:
		return image.OpenPE(src, in)
	case kindBreakpad:
		o, err = s.breakpad.Open(src, in)
	case kindELF:
		o, err = image.OpenELF(src, in)
	case kindCOFF:
		o, err = image.OpenCOFF(src, in)
	case kindWasm:
		o, err = image.OpenWASM(src, in)
	case kindPDB:
		o, err = pdb.Open(src, in)
	case kindBundle:
		o, err = bundle.Open(src, in)
	case kindPortable:
		o, err = ppdb.Open(src, in)
	default:
		o, err = symbfile.Open(src, in)
	}
	if err != nil {
		return nil, err
	}
	return []*object.Object{o}, nil
}
