package breakpad

// stack scans a STACK record.
func (s *Scanner) stack(line []byte, n int64) bool {
	if n > MaxLine {
		s.close()
		return false
	}
	b := body(line, "STACK")
	if !hasWord(b, "CFI") {
		s.close()
		return hasWord(b, "WIN") && s.win(line, n)
	}
	b = body(b, "CFI")
	end := s.off + n
	if hasWord(b, "INIT") {
		s.close()
		c, ok := ParseCFI(line)
		if !ok {
			return false
		}
		s.ix.Unwind++
		span := Span{Addr: c.Addr, Size: c.Size, Off: s.off, Line: s.line}
		if s.Brief {
			s.spare = span
			s.open = &s.spare
		} else {
			s.ix.CFI = append(s.ix.CFI, span)
			s.open = &s.ix.CFI[len(s.ix.CFI)-1]
		}
		s.end = end
		return true
	}
	if _, _, ok := hexField(b); !ok {
		return false
	}
	switch {
	case s.open == nil:
		s.ix.Bad.Add(Orphan, s.line)
	case end-s.open.Off > maxFunc:
		s.ix.Bad.Add(TooLong, s.line)
	default:
		s.end = end
	}
	return true
}

func (s *Scanner) win(line []byte, n int64) bool {
	w, ok := ParseWin(line)
	if ok {
		s.ix.Unwind++
		if !s.Brief {
			s.ix.Win = append(s.ix.Win, Span{Addr: w.Addr, Size: w.Size, Off: s.off, Len: uint32(n), Line: s.line})
		}
	}
	return ok
}

// CFI is a STACK CFI INIT record with the STACK CFI records that belong to it.
type CFI struct {
	Addr, Size uint64
	Rules      []byte // valid from Addr on
	rest       []byte
}

// ParseCFI parses the text of a Span of Index.CFI.
func ParseCFI(text []byte) (c CFI, ok bool) {
	line, rest := cutLine(text)
	b, ok := cfiBody(line)
	if !ok || !hasWord(b, "INIT") {
		return c, false
	}
	if c.Addr, b, ok = hexField(body(b, "INIT")); !ok {
		return c, false
	}
	if c.Size, b, ok = hexField(b); !ok {
		return c, false
	}
	c.Rules, c.rest = b, rest
	return c, true
}

// Next returns the next STACK CFI record: rules that replace those of the same
// registers from addr on. Damaged records are skipped.
func (c *CFI) Next() (addr uint64, rules []byte, ok bool) {
	for len(c.rest) > 0 {
		var line []byte
		line, c.rest = cutLine(c.rest)
		if b, is := cfiBody(line); is && len(line) <= MaxLine {
			if addr, rules, ok = hexField(b); ok {
				return addr, rules, true
			}
		}
	}
	return 0, nil, false
}

// cfiBody returns the text after STACK CFI.
func cfiBody(line []byte) ([]byte, bool) {
	line = trimEnd(line)
	if !hasWord(line, "STACK") {
		return nil, false
	}
	b := body(line, "STACK")
	if !hasWord(b, "CFI") {
		return nil, false
	}
	return body(b, "CFI"), true
}

// Types of STACK WIN records.
const (
	WinFPO       = 0
	WinFrameData = 4
)

// Win is a STACK WIN record. Its last field is a Program if ProgramGiven, else
// AllocatesBasePointer.
type Win struct {
	Type                               uint32
	Addr, Size                         uint64
	Prolog, Epilog, Params, SavedRegs  uint32
	Locals, MaxStack                   uint32
	Program                            []byte
	AllocatesBasePointer, ProgramGiven bool
}

// ParseWin parses the text of a Span of Index.Win.
func ParseWin(text []byte) (w Win, ok bool) {
	line := firstLine(text)
	if !hasWord(line, "STACK") || !hasWord(body(line, "STACK"), "WIN") {
		return w, false
	}
	b := body(body(line, "STACK"), "WIN")
	var v [10]uint64
	for i := range v {
		if v[i], b, ok = hexField(b); !ok || v[i] > 1<<32-1 {
			return w, false
		}
	}
	w = Win{
		Type: uint32(v[0]), Addr: v[1], Size: v[2], Prolog: uint32(v[3]), Epilog: uint32(v[4]),
		Params: uint32(v[5]), SavedRegs: uint32(v[6]), Locals: uint32(v[7]), MaxStack: uint32(v[8]),
		ProgramGiven: v[9] != 0,
	}
	if w.ProgramGiven {
		w.Program = b
		return w, len(b) > 0
	}
	bp, _, ok := hexField(b)
	w.AllocatesBasePointer = bp != 0
	return w, ok
}
