package object

import (
	"bytes"
	"errors"
	"io"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/format/breakpad"
	"symbolon/internal/format/cab"
	"symbolon/internal/format/pdb"
	"symbolon/internal/format/ppdb"
)

// Options of Open. The zero value is fine.
type Options struct {
	Columns bool      // frames tell the column too
	Written bool      // names are as they are written in the file: paths are not cleaned, functions keep the number of a copy
	Short   bool      // paths of DWARF are as they are written, without the folder of the unit
	Base    uint64    // the load address of the binary, for a file that does not say it: a PDB
	Space   bin.Space // takes what is unpacked, if that is much: without room there a file cannot be opened; nil: the heap does. It outlives the File
	Relax   func()    // gives pages of the file and of Space back; called now and then while much is read; may be nil

	room   *room // what may still be unpacked; nil: that of the file
	mapped bool  // reading the source may fault

	depth int  // how often the file was packed
	index int  // of the file among those that belong together
	split bool // units of a .dwo file are wanted, also of a file that has skeletons too
}

// kind is a format.
type kind uint8

const (
	kindUnknown kind = iota
	kindBreakpad
	kindELF
	kindMachO
	kindPE
	kindWasm
	kindPDB
	kindBundle
	kindPortable
	kindSymbfile
	kindGzip
	kindZlib
	kindZstd
	kindXz
	kindAr
	kindZip
	kindTar
	kindCab
)

var kindNames = [...]string{"unknown", "breakpad", "elf", "macho", "pe", "wasm", "pdb", "sourcebundle", "portablepdb", "symbfile", "gzip", "zlib", "zstd", "xz", "ar", "zip", "tar", "cab"}

// headSize is how many bytes tell the format.
const headSize = 264

// magics are what files begin with.
var magics = [...]struct {
	magic string
	kind  kind
}{
	{breakpad.Magic, kindBreakpad},
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
	{ppdb.Magic, kindPortable},
	{"symbfile", kindSymbfile},
	{"\x1f\x8b", kindGzip},
	{"\x78\x01", kindZlib},
	{"\x78\x9c", kindZlib},
	{"\x78\xda", kindZlib},
	{"\x28\xb5\x2f\xfd", kindZstd},
	{"\xfd7zXZ\x00", kindXz},
	{"!<arch>\n", kindAr},
	{"PK\x03\x04", kindZip},
	{cab.Magic, kindCab},
}

// tarMagic stands in the middle of the first head of a tar file.
const (
	tarMagic   = "ustar"
	tarMagicAt = 257
)

// sniff tells the format of a file by its beginning.
func sniff(head []byte) kind {
	for _, m := range magics {
		if bytes.HasPrefix(head, []byte(m.magic)) {
			return m.kind
		}
	}
	if pdb.IsMagic(head) {
		return kindPDB
	}
	if len(head) >= tarMagicAt+len(tarMagic) && string(head[tarMagicAt:][:len(tarMagic)]) == tarMagic {
		return kindTar
	}
	return kindUnknown
}

// relaxScan is after how many bytes of a Breakpad file pages are released.
const relaxScan = 8 << 20

// Open opens the file in src, which the File keeps.
func Open(src bin.Source, opt Options) (*File, error) {
	s := NewStream()
	if all, ok := bin.Whole(src); ok {
		for len(all) > 0 && (s.kind == kindBreakpad || len(s.head) < headSize) {
			n := min(len(all), relaxScan)
			s.feed(all[:n])
			all = all[n:]
			opt.relax()
		}
		return s.Finish(src, opt)
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
	return s.Finish(src, opt)
}

// Stream reads a file while it passes by.
type Stream struct {
	size     int64
	head     []byte
	kind     kind
	breakpad breakpad.Scanner
}

// NewStream is a Stream at the beginning of a file.
func NewStream() *Stream { return &Stream{breakpad: breakpad.Scanner{Brief: true}} }

// Write takes the next bytes of the file. It never fails: what is wrong with
// the file is told by Finish.
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
	switch s.kind {
	case kindBreakpad:
		_, _ = s.breakpad.Write(p) // never fails
	}
}

// Finish opens the file whose bytes have passed by, and which are now in src.
// Nothing is scanned again. The File keeps src.
func (s *Stream) Finish(src bin.Source, opt Options) (*File, error) {
	f, err := s.finish(src, opt)
	if err != nil {
		return nil, err
	}
	for _, o := range f.objects {
		o.size = max(o.size, src.Size()) // it may have been packed
	}
	return f, nil
}

func (s *Stream) finish(src bin.Source, opt Options) (f *File, err error) {
	defer unfault(&err)()
	file := &File{kind: kindNames[s.kind]}
	one := func(o *Object, err error) (*File, error) {
		if err != nil {
			return nil, err
		}
		file.objects = []*Object{o}
		return file, nil
	}
	if s.kind != kindBreakpad {
		in, mapped := bin.InPlace(src)
		src, opt.mapped = in, opt.mapped || mapped
	}
	switch s.kind {
	case kindBreakpad:
		if s.size != src.Size() {
			return nil, fault.New(fault.Internal, "debug file", "%d bytes passed by, and %d are kept", s.size, src.Size())
		}
		ix, err := s.breakpad.Finish()
		if err != nil {
			return nil, err
		}
		return one(openBreakpad(ix, src, opt))
	case kindELF:
		return one(openELF(src, opt))
	case kindWasm:
		return one(openWasm(src, opt))
	case kindPDB:
		return one(openPDB(src, opt))
	case kindBundle:
		return one(openBundle(src))
	case kindPortable:
		return one(openPortable(src, opt))
	case kindSymbfile:
		return one(openSymbfile(src, opt))
	case kindGzip, kindZlib, kindZstd, kindXz:
		return openPacked(s.kind, src, opt)
	case kindAr, kindZip, kindTar, kindCab:
		return openArchive(s.kind, src, opt)
	case kindMachO, kindPE:
		open := openMachO
		if s.kind == kindPE {
			open = openPE
		}
		all, err := open(src, opt)
		if err != nil {
			return nil, err
		}
		file.objects = all
		return file, nil
	}
	if src.Size() == 0 {
		return nil, fault.New(fault.Malformed, "debug file", "it is empty")
	}
	return nil, fault.New(fault.Unsupported, "debug file", "its beginning, %q, is that of no format we read", s.head[:min(len(s.head), 7)])
}

// readFault is a failure of the source.
func readFault(off int64, err error) error {
	if errors.Is(err, bin.ErrShort) || errors.Is(err, io.EOF) {
		return fault.New(fault.Internal, "debug file", "read at offset %d: the file has become shorter", off)
	}
	return fault.New(fault.Internal, "debug file", "read at offset %d: %w", off, err)
}
