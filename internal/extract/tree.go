package extract

import (
	"cmp"
	"sort"

	"symbolon/internal/format/symbfile"
)

const (
	// maxDepth is how deep calls are nested in what is written. Those that are
	// deeper count as code of the one around them.
	maxDepth = 256
	// maxRecords is how many ranges a function has until it is cut, and how many
	// lines.
	maxRecords = 1 << 16
	// maxSize is how long a range may be for readers.
	maxSize = 1<<32 - 1
)

// record is a range in the making, or made. Texts are numbers of the texts.
type record struct {
	start, end   uint64
	name         uint32
	file         uint32
	callFile     uint32
	callLine     uint32
	depth        uint32
	begins       bool   // a function begins with it
	first, count int    // of rows, once they are sorted
	last         uint32 // line; 0: none yet
}

// row says that from an address on the code of a record has a line.
type row struct {
	record int32
	line   uint32
	addr   uint64
}

// tree is a piece of a function with all that is inlined into it: the function
// first, each call before those in it, in the order of their addresses.
type tree struct {
	records []record
	rows    []row
	starts  []uint64 // where something changes: there an instruction begins
	open    []int32  // the records that are not at their end, by depth
	sorted  []row
	counts  []int
}

func (t *tree) reset() {
	t.records, t.rows, t.starts, t.open = t.records[:0], t.rows[:0], t.starts[:0], t.open[:0]
}

// push opens a record in the innermost one that is open.
func (t *tree) push(r record) {
	r.depth = uint32(len(t.open))
	t.open = append(t.open, int32(len(t.records)))
	t.records = append(t.records, r)
}

// pop closes what is open from a depth on.
func (t *tree) pop(depth int, addr uint64) {
	for _, i := range t.open[depth:] {
		t.records[i].end = addr
	}
	t.open = t.open[:depth]
}

// fits says whether a record can go on with this file and line. As long as it
// has no lines, what is not known yet may be found in the file that comes.
func (r *record) fits(file, line uint32) bool {
	if r.last == 0 && (r.file == 0 || file == 0 && line == 0) {
		return true
	}
	return r.file == file && (line != 0 || r.last == 0)
}

// say notes the place of the innermost record from an address on, which it
// fits.
func (t *tree) say(addr uint64, file, line uint32) {
	i := t.open[len(t.open)-1]
	r := &t.records[i]
	if line != 0 && line != r.last {
		t.rows = append(t.rows, row{i, line, addr})
		r.count++
	}
	r.file, r.last = cmp.Or(file, r.file), cmp.Or(line, r.last) // as it fits
}

// sortRows puts the rows of each record together.
func (t *tree) sortRows() {
	at := 0
	t.counts = t.counts[:0]
	for i := range t.records {
		t.records[i].first = at
		t.counts = append(t.counts, at)
		at += t.records[i].count
	}
	t.sorted = append(t.sorted[:0], t.rows...)
	for _, r := range t.rows {
		t.sorted[t.counts[r.record]] = r
		t.counts[r.record]++
	}
}

// lines are the rows of a record.
func (t *tree) lines(r *record) []row { return t.sorted[r.first : r.first+r.count] }

// lineAt is the line of a record at an address, 0 if it says none.
func (t *tree) lineAt(r *record, addr uint64) (line uint32) {
	rows := t.lines(r)
	if n := sort.Search(len(rows), func(i int) bool { return rows[i].addr > addr }); n > 0 {
		line = rows[n-1].line
	}
	return line
}

// write writes all records.
func (t *tree) write(w *symbfile.Writer, base uint64, names *texts, out *symbfile.Range) error {
	for i := range t.records {
		r := &t.records[i]
		*out = symbfile.Range{
			VA: base + r.start, Length: r.end - r.start, Func: names.text(r.name), File: names.text(r.file),
			CallFile: names.text(r.callFile), CallLine: r.callLine, Depth: r.depth, Lines: out.Lines[:0],
		}
		if r.callFile == 0 && r.depth > 0 {
			out.CallFile = []byte{} // not the file of the caller, which it would mean if it was not there
		}
		for _, l := range t.lines(r) {
			out.Lines = append(out.Lines, symbfile.Line{Offset: l.addr - r.start, Line: l.line})
		}
		if err := w.Range(out); err != nil {
			return err
		}
	}
	return nil
}
