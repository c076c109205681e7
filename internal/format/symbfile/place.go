package symbfile

import (
	"sort"

	"symbolon/internal/fault"
)

// A user that has a file in memory need not store the contents of its records,
// only the offsets of records and strings. The functions below read single
// records of a file that a Reader has accepted. All offsets are in the file.

// Texts has the offsets of the strings of a range, for Text; 0 without a
// string.
type Texts struct{ Func, File, CallFile int64 }

// Texts returns those of the last range that Next returned.
func (r *Reader) Texts() Texts { return r.texts }

// Text returns the string at an offset.
func Text(file []byte, at int64) []byte {
	n, from := uvarint(file, int(at))
	if from < 0 || n > uint64(len(file)-from) {
		return nil
	}
	return file[from : from+int(n) : from+int(n)]
}

// Count returns the numbers of ranges and pads between two offsets, by their
// headers only, so a damaged file may have fewer, and the offset at which it
// stopped: of the first message that begins at or after to, or the end. from is
// 0 or such an offset.
func Count(file []byte, from, to int) (ranges, pads, next int) {
	at := max(from, len(magic))
	for at < min(to, len(file)) {
		kind, _, end := message(file, at)
		switch kind {
		case 0:
			return ranges, pads, len(file)
		case typeRange:
			ranges++
		case typePad:
			pads++
		}
		at = end
	}
	return ranges, pads, at
}

// message returns the type of the message at an offset, and the range of its
// body; type 0 is an invalid message.
func message(file []byte, at int) (kind uint64, from, to int) {
	n, at := headUvarint(file, at)
	if at < 0 {
		return 0, 0, 0
	}
	kind, at = headUvarint(file, at)
	if at < 0 || n > uint64(len(file)-at) {
		return 0, 0, 0
	}
	return kind, at, at + int(n)
}

// fieldsAt returns the fields of the message at an offset.
func fieldsAt(file []byte, at int64) fields {
	_, from, to := message(file, int(at))
	return fields{b: file[from:to]}
}

// column iterates over the numbers of a column of a message, or of the line
// tables in its field 8.
type column struct {
	number  uint32 // of its field
	message fields // contains the tables
	table   fields
	data    []byte // the current field, if it is packed
	at      int
}

func (c *column) next() (v uint32, ok bool) {
	for {
		switch {
		case c.at < len(c.data):
			v, next := uvarint(c.data, c.at)
			if next < 0 {
				return 0, false
			}
			c.at = next
			return uint32(v), true
		case c.table.next():
			switch c.table.key {
			case c.number<<3 | wireVarint:
				return uint32(c.table.val), true
			case c.number<<3 | wireBytes:
				c.data, c.at = c.table.data, 0
			}
		case c.message.next():
			if c.message.key == 8<<3|wireBytes {
				c.table = fields{b: c.message.data}
			}
		default:
			return 0, false
		}
	}
}

// Lines iterates over the lines of a range.
type Lines struct {
	offs, lines column
	off         uint64
}

// LinesAt returns the lines of the range at an offset.
func LinesAt(file []byte, at int64) Lines {
	f := fieldsAt(file, at)
	return Lines{offs: column{number: 1, message: f}, lines: column{number: 2, message: f}}
}

// Next returns the next line. ok is false after the last one.
func (l *Lines) Next() (line Line, ok bool) {
	off, ok := l.offs.next()
	if !ok {
		return Line{}, false
	}
	n, ok := l.lines.next()
	l.off += uint64(off)
	return Line{Offset: l.off, Line: n}, ok
}

// Frames iterates over the frames of a pad.
type Frames struct {
	funcs, files, lines column
}

// FramesAt returns the frames of the pad at an offset.
func FramesAt(file []byte, at int64) Frames {
	f := fieldsAt(file, at)
	return Frames{funcs: column{number: 2, table: f}, files: column{number: 3, table: f}, lines: column{number: 4, table: f}}
}

// Next returns the next frame, with the refs of its function and its file. ok
// is false after the last one.
func (x *Frames) Next() (fn, file, line uint32, ok bool) {
	fn, _ = x.funcs.next()
	file, _ = x.files.next()
	line, ok = x.lines.next()
	return fn, file, line, ok
}

// Tables resolves refs to the offsets of strings in the string tables of a
// file.
type Tables struct {
	marks []mark
	first []uint32 // the first mark of each table
	start int64    // offset of the last table; 0: none
}

// mark is a string with a stored offset.
type mark struct {
	at  int64
	ref uint32
}

const (
	markStep = 64        // number of strings that share a mark
	markGap  = 64        // a string after this many bytes of other fields gets a mark
	maxMarks = 512 << 10 // in a file
)

// Add returns the number of the table for the record that Next returned last.
func (t *Tables) Add(r *Reader) (number uint32, err error) {
	if t.start == r.table.start && len(t.first) > 0 {
		return uint32(len(t.first) - 1), nil
	}
	t.start = r.table.start
	t.first = append(t.first, uint32(len(t.marks)))
	last, end := 0, uint64(0)
	for ref, at := range r.table.at {
		if ref == 0 || ref-last == markStep || uint64(at)-end > markGap {
			if len(t.marks) == maxMarks {
				return 0, fault.New(fault.Unsupported, "symbfile", "string tables need more than %d marks", maxMarks)
			}
			t.marks = append(t.marks, mark{at: r.table.start + int64(at), ref: uint32(ref)})
			last = ref
		}
		n, next := uvarint(r.table.b, int(at))
		end = uint64(next) + n
	}
	return uint32(len(t.first) - 1), nil
}

// Place returns the offset of a string of a table, for Text.
func (t *Tables) Place(file []byte, number, ref uint32) int64 {
	marks := t.marks[t.first[number]:]
	if int(number)+1 < len(t.first) {
		marks = t.marks[t.first[number]:t.first[number+1]]
	}
	i := sort.Search(len(marks), func(i int) bool { return marks[i].ref > ref })
	if i == 0 {
		return 0
	}
	m, place := marks[i-1], marks[i-1].at
	n, from := uvarint(file, int(place))
	f := fields{b: file, at: from + int(n)}
	for m.ref < ref && f.next() {
		if f.key == 1<<3|wireBytes {
			place = int64(f.head)
			m.ref++
		}
	}
	return place
}

// Footprint returns the bytes of memory of the tables.
func (t *Tables) Footprint() int64 { return int64(cap(t.marks))*16 + int64(cap(t.first))*4 }
