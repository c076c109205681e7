package symbfile

import (
	"sort"

	"symbolon/internal/fault"
)

// Who has a file in memory needs not keep what is in its records: it is enough to
// know where they and their strings stand. Of a file that a Reader went through,
// what is here reads single records again. All places are offsets in the file.

// Texts are where the strings of a range stand, for Text; 0 is not there.
type Texts struct{ Func, File, CallFile int64 }

// Texts are those of the range that Next gave.
func (r *Reader) Texts() Texts { return r.texts }

// Text is the string that stands at a place.
func Text(file []byte, at int64) []byte {
	n, from := uvarint(file, int(at))
	if from < 0 || n > uint64(len(file)-from) {
		return nil
	}
	return file[from : from+int(n) : from+int(n)]
}

// Count tells how many ranges and pads are announced between two places, of which a
// file that is damaged may have less, and where it stopped: at the first message
// that begins at the second place or behind it, or at the end. The first place is 0,
// or where it stopped before.
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

// message is the type of the message at a place, and where its body is; type 0 is
// none.
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

// fieldsAt are the fields of the message at a place.
func fieldsAt(file []byte, at int64) fields {
	_, from, to := message(file, int(at))
	return fields{b: file[from:to]}
}

// column goes through the numbers of a column of a message, or of the tables in
// field 8 of one.
type column struct {
	number  uint32 // of its field
	message fields // what has the tables
	table   fields
	data    []byte // of the present field, if it is packed
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

// Lines goes through the lines of a range.
type Lines struct {
	offs, lines column
	off         uint64
}

// LinesAt are the lines of the range at a place.
func LinesAt(file []byte, at int64) Lines {
	f := fieldsAt(file, at)
	return Lines{offs: column{number: 1, message: f}, lines: column{number: 2, message: f}}
}

// Next is the next line. Behind the last one ok is false.
func (l *Lines) Next() (line Line, ok bool) {
	off, ok := l.offs.next()
	if !ok {
		return Line{}, false
	}
	n, ok := l.lines.next()
	l.off += uint64(off)
	return Line{Offset: l.off, Line: n}, ok
}

// Frames goes through the frames of a pad.
type Frames struct {
	funcs, files, lines column
}

// FramesAt are the frames of the pad at a place.
func FramesAt(file []byte, at int64) Frames {
	f := fieldsAt(file, at)
	return Frames{funcs: column{number: 2, table: f}, files: column{number: 3, table: f}, lines: column{number: 4, table: f}}
}

// Next is the next frame, with the refs of its function and its file. Behind the
// last one ok is false.
func (x *Frames) Next() (fn, file, line uint32, ok bool) {
	fn, _ = x.funcs.next()
	file, _ = x.files.next()
	line, ok = x.lines.next()
	return fn, file, line, ok
}

// Tables knows where the strings of the string tables of a file stand.
type Tables struct {
	marks []mark
	first []uint32 // of marks, of each table
	start int64    // of the last table; 0: there is none
}

// mark is a string whose place is known.
type mark struct {
	at  int64
	ref uint32
}

const (
	markStep = 64        // as many strings share a mark
	markGap  = 64        // bytes in front of a string that are no strings, with which it has its own
	maxMarks = 512 << 10 // of a file
)

// Add is the number of the table to which the record that Next gave refers.
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
				return 0, fault.New(fault.Unsupported, "symbfile", "its string tables are so large that more than %d marks in them are needed", maxMarks)
			}
			t.marks = append(t.marks, mark{at: r.table.start + int64(at), ref: uint32(ref)})
			last = ref
		}
		n, next := uvarint(r.table.b, int(at))
		end = uint64(next) + n
	}
	return uint32(len(t.first) - 1), nil
}

// Place is where a string of a table stands, for Text.
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

// Footprint is how many bytes of memory the tables take.
func (t *Tables) Footprint() int64 { return int64(cap(t.marks))*16 + int64(cap(t.first))*4 }
