package dwarf

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
)

// Sections are the sections of one file, unpacked, in place. Of a split file
// they are those with names in .dwo.
type Sections struct {
	Info, Types, Abbrev, Line, LineStr, Str, StrOffsets, Addr, Ranges, Rnglists, CUIndex, TUIndex []byte

	Order       binary.ByteOrder
	Split       bool // of a .dwo or .dwp
	Relocatable bool // address 0 is an address like any other, and not that of code thrown away

	Relax func() // called now and then while something of each unit is read; may be nil
	// Decorated says whether a linkage name is only the name with what the system
	// adds to names of C. The name counts then. Nil: no linkage name is.
	Decorated func(linkage []byte) bool
}

// Data is the debug information of one file. It does not change after the
// calls of SetAlt and Attach, and is then safe for concurrent use.
type Data struct {
	reader
	s        Sections
	index    int // among the files that belong together
	units    []Unit
	infos    int // of units are in .debug_info, the others in .debug_types
	problems []Problem
	tables   []sharedTable
	made     []atomic.Pointer[table] // those of tables that are kept
	types    map[uint64]int32        // type units by signature
	dwos     map[uint64]int32        // split units by dwo id
	files    []*Data                 // those attached, by index; of the main file
	alt      *Data

	roots  sync.Mutex
	read   []atomic.Bool // by unit: its root was
	ranges []Range       // of roots
	budget int           // how much more of lists of ranges roots may have

	mu          sync.Mutex
	spelled     map[Name]string // see scope.go
	spelledSize int

	recent  [recentUnits]int32 // units with an outline, oldest overwritten
	recentN int
	outline []atomic.Pointer[outline] // by unit; see scope.go
	built   []uint8                   // how often, by unit
}

// Problem is a damaged part of a file.
type Problem struct {
	Section string
	Off     uint64
	Reason  string
}

func (p Problem) Error() string {
	return fmt.Sprintf("dwarf, %s: at offset %#x: %s", p.Section, p.Off, p.Reason)
}

// maxProblems is how many problems are kept. A file with more is not worth
// more words.
const maxProblems = 100

// UnitKind is what a unit is for.
type UnitKind uint8

const (
	UnitCompile  UnitKind = iota
	UnitPartial           // made by dwz or LTO: what others import
	UnitSkeleton          // stands for a unit in another file
	UnitSplit             // the unit that a skeleton stands for
	UnitType              // one type; has no code
)

// Unit is a unit of a file.
type Unit struct {
	Off, End uint64 // in its section
	Version  uint8
	AddrSize uint8
	Kind     UnitKind
	Lang     uint16  // DW_LANG; 0: unknown
	Ranges   []Range // where its code is, sorted and merged; empty: it does not say
	LineOff  uint64  // of its line program
	HasLines bool
	DwoID    uint64 // of UnitSkeleton and UnitSplit

	typed   bool // in .debug_types
	l       layout
	table   int32  // of tables
	dies    uint8  // bytes of the header
	abbrev  uint64 // offset of its abbreviations
	typeOff uint64 // UnitType: the type's DIE, from Off on

	strBase      uint64 // of DW_FORM_strx
	addrBase     uint64 // of DW_FORM_addrx
	rangesBase   uint64 // of DW_AT_ranges in .dwo files of version 4
	rnglistsBase uint64 // of DW_FORM_rnglistx
	rnglists     uint64 // of DW_AT_ranges as an offset
	lowPC        uint64

	split     *Data // UnitSkeleton: where the real unit is
	splitUnit int
}

// Open scans the headers of all units. Damaged ones are Problems; the units
// behind them are found again where that is possible.
// Index is the number of this file among those that belong together, which is
// a part of the Names that it gives: 0 for the main file, 1 for the one of
// dwz, split files from 2 on.
func Open(s Sections, index int) *Data {
	d := &Data{reader: reader{big: s.Order == binary.BigEndian}, s: s, index: index, types: map[uint64]int32{}, dwos: map[uint64]int32{}, spelled: map[Name]string{}}
	d.scan(s.Info, false)
	d.infos = len(d.units)
	d.scan(s.Types, true)
	d.contribute(d.units[:d.infos], d.readIndex(s.CUIndex, ".debug_cu_index", sectInfo), sectInfo)
	column, typed := sectTypes, d.units[d.infos:]
	if len(s.Types) == 0 {
		column, typed = sectInfo, d.units[:d.infos]
	}
	d.contribute(typed, d.readIndex(s.TUIndex, ".debug_tu_index", column), column)
	d.dropUnits()
	d.findTables()
	for i := range d.units {
		if u := &d.units[i]; u.Kind == UnitType {
			d.types[u.DwoID] = int32(i)
		}
	}
	d.read = make([]atomic.Bool, len(d.units))
	d.budget = 4*(len(d.s.Ranges)+len(d.s.Rnglists)) + 1<<20
	d.outline = make([]atomic.Pointer[outline], len(d.units))
	d.built = make([]uint8, len(d.units))
	return d
}

// relaxEach is after how many units Relax is called: of a file that is mapped
// the system brings up to 2 MiB into memory for the header of each.
const relaxEach = 4

func (s *Sections) relax(unit int) {
	if unit%relaxEach == relaxEach-1 && s.Relax != nil {
		s.Relax()
	}
}

// NumUnits is how many units there are.
func (d *Data) NumUnits() int { return len(d.units) }

// Problems is what was found damaged in headers of units, and in those of their
// root DIEs that were read: at most 100 of it.
func (d *Data) Problems() []Problem {
	d.roots.Lock()
	defer d.roots.Unlock()
	return slices.Clone(d.problems)
}

func (d *Data) problem(section string, off uint64, format string, args ...any) {
	if len(d.problems) < maxProblems {
		d.problems = append(d.problems, Problem{section, off, fmt.Sprintf(format, args...)})
	}
}

func infoName(typed bool) string {
	if typed {
		return ".debug_types"
	}
	return ".debug_info"
}

// info is the section that u is in.
func (d *Data) info(u *Unit) []byte {
	if u.typed {
		return d.s.Types
	}
	return d.s.Info
}

// sharedTable is the abbreviations at one offset.
type sharedTable struct {
	off, end uint64
	l        layout
	users    int32
}

// findTables finds out which units share their abbreviations. A table ends at
// the latest where the next one begins, so that all of them together are not
// longer than the section.
func (d *Data) findTables() {
	order := func(x, y sharedTable) int {
		return cmp.Or(cmp.Compare(x.off, y.off), cmp.Compare(x.l.addr, y.l.addr), cmp.Compare(x.l.off, y.l.off), cmp.Compare(x.l.refAddr, y.l.refAddr))
	}
	d.tables = make([]sharedTable, len(d.units))
	for i, u := range d.units {
		d.tables[i] = sharedTable{off: u.abbrev, l: u.l}
	}
	slices.SortFunc(d.tables, order)
	d.tables = slices.CompactFunc(d.tables, func(x, y sharedTable) bool { return x == y })
	end := uint64(len(d.s.Abbrev))
	for i := len(d.tables) - 1; i >= 0; i-- {
		if i+1 < len(d.tables) && d.tables[i+1].off > d.tables[i].off {
			end = d.tables[i+1].off
		}
		d.tables[i].end = end
	}
	for i := range d.units {
		u := &d.units[i]
		n, _ := slices.BinarySearchFunc(d.tables, sharedTable{off: u.abbrev, l: u.l}, order)
		d.tables[n].users++
		u.table = int32(n)
	}
	d.made = make([]atomic.Pointer[table], len(d.tables))
}

// table is the abbreviations of u, which are kept.
func (d *Data) table(u *Unit) *table {
	s := &d.tables[u.table]
	if t := d.made[u.table].Load(); t != nil {
		return t
	}
	t := new(table)
	t.compile(d.s.Abbrev[s.off:s.end], s.l)
	d.made[u.table].CompareAndSwap(nil, t)
	return d.made[u.table].Load()
}

// unitAt is the index of the unit that holds an offset of .debug_info or
// .debug_types, or -1.
func (d *Data) unitAt(off uint64, typed bool) int {
	units, first := d.units[:d.infos], 0
	if typed {
		units, first = d.units[d.infos:], d.infos
	}
	i := sort.Search(len(units), func(i int) bool { return units[i].Off > off }) - 1
	if i < 0 || off >= units[i].End {
		return -1
	}
	return first + i
}
