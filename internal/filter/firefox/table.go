package firefox

import (
	"bufio"
	"math"
	"strconv"

	"symbolon/internal/fault"
	"symbolon/internal/filter/rawjson"
)

// A cell is an integer, null, or above that and below firstInt the number of
// another value in column.others. Columns have 32 bits a cell, as large profiles
// have millions of stacks.
const (
	null     = math.MinInt32
	firstInt = null + maxRows + 1
	maxRows  = 1 << 30
)

// A span is a value in the document.
type span struct{ from, to int }

// skip reads a value and returns its span.
func skip(r *rawjson.Reader) span {
	r.Peek()
	from := r.Pos
	r.Skip()
	return span{from, r.Pos}
}

// A column is an array of a table. Its cells are read when they are needed.
type column struct {
	span
	name      string
	cells     []int32
	others    [][]byte // values that are not null and no integers of 32 bits
	isLoaded  bool
	isChanged bool
	isBlank   bool // new rows have null
}

// A table is an object of columns of the same length. New rows copy an old row in
// the columns that are not loaded.
type table struct {
	name    string
	data    []byte
	length  span
	rows    int64 // in the document
	columns []*column
	added   []int32 // the old row of each new row, or -1
}

func scanTable(r *rawjson.Reader, name string) *table {
	t := &table{name: name, data: r.Data}
	for r.Enter('{'); r.Next(); {
		key := string(r.Key())
		if r.Peek() == '[' {
			t.columns = append(t.columns, &column{name: key, span: skip(r)})
			continue
		}
		at := r.Pos
		if n, ok := r.Int(); ok && key == "length" {
			t.rows, t.length = n, span{at, r.Pos}
		}
	}
	return t
}

// find returns a column, or nil if the table has none of that name.
func (t *table) find(name string) *column {
	for _, c := range t.columns {
		if c.name == name {
			return c
		}
	}
	return nil
}

// A reading reads columns until one of them fails.
type reading struct{ err error }

// column returns a column with its cells, or nil if the table has none of that name.
func (r *reading) column(t *table, name string) *column {
	c := t.find(name)
	if c != nil && r.err == nil {
		r.err = t.load(c)
	}
	return c
}

// require is like column, and fails if the table lacks the column.
func (r *reading) require(t *table, name string) *column {
	c := r.column(t, name)
	if c == nil && r.err == nil {
		r.err = fault.New(fault.Malformed, "Firefox profile", "%s lacks the column %q", t.name, name)
	}
	return c
}

func (t *table) load(c *column) error {
	if c.isLoaded {
		return nil
	}
	if t.length.to == 0 {
		return fault.New(fault.Malformed, "Firefox profile", "%s lacks its length", t.name)
	}
	c.isLoaded = true
	c.cells = make([]int32, 0, max(0, min(t.rows, int64(c.to-c.from)/2)))
	r := rawjson.Reader{Data: t.data, Pos: c.from}
	for r.Enter('['); r.Next(); {
		r.Peek()
		at := r.Pos
		v, ok := r.Int()
		switch {
		case r.Err != nil:
		case ok && isCell(v):
			c.cells = append(c.cells, int32(v))
		default:
			c.cells = append(c.cells, c.other(t.data[at:r.Pos]))
		}
	}
	if r.Err == nil && int64(len(c.cells)) != t.rows || t.rows > maxRows {
		return fault.New(fault.Malformed, "Firefox profile", "%s.%s has %d values, its length is %d", t.name, c.name, len(c.cells), t.rows)
	}
	return r.Err
}

// isCell reports whether an integer fits into a cell.
func isCell(v int64) bool { return firstInt <= v && v <= math.MaxInt32 }

// other returns the cell of another value. Columns have few of
// them, or the same ones again.
func (c *column) other(text []byte) int32 {
	if string(text) == "null" {
		return null
	}
	for i := range min(len(c.others), 4) {
		if string(c.others[i]) == string(text) {
			return null + 1 + int32(i)
		}
	}
	c.others = append(c.others, text)
	return null + int32(len(c.others))
}

// get returns the integer of a row, or -1 if there is none or a negative one.
func (c *column) get(row int32) int64 {
	if c == nil || row < 0 || int(row) >= len(c.cells) {
		return -1
	}
	v := c.cells[row]
	if null < v && v < firstInt {
		if large, err := strconv.ParseInt(string(c.others[v-null-1]), 10, 64); err == nil {
			return max(large, -1)
		}
	}
	return int64(max(v, -1))
}

// index returns the integer of a row that is the number of a row or an element, or -1
// if there is none or no table has so many.
func (c *column) index(row int32) int32 {
	if v := c.get(row); v <= math.MaxInt32 {
		return int32(v)
	}
	return -1
}

func (c *column) set(row int32, v int64) {
	if c == nil {
		return
	}
	cell := int32(v)
	if v != null && !isCell(v) {
		cell = c.other(strconv.AppendInt(nil, v, 10))
	}
	if c.cells[row] != cell {
		c.cells[row] = cell
		c.isChanged = true
	}
}

// add appends a copy of an old row, or a row of nulls if from is -1, and returns
// its number.
func (t *table) add(from int32) int32 {
	row := int32(t.rows) + int32(len(t.added))
	t.added = append(t.added, from)
	for _, c := range t.columns {
		if c.isLoaded {
			c.cells = append(c.cells, c.copyOf(from))
			c.isChanged = true
		}
	}
	return row
}

func (c *column) copyOf(row int32) int32 {
	if row < 0 || c.isBlank {
		return null
	}
	return c.cells[row]
}

// edits returns the changes of the table.
func (t *table) edits() (list []edit) {
	for _, c := range t.columns {
		if c.isChanged || len(t.added) > 0 {
			list = append(list, edit{c.from, func(e *rawjson.Editor) error { return t.write(e, c) }})
		}
	}
	if len(t.added) > 0 {
		list = append(list, t.setLength(t.rows+int64(len(t.added))))
	}
	return list
}

func (t *table) setLength(n int64) edit {
	return edit{t.length.from, func(e *rawjson.Editor) error {
		e.Replace(t.length.from, t.length.to)
		writeInt(e.Out, n)
		return nil
	}}
}

// write writes a column. One that was not loaded is in memory only meanwhile.
func (t *table) write(e *rawjson.Editor, c *column) error {
	if !c.isLoaded {
		if err := t.load(c); err != nil {
			return err
		}
		for _, from := range t.added {
			c.cells = append(c.cells, c.copyOf(from))
		}
	}
	w := newList(e, c.span)
	for _, v := range c.cells {
		w.cell(c, v)
	}
	w.end()
	c.cells, c.others = nil, nil
	return nil
}

// A listWriter writes an array.
type listWriter struct {
	out   *bufio.Writer
	begun bool
}

// newList begins an array in place of a value.
func newList(e *rawjson.Editor, at span) listWriter {
	e.Replace(at.from, at.to)
	e.Out.WriteByte('[')
	return listWriter{out: e.Out}
}

func (w *listWriter) next() {
	if w.begun {
		w.out.WriteByte(',')
	}
	w.begun = true
}

func (w *listWriter) end() { w.out.WriteByte(']') }

func (w *listWriter) cell(c *column, v int32) {
	w.next()
	switch {
	case v == null:
		w.out.WriteString("null")
	case v < firstInt:
		w.out.Write(c.others[v-null-1])
	default:
		writeInt(w.out, int64(v))
	}
}

func writeInt(out *bufio.Writer, v int64) {
	out.Write(strconv.AppendInt(out.AvailableBuffer(), v, 10))
}
