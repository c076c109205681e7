package extract

import (
	"cmp"
	"sort"

	"symbolon/internal/format/symbfile"
)

const (
	// maxDepth limits the nesting of calls in the output. Deeper ones count as
	// code of the enclosing one.
	maxDepth = 256
	// maxRecords limits the ranges, and the lines, of a function; a larger one
	// is split.
	maxRecords = 1 << 16
	// maxSize is the largest length of a range that readers accept.
	maxSize = 1<<32 - 1
)

// record is a range, open or complete. Texts are numbers of texts.
type record struct {
	start, end   uint64
	name         uint32
	file         uint32
	callFile     uint32
	callLine     uint32
	depth        uint32
	begins       bool   // a function begins with it
	first, count int    // of rows, once they are sorted
	last         uint32 // last line; 0: none yet
}

// row is the line of a record from an address on.
type row struct {
	record int32
	line   uint32
	addr   uint64
}

// tree is a part of a function with all calls inlined into it: the function
// first, each call before those in it, in the order of their addresses.
type tree struct {
	records []record
	rows    []row
	starts  []uint64 // addresses at which rows begin, where instructions are known to begin
	open    []int32  // the open records by depth
	sorted  []row
	counts  []int
}

func (t *tree) reset() {
	t.records, t.rows, t.starts, t.open = t.records[:0], t.rows[:0], t.starts[:0], t.open[:0]
}

// push opens a record in the innermost open one.
func (t *tree) push(r record) {
	r.depth = uint32(len(t.open))
	t.open = append(t.open, int32(len(t.records)))
	t.records = append(t.records, r)
}

// pop closes the open records from a depth on.
func (t *tree) pop(depth int, addr uint64) {
	for _, i := range t.open[depth:] {
		t.records[i].end = addr
	}
	t.open = t.open[:depth]
}

// fits reports whether a record can continue with this file and line. A record
// without lines can still take over the file and line.
func (r *record) fits(file, line uint32) bool {
	if r.last == 0 && (r.file == 0 || file == 0 && line == 0) {
		return true
	}
	return r.file == file && (line != 0 || r.last == 0)
}

// addRow adds the position of the innermost record from an address on. The
// position must fit.
func (t *tree) addRow(addr uint64, file, line uint32) {
	i := t.open[len(t.open)-1]
	r := &t.records[i]
	if line != 0 && line != r.last {
		t.rows = append(t.rows, row{i, line, addr})
		r.count++
	}
	r.file, r.last = cmp.Or(file, r.file), cmp.Or(line, r.last) // as it fits
}

// sortRows groups the rows by record.
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

// lines returns the rows of a record.
func (t *tree) lines(r *record) []row { return t.sorted[r.first : r.first+r.count] }

// lineAt returns the line of a record at an address, 0 if it is unknown.
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
			out.CallFile = []byte{} // an absent callFile would mean the file of the caller
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
