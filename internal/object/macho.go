package object

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"sync"

	"symbolon/internal/bin"
	"symbolon/internal/format/dwarf"
	"symbolon/internal/format/macho"
	"symbolon/internal/ident"
	"symbolon/internal/unpack"
)

// OpenMachO opens all images of a Mach-O file. One that cannot be opened costs
// itself, as long as there are others.
func OpenMachO(src bin.Source, in Input) ([]*Object, error) {
	images, err := macho.Slices(src)
	if err != nil {
		return nil, err
	}
	var all []*Object
	for _, s := range images {
		o, e := openMachOSlice(src, s, in)
		if e != nil {
			if err == nil {
				err = e
			}
			continue
		}
		all = append(all, o)
	}
	if in.Room.Failed != nil {
		err, all = in.Room.Failed, nil
	}
	if len(all) == 0 {
		return nil, err
	}
	return all, nil
}

// machoBinary is an image of a Mach-O file on its way to ours.
type machoBinary struct {
	f     *macho.File
	image *image
	room  *unpack.Budget
}

func openMachOSlice(src bin.Source, s macho.Slice, in Input) (*Object, error) {
	f, err := macho.Open(src, s)
	if err != nil {
		return nil, err
	}
	g := &image{in: in, bases: []uint64{f.LoadAddress()}, unsized: true, codeAt: f.Code}
	f.Clone = in.Room.Clone
	b := machoBinary{f, g, in.Room}
	if f.HasUUID {
		g.buildID = f.UUID[:]
	}
	order := dwarf.Sections{Order: f.Order, Relocatable: f.Kind() == "rel", Info: b.data("__debug_info")}
	g.openDWARF(&order, func(name string) []byte { return b.data("__debug_" + name) })
	b.openGo()
	b.addSymbols()
	b.setCFI()
	for _, p := range f.Problems {
		g.found.At("damaged headers", p.Place, p.Off, p.Reason)
	}
	if g.dwarf == nil {
		b.findNeeds()
	}
	g.footing = in.Room.Heap
	return g.object(b.info(s)), nil
}

// findNeeds tells where the debug information is: in a dSYM, or still in the
// object files that were linked.
func (b *machoBinary) findNeeds() {
	if b.f.HasUUID {
		b.image.needs = append(b.image.needs, Need{Kind: NeedDSYM, ID: b.image.buildID})
	}
	for _, o := range b.f.DebugMap() {
		path, member := string(o.Path), ""
		if at := strings.LastIndexByte(path, '('); at > 0 && strings.HasSuffix(path, ")") {
			path, member = path[:at], path[at+1:len(path)-1]
		}
		b.image.needs = append(b.image.needs, Need{
			Kind: NeedObject, Name: path, Member: member, Time: int64(o.Time), Linked: &linked{b.f.Arch(), o.Functions},
		})
	}
}

// data is the bytes of a section of debug information; nil if there is none or
// it cannot be read, which is a problem.
func (b *machoBinary) data(name string) []byte {
	s := b.f.Section("", name)
	if s == nil {
		return nil
	}
	packed, size, data, err := b.f.Packed(s)
	if err == nil && packed {
		data, err = b.room.Section(false, data, size)
	}
	if err != nil {
		b.image.found.Add("damaged sections", name+": "+err.Error())
		return nil
	}
	return b.f.Relocate(s, data)
}

func (b *machoBinary) addSymbols() {
	g := b.image
	g.names = func(_ uint8, off uint32) []byte { return b.f.SymbolName(off) }
	b.f.Symbols(func(s macho.Symbol) bool {
		g.hasSymbols = true
		if !bytes.HasPrefix(s.Name, []byte(hiddenMark)) {
			return true
		}
		g.needs = append(g.needs, Need{Kind: NeedMap, ID: g.buildID})
		return false
	})
	g.eachSymbol = func(yield func(symbol)) {
		b.f.Symbols(func(s macho.Symbol) bool {
			x := symbol{addr: s.Addr, name: s.NameOff}
			if !s.External {
				x.kind = 1
			}
			yield(x)
			return true
		})
	}
	starts := sync.OnceValue(func() []uint64 { return b.f.FunctionStarts(nil) })
	g.limit = func(addr uint64) uint64 {
		end := b.sectionEnd(addr)
		// A function without a symbol is none of the one in front of it.
		if i, _ := slices.BinarySearch(starts(), addr+1); i < len(starts()) {
			end = min(end, starts()[i])
		}
		return end
	}
	g.rank = func(s *symbol) uint8 { return s.kind }
}

// sectionEnd is the end of the section that an address is in.
func (b *machoBinary) sectionEnd(addr uint64) uint64 {
	for i := range b.f.Sections {
		if s := &b.f.Sections[i]; addr >= s.Addr && addr-s.Addr < s.Size {
			return s.Addr + s.Size
		}
	}
	return math.MaxUint64
}

// inSection says whether an address is in any section. What a dSYM has copied of
// __eh_frame is of nowhere.
func (b *machoBinary) inSection(addr uint64) bool { return b.sectionEnd(addr) != math.MaxUint64 }

func (b *machoBinary) info(s macho.Slice) Info {
	f := b.f
	info := Info{
		Kind: "macho", Type: f.Kind(), LoadAddress: f.LoadAddress(), Name: s.Name,
		Module: machoModule(f),
	}
	if b.image.hasSymbols {
		info.Features |= HasSymbols
	}
	unwinds := false
	f.UnwindEntries(func(e macho.Entry) bool {
		unwinds = e.DWARF || e.Encoding != 0
		return !unwinds
	})
	for _, name := range [...]string{"__eh_frame", "__debug_frame"} {
		frames := b.frameSection(name)
		unwinds = unwinds || frames.HasFDE(b.inSection)
	}
	if unwinds {
		info.Features |= HasUnwind
	}
	return info
}

func machoModule(f *macho.File) ident.Module {
	m := ident.Module{Type: ident.TypeMachO, Arch: f.Arch()}
	if f.HasUUID {
		m.DebugID, m.CodeID = ident.NewDebugID(f.UUID, 0), ident.UUIDCodeID(f.UUID)
	}
	return m
}

// IdentifyMachO returns the identifiers of all images of a file that can be
// opened.
func IdentifyMachO(src bin.Source) (list []ident.Module, err error) {
	images, err := macho.Slices(src)
	for _, s := range images {
		if f, err := macho.Open(src, s); err == nil {
			list = append(list, machoModule(f))
		}
	}
	return list, err
}
