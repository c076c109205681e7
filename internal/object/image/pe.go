package image

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/format/dwarf"
	"symbolon/internal/format/frame"
	"symbolon/internal/format/gopcln"
	"symbolon/internal/format/pdb"
	"symbolon/internal/format/pe"
	"symbolon/internal/ident"
	"symbolon/internal/object"
	"symbolon/internal/object/units"
	"symbolon/internal/sym"
	"symbolon/internal/unpack"
)

// peFile is a view of a PE file.
type peFile struct {
	common
	f      *pe.File
	budget *unpack.Budget
	starts func() []uint32 // of functions
	isBare func() bool     // exports have no underscore of C; on 32-bit x86

	codeView *pdb.File // of an object; nil: none
	frames   func() *frameIndex
	entries  func() object.Pieces // of the exception directory
}

// OpenPE opens a PE file, and the portable PDB in it. Its DWARF has addresses based on
// the preferred base, everything else has addresses relative to that base.
func OpenPE(src bin.Source, in object.Input) ([]*object.Object, error) {
	f, err := pe.Open(src)
	if err != nil {
		return nil, err
	}
	b := &peFile{f: f, budget: in.Budget}
	b.starts = sync.OnceValue(func() []uint32 {
		all := f.FunctionStarts(nil)
		slices.Sort(all)
		return all
	})
	b.isBare = sync.OnceValue(b.findBare)
	b.common = common{Image: units.New(in, units.Layout{Bases: []uint64{f.ImageBase}}, b, units.Traits{}), in: in}
	b.indexFrames()
	b.openDWARF()
	b.openGo()
	b.findNeeds()
	for _, p := range f.Problems {
		b.Found.At("damaged headers", p.Place, p.Off, p.Reason)
	}
	inner := b.embedded()
	if b.budget.Failed != nil {
		return nil, b.budget.Failed
	}
	b.Memory = b.budget.Heap
	for name, factor := range map[string]uint64{".eh_frame": 1, ".debug_frame": 1, ".pdata": 3} {
		if s := f.Section(name); s != nil {
			b.addIndexMemory(uint64(s.FileSize), factor)
		}
	}
	return append([]*object.Object{object.New(b.info(), b, in)}, inner...), nil
}

// openDWARF opens the units, whose names of C have decorations.
func (b *peFile) openDWARF() {
	s := dwarf.Sections{Order: binary.LittleEndian, Info: b.data(".debug_info")}
	s.Decorated = func(linkage []byte) bool { return units.IsDecoratedC(linkage, b.isX86()) }
	b.dwarf = units.NewDWARF(b.Image, &s, func(name string) []byte { return b.data(".debug_" + name) })
	if b.dwarf != nil {
		b.dwarf.Undecorate = func(name []byte) []byte { return units.PlainCPP(name, b.isX86()) }
	}
}

func (b *peFile) isX86() bool { return b.f.Arch() == ident.ArchX86 }

// embedded returns the portable PDB that a .NET assembly has in it, if there is one.
func (b *peFile) embedded() []*object.Object {
	packed, size, ok := b.f.EmbeddedPDB()
	if !ok {
		return nil
	}
	data, err := b.budget.Inflate(packed, size)
	if err == nil {
		var file *object.File
		if file, err = b.in.Open(bin.Bytes(data), object.Role{}); err == nil && file.Kind() == "portablepdb" {
			return file.Objects()
		}
		if err == nil {
			err = fault.New(fault.Malformed, "portable PDB", "it is a file of the kind %q", file.Kind())
		}
	}
	b.Found.Add("damaged sections", "embedded portable PDB: "+err.Error())
	return nil
}

// data returns the bytes of a section, unpacked; nil if it does not exist or cannot
// be read, which is damage.
func (b *peFile) data(name string) []byte {
	s := b.f.Section(name)
	if s == nil {
		return nil
	}
	packed, size, data, err := b.f.Packed(s)
	if err == nil && packed {
		data, err = b.budget.Section(false, data, size)
	}
	if err != nil {
		b.Found.Add("damaged sections", name+": "+err.Error())
		return nil
	}
	if b.f.Object && len(data) > 0 {
		data = b.budget.Clone(data)
		b.relocate(s, data)
	}
	return data
}

// findNeeds sets the files with more information: in a PDB, or in the file that MinGW's
// debug information was moved to.
func (b *peFile) findNeeds() {
	f := b.f
	if name := f.PDB.Name(); f.HasPDB && name != "" {
		b.needs = append(b.needs, object.Need{Kind: object.NeedPDB, Name: name, Dir: strings.TrimSuffix(f.PDB.Path, name), DebugID: f.PDB.ID})
	}
	if name, crc, ok := f.DebugLink(); ok && b.dwarf == nil {
		b.needs = append(b.needs, object.Need{Kind: object.NeedDebug, Name: name, CRC: crc})
	}
}

// SymbolName returns a name in a symbol table.
func (b *peFile) SymbolName(table uint8, off uint32) []byte {
	name, exported := b.f.SymbolName(table, off), table == pe.TableExport
	if exported && b.isX86() && b.isBare() {
		return units.PlainBare(name, b.f.Linker == linkerGNU)
	}
	return units.PlainC(name, b.isX86(), exported)
}

// linkerGNU is the major version of GNU's linker. That of LLVM for MinGW has the
// version of Microsoft's.
const linkerGNU = 2

// findBare reports whether the linker has removed the underscore of C from the
// exported names with a size too, as linkers for MinGW do. So _f@8 is _f there, and
// with Microsoft's linker f.
func (b *peFile) findBare() (bare bool) {
	if b.f.Linker == linkerGNU {
		return true
	}
	b.f.Symbols(func(s pe.Symbol) bool {
		rest, at := units.WithoutSize(s.Name)
		bare = s.Table == pe.TableExport && at == 1 && rest[0] != '_' && rest[0] != '@'
		return s.Table == pe.TableExport && !bare
	})
	return bare
}

// Named returns the places of the symbols with a name, whose decoration of C is part
// of it.
func (b *peFile) Named(name string) []object.Place {
	return b.NamedIn(func(s *units.Symbol) bool { return string(b.f.SymbolName(s.Table, s.Name)) == name })
}

// Label returns the name of the symbol at an address, with the decoration of C.
func (b *peFile) Label(addr uint64) string { return b.LabelIn(addr, b.f.SymbolName) }

// Select returns the place of a section, without bytes that the file does not have.
func (b *peFile) Select(section string) (p object.Place, ok bool) {
	i := slices.IndexFunc(b.f.Sections, func(s pe.Section) bool { return s.Name == section })
	if i < 0 {
		return p, false
	}
	s := b.f.Sections[i]
	if p.Size = uint64(min(s.Size, s.FileSize)); b.f.Object {
		b.Restrict(uint64(s.Addr))
	} else {
		p.Addr = uint64(s.Addr)
	}
	return p, true
}

// EachSymbol calls yield with all symbols.
func (b *peFile) EachSymbol(yield func(units.Symbol)) {
	b.f.Symbols(func(s pe.Symbol) bool {
		x := units.Symbol{Addr: b.f.ImageBase + uint64(s.Addr), Name: s.NameOff, Table: s.Table}
		if !s.Function {
			x.Kind = 1
		}
		yield(x)
		return true
	})
}

// SymbolsAt reports false: the symbols have no order.
func (b *peFile) SymbolsAt(uint64, func(units.Symbol)) (quick bool) { return false }

// SymbolLimit returns the next start of a function, or the end of the section: a
// function without a symbol is not part of the one before it.
func (b *peFile) SymbolLimit(addr uint64) uint64 {
	f := b.f
	s := f.At(uint32(addr - f.ImageBase))
	if s == nil {
		return addr
	}
	end, starts := s.Addr+s.Size, b.starts()
	if i, found := slices.BinarySearch(starts, uint32(addr-f.ImageBase)); found && i+1 < len(starts) {
		end = min(end, starts[i+1])
	} else if !found && i < len(starts) {
		end = min(end, starts[i])
	}
	return f.ImageBase + uint64(end)
}

// SymbolRank puts an export before a symbol of COFF, and a function before other symbols.
// As exported names with a size may or may not have the underscore of C, a symbol of COFF
// precedes them.
func (b *peFile) SymbolRank(s *units.Symbol) uint8 {
	const border = 4 // of the code of a Go program
	if string(b.SymbolName(s.Table, s.Name)) == "runtime.text" {
		return border
	}
	if b.isX86() && s.Table == pe.TableExport {
		if _, at := units.WithoutSize(b.f.SymbolName(s.Table, s.Name)); at > 0 {
			return (pe.TableCOFF+1)<<1 | s.Kind
		}
	}
	return s.Table<<1 | s.Kind
}

// Code returns code of an image.
func (b *peFile) Code(addr, size uint64) []byte {
	if b.f.Object {
		return nil
	}
	return b.f.Code(addr, size)
}

// CFI yields the unwind information of the exception directory or, without one, of DWARF.
func (b *peFile) CFI(yield func(*sym.Unwind) error) error {
	problems, err := b.f.UnwindRecords(yield)
	for _, p := range problems {
		b.Found.At("damaged unwind entries", p.Place, p.Off, p.Reason)
	}
	if err != nil || b.f.HasUnwind() {
		return err
	}
	r := b.newCFIReader(b.f.Arch(), yield)
	for _, name := range frameSections {
		s := b.frameSection(name)
		if err := r.frames(&s, nil); err != nil {
			return err
		}
	}
	return nil
}

func (b *peFile) indexFrames() {
	b.frames = sync.OnceValue(func() *frameIndex {
		x := &frameIndex{}
		for _, name := range frameSections {
			x.add(b.Image, b.frameSection(name), nil)
		}
		return x.finish()
	})
	b.entries = sync.OnceValue(func() object.Pieces {
		var list []object.Piece
		b.f.UnwindRanges(func(start, end, info uint32) {
			list = append(list, object.Piece{Start: uint64(start), End: uint64(end), Ref: uint64(info)<<32 | uint64(start)})
		})
		return object.FirstPieces(list)
	})
}

// CFIAt yields the records of the entry of an address in the exception directory, or
// of its FDE.
func (b *peFile) CFIAt(addr uint64, yield func(*sym.Unwind) error) error {
	if b.f.HasUnwind() {
		if p, ok := b.entries().At(addr); ok {
			return b.f.UnwindRecordsOf(uint32(p.Ref), uint32(p.End), uint32(p.Ref>>32), yield)
		}
		return nil
	}
	x := b.frames()
	if p, ok := x.pieces.At(addr); ok {
		return b.newCFIReader(b.f.Arch(), yield).frameAt(x, p)
	}
	return nil
}

// frameSection returns a section of FDEs.
func (b *peFile) frameSection(name string) frame.Section {
	s := frame.Section{EH: name == ".eh_frame", Order: binary.LittleEndian, AddrSize: 4, Data: b.data(name)}
	if b.f.Wide {
		s.AddrSize = 8
	}
	if section := b.f.Section(name); section != nil {
		s.Addr = b.f.ImageBase + uint64(section.Addr)
	}
	return s
}

// goMark begins the code of a Go program, and goSection is the name of a
// section that each one has.
const (
	goMark    = "\xff Go build ID: "
	goSection = ".symtab"
)

// openGo looks for the function table of a Go program without other debug
// information.
func (b *peFile) openGo() {
	text := b.f.Section(".text")
	if b.dwarf != nil || text == nil {
		return
	}
	code, _ := b.f.Data(text)
	if b.f.Section(goSection) == nil && !bytes.HasPrefix(code, []byte(goMark)) {
		return
	}
	for _, name := range [...]string{".rdata", ".text"} {
		data := b.data(name)
		off, ok := gopcln.Find(data)
		if !ok {
			continue
		}
		t, err := gopcln.Open(data[off:])
		if err != nil {
			b.Found.Add("damaged sections", fmt.Sprintf("%s: %v", name, err))
			return
		}
		t.ReadAt = func(addr uint64, n int) []byte {
			if at := addr - b.f.ImageBase; addr >= b.f.ImageBase && at <= math.MaxUint32 {
				if p := b.f.Mapped(uint32(at), int64(n)); len(p) == n {
					return p
				}
			}
			return nil
		}
		if m, ok := t.Module(b.data(".data")); ok {
			t.Text, t.End, t.GoFunc = m.Text.Value, m.End.Value, m.GoFunc.Value
		} else {
			t.Text = b.f.ImageBase + uint64(text.Addr)
			t.End = t.Text + uint64(text.Size)
		}
		b.setGo(t)
		return
	}
}

func (b *peFile) info() object.Info {
	f := b.f
	info := object.Info{
		Overlapping: b.overlapping(),
		Kind:        "pe", Type: f.Kind(), LoadAddress: f.ImageBase,
		Module: peModule(f),
	}
	f.Symbols(func(pe.Symbol) bool { info.Features |= object.HasSymbols; return false })
	info.Features = b.features(info.Features)
	unwinds := f.HasUnwind()
	for _, name := range frameSections {
		frames := b.frameSection(name)
		unwinds = unwinds || frames.HasFDE(func(addr uint64) bool { return b.SymbolLimit(addr) > addr })
	}
	if unwinds {
		info.Features |= object.HasUnwind
	}
	return info
}

// Stretches returns one stretch: code for ARMNT on Windows is always Thumb.
func (b *peFile) Stretches() (list []object.Stretch, whole bool, err error) {
	if arch := b.f.Arch(); arch != ident.ArchARMv7 {
		return nil, false, fault.New(fault.Unsupported, "pe", "where its code for %s is Thumb is not known", arch)
	}
	return []object.Stretch{{ISA: object.ISAT32}}, true, nil
}

func peModule(f *pe.File) ident.Module {
	m := ident.Module{Type: ident.TypePE, Arch: f.Arch(), CodeID: f.CodeID()}
	if f.HasPDB {
		m.DebugID, m.DebugFile = f.PDB.ID, f.PDB.Name()
	}
	return m
}

// IdentifyPE returns the identifiers of a file.
func IdentifyPE(src bin.Source) ([]ident.Module, error) {
	return object.DescribeOne(src, pe.Open, peModule)
}
