package pdb

import (
	"encoding/binary"
	"errors"
	"fmt"

	"symbolon/internal/bin"
)

// Indexes in the list of optional streams.
const (
	extraFPO = iota
	extraException
	extraFixup
	extraToSource
	extraFromSource
	extraSections
	extraTokens
	extraXData
	extraPData
	extraFrames
	extraOldSections
	numExtras
)

// debugHead is the size of the header of the debug information.
const debugHead = 64

// Flags of the debug information.
const flagStripped = 2

// readDebug reads the header of the debug information stream, and the tables of
// the whole file.
func (f *File) readDebug() error {
	s := f.msf.stream(streamDebug)
	if s.Size() < debugHead {
		return fmt.Errorf("invalid size %d", s.Size())
	}
	head, err := s.Bytes(0, debugHead, nil)
	if err != nil {
		return err
	}
	c := bin.NewCursor(head, binary.LittleEndian)
	if signature := c.U32(); signature != 0xffffffff {
		return errors.New("unsupported version, before 4.1")
	}
	c.U32() // version
	if age := c.U32(); age != 0 {
		f.Age = age
	}
	c.U32() // stream of globals, and a version
	publics, _, symbols, _ := c.U16(), c.U16(), c.U16(), c.U16()
	var sizes [7]int64
	for i := range 5 {
		sizes[i] = int64(c.U32())
	}
	c.U32()                                             // index of MFC's type server
	sizes[6], sizes[5] = int64(c.U32()), int64(c.U32()) // in reverse order
	f.Stripped = c.U16()&flagStripped != 0
	f.Machine = c.U16()
	var parts [len(sizes)][]byte
	at := int64(debugHead)
	for i, n := range sizes {
		if i == 0 || i == 1 || i == 6 {
			if parts[i], err = s.Bytes(at, int(min(n, max(0, s.Size()-at))), nil); err != nil {
				return err
			}
			if int64(len(parts[i])) < n {
				f.problem("debug information stream", at, "part %d has %d of %d bytes", i, len(parts[i]), n)
			}
		}
		at += n
	}
	f.symbols = f.msf.stream(int(symbols))
	f.readExtras(parts[6])
	f.readModules(parts[0])
	f.readParts(parts[1])
	f.readPublics(f.msf.stream(int(publics)))
	return nil
}

// readExtras reads the optional streams: sections, address maps and frames.
func (f *File) readExtras(list []byte) {
	extra := func(i int) Stream {
		if 2*i+2 > len(list) {
			return Stream{}
		}
		n := binary.LittleEndian.Uint16(list[2*i:])
		if n == noStream {
			return Stream{}
		}
		return f.msf.stream(int(n))
	}
	load := func(i int, what string) []byte {
		data, err := f.read(extra(i))
		if err != nil {
			f.problem(what, 0, "%v", err)
		}
		return data
	}
	f.codes = readSections(load(extraSections, "section headers"))
	f.sections = f.codes
	f.toSource, f.toBinary = load(extraToSource, "address map"), load(extraFromSource, "address map")
	if f.omap = len(f.toBinary) >= omapSize; f.omap {
		f.sections = readSections(load(extraOldSections, "section headers"))
	}
	f.frames = [2]Stream{extra(extraFPO), extra(extraFrames)}
}

func readSections(data []byte) (list []section) {
	const size = 40
	for ; len(data) >= size; data = data[size:] {
		list = append(list, section{
			size:  binary.LittleEndian.Uint32(data[8:]),
			addr:  binary.LittleEndian.Uint32(data[12:]),
			flags: binary.LittleEndian.Uint32(data[36:]),
		})
	}
	return list
}

// moduleHead is the size of the part of a module's entry before its names.
const moduleHead = 64

func (f *File) readModules(data []byte) {
	c := bin.NewCursor(data, binary.LittleEndian)
	base := int64(0)
	taken := map[uint16]bool{noStream: true}
	for c.Len() >= moduleHead {
		at := c.Off()
		c.Skip(34)
		m := Module{stream: c.U16(), symbols: int64(c.U32()), lines: int64(c.U32()), sections: int64(c.U32())}
		c.Skip(16)
		m.Name = string(c.CString())
		c.CString() // the object file, or its archive
		if c.Err() != nil {
			f.problem("modules", int64(at), "module %d is truncated", len(f.Modules))
			return
		}
		c.Skip(min(-c.Off()&3, c.Len()))
		if m.stream != noStream && taken[m.stream] {
			f.problem("modules", int64(at), "module %d shares the stream of another one", len(f.Modules))
			m.stream, m.symbols = noStream, 0
		}
		taken[m.stream], m.base = true, base
		base += m.symbols
		f.Modules = append(f.Modules, m)
	}
}

// readParts reads the contributions to sections.
func (f *File) readParts(data []byte) {
	const first, second = 0xeffe0000 + 19970605, 0xeffe0000 + 20140516
	if len(data) < 4 {
		return
	}
	switch version := binary.LittleEndian.Uint32(data); version {
	case first:
		f.partSize = 28
	case second:
		f.partSize = 32
	default:
		f.problem("section contributions", 0, "unsupported version %#x", version)
		return
	}
	data = data[4:]
	f.parts = data[:len(data)/f.partSize*f.partSize]
}

// Part is a range of code contributed by a module.
type Part struct {
	Range
	Module int
}

// Parts yields the contributions of code in the order of the file, which is
// that of the addresses at link time.
func (f *File) Parts(yield func(p Part) bool) {
	for _, r := range f.code {
		if !yield(Part{Range: r}) {
			return
		}
	}
	var room [4]Range
	left := maxPieces + len(f.parts) // each contribution is more than one byte
	for b := f.parts; len(b) > 0 && left > 0; b = b[f.partSize:] {
		sect, module := binary.LittleEndian.Uint16(b), int(binary.LittleEndian.Uint16(b[16:]))
		if !f.isCode(sect) || module >= len(f.Modules) {
			continue
		}
		for _, r := range f.Ranges(room[:0], sect, binary.LittleEndian.Uint32(b[4:]), binary.LittleEndian.Uint32(b[8:])) {
			if left--; !yield(Part{r, module}) {
				return
			}
		}
	}
}

// readPublics reads the order of public symbols by address.
func (f *File) readPublics(s Stream) {
	const head = 28
	if s.Size() < head {
		return
	}
	b, err := s.Bytes(0, head, nil)
	if err != nil {
		f.problem("public symbols", 0, "%v", err)
		return
	}
	hash, size := int64(binary.LittleEndian.Uint32(b)), int64(binary.LittleEndian.Uint32(b[4:]))
	if head+hash+size > s.Size() {
		f.problem("public symbols", head+hash, "order of %d bytes exceeds the stream of %d", size, s.Size())
		return
	}
	if f.publics, err = s.Bytes(head+hash, int(size&^3), nil); err != nil {
		f.problem("public symbols", head+hash, "%v", err)
	}
}
