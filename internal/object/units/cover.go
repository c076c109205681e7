package units

import (
	"slices"
)

// Span is a range of addresses of the file in which a unit has code.
type Span struct {
	Start, End uint64
	Unit       int32
}

// cover has the addresses of the code of each unit.
type cover struct {
	spans []Span
	most  []uint64 // the greatest end of spans up to each
}

// at calls yield with the units that have code at addr.
func (c *cover) at(addr uint64, yield func(unit int)) {
	i, _ := slices.BinarySearchFunc(c.spans, addr, func(s Span, addr uint64) int {
		if s.Start <= addr {
			return -1
		}
		return 1
	})
	for i--; i >= 0 && c.most[i] > addr; i-- {
		if c.spans[i].End > addr {
			yield(int(c.spans[i].Unit))
		}
	}
}
