package ppdb

import (
	"errors"
	"math"
)

// TokenType is the upper byte of the token of a method.
const TokenType = tableMethodDef

// Methods is how many methods there are. They are counted from 1; many have no
// sequence points.
func (f *File) Methods() int { return int(f.tables[tableMethod].count) }

// maxShared is how many bytes the sequence points of all methods may have more
// than #Blob. Those of two methods are alike only if they stand in the same place.
const maxShared = 256 << 10

// boundMethods leaves out the methods whose points would be more than the file has
// room for: a broken one can refer to the same points over and over.
func (f *File) boundMethods() {
	t := &f.tables[tableMethod]
	left := maxShared + len(f.blob)
	for row := uint32(1); row <= t.count; row++ {
		b, _ := f.blobAt(t.cell(row, 1))
		if left -= len(b); left < 0 {
			f.problem("tables", f.stream("#Blob").off, "methods from %#x on share their sequence points with too many others", row)
			t.count = row - 1
		}
	}
}

// Point is a sequence point: the code from IL on, up to the next one, comes from
// there, or, if it is hidden, from no line.
type Point struct {
	IL           uint32
	Document     uint32 // zero: not known
	Line, Column uint32
	Hidden       bool
}

// Points reads the sequence points of one method, by rising IL.
type Points struct {
	Point // the last that Next has read

	rest   []byte
	line   int64 // of the last one that is not hidden
	column int64
	begun  bool // there is one
	placed bool // there is one that is not hidden
	err    error
}

// errPoints is what is wrong with sequence points.
var errPoints = errors.New("broken sequence points")

// Points begins to read the sequence points of a method.
func (f *File) Points(method uint32) Points {
	t := &f.tables[tableMethod]
	var p Points
	p.Document = t.cell(method, 0)
	b, whole := f.blobAt(t.cell(method, 1))
	if !whole {
		p.err = errPoints
	}
	if len(b) == 0 {
		return p
	}
	p.rest = b
	p.number() // signature of local variables
	if p.Document == 0 {
		p.Document = p.number()
	}
	return p
}

// Err is what ended Next before the last point.
func (p *Points) Err() error { return p.err }

// number takes a number. A broken one ends everything.
func (p *Points) number() uint32 {
	v, width := number(p.rest)
	p.take(width)
	return v
}

func (p *Points) signed() int64 {
	v, width := signed(p.rest)
	p.take(width)
	return int64(v)
}

func (p *Points) take(width int) {
	if width == 0 {
		p.fail()
		return
	}
	p.rest = p.rest[width:]
}

func (p *Points) fail() { p.rest, p.err = nil, errPoints }

// Next reads the next point. It is false at the end.
func (p *Points) Next() bool {
	for len(p.rest) > 0 {
		delta := p.number()
		if p.begun && delta == 0 && p.err == nil {
			p.Document = p.number()
			continue
		}
		if delta > math.MaxUint32-p.IL {
			p.fail()
		}
		p.IL += delta
		p.begun = true
		p.place()
		return p.err == nil
	}
	return false
}

// place reads what a point says behind its IL.
func (p *Points) place() {
	lines, columns := p.number(), int64(0)
	if lines == 0 {
		columns = int64(p.number())
	} else {
		columns = p.signed()
	}
	if p.Hidden = lines == 0 && columns == 0; p.Hidden {
		return
	}
	if p.placed {
		p.line += p.signed()
		p.column += p.signed()
	} else {
		p.line, p.column = int64(p.number()), int64(p.number())
	}
	p.placed = true
	if uint64(p.line) > math.MaxUint32 || uint64(p.column) > math.MaxUint32 {
		p.fail()
	}
	p.Line, p.Column = uint32(p.line), uint32(p.column)
}
