package object

import (
	"fmt"
	"math"
	"strings"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/format/dwarf"
	"symbolon/internal/format/elf"
	"symbolon/internal/ident"
	"symbolon/internal/unpack"
)

// OpenELF joins what an ELF file has.
func OpenELF(src bin.Source, in Input) (*Object, error) {
	f, err := elf.Open(src)
	if err != nil {
		return nil, err
	}
	g := &image{in: in, bases: []uint64{f.LoadAddress()}}
	room := in.Room
	f.Unpack = func(kind elf.Compression, packed []byte, size uint64) ([]byte, error) {
		return room.Section(kind == elf.Zstd, packed, size)
	}
	f.Clone = room.Clone
	b := elfBinary{f: f, image: g, room: room}
	room.Ahead = b.packed()
	g.stretches = b.stretches
	g.buildID, g.shared = f.BuildID(), f.SharedID()
	if f.Arch() == ident.ArchARM {
		g.odd = 1
	}
	if f.Type == elf.TypeRel {
		b.lay()
	} else {
		g.codeAt = f.Code
	}
	b.openDWARF()
	b.attachOwn()
	b.openGo()
	b.addSymbols()
	b.setCFI()
	for _, p := range f.Problems {
		g.found.At("damaged headers", p.Place, p.Off, p.Reason)
	}
	if room.Failed != nil {
		return nil, room.Failed
	}
	g.footing = room.Heap
	return g.object(b.info()), nil
}

// elfBinary is an ELF file on its way to an image.
type elfBinary struct {
	f     *elf.File
	image *image
	room  *unpack.Budget
	addrs []uint64 // of a relocatable file: where each section is laid
	inner *elf.File
}

// lay gives the sections of a relocatable file addresses of their own. Each
// section of code becomes a part of the image.
func (b *elfBinary) lay() {
	b.addrs = make([]uint64, len(b.f.Sections))
	g := b.image
	g.bases, g.parts = g.bases[:0], []dwarf.Range{}
	at := uint64(0)
	for i := range b.f.Sections {
		s := &b.f.Sections[i]
		if s.Flags&elf.FlagAlloc == 0 || s.Size > math.MaxInt64 || at > math.MaxInt64 {
			continue
		}
		b.addrs[i] = at
		if s.Flags&elf.FlagExec != 0 && s.Size > 0 && len(g.parts) < maxParts {
			g.bases = append(g.bases, at)
			g.parts = append(g.parts, dwarf.Range{Start: at, End: at + s.Size})
		}
		at = (at + s.Size + layGap) &^ (layGap - 1)
	}
	if len(g.parts) == 0 {
		g.bases, g.parts = append(g.bases, 0), append(g.parts, dwarf.Range{})
	}
}

const (
	maxParts = math.MaxUint16 / layersOfPart
	// layGap keeps sections apart that do not touch in memory.
	layGap = 1 << 12
)

// packed is how many bytes the packed sections of debug information will take.
func (b *elfBinary) packed() (total int64) {
	for i := range b.f.Sections {
		s := &b.f.Sections[i]
		name := strings.TrimPrefix(strings.TrimPrefix(s.Name, ".z"), ".")
		switch strings.TrimSuffix(name, ".dwo") {
		case "debug_info", "debug_types", "debug_abbrev", "debug_line", "debug_line_str", "debug_str",
			"debug_str_offsets", "debug_addr", "debug_ranges", "debug_rnglists", "debug_aranges":
			kind, size, _, err := b.f.Packed(s)
			if err == nil && kind != elf.None && size <= uint64(b.room.Left-total) {
				total += unpack.Aligned(int64(size))
			}
		}
	}
	return total
}

// data is the bytes of a section, unpacked and relocated; nil if there is none
// or it cannot be read, which is a problem.
func (b *elfBinary) data(name string) []byte {
	s := b.f.Section(name)
	if s == nil {
		return nil
	}
	return b.sectionData(s, name)
}

// joined is the bytes of all sections of a name, one behind the other: in a
// relocatable file each type, and each function that may be dropped, can have a
// section of units of its own.
func (b *elfBinary) joined(name string) []byte {
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
	all, _ := b.room.Memory(size) // an error is kept in room.failed
	done := 0
	for _, part := range parts {
		done += copy(all[done:], part)
	}
	return all
}

// sectionData is the bytes of a section, or nil.
func (b *elfBinary) sectionData(s *elf.Section, name string) []byte {
	data, err := b.f.Data(s)
	if err != nil {
		b.image.found.Add("damaged section", fmt.Sprintf("%s: %v", name, err))
		return nil
	}
	if b.addrs == nil || data == nil {
		return data
	}
	data, problems := b.f.Relocate(s, data, b.addrs)
	for _, p := range problems {
		b.image.found.At("damaged relocations", p.Place, p.Off, p.Reason)
	}
	return data
}

func (b *elfBinary) openDWARF() {
	s := dwarf.Sections{Order: b.f.Order, Relocatable: b.addrs != nil}
	split, dwo := "", b.f.Section(".debug_info.dwo") != nil
	if !dwo || !b.image.in.Split {
		s.Info = b.joined(".debug_info")
	}
	if s.Info == nil && dwo {
		split = ".dwo"
		s.Split = true
		s.Info = b.joined(".debug_info.dwo")
	}
	b.image.openDWARF(&s, func(name string) []byte {
		if name == "cu_index" || name == "tu_index" {
			return b.data(".debug_" + name)
		}
		if name == "types" {
			return b.joined(".debug_types" + split)
		}
		return b.data(".debug_" + name + split)
	})
	if s.Split {
		return
	}
	if _, id, ok := b.f.AltLink(); ok && b.image.dwarf != nil {
		name, _, _ := b.f.AltLink()
		b.image.needs = append(b.image.needs, Need{Kind: NeedAlt, Name: name, ID: id})
	}
	if name, crc, ok := b.f.DebugLink(); ok {
		b.image.needs = append(b.image.needs, Need{Kind: NeedDebug, Name: name, CRC: crc, ID: b.image.buildID})
	} else if id := b.image.buildID; id != nil && b.image.dwarf == nil {
		b.image.needs = append(b.image.needs, Need{Kind: NeedDebug, ID: id})
	}
}

// attachOwn gives the skeletons of an object file of clang -gsplit-dwarf=single
// their units, which are in the same file.
func (b *elfBinary) attachOwn() {
	g := b.image
	if g.in.Split || g.dwarf == nil || b.f.Section(".debug_info.dwo") == nil {
		return
	}
	own := elfBinary{f: b.f, image: &image{in: g.in}, room: b.room, addrs: b.addrs}
	own.image.in.Split, own.image.in.Index = true, firstSplit
	if own.openDWARF(); own.image.dwarf != nil && g.dwarf.Attach(own.image.dwarf) > 0 {
		g.splits++
		g.adopt(own.image)
	}
}

// addSymbols finds the symbols, also those in a small file of their own that
// some systems pack into stripped binaries.
func (b *elfBinary) addSymbols() {
	if packed := b.f.Section(".gnu_debugdata"); packed != nil {
		if raw, err := b.f.Raw(packed); err == nil && raw != nil {
			b.unpackInner(raw)
		}
	}
	g := b.image
	g.names = func(table uint8, off uint32) []byte {
		if table >= innerTable {
			return b.inner.SymbolName(table-innerTable, off)
		}
		return b.f.SymbolName(table, off)
	}
	g.eachSymbol = func(yield func(symbol)) {
		b.symbols(yield, b.f.Symbols, 0)
		if b.inner != nil {
			b.symbols(yield, b.inner.Symbols, innerTable)
		}
	}
	if b.addrs == nil && b.inner == nil {
		g.symbolsAt = func(addr uint64, yield func(symbol)) {
			b.symbols(yield, func(yield func(elf.Symbol) bool) { b.f.SymbolsAt(addr, yield) }, 0)
		}
	}
	g.limit = b.limit
	g.rank = func(s *symbol) uint8 {
		x := elf.Symbol{Size: s.size, Bind: s.kind >> 4, Type: s.kind & 15}
		return x.Rank(g.names(s.table, s.name))
	}
	b.f.Symbols(func(elf.Symbol) bool { g.hasSymbols = true; return false })
}

// innerTable is the first symbol table of the inner file.
const innerTable = 2

func (b *elfBinary) unpackInner(raw []byte) {
	all, err := b.room.Xz(raw)
	if err == nil {
		b.inner, err = elf.Open(bin.Bytes(all))
	}
	if err != nil {
		b.inner = nil
		b.image.found.Add("damaged section", fmt.Sprintf(".gnu_debugdata: %v", err))
	}
}

// symbols gives the symbols of a file, whose first table has a number.
func (b *elfBinary) symbols(yield func(symbol), each func(func(elf.Symbol) bool), table uint8) {
	each(func(s elf.Symbol) bool {
		if b.addrs != nil {
			if s.Section < 0 {
				return true // in no section, so there is no telling where
			}
			s.Addr += b.addrs[s.Section]
		}
		yield(symbol{
			addr: s.Addr, size: s.Size, name: s.NameOff, table: s.Table + table,
			kind: s.Bind<<4 | s.Type, label: s.Type == elf.SymbolNoType,
		})
		return true
	})
}

// limit is where a symbol without size ends at the latest: with what is loaded
// together with it, as the next symbol may be in another section.
func (b *elfBinary) limit(addr uint64) uint64 {
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

// info says what the file is.
func (b *elfBinary) info() Info {
	f := b.f
	info := Info{
		Kind: "elf", Type: f.Kind(), LoadAddress: f.LoadAddress(),
		Module: elfModule(f),
	}
	if b.image.hasSymbols {
		info.Features |= HasSymbols
	}
	for _, name := range [...]string{".eh_frame", ".debug_frame"} {
		if b.hasFrames(name) {
			info.Features |= HasUnwind
		}
	}
	return info
}

// hasFrames says whether a section of FDEs tells of code. One that is packed is
// believed to.
func (b *elfBinary) hasFrames(name string) bool {
	s := b.f.Section(name)
	if s == nil {
		return false
	}
	kind, size, _, err := b.f.Packed(s)
	if err != nil || kind != elf.None {
		return err == nil && size > 0
	}
	frames := b.frameSection(name)
	return frames.HasFDE(func(addr uint64) bool { return b.limit(addr) > addr })
}

// stretches are those of an ELF file, and without mapping symbols those of the
// small file in it.
func (b *elfBinary) stretches() (list []Stretch, whole bool, err error) {
	if b.f.SwappedCode() {
		return nil, false, fault.New(fault.Unsupported, "elf", "its instructions for %s are big endian", b.f.Arch())
	}
	marks, whole := b.f.Marks()
	if !whole && b.inner != nil {
		if inner, all := b.inner.Marks(); all || len(inner) > len(marks) {
			marks, whole = inner, all
		}
	}
	kinds := map[byte]ISA{'a': ISAA32, 't': ISAT32}
	for _, m := range marks {
		if base := b.image.bases[0]; m.Addr >= base {
			list = append(list, Stretch{m.Addr - base, kinds[m.Kind]})
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
	f, err := elf.OpenHeaders(src)
	if err != nil {
		return nil, err
	}
	return []ident.Module{elfModule(f)}, nil
}
