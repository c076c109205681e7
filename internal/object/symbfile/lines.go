package symbfile

import (
	"math"
	"sort"

	"symbolon/internal/format/symbfile"
)

// begin returns all lines of a range.
func (v *view) begin(i uint32) symbRows {
	rows := symbRows{lines: symbfile.LinesAt(v.file, v.ranges[i].at.off())}
	rows.ahead, rows.more = rows.lines.Next()
	return rows
}

func (r *symbRows) step() {
	r.line = r.ahead.Line
	r.ahead, r.more = r.lines.Next()
}

// to passes the lines up to an offset, if they are not more than most. Else it is
// false.
func (r *symbRows) to(off uint64, most int) bool {
	for ; r.more && r.ahead.Offset <= off; most-- {
		if most == 0 {
			return false
		}
		r.step()
	}
	return true
}

// manyLines is from how many lines on a range has many, and how far marks are apart.
// There are up to a thousand, each of half a KiB.
const manyLines = 4096

// near returns a place not far in front of an offset in the range that begins with rows.
func (l *symbLong) near(i uint32, rows symbRows, off uint64) symbRows {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.marks) == 0 || l.index != i {
		l.index, l.marks = i, append(l.marks[:0], rows)
		for n := 1; rows.more; n++ {
			if rows.step(); n%manyLines == 0 && rows.more {
				l.marks = append(l.marks, rows)
			}
		}
	}
	k := sort.Search(len(l.marks), func(k int) bool { return l.marks[k].ahead.Offset > off })
	return l.marks[max(k-1, 0)]
}

// lineAt returns the line of a range at an offset.
func (v *view) lineAt(i uint32, off uint64) uint32 {
	first := v.begin(i)
	rows := first
	if !rows.to(off, manyLines) {
		rows = v.long.near(i, first, off)
		rows.to(off, math.MaxInt)
	}
	return rows.line
}
