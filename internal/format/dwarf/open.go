package dwarf

import (
	"encoding/binary"
	"sync/atomic"
)

// Open reads the headers of all units. Damaged ones are Problems; the units
// after them are found again if possible. Index is the number of the file in
// its group, which is part of its Names: 0 for the main file, 1 for the one of
// dwz, 2 and above for split files.
func Open(s Sections, index int) *Data {
	d := &Data{
		reader: reader{big: s.Order == binary.BigEndian}, s: s, index: index,
		types: map[uint64]int32{}, dwos: map[uint64]int32{}, spelled: map[Name]string{},
	}
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
