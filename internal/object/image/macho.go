package image

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strings"
	"sync"

	"symbolon/internal/bin"
	"symbolon/internal/format/dwarf"
	"symbolon/internal/format/frame"
	"symbolon/internal/format/gopcln"
	"symbolon/internal/format/macho"
	"symbolon/internal/ident"
	"symbolon/internal/object"
	"symbolon/internal/object/units"
	"symbolon/internal/sym"
	"symbolon/internal/unpack"
)

// OpenMachO opens all images of a Mach-O file. One that cannot be opened costs
// itself, as long as there are others.
func OpenMachO(src bin.Source, in object.Input) ([]*object.Object, error) {
	images, err := macho.Slices(src)
	if err != nil {
		return nil, err
	}
	var all []*object.Object
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
	if in.Budget.Failed != nil {
		err, all = in.Budget.Failed, nil
	}
	if len(all) == 0 {
		return nil, err
	}
	return all, nil
}

// machoFile is a view of an image of a Mach-O file.
type machoFile struct {
	common
	f      *macho.File
	budget *unpack.Budget
	starts func() []uint64 // of functions
	frames func() *machoFrames
}

func openMachOSlice(src bin.Source, s macho.Slice, in object.Input) (*object.Object, error) {
	f, err := macho.Open(src, s)
	if err != nil {
		return nil, err
	}
	f.Clone = in.Budget.Clone
	b := &machoFile{f: f, budget: in.Budget}
	b.starts = sync.OnceValue(func() []uint64 { return b.f.FunctionStarts(nil) })
	b.frames = sync.OnceValue(b.indexFrames)
	b.common = common{Image: units.New(in, units.Layout{Bases: []uint64{f.LoadAddress()}}, b, units.Traits{Unsized: true}), in: in}
	if f.HasUUID {
		b.buildID = f.UUID[:]
	}
	order := dwarf.Sections{Order: f.Order, Relocatable: f.Kind() == "rel", Info: b.data("__debug_info")}
	b.dwarf = units.NewDWARF(b.Image, &order, func(name string) []byte { return b.data("__debug_" + name) })
	b.openGo()
	hasSymbols := b.findHidden()
	for _, p := range f.Problems {
		b.Found.At("damaged headers", p.Place, p.Off, p.Reason)
	}
	if b.dwarf == nil {
		b.findNeeds()
	}
	b.Memory = in.Budget.Heap
	for name, factor := range map[string]uint64{"__eh_frame": 1, "__debug_frame": 1, "__unwind_info": 8} {
		if s := f.Section("", name); s != nil {
			b.addIndexMemory(s.Size, factor)
		}
	}
	return object.New(b.info(s, hasSymbols), b, in), nil
}

// openGo opens the function table of a Go program.
func (b *machoFile) openGo() {
	if b.dwarf != nil {
		return
	}
	s := b.f.Section("", "__gopclntab")
	if s == nil {
		return
	}
	data, err := b.f.Data(s)
	if err != nil || data == nil {
		return
	}
	t, err := gopcln.Open(data)
	if err != nil {
		b.Found.Add("damaged sections", err.Error())
		return
	}
	t.ReadAt = b.readAt
	if text := b.f.Section("__TEXT", "__text"); text != nil {
		t.Text, t.End = text.Addr, text.Addr+text.Size
	}
	for _, name := range [...]string{"__go_module", "__noptrdata", "__data"} {
		s := b.f.Section("", name)
		if s == nil {
			continue
		}
		data, _ := b.f.Data(s) // without it there are no inlined calls
		if m, ok := t.Module(data); ok {
			t.Text, t.End = cmp.Or(b.loaded(m.Text.Value), t.Text), cmp.Or(b.loaded(m.End.Value), t.End)
			t.GoFunc = b.loaded(m.GoFunc.Value)
			break
		}
	}
	b.setGo(t)
}

// loaded returns the address that the loader makes of a pointer, or 0 if that is in no
// section. In a chain of fixups the lower 36 bits have the address, or that from the
// image on.
func (b *machoFile) loaded(pointer uint64) uint64 {
	const target = 1<<36 - 1
	for _, addr := range [...]uint64{pointer, pointer & target, pointer&target + b.Bases[0]} {
		if b.inSection(addr) {
			return addr
		}
	}
	return 0
}

// readAt returns n bytes at an address.
func (b *machoFile) readAt(addr uint64, n int) []byte {
	for i := range b.f.Sections {
		s := &b.f.Sections[i]
		if addr < s.Addr || addr-s.Addr >= s.Size {
			continue
		}
		data, err := b.f.Data(s)
		if at := addr - s.Addr; err == nil && at <= uint64(len(data)) && uint64(n) <= uint64(len(data))-at {
			return data[at : at+uint64(n)]
		}
		return nil
	}
	return nil
}

// findNeeds sets the files with the debug information: in a dSYM, or still in the object
// files that were linked.
func (b *machoFile) findNeeds() {
	if b.f.HasUUID {
		b.needs = append(b.needs, object.Need{Kind: object.NeedDSYM, ID: b.buildID})
	}
	for _, o := range b.f.DebugMap() {
		path, member := string(o.Path), ""
		if at := strings.LastIndexByte(path, '('); at > 0 && strings.HasSuffix(path, ")") {
			path, member = path[:at], path[at+1:len(path)-1]
		}
		b.needs = append(b.needs, object.Need{
			Kind: object.NeedObject, Name: path, Member: member, Time: int64(o.Time), Linked: &debugMap{b.f.Arch(), o.Functions},
		})
	}
}

// data returns the bytes of a section, unpacked; nil if it does not exist or cannot
// be read, which is damage.
func (b *machoFile) data(name string) []byte {
	s := b.f.Section("", name)
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
	return b.f.Relocate(s, data)
}

// findHidden notes that names were replaced by numbers. It reports whether there
// are symbols.
func (b *machoFile) findHidden() (hasSymbols bool) {
	b.f.Symbols(func(s macho.Symbol) bool {
		hasSymbols = true
		if !bytes.HasPrefix(s.Name, []byte(units.HiddenMark)) {
			return true
		}
		b.needs = append(b.needs, object.Need{Kind: object.NeedMap, ID: b.buildID})
		return false
	})
	return hasSymbols
}

// SymbolName returns a name in the symbol table.
func (b *machoFile) SymbolName(_ uint8, off uint32) []byte { return b.f.SymbolName(off) }

// Select returns the place of a section: .text is __TEXT,__text, and others have a
// name of the form __TEXT.__stubs.
func (b *machoFile) Select(section string) (p object.Place, ok bool) {
	if section == ".text" {
		section = "__TEXT.__text"
	}
	for i := range b.f.Sections {
		if s := &b.f.Sections[i]; s.Segment+"."+s.Name == section {
			return object.Place{Addr: s.Addr - b.Bases[0], Size: s.Size}, true
		}
	}
	return p, false
}

// EachSymbol calls yield with all symbols.
func (b *machoFile) EachSymbol(yield func(units.Symbol)) {
	b.f.Symbols(func(s macho.Symbol) bool {
		x := units.Symbol{Addr: s.Addr, Name: s.NameOff}
		if !s.External {
			x.Kind = 1
		}
		yield(x)
		return true
	})
}

// SymbolsAt reports false: the symbols have no order.
func (b *machoFile) SymbolsAt(uint64, func(units.Symbol)) (quick bool) { return false }

// SymbolLimit returns the next start of a function, or the end of the section: a
// function without a symbol is not part of the one before it.
func (b *machoFile) SymbolLimit(addr uint64) uint64 {
	end := b.sectionEnd(addr)
	if i, _ := slices.BinarySearch(b.starts(), addr+1); i < len(b.starts()) {
		end = min(end, b.starts()[i])
	}
	return end
}

// SymbolRank puts external symbols first.
func (b *machoFile) SymbolRank(s *units.Symbol) uint8 { return s.Kind }

// Code returns code.
func (b *machoFile) Code(addr, size uint64) []byte { return b.f.Code(addr+b.Bases[0], size) }

// Supply takes in an object file or a map of hidden names.
func (b *machoFile) Supply(n object.Need, src bin.Source, info *object.Info) (used bool, err error) {
	switch n.Kind {
	case object.NeedMap:
		return b.supplyMap(src)
	case object.NeedObject:
		return b.supplyObject(n, src)
	}
	return b.common.Supply(n, src, info)
}

// supplyMap takes in the map of the names that were hidden.
func (b *machoFile) supplyMap(src bin.Source) (bool, error) {
	text, err := bin.Read(src, 0, int(min(src.Size(), unpack.MaxUnpacked)))
	if err != nil {
		return false, object.ReadFault(0, err)
	}
	m, err := macho.ReadSymbolMap(text)
	if err != nil {
		return false, err
	}
	b.SetHidden(m)
	b.drop(func(n object.Need) bool { return n.Kind == object.NeedMap })
	return true, nil
}

// debugMap is the functions that were linked from one object file.
type debugMap struct {
	arch      ident.Arch
	functions []macho.Function
}

// supplyObject takes in an object file.
func (b *machoFile) supplyObject(n object.Need, src bin.Source) (bool, error) {
	link, ok := n.Linked.(*debugMap)
	if !ok {
		return false, nil
	}
	f, err := b.in.Open(src, object.Role{})
	if err != nil {
		return false, err
	}
	for _, o := range f.Objects() {
		h, ok := o.View().(*machoFile)
		info := o.Info()
		if !ok || h.dwarf == nil || info.Type != "rel" || info.Module.Arch != link.arch || n.Member != "" && info.Name != n.Member {
			continue
		}
		moved := h.find(link.functions)
		if len(moved) == 0 {
			continue
		}
		if err := b.Link(h.Image, moved); err != nil {
			return false, err
		}
		b.adopt(&h.common)
		b.drop(func(x object.Need) bool { return x.Linked == n.Linked })
		return true, nil
	}
	return false, nil
}

// find finds functions in an object file by their names.
func (b *machoFile) find(functions []macho.Function) (list []units.Moved) {
	at := map[string]uint64{}
	b.EachSymbol(func(s units.Symbol) { at[string(b.SymbolName(s.Table, s.Name))] = s.Addr })
	for _, f := range functions {
		if addr, ok := at[string(f.Name)]; ok && f.Size > 0 {
			list = append(list, units.Moved{Start: addr, End: addr + f.Size, To: f.Addr})
		}
	}
	return list
}

// sectionEnd returns the end of the section that an address is in.
func (b *machoFile) sectionEnd(addr uint64) uint64 {
	for i := range b.f.Sections {
		if s := &b.f.Sections[i]; addr >= s.Addr && addr-s.Addr < s.Size {
			return s.Addr + s.Size
		}
	}
	return math.MaxUint64
}

// inSection reports whether an address is in any section. The __eh_frame in a
// dSYM is a copy without code.
func (b *machoFile) inSection(addr uint64) bool { return b.sectionEnd(addr) != math.MaxUint64 }

func (b *machoFile) info(s macho.Slice, hasSymbols bool) object.Info {
	f := b.f
	info := object.Info{
		Kind: "macho", Type: f.Kind(), LoadAddress: f.LoadAddress(), Name: s.Name,
		Module: machoModule(f),
	}
	if hasSymbols {
		info.Features |= object.HasSymbols
	}
	info.Features = b.features(info.Features)
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
		info.Features |= object.HasUnwind
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

// CFI yields the records of the compact entries of an image and of those FDEs that
// they refer to, or else of all FDEs.
func (b *machoFile) CFI(yield func(*sym.Unwind) error) (err error) {
	arch := b.f.Arch()
	r := b.newCFIReader(arch, yield)
	var rules []byte
	want, problems := b.compact(func(e macho.Entry, base uint64) bool {
		var ok bool
		if rules, ok = macho.AppendCompact(rules[:0], e, arch); ok {
			err = yield(&sym.Unwind{Addr: e.Start - base, Size: e.End - e.Start, Rules: rules})
		}
		return err == nil
	})
	if err != nil {
		return err
	}
	for _, p := range problems {
		b.Found.At("damaged unwind entries", p.Place, p.Off, p.Reason)
	}
	eh, debug := b.frameSection("__eh_frame"), b.frameSection("__debug_frame")
	if err := r.frames(&eh, want); err != nil {
		return err
	}
	return r.frames(&debug, nil)
}

// compact yields the compact entries of code in the image, with the base of their
// addresses. It returns which FDEs of __eh_frame count.
func (b *machoFile) compact(yield func(e macho.Entry, base uint64) bool) (want func(*frame.FDE) bool, problems bin.Problems) {
	entries := 0
	wanted := map[uint64]bool{}
	problems = b.f.UnwindEntries(func(e macho.Entry) bool {
		entries++
		if e.DWARF {
			wanted[e.Start] = true
			return true
		}
		base, _, ok := b.Place(e.Start)
		return !ok || e.End <= e.Start || yield(e, base)
	})
	if entries > 0 {
		return func(f *frame.FDE) bool { return wanted[f.Start] }, problems
	}
	return func(f *frame.FDE) bool { return b.inSection(f.Start) }, problems
}

// machoFrames has the compact entries without their ranges, and the FDEs. The Ref of
// the piece of an entry is its number after the last section.
type machoFrames struct {
	frameIndex
	compact []compactRules
}

type compactRules struct{ encoding, stack uint32 }

// compactSection is the number of the compact entries in the Ref of a piece.
const compactSection = 2

func (b *machoFile) indexFrames() *machoFrames {
	x := &machoFrames{}
	want, _ := b.compact(func(e macho.Entry, base uint64) bool {
		ref := uint64(len(x.compact))<<sectionBits | compactSection
		x.list = append(x.list, object.Piece{Start: e.Start - base, End: e.End - base, Ref: ref})
		x.compact = append(x.compact, compactRules{e.Encoding, e.Stack})
		return true
	})
	x.add(b.Image, b.frameSection("__eh_frame"), want)
	x.add(b.Image, b.frameSection("__debug_frame"), nil)
	x.finish()
	return x
}

// CFIAt yields the record of the compact entry of an address, or those of its FDE.
func (b *machoFile) CFIAt(addr uint64, yield func(*sym.Unwind) error) error {
	x := b.frames()
	p, ok := x.pieces.At(addr)
	switch {
	case !ok:
		return nil
	case p.Ref&(1<<sectionBits-1) != compactSection:
		return b.newCFIReader(b.f.Arch(), yield).frameAt(&x.frameIndex, p)
	}
	c := x.compact[p.Ref>>sectionBits]
	rules, ok := macho.AppendCompact(nil, macho.Entry{Encoding: c.encoding, Stack: c.stack}, b.f.Arch())
	if !ok {
		return nil
	}
	return yield(&sym.Unwind{Addr: p.Start, Size: p.End - p.Start, Rules: rules})
}

// frameSection returns a section of FDEs of a Mach-O image.
func (b *machoFile) frameSection(name string) frame.Section {
	s := frame.Section{EH: name == "__eh_frame", Relocatable: b.f.Kind() == "rel", Order: b.f.Order, AddrSize: 4}
	if b.f.Is64 {
		s.AddrSize = 8
	}
	if section := b.f.Section("", name); section != nil {
		s.Data, s.Addr = b.data(name), section.Addr
	}
	return s
}
