package image

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/format/dwarf"
	"symbolon/internal/format/elf"
	"symbolon/internal/format/frame"
	"symbolon/internal/ident"
	"symbolon/internal/object"
	"symbolon/internal/object/units"
	"symbolon/internal/sym"
	"symbolon/internal/unpack"
)

// OpenELF opens an ELF file.
func OpenELF(src bin.Source, in object.Input) (*object.Object, error) {
	f, err := elf.Open(src)
	if err != nil {
		return nil, err
	}
	budget := in.Budget
	f.Unpack = func(kind elf.Compression, packed []byte, size uint64) ([]byte, error) {
		return budget.Section(kind == elf.Zstd, packed, size)
	}
	f.Clone = budget.Clone
	b := &elfFile{f: f, budget: budget}
	budget.Ahead = b.packed()
	layout, left := units.Layout{Bases: []uint64{f.LoadAddress()}}, 0
	if f.Type == elf.TypeRel {
		layout, left = b.lay()
		if i := slices.IndexFunc(f.Sections, func(s elf.Section) bool { return isGCC(s.Name) }); i >= 0 {
			if head, _ := f.Data(&f.Sections[i]); isSlim(layout, head) {
				return nil, missingCode("elf")
			}
		}
	}
	b.common = common{Image: units.New(in, layout, b, units.Traits{}), in: in, buildID: f.BuildID(), shared: f.SharedID()}
	b.foundLeft(left)
	b.openSections()
	b.attachOwn()
	b.openGo()
	b.openInner()
	b.frames = sync.OnceValue(func() *frameIndex {
		x := &frameIndex{}
		for _, name := range frameSections {
			x.add(b.Image, b.frameSection(name), nil)
		}
		return x.finish()
	})
	for _, p := range f.Problems {
		b.Found.At("damaged headers", p.Place, p.Off, p.Reason)
	}
	if budget.Failed != nil {
		return nil, budget.Failed
	}
	b.Memory = budget.Heap
	for _, name := range frameSections {
		if s := f.Section(name); s != nil {
			b.addIndexMemory(s.Size, 1)
		}
	}
	return object.New(b.info(), b, in), nil
}

// elfFile is a view of an ELF file.
type elfFile struct {
	common
	f      *elf.File
	budget *unpack.Budget
	addrs  []uint64 // of a relocatable file: where each section is laid
	inner  *elf.File
	frames func() *frameIndex
}

// lay gives the sections of a relocatable file addresses of their own. Each section of
// code becomes a part of the image. It returns the number of sections that do not fit.
func (b *elfFile) lay() (l units.Layout, left int) {
	b.addrs = make([]uint64, len(b.f.Sections))
	at := uint64(0)
	for i := range b.f.Sections {
		s := &b.f.Sections[i]
		if s.Flags&elf.FlagAlloc == 0 || s.Size > math.MaxInt64 || at > math.MaxInt64 {
			continue
		}
		b.addrs[i] = at
		switch {
		case s.Flags&elf.FlagExec == 0 || s.Size == 0:
		case len(l.Parts) == units.MaxParts:
			left++
		default:
			l.Bases = append(l.Bases, at)
			l.Parts = append(l.Parts, dwarf.Range{Start: at, End: at + s.Size})
		}
		at = (at + s.Size + layGap) &^ (layGap - 1)
	}
	if len(l.Parts) == 0 {
		l = units.Layout{Bases: []uint64{0}, Parts: []dwarf.Range{{}}}
	}
	return l, left
}

// Select returns the place of a section.
func (b *elfFile) Select(section string) (p object.Place, ok bool) {
	for i := range b.f.Sections {
		if s := &b.f.Sections[i]; i > 0 && s.Name == section {
			if b.addrs != nil {
				b.Restrict(b.addrs[i])
			}
			return object.Place{Addr: s.Addr - b.f.LoadAddress(), Size: s.Size}, true
		}
	}
	return p, false
}

// layGap keeps sections apart that do not touch in memory.
const layGap = 1 << 12

// packed returns the number of bytes of the packed sections of debug information after
// unpacking.
func (b *elfFile) packed() (total int64) {
	for i := range b.f.Sections {
		s := &b.f.Sections[i]
		name := strings.TrimPrefix(strings.TrimPrefix(s.Name, ".z"), ".")
		switch strings.TrimSuffix(name, ".dwo") {
		case "debug_info", "debug_types", "debug_abbrev", "debug_line", "debug_line_str", "debug_str",
			"debug_str_offsets", "debug_addr", "debug_ranges", "debug_rnglists", "debug_aranges":
			kind, size, _, err := b.f.Packed(s)
			if err == nil && kind != elf.None && size <= uint64(b.budget.Left-total) {
				total += unpack.Aligned(int64(size))
			}
		}
	}
	return total
}

// data returns the bytes of a section, unpacked and relocated; nil if it does not exist
// or cannot be read, which is damage.
func (b *elfFile) data(name string) []byte {
	s := b.f.Section(name)
	if s == nil {
		return nil
	}
	return b.sectionData(s, name)
}

// joined has the bytes of all sections with a name, concatenated: in a relocatable file
// each type, and each function that may be dropped, can have a section of units of its
// own.
func (b *elfFile) joined(name string) []byte {
	if b.addrs == nil {
		return b.data(name)
	}
	var sections []*elf.Section
	at := uint64(0)
	for i := range b.f.Sections {
		s := &b.f.Sections[i]
		if s.Name != name || s.Type == elf.SectionRela || s.Type == elf.SectionRel {
			continue
		}
		b.addrs[i] = at // what refers to other units by their place finds them
		sections = append(sections, s)
		at += s.Size
		if _, size, _, err := b.f.Packed(s); err == nil {
			at += size - s.Size
		}
	}
	if len(sections) < 2 {
		return b.data(name)
	}
	var parts [][]byte
	size := 0
	for _, s := range sections {
		parts = append(parts, b.sectionData(s, name))
		size += len(parts[len(parts)-1])
	}
	all, _ := b.budget.Memory(size) // an error is kept in Budget.Failed
	done := 0
	for _, part := range parts {
		done += copy(all[done:], part)
	}
	return all
}

// sectionData returns the bytes of a section, or nil.
func (b *elfFile) sectionData(s *elf.Section, name string) []byte {
	data, err := b.f.Data(s)
	if err != nil {
		b.Found.Add("damaged section", fmt.Sprintf("%s: %v", name, err))
		return nil
	}
	if b.addrs == nil || data == nil {
		return data
	}
	data, problems := b.f.Relocate(s, data, b.addrs)
	for _, p := range problems {
		b.Found.At("damaged relocations", p.Place, p.Off, p.Reason)
	}
	return data
}

func (b *elfFile) openSections() {
	s := dwarf.Sections{Order: b.f.Order, Relocatable: b.addrs != nil}
	split, dwo := "", b.f.Section(".debug_info.dwo") != nil
	if !dwo || !b.in.Split {
		s.Info = b.joined(".debug_info")
	}
	if s.Info == nil && dwo {
		split = ".dwo"
		s.Split = true
		s.Info = b.joined(".debug_info.dwo")
	}
	b.dwarf = units.NewDWARF(b.Image, &s, func(name string) []byte {
		if name == "cu_index" || name == "tu_index" {
			return b.data(".debug_" + name)
		}
		if name == "types" {
			return b.joined(".debug_types" + split)
		}
		return b.data(".debug_" + name + split)
	})
	if b.dwarf != nil && b.f.Arch() == ident.ArchARM {
		b.dwarf.Odd = 1
	}
	if s.Split {
		return
	}
	if _, id, ok := b.f.AltLink(); ok && b.dwarf != nil {
		name, _, _ := b.f.AltLink()
		b.needs = append(b.needs, object.Need{Kind: object.NeedAlt, Name: name, ID: id})
	}
	if name, crc, ok := b.f.DebugLink(); ok {
		b.needs = append(b.needs, object.Need{Kind: object.NeedDebug, Name: name, CRC: crc, ID: b.buildID})
	} else if id := b.buildID; id != nil && b.dwarf == nil {
		b.needs = append(b.needs, object.Need{Kind: object.NeedDebug, ID: id})
	}
}

// attachOwn gives the skeletons of an object file of clang -gsplit-dwarf=single
// their units, which are in the same file.
func (b *elfFile) attachOwn() {
	if b.in.Split || b.dwarf == nil || b.f.Section(".debug_info.dwo") == nil {
		return
	}
	in := b.in
	in.Role, _ = b.dwarf.RoleOf(object.NeedSplit)
	own := &elfFile{f: b.f, budget: b.budget, addrs: b.addrs}
	own.common = common{Image: units.New(in, b.Layout, own, units.Traits{}), in: in}
	if own.openSections(); own.dwarf != nil && b.dwarf.Attach(own.dwarf) {
		b.adopt(&own.common)
	}
}

// openInner opens the small file with symbols that some systems pack into
// stripped binaries.
func (b *elfFile) openInner() {
	if packed := b.f.Section(".gnu_debugdata"); packed != nil {
		if raw, err := b.f.Raw(packed); err == nil && raw != nil {
			b.unpackInner(raw)
		}
	}
}

// SymbolName returns a name in a symbol table.
func (b *elfFile) SymbolName(table uint8, off uint32) []byte {
	if table >= innerTable {
		return b.inner.SymbolName(table-innerTable, off)
	}
	return b.f.SymbolName(table, off)
}

// EachSymbol calls yield with all symbols, also those of the inner file.
func (b *elfFile) EachSymbol(yield func(units.Symbol)) {
	b.symbols(yield, b.f.Symbols, 0)
	if b.inner != nil {
		b.symbols(yield, b.inner.Symbols, innerTable)
	}
}

// SymbolsAt calls yield with the symbols at an address.
func (b *elfFile) SymbolsAt(addr uint64, yield func(units.Symbol)) (quick bool) {
	if b.addrs != nil || b.inner != nil {
		return false
	}
	b.symbols(yield, func(yield func(elf.Symbol) bool) { b.f.SymbolsAt(addr, yield) }, 0)
	return true
}

// SymbolRank returns the rank of a symbol.
func (b *elfFile) SymbolRank(s *units.Symbol) uint8 {
	x := elf.Symbol{Size: s.Size, Bind: s.Kind >> 4, Type: s.Kind & 15 &^ oldVersion}
	return x.Rank(b.SymbolName(s.Table, s.Name))
}

// innerTable is the first symbol table of the inner file.
const innerTable = 2

func (b *elfFile) unpackInner(raw []byte) {
	all, err := b.budget.Xz(raw)
	if err == nil {
		b.inner, err = elf.Open(bin.Bytes(all))
	}
	if err != nil {
		b.inner = nil
		b.Found.Add("damaged section", fmt.Sprintf(".gnu_debugdata: %v", err))
	}
}

// symbols gives the symbols of a file, whose first table has a number.
func (b *elfFile) symbols(yield func(units.Symbol), each func(func(elf.Symbol) bool), table uint8) {
	each(func(s elf.Symbol) bool {
		if b.addrs != nil {
			if s.Section < 0 {
				return true // outside of all sections: its address is unknown
			}
			s.Addr += b.addrs[s.Section]
		}
		yield(units.Symbol{
			Addr: s.Addr, Size: s.Size, Name: s.NameOff, Table: s.Table + table,
			Kind: kindOf(&s), Label: s.Type == elf.SymbolNoType,
		})
		return true
	})
}

// SymbolLimit returns the end of the section or segment of a symbol, as the next symbol
// may be in another one.
func (b *elfFile) SymbolLimit(addr uint64) uint64 {
	for i := range b.f.Segments {
		s := &b.f.Segments[i]
		if s.Type == elf.SegmentLoad && addr >= s.Vaddr && addr-s.Vaddr < s.Memsz {
			return s.Vaddr + s.Memsz
		}
	}
	for i := range b.f.Sections {
		s := &b.f.Sections[i]
		at := s.Addr
		if b.addrs != nil {
			at = b.addrs[i]
		}
		if s.Flags&elf.FlagAlloc != 0 && addr >= at && addr-at < s.Size {
			return at + s.Size
		}
	}
	return addr
}

// info describes the file.
func (b *elfFile) info() object.Info {
	f := b.f
	info := object.Info{
		Overlapping: b.overlapping(),
		Kind:        "elf", Type: f.Kind(), LoadAddress: f.LoadAddress(), Segments: segments(f),
		Module: elfModule(f),
	}
	hasSymbols := func(elf.Symbol) bool { info.Features |= object.HasSymbols; return false }
	b.f.Symbols(hasSymbols)
	if b.inner != nil {
		b.inner.Symbols(hasSymbols)
	}
	info.Features = b.features(info.Features)
	for _, name := range frameSections {
		if b.hasFrames(name) {
			info.Features |= object.HasUnwind
		}
	}
	return info
}

// segments returns the executable segments with the offsets of their content in the
// program, at most sixteen. In debug files of eu-strip they are unchanged. objcopy moves
// the segments that do not contain the header of the file, and empties them except for
// notes.
func segments(f *elf.File) (list []object.Segment) {
	for i := range f.Segments {
		s := &f.Segments[i]
		size := s.Filesz
		switch {
		case !s.IsCode() || size == 0 || len(list) == 16:
			continue
		case f.Kind() != "dbg" || size == s.Memsz:
		case s.Off == 0:
			size = s.Memsz
		default:
			continue
		}
		list = append(list, object.Segment{Offset: s.Off, Addr: s.Vaddr, Size: size})
	}
	return list
}

// hasFrames reports whether a section of FDEs covers code. One that is packed is
// believed to.
func (b *elfFile) hasFrames(name string) bool {
	s := b.f.Section(name)
	if s == nil {
		return false
	}
	kind, size, _, err := b.f.Packed(s)
	if err != nil || kind != elf.None {
		return err == nil && size > 0
	}
	frames := b.frameSection(name)
	return frames.HasFDE(func(addr uint64) bool { return b.SymbolLimit(addr) > addr })
}

// Code returns code of a linked file.
func (b *elfFile) Code(addr, size uint64) []byte {
	if b.addrs != nil {
		return nil
	}
	return b.f.Code(addr+b.Bases[0], size)
}

// Stretches returns the stretches of the file, or, without mapping symbols, those of the
// inner file.
func (b *elfFile) Stretches() (list []object.Stretch, whole bool, err error) {
	if b.f.SwappedCode() {
		return nil, false, fault.New(fault.Unsupported, "elf", "its instructions for %s are big endian", b.f.Arch())
	}
	marks, whole := b.f.Marks()
	if !whole && b.inner != nil {
		if inner, all := b.inner.Marks(); all || len(inner) > len(marks) {
			marks, whole = inner, all
		}
	}
	kinds := map[byte]object.ISA{'a': object.ISAA32, 't': object.ISAT32}
	for _, m := range marks {
		if base := b.Bases[0]; m.Addr >= base {
			list = append(list, object.Stretch{Addr: m.Addr - base, ISA: kinds[m.Kind]})
		}
	}
	return list, whole, nil
}

func elfModule(f *elf.File) ident.Module {
	m := ident.Module{Type: ident.TypeELF, Arch: f.Arch()}
	if raw := f.BuildID(); len(raw) > 0 {
		id := ident.NewBuildID(raw)
		m.CodeID, m.DebugID = id.CodeID(), id.DebugID(m.Arch.BigEndian())
	} else if text, ok := f.TextID(); ok {
		m.DebugID = ident.NewBuildID(text[:]).DebugID(m.Arch.BigEndian())
	}
	return m
}

// IdentifyELF returns the identifiers of a file.
func IdentifyELF(src bin.Source) ([]ident.Module, error) {
	return object.DescribeOne(src, elf.OpenHeaders, elfModule)
}

// CFI yields the records of the FDEs of a file.
func (b *elfFile) CFI(yield func(*sym.Unwind) error) error {
	r := b.newCFIReader(b.f.Arch(), yield)
	for _, name := range frameSections {
		s := b.frameSection(name)
		if err := r.frames(&s, nil); err != nil {
			return err
		}
	}
	return nil
}

// CFIAt yields the records of the FDE of an address.
func (b *elfFile) CFIAt(addr uint64, yield func(*sym.Unwind) error) error {
	x := b.frames()
	if p, ok := x.pieces.At(addr); ok {
		return b.newCFIReader(b.f.Arch(), yield).frameAt(x, p)
	}
	return nil
}

// frameSection returns a section of FDEs of an ELF file.
func (b *elfFile) frameSection(name string) frame.Section {
	return frame.Section{
		Data: b.data(name), EH: name == ".eh_frame", Relocatable: b.addrs != nil,
		Order: b.f.Order, AddrSize: b.f.Class / 8, Text: b.addr(".text"), DataBase: b.addr(".got"),
		Addr: b.addr(name),
	}
}

// addr returns the address of a section.
func (b *elfFile) addr(name string) uint64 {
	s := b.f.Section(name)
	switch {
	case s == nil:
		return 0
	case b.addrs != nil:
		return b.addrs[s.Index]
	}
	return s.Addr
}
