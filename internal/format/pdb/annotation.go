package pdb

// The operations of an inline site that assign lines to its code.
const (
	annotationEnd = iota
	annotationCode
	annotationBase
	annotationCodeDelta
	annotationLength
	annotationFile
	annotationLineDelta
	annotationLineEnd
	annotationRangeKind
	annotationColumn
	annotationColumnEndDelta
	annotationBoth
	annotationLengthAndDelta
	annotationColumnEnd
)

// annotations reads the numbers of annotations.
type annotations struct {
	b  []byte
	ok bool
}

// number reads a number of one, two or four bytes.
func (a *annotations) number() uint32 {
	if len(a.b) == 0 {
		a.ok = false
		return 0
	}
	first := uint32(a.b[0])
	switch {
	case first&0x80 == 0:
		a.b = a.b[1:]
		return first
	case first&0xc0 == 0x80 && len(a.b) >= 2:
		v := first&0x3f<<8 | uint32(a.b[1])
		a.b = a.b[2:]
		return v
	case first&0xe0 == 0xc0 && len(a.b) >= 4:
		v := first&0x1f<<24 | uint32(a.b[1])<<16 | uint32(a.b[2])<<8 | uint32(a.b[3])
		a.b = a.b[4:]
		return v
	}
	a.ok = false
	return 0
}

// signed decodes a number whose lowest bit is the sign.
func signed(v uint32) uint32 {
	if v&1 != 0 {
		return -(v >> 1)
	}
	return v >> 1
}

// siteLines appends the lines of an inline site whose procedure begins at
// entry. It stops at invalid annotations.
//
// Each annotation changes the state (offset, file, line, column), and emits a line if it
// advances the offset. The end of a line is the offset of the next one, unless its length
// is given.
func (m *Body) siteLines(data []byte, entry uint32, def inlinee) {
	a := annotations{data, true}
	first := len(m.Lines)
	at, base, line, length := entry, uint32(0), def.line, uint32(0)
	file, column := m.file(def.file), uint32(0)
	defFile, known := file, def.line != 0
	open := false // the last line has no end yet
	emit := func() {
		off := at + base
		if open {
			last := &m.Lines[len(m.Lines)-1]
			last.End = max(off, last.Off)
		}
		l := Line{Off: off, End: off + length, File: file, Line: line, Column: uint16(column)}
		if !known {
			l.File, l.Line, l.Column = 0, 0, 0
		}
		m.Lines = append(m.Lines, l)
		open, length = length == 0, 0
	}
	for len(a.b) > 0 {
		op := a.number()
		if op == annotationEnd || !a.ok || op > annotationColumnEnd {
			break
		}
		n := a.number()
		switch op {
		case annotationCode:
			at = n
		case annotationBase:
			base = n
		case annotationCodeDelta:
			at += n
			emit()
		case annotationLength:
			if open {
				last := &m.Lines[len(m.Lines)-1]
				last.End, open = max(last.Off, last.Off+n), false
			}
			at += n
		case annotationFile:
			if file = m.file(n); file == 0 {
				file = defFile // some compilers write invalid file offsets
			}
		case annotationLineDelta:
			line += signed(n)
		case annotationColumn:
			column = n
		case annotationBoth:
			at += n & 15
			line += signed(n >> 4)
			emit()
		case annotationLengthAndDelta:
			length = n
			at += a.number()
			emit()
		}
	}
	if open {
		m.Lines[len(m.Lines)-1].End = m.Lines[len(m.Lines)-1].Off + 1
	}
	added := m.Lines[first:]
	n := 0
	for _, l := range added {
		if l.End > l.Off {
			added[n] = l
			n++
		}
	}
	m.Lines = m.Lines[:first+n]
	sortLines(m.Lines[first:])
}
