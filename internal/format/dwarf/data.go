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

// Sections has the uncompressed sections of a file. Those of a split file have
// names in .dwo.
type Sections struct {
	Info, Types, Abbrev, Line, LineStr, Str, StrOffsets, Addr, Ranges, Rnglists, CUIndex, TUIndex []byte

	Order       binary.ByteOrder
	Split       bool // the file is a .dwo or .dwp
	Relocatable bool // address 0 is valid, and does not mark dropped code

	Late  func(name string) []byte // reads a section that is rarely needed; may be nil
	Relax func()                   // called periodically while all units are read; may be nil
	// Decorated reports whether a linkage name is just the name with the
	// decoration of the system for names of C. Then the name is used. Nil: no
	// linkage name is decorated.
	Decorated func(linkage []byte) bool
}

// Data is the debug information of a file. It does not change after SetAlt and
// Attach, and is then safe for concurrent use.
type Data struct {
	reader
	s        Sections
	index    int // number of this file in its group of files
	units    []Unit
	infos    int // number of units in .debug_info, which precede those in .debug_types
	problems []Problem
	tables   []sharedTable
	compiled []atomic.Pointer[table] // compiled shared tables
	types    map[uint64]int32        // type units by signature
	dwos     map[uint64]int32        // split units by dwo id
	files    []*Data                 // attached files, by index; in the main file
	alt      *Data

	roots  sync.Mutex
	read   []atomic.Bool // by unit: its root has been read
	ranges []Range       // ranges of roots
	budget int           // limit of further entries of range lists of roots

	lists         sync.Once // loc and loclists are read
	loc, loclists []byte

	mu          sync.Mutex
	spelled     map[Name]string // see scope.go
	spelledSize int

	recent  [recentUnits]int32 // units with an outline, a ring buffer
	recentN int
	outline []atomic.Pointer[outline] // by unit; see scope.go
	built   []uint8                   // number of times the outline was built, by unit
}

// scope is a namespace or type with the range of its children. Offsets are
// relative to the unit.
type scope struct {
	start, end uint32
	parent     int32 // enclosing scope, or -1
	local      bool  // there is a function between it and its parent
}

// outline has the data to qualify the names of DIEs of a unit by their scope.
// It is kept for a while for units with names that are not linkage names.
type outline struct {
	t      *table
	scopes []scope
}

const (
	recentUnits  = 64       // number of units whose outlines are kept
	maxBuilt     = 4        // number of times an outline is built before it is kept permanently
	maxScopes    = 64       // nesting limit
	maxNameWork  = 1024     // attributes that are read for a name
	maxScopeText = 64 << 10 // bytes after which no further scope is added
	MaxSpelled   = 4 << 20  // bytes of formatted names that a Data keeps
)

// Problem is a damaged part of a file.
type Problem struct {
	Section string
	Off     uint64
	Reason  string
}

func (p Problem) Error() string {
	return fmt.Sprintf("dwarf, %s: at offset %#x: %s", p.Section, p.Off, p.Reason)
}

// maxProblems limits the problems that are kept.
const maxProblems = 100

// UnitKind is the kind of a unit.
type UnitKind uint8

const (
	UnitCompile  UnitKind = iota
	UnitPartial           // written by dwz or LTO, for import by other units
	UnitSkeleton          // refers to a unit in another file
	UnitSplit             // the unit that a skeleton refers to
	UnitType              // a type, without code
)

// Unit is a unit of a file.
type Unit struct {
	Off, End uint64 // in its section
	Version  uint8
	AddrSize uint8
	Kind     UnitKind
	Lang     uint16  // DW_LANG; 0: unknown
	Ranges   []Range // ranges of its code, sorted and merged; empty if unknown
	LineOff  uint64  // offset of its line program
	HasLines bool
	DwoID    uint64 // of UnitSkeleton and UnitSplit

	typed   bool // in .debug_types
	l       layout
	table   int32  // index in tables
	dies    uint8  // size of the header
	abbrev  uint64 // offset of its abbreviations
	typeOff uint64 // UnitType: offset of the type's DIE from Off

	strBase      uint64 // base of DW_FORM_strx
	addrBase     uint64 // base of DW_FORM_addrx
	rangesBase   uint64 // base of DW_AT_ranges in .dwo files of version 4
	rnglistsBase uint64 // base of DW_FORM_rnglistx
	rnglists     uint64 // base of DW_AT_ranges as an offset
	lowPC        uint64

	split     *Data // UnitSkeleton: the file of its unit
	splitUnit int
}

// relaxEach is the number of units between calls of Relax: the system may load
// up to 2 MiB of a mapped file for the header of each unit.
const relaxEach = 4

func (s *Sections) relax(unit int) {
	if unit%relaxEach == relaxEach-1 && s.Relax != nil {
		s.Relax()
	}
}

// NumUnits returns the number of units.
func (d *Data) NumUnits() int { return len(d.units) }

// Problems returns the damage of unit headers, and of the root DIEs read so
// far, at most 100 of it.
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

// info returns the section of u.
func (d *Data) info(u *Unit) []byte {
	if u.typed {
		return d.s.Types
	}
	return d.s.Info
}

// sharedTable is the position of a table of abbreviations.
type sharedTable struct {
	off, end uint64
	l        layout
	users    int32
}

// findTables determines which units share abbreviations. A table ends before
// the next one, so that all tables together do not exceed the section.
func (d *Data) findTables() {
	order := func(x, y sharedTable) int {
		return cmp.Or(cmp.Compare(x.off, y.off), cmp.Compare(x.l.addr, y.l.addr),
			cmp.Compare(x.l.off, y.l.off), cmp.Compare(x.l.refAddr, y.l.refAddr))
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
	d.compiled = make([]atomic.Pointer[table], len(d.tables))
}

// table returns the abbreviations of u, and keeps them.
func (d *Data) table(u *Unit) *table {
	s := &d.tables[u.table]
	if t := d.compiled[u.table].Load(); t != nil {
		return t
	}
	t := new(table)
	t.compile(d.s.Abbrev[s.off:s.end], s.l)
	d.compiled[u.table].CompareAndSwap(nil, t)
	return d.compiled[u.table].Load()
}

// unitAt returns the index of the unit that contains an offset of .debug_info
// or .debug_types, or -1.
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
