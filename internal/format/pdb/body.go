package pdb

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// Body is what a module says about its code. It is filled by File.Body, and
// keeps its memory for the next one.
type Body struct {
	Procs []Proc
	Sites []Site // of each procedure together, those around others first
	Lines []Line

	data      []byte // behind the symbols
	room      []byte
	base      int64 // of the module
	cut       bool  // lines of calls were left out
	checksums []byte
	imports   []byte
	stretches []stretch
	inlinees  []inlinee
	scopes    []scope
}

// Proc is a procedure, a piece of one that stands apart, or a thunk.
type Proc struct {
	Section             uint16
	Off, Size           uint32
	Record              int64 // of its name: for AppendProc
	Typed               bool  // its name has its arguments
	FirstSite, NumSites int
	FirstLine, NumLines int // by offset; those at the borders may reach beyond it
}

// Site is a call that was inlined.
type Site struct {
	Parent              int32  // number of the site around it, -1: the procedure
	Item                uint32 // the function: for AppendItem
	FirstLine, NumLines int    // by offset
}

// scope is one that is open.
type scope struct {
	proc, site int32  // -1: none
	entry      uint32 // of the procedure
}

const (
	// maxShared is how many procedures may have one line, on average.
	maxShared = 16
	// manyLines may be of inlined calls in any module, and more in large files.
	manyLines = 2 << 20
)

// maxScopes is how deep scopes may nest. What is deeper is passed over.
const maxScopes = 256

// Body reads what a module says. The error tells of what is damaged; what was
// read before it is there.
func (f *File) Body(module int, m *Body) error {
	m.Procs, m.Sites, m.Lines = m.Procs[:0], m.Sites[:0], m.Lines[:0]
	mod := &f.Modules[module]
	m.base, m.cut = mod.base, false
	if mod.stream == noStream || mod.symbols <= 4 {
		return nil
	}
	data, damage := f.moduleData(mod, &m.room)
	if data == nil {
		return damage
	}
	symbols := data[:min(mod.symbols, int64(len(data)))]
	rest := data[len(symbols):]
	rest = rest[min(mod.lines, int64(len(rest))):]
	if err := m.readSections(rest[:min(mod.sections, int64(len(rest)))]); err != nil && damage == nil {
		damage = err
	}
	if kind := binary.LittleEndian.Uint32(symbols); kind != 4 {
		return fmt.Errorf("symbols of version %d", kind)
	}
	m.readSymbols(f, symbols)
	if m.cut {
		damage = cmp.Or(damage, errors.New("its inlined calls have too many lines"))
	}
	m.countProcs()
	all := 0
	for i := range m.Procs {
		p := &m.Procs[i]
		m.linesOf(p)
		if all += p.NumLines; all > maxShared*(len(m.Lines)+maxShared) {
			m.Procs = m.Procs[:i]
			return cmp.Or(damage, errors.New("its procedures share too many lines"))
		}
	}
	return damage
}

// moduleData is the stream of a module: a stream that is too short is read as
// far as it goes.
func (f *File) moduleData(mod *Module, room *[]byte) (data []byte, damage error) {
	s := f.msf.stream(int(mod.stream))
	size := mod.symbols + mod.lines + mod.sections
	if s.Size() < size {
		damage = fmt.Errorf("%d bytes in a stream of %d", size, s.Size())
		size = s.Size()
	}
	if size < 4 {
		return nil, damage
	}
	if data = s.inPlace(0, size); data != nil {
		return data, damage
	}
	*room = slices.Grow((*room)[:0], int(size))[:size]
	if _, err := s.ReadAt(*room, 0); err != nil {
		return nil, err
	}
	return *room, damage
}

// readSymbols reads procedures and what was inlined into them.
func (m *Body) readSymbols(f *File, data []byte) {
	m.scopes = m.scopes[:0]
	deep := 0 // how many that are open have no place in scopes
	last := Proc{}
	for r := range records(data, 4) {
		switch {
		case closes(r.kind) && deep > 0:
			deep--
			continue
		case closes(r.kind):
			m.scopes = m.scopes[:max(0, len(m.scopes)-1)]
			continue
		case !opens(r.kind):
			continue
		case len(m.scopes) == maxScopes:
			deep++
			continue
		}
		in := scope{proc: -1, site: -1}
		if n := len(m.scopes); n > 0 {
			in = m.scopes[n-1]
		}
		switch r.kind {
		case symInlineSite, symInlineSite2:
			in.site = m.addSite(f, r, in)
		case symSepCode:
			in = scope{m.addProc(r.separate(last)), -1, last.Off}
		default:
			if p, ok := r.procedure(); ok {
				last = Proc{Section: p.section, Off: p.off, Size: p.size, Record: m.base + int64(r.at), Typed: p.typ != 0}
				in = scope{m.addProc(last), -1, p.off}
			}
		}
		m.scopes = append(m.scopes, in)
	}
}

// addProc adds a procedure and tells its number, -1 if it has no code.
func (m *Body) addProc(p Proc) int32 {
	if p.Off+p.Size <= p.Off {
		return -1
	}
	p.FirstSite = len(m.Sites)
	m.Procs = append(m.Procs, p)
	return int32(len(m.Procs) - 1)
}

// separate reads code that stands apart from its procedure. It has no size if
// it is of another one.
func (r record) separate(of Proc) Proc {
	const size = 28
	d := r.data
	if len(d) < size || binary.LittleEndian.Uint32(d[20:]) != of.Off || binary.LittleEndian.Uint16(d[26:]) != of.Section {
		return Proc{}
	}
	of.Size, of.Off, of.Section = binary.LittleEndian.Uint32(d[8:]), binary.LittleEndian.Uint32(d[16:]), binary.LittleEndian.Uint16(d[24:])
	return of
}

// addSite reads an inline site into the last procedure, and tells its number.
func (m *Body) addSite(f *File, r record, in scope) int32 {
	head := 12
	if r.kind == symInlineSite2 {
		head = 16 // how often it was called
	}
	if in.proc < 0 || int(in.proc) != len(m.Procs)-1 || len(r.data) < head {
		return in.site
	}
	id := binary.LittleEndian.Uint32(r.data[8:])
	s := Site{Parent: in.site, Item: id, FirstLine: len(m.Lines)}
	if id&crossModule != 0 {
		s.Item = f.resolve(m.imports, id)
	}
	def := inlinee{}
	if i, found := slices.BinarySearchFunc(m.inlinees, id, func(n inlinee, id uint32) int { return cmp.Compare(n.id, id) }); found {
		def = m.inlinees[i]
	}
	if len(m.Lines) < max(manyLines, int(f.msf.src.Size()/64)) {
		m.siteLines(r.data[head:], in.entry, def)
	} else {
		m.cut = true
	}
	s.NumLines = len(m.Lines) - s.FirstLine
	m.Sites = append(m.Sites, s)
	m.Procs[in.proc].NumSites++
	return int32(len(m.Sites) - 1)
}
