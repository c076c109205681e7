package ppdb

import (
	"errors"
	"math"
)

// TokenType is the upper byte of the token of a method.
const TokenType = tableMethodDef

// Methods returns the number of methods. They are counted from 1; many have no
// sequence points.
func (f *File) Methods() int { return int(f.tables[tableMethod].count) }

// maxShared is the allowed excess, in bytes, of the sequence points of all methods
// over #Blob. Methods share points only if they refer to the same offset.
const maxShared = 256 << 10

// boundMethods removes the methods whose points exceed this limit: a damaged
// table can refer to the same points repeatedly.
func (f *File) boundMethods() {
	t := &f.tables[tableMethod]
	left := maxShared + len(f.blob)
	for row := uint32(1); row <= t.count; row++ {
		b, _ := f.blobAt(t.cell(row, 1))
		if left -= len(b); left < 0 {
			f.Problems.Add("tables", f.stream("#Blob").off, "methods from %#x on share too many sequence points", row)
			t.count = row - 1
		}
	}
}

// Point is a sequence point. It maps the code from IL up to the next point to a
// line, or to none if it is hidden.
type Point struct {
	IL           uint32
	Document     uint32 // zero: unknown
	Line, Column uint32
	Hidden       bool
}

// Points iterates over the sequence points of a method in ascending order of
// IL.
type Points struct {
	Point // the point read by Next

	rest    []byte
	line    int64 // of the last visible point
	column  int64
	started bool // a point has been read
	visible bool // a visible point has been read
	err     error
}

// errPoints is the error of invalid sequence points.
var errPoints = errors.New("invalid sequence points")

// Points returns an iterator over the sequence points of a method.
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

// Err returns the error that ended the iteration, or nil.
func (p *Points) Err() error { return p.err }

// number reads a number. An invalid one ends the iteration.
func (p *Points) number() uint32 {
	v, width := number(p.rest)
	p.consume(width)
	return v
}

func (p *Points) signed() int64 {
	v, width := signed(p.rest)
	p.consume(width)
	return int64(v)
}

func (p *Points) consume(width int) {
	if width == 0 {
		p.fail()
		return
	}
	p.rest = p.rest[width:]
}

func (p *Points) fail() { p.rest, p.err = nil, errPoints }

// Next reads the next point. It returns false at the end.
func (p *Points) Next() bool {
	for len(p.rest) > 0 {
		delta := p.number()
		if p.started && delta == 0 && p.err == nil {
			p.Document = p.number()
			continue
		}
		if delta > math.MaxUint32-p.IL {
			p.fail()
		}
		p.IL += delta
		p.started = true
		p.position()
		return p.err == nil
	}
	return false
}

// position reads the fields of a point after its IL.
func (p *Points) position() {
	lines, columns := p.number(), int64(0)
	if lines == 0 {
		columns = int64(p.number())
	} else {
		columns = p.signed()
	}
	if p.Hidden = lines == 0 && columns == 0; p.Hidden {
		return
	}
	if p.visible {
		p.line += p.signed()
		p.column += p.signed()
	} else {
		p.line, p.column = int64(p.number()), int64(p.number())
	}
	p.visible = true
	if uint64(p.line) > math.MaxUint32 || uint64(p.column) > math.MaxUint32 {
		p.fail()
	}
	p.Line, p.Column = uint32(p.line), uint32(p.column)
}
