package pdb

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// Body is the code of a module. File.Body fills it and reuses its memory.
type Body struct {
	Procs []Proc
	Sites []Site // of each procedure together, outer sites before inner ones
	Lines []Line

	data         []byte // bytes after the symbols
	buf          []byte
	base         int64 // offset of the module's records
	linesOmitted bool  // lines of calls were omitted
	checksums    []byte
	imports      []byte
	stretches    []stretch
	inlinees     []inlinee
	scopes       []scope
}

// Proc is a procedure, a separate part of one, or a thunk.
type Proc struct {
	Section             uint16
	Off, Size           uint32
	Record              int64 // of its name, for AppendProc
	Typed               bool  // its name includes its arguments
	FirstSite, NumSites int
	FirstLine, NumLines int // sorted by offset; the first and last may extend past the procedure
}

// Site is an inlined call.
type Site struct {
	Parent              int32  // index of the enclosing site, -1: the procedure
	Item                uint32 // the function, for AppendItem
	FirstLine, NumLines int    // sorted by offset
}

// scope is an open scope.
type scope struct {
	proc, site int32  // -1: none
	entry      uint32 // of the procedure
}

const (
	// maxShared limits the procedures that share a line, on average.
	maxShared = 16
	// manyLines limits the lines of inlined calls of a module in files of up to
	// 128 MiB.
	manyLines = 2 << 20
)

// Symbols begin with their version.
const (
	symbolsVersion = 4
	symbolsHead    = 4
)

// maxScopes limits the nesting of scopes. Deeper ones are skipped.
const maxScopes = 256

// Body reads the code of a module. If the module is damaged, it returns an
// error, and m contains the part before the damage.
func (f *File) Body(module int, m *Body) error {
	m.Procs, m.Sites, m.Lines = m.Procs[:0], m.Sites[:0], m.Lines[:0]
	mod := &f.Modules[module]
	m.base, m.linesOmitted = mod.base, false
	if !f.object && (mod.stream == noStream || mod.symbols <= symbolsHead) {
		return nil
	}
	data, damage := f.moduleData(mod, &m.buf)
	if data == nil {
		return damage
	}
	symbols := data[:min(mod.symbols, int64(len(data)))]
	rest := data[len(symbols):]
	rest = rest[min(mod.lines, int64(len(rest))):]
	rest = rest[:min(mod.sections, int64(len(rest)))]
	if err := m.readSections(rest); err != nil && damage == nil {
		damage = err
	}
	if f.object {
		_ = parts(rest, func(kind uint32, at int, part []byte) bool { // damage is that of readSections
			if kind == partSymbols {
				damage = cmp.Or(damage, m.readSymbols(f, rest[:at+len(part)], at))
			}
			return true
		})
	} else {
		if kind := binary.LittleEndian.Uint32(symbols); kind != symbolsVersion {
			return fmt.Errorf("unsupported version %d of symbols", kind)
		}
		damage = cmp.Or(damage, m.readSymbols(f, symbols, symbolsHead))
	}
	if m.linesOmitted {
		damage = cmp.Or(damage, errors.New("too many lines of inlined calls"))
	}
	m.countProcs()
	all := 0
	for i := range m.Procs {
		p := &m.Procs[i]
		m.findLines(p)
		if all += p.NumLines; all > maxShared*(len(m.Lines)+maxShared) {
			m.Procs = m.Procs[:i]
			return cmp.Or(damage, errors.New("too many lines shared by procedures"))
		}
	}
	return damage
}

// moduleData returns the stream of a module, truncated to the size of the
// stream.
func (f *File) moduleData(mod *Module, buf *[]byte) (data []byte, damage error) {
	s := f.msf.stream(int(mod.stream))
	size := mod.symbols + mod.lines + mod.sections
	if s.Size() < size {
		damage = fmt.Errorf("the stream has %[2]d of %[1]d bytes", size, s.Size())
		size = s.Size()
	}
	if size < 4 {
		return nil, damage
	}
	if data = s.inPlace(0, size); data != nil {
		return data, damage
	}
	*buf = slices.Grow((*buf)[:0], int(size))[:size]
	if _, err := s.ReadAt(*buf, 0); err != nil {
		return nil, err
	}
	return *buf, damage
}

// readSymbols reads procedures and the calls inlined into them, from an offset on. It
// returns an error if records end before the data, except for padding, and for
// procedures of an invalid size or outside of the code of an object.
func (m *Body) readSymbols(f *File, data []byte, from int) error {
	m.scopes = m.scopes[:0]
	end, lost := from, 0
	skipped := 0 // open scopes beyond maxScopes
	last := Proc{}
	for r := range records(data, from) {
		end = r.end()
		switch {
		case closesScope(r.kind) && skipped > 0:
			skipped--
			continue
		case closesScope(r.kind):
			m.scopes = m.scopes[:max(0, len(m.scopes)-1)]
			continue
		case !opensScope(r.kind):
			continue
		case len(m.scopes) == maxScopes:
			skipped++
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
				if p.off+p.size < p.off || f.object && !f.hasPlace(p) {
					lost++
				}
				last = Proc{Section: p.section, Off: p.off, Size: p.size, Record: m.base + int64(r.at), Typed: p.typ != 0}
				in = scope{m.addProc(last), -1, p.off}
			}
		}
		m.scopes = append(m.scopes, in)
	}
	if len(bytes.Trim(data[end:], "\x00")) > 0 {
		return fmt.Errorf("invalid record at offset %#x of the symbols", end)
	}
	if lost > 0 {
		return fmt.Errorf("section or size of %d procedures is invalid", lost)
	}
	return nil
}

// addProc adds a procedure and returns its index, -1 if it has no code.
func (m *Body) addProc(p Proc) int32 {
	if p.Off+p.Size <= p.Off {
		return -1
	}
	p.FirstSite = len(m.Sites)
	m.Procs = append(m.Procs, p)
	return int32(len(m.Procs) - 1)
}

// separate reads a separate part of a procedure. Its size is zero if it belongs
// to another one.
func (r record) separate(of Proc) Proc {
	const size = 28
	d := r.data
	if len(d) < size || binary.LittleEndian.Uint32(d[20:]) != of.Off || binary.LittleEndian.Uint16(d[26:]) != of.Section {
		return Proc{}
	}
	of.Size, of.Off, of.Section = binary.LittleEndian.Uint32(d[8:]), binary.LittleEndian.Uint32(d[16:]), binary.LittleEndian.Uint16(d[24:])
	return of
}

// addSite reads an inline site of the last procedure and returns its index.
func (m *Body) addSite(f *File, r record, in scope) int32 {
	head := 12
	if r.kind == symInlineSite2 {
		head = 16 // with the number of invocations
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
		m.linesOmitted = true
	}
	s.NumLines = len(m.Lines) - s.FirstLine
	m.Sites = append(m.Sites, s)
	m.Procs[in.proc].NumSites++
	return int32(len(m.Sites) - 1)
}
