package breakpad

import "bytes"

// A Func is a FUNC record with its INLINE and line records.
type Func struct {
	Addr, Size, Params uint64
	Multiple           bool // other names have the same address
	Inlines            []Inline
	Ranges             []Range // of all Inlines
	Lines              []Line
}

// Inline is an INLINE record. In the older dialect it lacks CallFile.
type Inline struct {
	Depth    uint32
	CallLine uint32
	CallFile uint64
	Origin   uint64
	First, N int // its Ranges
}

// Range is an address range of an Inline.
type Range struct{ Addr, Size uint64 }

// Line is a line record.
type Line struct {
	Addr, Size uint64
	File       uint64
	Line       uint32
}

// Public is a PUBLIC record.
type Public struct {
	Addr, Params uint64
	Multiple     bool
}

// ParseFunc parses the text of s, a FUNC with its records, into f, whose memory
// is reused. Damaged records are skipped, and counted in bad unless that is
// nil. It returns false if the FUNC line itself is damaged.
func (x *Index) ParseFunc(s Span, text []byte, f *Func, bad *Report) bool {
	f.Inlines, f.Ranges, f.Lines = f.Inlines[:0], f.Ranges[:0], f.Lines[:0]
	head, rest := cutLine(text)
	if !f.header(trimEnd(head[:min(len(head), MaxName)])) {
		return false
	}
	for line := s.Line; len(rest) > 0; {
		line++
		if n := f.parseFast(rest, x.Old); n > 0 {
			rest = rest[n:]
			continue
		}
		head, rest = cutLine(rest)
		if k, ok := f.member(head, x.Old); !ok && bad != nil {
			bad.Add(k, line)
		}
	}
	return true
}

func cutLine(text []byte) (line, rest []byte) {
	if i := bytes.IndexByte(text, '\n'); i >= 0 {
		return text[:i], text[i+1:]
	}
	return text, nil
}

// member parses a line below a FUNC. The Scanner has already counted lines of
// other kinds.
func (f *Func) member(line []byte, old bool) (Kind, bool) {
	if len(line) > MaxLine {
		return TooLong, !isRow(line) && !hasWord(line, "INLINE")
	}
	if hasWord(line, "INLINE") {
		if len(f.Ranges) > maxRanges {
			return TooLong, false
		}
		return BadInline, f.inline(trimEnd(line), old)
	}
	return BadRow, f.row(line) || !isRow(line)
}

// header parses the FUNC line, whose end is trimmed.
func (f *Func) header(line []byte) bool {
	if !hasWord(line, "FUNC") {
		return false
	}
	b, multiple, ok := flag(body(line, "FUNC"))
	if !ok {
		return false
	}
	f.Multiple = multiple
	if f.Addr, b, ok = hexField(b); !ok {
		return false
	}
	if f.Size, b, ok = hexField(b); !ok {
		return false
	}
	f.Params, _, ok = hexField(b)
	return ok
}

// flag parses the optional m before an address.
func flag(b []byte) (rest []byte, multiple, ok bool) {
	if len(b) == 0 || b[0] != 'm' {
		return b, false, true
	}
	b = b[1:]
	return skipBlanks(b), true, len(b) > 0 && isBlank(b[0])
}

func (f *Func) row(line []byte) bool {
	var r Line
	var ok bool
	b := skipBlanks(line)
	if r.Addr, b, ok = hexField(b); !ok {
		return false
	}
	if r.Size, b, ok = hexField(b); !ok {
		return false
	}
	if r.Line, b, ok = lineField(b); !ok {
		return false
	}
	if r.File, b, ok = decField(b); !ok || len(trimEnd(b)) > 0 {
		return false
	}
	f.Lines = append(f.Lines, r)
	return true
}

// inline parses an INLINE line, whose end is trimmed.
func (f *Func) inline(line []byte, old bool) bool {
	b := body(line, "INLINE")
	var v [4]uint64
	fields := v[:]
	if old {
		fields = v[:3]
	}
	var ok bool
	for i := range fields {
		if fields[i], b, ok = decField(b); !ok {
			return false
		}
	}
	in := Inline{Depth: uint32(v[0]), CallLine: uint32(v[1]), CallFile: v[2], Origin: v[3], First: len(f.Ranges)}
	if old {
		in.CallFile, in.Origin = 0, v[2]
	}
	if !f.ranges(b) {
		return false
	}
	in.N = len(f.Ranges) - in.First
	f.Inlines = append(f.Inlines, in)
	return true
}

// ranges parses one range or more. If one is damaged, none is kept.
func (f *Func) ranges(b []byte) bool {
	first := len(f.Ranges)
	for {
		var r Range
		var ok bool
		if r.Addr, b, ok = hexField(b); ok {
			r.Size, b, ok = hexField(b)
		}
		if !ok {
			f.Ranges = f.Ranges[:first]
			return false
		}
		f.Ranges = append(f.Ranges, r)
		if len(b) == 0 {
			return true
		}
	}
}

// ParsePublic parses a PUBLIC line.
func ParsePublic(line []byte) (p Public, ok bool) {
	line = trimEnd(line)
	if !hasWord(line, "PUBLIC") {
		return p, false
	}
	b, multiple, ok := flag(body(line, "PUBLIC"))
	if !ok {
		return p, false
	}
	p.Multiple = multiple
	if p.Addr, b, ok = hexField(b); !ok {
		return p, false
	}
	p.Params, _, ok = hexField(b)
	return p, ok
}
