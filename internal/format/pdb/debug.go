package pdb

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

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

// debugHeader is where the tables of the whole file are.
type debugHeader struct {
	parts   [7]struct{ at, size int64 } // in the stream: modules, contributions to sections, …, numbers of optional streams
	publics Stream
	maps    [2]Stream // of addresses: toSource and toBinary
}

// readDebug reads the header of the debug information stream, and the sections.
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
	parts := &f.debug.parts
	for i := range 5 {
		parts[i].size = int64(c.U32())
	}
	c.U32()                                                       // index of MFC's type server
	parts[6].size, parts[5].size = int64(c.U32()), int64(c.U32()) // in reverse order
	f.Stripped = c.U16()&flagStripped != 0
	f.Machine = c.U16()
	at := int64(debugHead)
	for i := range parts {
		parts[i].at = at
		at += parts[i].size
	}
	f.symbols, f.debug.publics = f.msf.stream(int(symbols)), f.msf.stream(int(publics))
	list, err := f.debugPart(6, 2*numExtras)
	f.readExtras(list)
	return err
}

// debugPart returns at most the first n bytes of a part of the debug information.
func (f *File) debugPart(i int, n int64) ([]byte, error) {
	s, p := f.msf.stream(streamDebug), f.debug.parts[i]
	has := max(0, min(p.size, s.Size()-p.at))
	if has < p.size {
		f.Problems.Add("debug information stream", p.at, "part %d has %d of %d bytes", i, has, p.size)
	}
	return s.Bytes(min(p.at, s.Size()), int(min(has, n)), nil)
}

// readTables reads the tables of the whole file.
func (f *File) readTables() error {
	f.readMaps()
	f.readModules()
	contributions, err := f.debugPart(1, math.MaxInt64)
	if err != nil {
		return err
	}
	f.readParts(contributions)
	f.readPublics(f.debug.publics)
	return nil
}

// readExtras finds the optional streams: sections, address maps and frames.
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
	load := func(i int) []section {
		s := extra(i)
		data, err := s.Bytes(0, int(min(s.Size(), maxSections*sectionSize)), nil)
		if err != nil {
			f.Problems.Add("section headers", 0, "%v", err)
		}
		return readSections(data)
	}
	f.codes = load(extraSections)
	f.sections = f.codes
	f.debug.maps = [2]Stream{extra(extraToSource), extra(extraFromSource)}
	if f.debug.maps[1].Size() >= omapSize {
		f.sections = load(extraOldSections)
	}
	f.frames = [2]Stream{extra(extraFPO), extra(extraFrames)}
}

// readMaps reads the maps of addresses.
func (f *File) readMaps() {
	for i, to := range [...]*[]byte{&f.toSource, &f.toBinary} {
		data, err := f.read(f.debug.maps[i])
		if err != nil {
			f.Problems.Add("address map", 0, "%v", err)
		}
		*to = data
	}
	if f.omap = len(f.toBinary) >= omapSize; !f.omap {
		f.sections = f.codes
	}
}

const (
	sectionSize = 40
	maxSections = 1 << 16
)

func readSections(data []byte) (list []section) {
	for ; len(data) >= sectionSize; data = data[sectionSize:] {
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

// readModules reads the modules.
func (f *File) readModules() {
	base := int64(0)
	f.eachModule(func(m *Module) bool {
		m.base = base
		base += m.symbols
		f.Modules = append(f.Modules, *m)
		return true
	}, f.Problems.Add)
}

// eachModule yields the modules. It reads them in batches, so that its memory does not
// depend on their number.
func (f *File) eachModule(yield func(m *Module) bool, problem func(place string, off int64, format string, args ...any)) {
	part := f.debug.parts[0]
	in := bufio.NewReaderSize(io.NewSectionReader(f.msf.stream(streamDebug), part.at, part.size), maxString)
	var taken [1 << 16]bool
	taken[noStream] = true
	for n, at := 0, int64(0); ; n++ {
		head, err := in.Peek(moduleHead)
		if err != nil { // the end, unless it cannot be read
			if err != io.EOF {
				problem("modules", at, "%v", err)
			}
			return
		}
		c := bin.NewCursor(head[34:], binary.LittleEndian)
		m := Module{stream: c.U16(), symbols: int64(c.U32()), lines: int64(c.U32()), sections: int64(c.U32())}
		_, _ = in.Discard(moduleHead) // it was read
		name, err := in.ReadSlice(0)
		m.Name = string(bytes.TrimSuffix(name, []byte{0}))
		size := moduleHead + len(name)
		if err == nil {
			name, err = in.ReadSlice(0) // the object file, or its archive
			size += len(name)
		}
		if err != nil {
			problem("modules", at, "module %d is truncated", n)
			return
		}
		_, _ = in.Discard(-size & 3) // the last one may be shorter
		if m.stream != noStream && taken[m.stream] {
			problem("modules", at, "module %d shares the stream of another one", n)
			m.stream, m.symbols = noStream, 0
		}
		taken[m.stream] = true
		if !yield(&m) {
			return
		}
		at += int64(size) + int64(-size&3)
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
		f.Problems.Add("section contributions", 0, "unsupported version %#x", version)
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

// Parts yields the contributions of code in the order of the file, that is of their
// addresses at link time.
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
		f.Problems.Add("public symbols", 0, "%v", err)
		return
	}
	hash, size := int64(binary.LittleEndian.Uint32(b)), int64(binary.LittleEndian.Uint32(b[4:]))
	if head+hash+size > s.Size() {
		f.Problems.Add("public symbols", head+hash, "order of %d bytes exceeds the stream of %d", size, s.Size())
		return
	}
	if f.publics, err = s.Bytes(head+hash, int(size&^3), nil); err != nil {
		f.Problems.Add("public symbols", head+hash, "%v", err)
	}
}
