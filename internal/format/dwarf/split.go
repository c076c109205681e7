package dwarf

import (
	"cmp"
	"slices"
	"sort"
)

// Columns of an index, in the numbers of version 5.
const sectInfo, sectTypes, sectAbbrev, sectStrOffsets, sectRnglists, sects = 1, 2, 3, 6, 8, 9

// contribution has the offsets of the parts of a unit in the sections of a
// .dwp.
type contribution struct {
	off  [sects]uint32
	size uint32 // of the part of .debug_info or .debug_types
}

// readIndex reads .debug_cu_index or .debug_tu_index: the contributions in the
// order of their offsets in the section of that column.
func (d *Data) readIndex(b []byte, name string, column int) []contribution {
	if !d.s.Split || len(b) == 0 {
		return nil
	}
	version, _ := d.number(b, 0, 4)
	if version != 2 {
		version, _ = d.number(b, 0, 2)
	}
	columns, p := d.number(b, 4, 4)
	count, p := d.number(b, p, 4)
	slots, p := d.number(b, p, 4)
	if version != 2 && version != 5 || p < 0 {
		d.problem(name, 0, "unknown version")
		return nil
	}
	left := uint64(len(b) - p)
	if slots > left/12 || columns == 0 || columns > sects || 4*columns+8*columns*count > left-12*slots {
		d.problem(name, 0, "invalid size: %d units, %d columns and %d slots in %d bytes", count, columns, slots, len(b))
		return nil
	}
	p += 12 * int(slots)
	table := p + 4*int(columns)
	rows := make([]contribution, count)
	for c := range int(columns) {
		id := int(d.uint(b, p+4*c, 4))
		if id <= 0 || id >= sects { // in version 2 number 8 is of macros, but units have no range lists
			continue
		}
		for i := range rows {
			at := table + 4*(i*int(columns)+c)
			rows[i].off[id] = uint32(d.uint(b, at, 4))
			if id == column {
				rows[i].size = uint32(d.uint(b, at+4*len(rows)*int(columns), 4))
			}
		}
	}
	slices.SortFunc(rows, func(x, y contribution) int { return cmp.Compare(x.off[column], y.off[column]) })
	return rows
}

// contribute adds the start of contributions to the offsets in units. A unit
// belongs to the last contribution that begins at or before it; one of
// .debug_info that is in neither index does not change.
func (d *Data) contribute(units []Unit, rows []contribution, column int) {
	for i := range units {
		u := &units[i]
		n := sort.Search(len(rows), func(i int) bool { return uint64(rows[i].off[column]) > u.Off }) - 1
		if n < 0 || u.Off-uint64(rows[n].off[column]) >= uint64(rows[n].size) {
			continue
		}
		c := &rows[n].off
		u.abbrev += uint64(c[sectAbbrev])
		u.strBase = uint64(c[sectStrOffsets])
		u.rnglists = uint64(c[sectRnglists])
	}
}

// SetAlt sets the file to which dwz moved the common parts of d.
func (d *Data) SetAlt(alt *Data) { d.alt = alt }

// Missing is a skeleton whose unit is not attached.
type Missing struct {
	Unit      int
	DwoID     uint64
	Name, Dir []byte // of the .dwo file, and the directory that it is relative to
}

// Missing lists the skeletons whose units are not attached. Those without
// ranges and lines have no code: clang uses them to refer to modules.
func (d *Data) Missing() []Missing {
	if len(d.s.Addr) == 0 {
		return nil // without the addresses of split units
	}
	var missing []Missing
	for i, u := range d.Units() {
		if u.Kind == UnitSkeleton && u.split == nil {
			missing = append(missing, Missing{i, u.DwoID, d.UnitText(i, AttrDwoName), d.UnitText(i, AttrCompDir)})
		}
	}
	return missing
}

// Attach attaches the units of a .dwo or .dwp to the skeletons of d that have
// the same id, and returns the number of skeletons that got a unit.
func (d *Data) Attach(split *Data) int {
	n := 0
	units, others := d.Units(), split.Units()
	for i := range units {
		u := &units[i]
		if u.Kind != UnitSkeleton || u.split != nil {
			continue
		}
		if j, ok := split.dwos[u.DwoID]; ok {
			u.split, u.splitUnit = split, int(j)
			if n++; u.Lang == 0 {
				u.Lang = others[j].Lang
			}
		}
	}
	if n > 0 {
		for len(d.files) <= split.index {
			d.files = append(d.files, nil)
		}
		d.files[split.index] = split
	}
	return n
}
