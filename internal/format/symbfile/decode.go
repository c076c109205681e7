package symbfile

import (
	"math"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// table has the strings that refs refer to.
type table struct {
	start int64 // offset of b in the file
	b     []byte
	at    []uint32 // offsets in b of the lengths of strings
}

// text is a string field of a record.
type text struct {
	present bool
	byRef   bool
	ref     uint32
	b       []byte
	at      int // offset of its length in the body
}

// address is a VA field.
type address struct {
	present bool
	delta   bool
	v       uint64
}

// decode decodes the body of the current message. It returns an empty Record
// for messages that are not records.
func (r *Reader) decode() (Record, error) {
	var err error
	switch r.kind {
	case typeHeader:
		f := fields{b: r.body}
		for f.next() {
		}
		return Record{}, f.err
	case typeTable:
		return Record{}, r.decodeTable()
	case typeRange:
		if err = r.decodeRange(); err == nil {
			return Record{Range: &r.rng}, nil
		}
	case typePad:
		if err = r.decodePad(); err == nil {
			return Record{Pad: &r.pad}, nil
		}
	}
	return Record{}, err
}

func (r *Reader) decodeTable() error {
	t := &r.table
	t.at = t.at[:0]
	f := fields{b: t.b}
	for f.next() {
		switch {
		case f.key == 1<<3|wireBytes:
			if !utf8.Valid(f.data) {
				return errUTF8
			}
			if r.Strict && len(t.at) == strictStrings {
				return errStrings
			}
			t.at = append(t.at, uint32(f.head))
		case f.key>>3 == 1:
			return errWire
		}
	}
	return f.err
}

// get returns a string of the table.
func (t *table) get(ref uint32) ([]byte, error) {
	if uint64(ref) >= uint64(len(t.at)) {
		return nil, errRef
	}
	n, at := uvarint(t.b, int(t.at[ref]))
	end := at + int(n)
	return t.b[at:end:end], nil
}

// resolve returns a string of a record, nil without it, and the offset of its
// length in the file.
func (r *Reader) resolve(t *text) (b []byte, at int64, err error) {
	switch {
	case t.byRef:
		if b, err = r.table.get(t.ref); err == nil {
			at = r.table.start + int64(r.table.at[t.ref])
		}
		return b, at, err
	case t.present:
		at = r.start + int64(r.heads) + int64(t.at)
	}
	return t.b, at, nil
}

func (r *Reader) decodeRange() error {
	x := &r.rng
	*x = Range{Lines: x.Lines[:0]}
	r.cols[0], r.cols[1] = r.cols[0][:0], r.cols[1][:0]
	var va address
	var fn, file, call text
	f := fields{b: r.body}
	for f.next() {
		switch f.key {
		case 1<<3 | wireVarint:
			va = address{present: true, delta: true, v: f.val}
		case 12<<3 | wireVarint:
			va = address{present: true, v: f.val}
		case 2<<3 | wireVarint:
			x.Length = f.val
		case 3<<3 | wireBytes:
			fn = f.inline()
		case 9<<3 | wireVarint:
			fn = f.ref()
		case 4<<3 | wireBytes:
			file = f.inline()
		case 10<<3 | wireVarint:
			file = f.ref()
		case 5<<3 | wireVarint:
			x.CallLine = uint32(f.val)
		case 6<<3 | wireBytes:
			call = f.inline()
		case 11<<3 | wireVarint:
			call = f.ref()
		case 7<<3 | wireVarint:
			x.Depth = uint32(f.val)
		case 8<<3 | wireBytes:
			if err := r.decodeLines(f.data); err != nil {
				return err
			}
		default:
			if f.key>>3 <= 12 {
				return errWire
			}
		}
	}
	switch {
	case f.err != nil:
		return f.err
	case !fn.present:
		return errNoFunc
	}
	if err := r.rangeText(&fn, &file, &call); err != nil {
		return err
	}
	if err := r.rangeLines(); err != nil {
		return err
	}
	v, err := r.absolute(va)
	if err != nil {
		return err
	}
	if x.VA = v; r.Strict {
		if err := x.strict(); err != nil {
			return err
		}
	}
	r.prev, r.hasPrev = v, true
	return nil
}

// inline returns the current field as an inline string.
func (f *fields) inline() text {
	if !utf8.Valid(f.data) {
		f.err = errUTF8
	}
	return text{present: true, b: f.data, at: f.head}
}

// ref returns the current field as a ref to the table.
func (f *fields) ref() text { return text{present: true, byRef: true, ref: uint32(f.val)} }

func (r *Reader) rangeText(fn, file, call *text) (err error) {
	x, at := &r.rng, &r.texts
	if x.Func, at.Func, err = r.resolve(fn); err != nil {
		return err
	}
	if x.File, at.File, err = r.resolve(file); err != nil {
		return err
	}
	x.CallFile, at.CallFile, err = r.resolve(call)
	return err
}

// decodeLines appends a line table to the columns of the range.
func (r *Reader) decodeLines(b []byte) error {
	limit := maxLines
	if r.Strict {
		limit = strictLines
	}
	f := fields{b: b}
	for f.next() {
		switch f.key {
		case 1<<3 | wireVarint, 1<<3 | wireBytes:
			r.cols[0] = f.column(r.cols[0], limit)
		case 2<<3 | wireVarint, 2<<3 | wireBytes:
			r.cols[1] = f.column(r.cols[1], limit)
		default:
			if f.key>>3 <= 2 {
				return errWire
			}
		}
	}
	return f.err
}

// rangeLines converts the columns to lines.
func (r *Reader) rangeLines() error {
	x := &r.rng
	offs, lines := r.cols[0], r.cols[1]
	if len(offs) != len(lines) {
		return errColumns
	}
	x.Lines = grown(x.Lines, len(offs))
	var off uint64
	for i := range x.Lines {
		off += uint64(offs[i])
		x.Lines[i] = Line{Offset: off, Line: lines[i]}
	}
	return nil
}

// strict checks the additional limits of a strict Reader.
func (x *Range) strict() error {
	switch n := len(x.Lines); {
	case x.Length > math.MaxUint32:
		return errLength
	case x.Length > 0 && x.Length-1 > math.MaxUint64-x.VA:
		return errEnd
	case x.Depth > strictDepth:
		return errDepth
	case n > 0 && x.Lines[n-1].Offset > math.MaxUint32:
		return errOffset
	case len(x.Func)+len(x.File)+len(x.CallFile) > strictText:
		return errText
	}
	return nil
}

// absolute returns the absolute VA.
func (r *Reader) absolute(a address) (uint64, error) {
	switch {
	case !a.present:
		return 0, errNoVA
	case !a.delta:
		return a.v, nil
	case !r.hasPrev:
		return 0, errNoPrev
	}
	return r.prev + uint64(protowire.DecodeZigZag(a.v)), nil
}

func (r *Reader) decodePad() error {
	limit := maxFrames
	if r.Strict {
		limit = strictFrames
	}
	var va address
	cols := &r.cols
	for i := range cols {
		cols[i] = cols[i][:0]
	}
	f := fields{b: r.body}
	for f.next() {
		switch f.key {
		case 1<<3 | wireVarint:
			va = address{present: true, delta: true, v: f.val}
		case 5<<3 | wireVarint:
			va = address{present: true, v: f.val}
		case 2<<3 | wireVarint, 2<<3 | wireBytes, 3<<3 | wireVarint, 3<<3 | wireBytes, 4<<3 | wireVarint, 4<<3 | wireBytes:
			col := &cols[f.key>>3-2]
			*col = f.column(*col, limit)
		default:
			if f.key>>3 <= 5 {
				return errWire
			}
		}
	}
	switch {
	case f.err != nil:
		return f.err
	case len(cols[0]) != len(cols[1]) || len(cols[0]) != len(cols[2]):
		return errColumns
	}
	if err := r.padFrames(); err != nil {
		return err
	}
	v, err := r.absolute(va)
	if err != nil {
		return err
	}
	r.pad.VA, r.prev, r.hasPrev = v, v, true
	return nil
}

// padFrames converts the columns to frames.
func (r *Reader) padFrames() (err error) {
	x := &r.pad
	x.Frames = grown(x.Frames, len(r.cols[0]))
	bytes := 0
	for i := range x.Frames {
		f := &x.Frames[i]
		if f.Func, err = r.table.get(r.cols[0][i]); err != nil {
			return err
		}
		if f.File, err = r.table.get(r.cols[1][i]); err != nil {
			return err
		}
		if len(f.File) == 0 {
			f.File = nil
		}
		f.Line = r.cols[2][i]
		if bytes += len(f.Func) + len(f.File); r.Strict && bytes > strictText {
			return errText
		}
	}
	return nil
}
