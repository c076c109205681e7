package units

import (
	"cmp"
	"slices"

	"symbolon/internal/format/dwarf"
)

// lineCursor returns the rows of a unit's line program by address. It is optimized for
// rising addresses.
type lineCursor struct {
	lines *dwarf.Lines
	seq   int // index of a sequence that does not start above the last question
	row   int // of its rows, likewise
	begun bool
}

// reset takes the sequences of lines into their order. Of those with one start, as of
// functions that the linker folded, the longest stays, and of equal ones the first.
func (c *lineCursor) reset(lines *dwarf.Lines) {
	byStart := func(a, b dwarf.Sequence) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End))
	}
	if !slices.IsSortedFunc(lines.Sequences, byStart) {
		slices.SortStableFunc(lines.Sequences, byStart)
	}
	lines.Sequences = slices.CompactFunc(lines.Sequences, func(a, b dwarf.Sequence) bool { return a.Start == b.Start })
	*c = lineCursor{lines: lines}
}

// at returns the row that holds at addr, or nil.
func (c *lineCursor) at(addr uint64) *dwarf.LineRow {
	if rows, _ := c.from(addr); len(rows) > 0 {
		return &rows[0]
	}
	return nil
}

// from returns the rows from the one on that holds at addr, or none, and the
// address up to which that is so.
func (c *lineCursor) from(addr uint64) (rows []dwarf.LineRow, until uint64) {
	seqs := c.lines.Sequences
	stale := !c.begun || seqs[c.seq].Start > addr || seqs[c.seq].End <= addr ||
		c.seq+1 < len(seqs) && seqs[c.seq+1].Start <= addr
	if stale {
		i, found := slices.BinarySearchFunc(seqs, addr, func(s dwarf.Sequence, addr uint64) int {
			return cmp.Compare(s.Start, addr)
		})
		if !found {
			i--
		}
		next := i + 1
		if i < 0 || seqs[i].End <= addr {
			c.begun = false
			if next < len(seqs) {
				return nil, seqs[next].Start
			}
			return nil, ^uint64(0)
		}
		c.seq, c.row, c.begun = i, 0, true
	}
	s := &seqs[c.seq]
	rows = c.lines.Rows[s.First : s.First+s.N]
	i := c.row
	if rows[i].Addr > addr {
		i = 0
	}
	for range 16 {
		if i+1 >= len(rows) || rows[i+1].Addr > addr {
			break
		}
		i++
	}
	if i+1 < len(rows) && rows[i+1].Addr <= addr {
		k, found := slices.BinarySearchFunc(rows[i:], addr, func(r dwarf.LineRow, addr uint64) int {
			return cmp.Compare(r.Addr, addr)
		})
		if !found {
			k--
		}
		i += k
	}
	c.row = i
	until = s.End
	// Where the next sequence starts inside of this one, it is asked again.
	if c.seq+1 < len(seqs) && seqs[c.seq+1].Start < until {
		until = seqs[c.seq+1].Start
	}
	return rows[i:], max(until, addr+1)
}
