package breakpad

import "symbolon/internal/sym"

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
		u, ok := ParseStack(line)
		if !ok {
			return false
		}
		s.ix.Unwind++
		s.ix.CFI = append(s.ix.CFI, Span{Addr: u.Addr, Size: u.Size, Off: s.off, Line: s.line})
		s.open = &s.ix.CFI[len(s.ix.CFI)-1]
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
	w, ok := ParseStack(line)
	if !ok {
		return false
	}
	s.ix.Unwind++
	span := Span{Addr: w.Addr, Size: w.Size, Off: s.off, Len: uint32(n), Line: s.line}
	switch {
	case w.Windows.Type == sym.WindowsProgram && w.Windows.HasProgram:
		s.ix.Win = append(s.ix.Win, span)
	case w.Windows.Type == sym.WindowsPlain && !w.Windows.HasProgram:
		s.ix.WinFPO = append(s.ix.WinFPO, span)
	}
	return true
}

// ParseStack reads a STACK record.
func ParseStack(line []byte) (u sym.Unwind, ok bool) {
	if line = trimEnd(line); !hasWord(line, "STACK") {
		return u, false
	}
	b := body(line, "STACK")
	if hasWord(b, "WIN") {
		return parseWin(body(b, "WIN"))
	}
	if !hasWord(b, "CFI") {
		return u, false
	}
	b = body(b, "CFI")
	isBegin := hasWord(b, "INIT")
	if isBegin {
		b = body(b, "INIT")
	}
	if u.Addr, b, ok = hexField(b); !ok {
		return u, false
	}
	if !isBegin {
		u.Kind = sym.UnwindChange
	} else if u.Size, b, ok = hexField(b); !ok {
		return u, false
	}
	u.Rules = b
	return u, true
}

// parseWin reads the fields of a STACK WIN record.
func parseWin(b []byte) (u sym.Unwind, ok bool) {
	var v [10]uint64
	for i := range v {
		if v[i], b, ok = hexField(b); !ok || v[i] > 1<<32-1 {
			return u, false
		}
	}
	u = sym.Unwind{Kind: sym.UnwindWindows, Addr: v[1], Size: v[2], Windows: sym.WindowsFrame{
		Type: uint32(v[0]), Prolog: uint32(v[3]), Epilog: uint32(v[4]), Params: uint32(v[5]),
		Saved: uint32(v[6]), Locals: uint32(v[7]), Stack: uint32(v[8]), HasProgram: v[9] != 0,
	}}
	if u.Windows.HasProgram {
		u.Rules = b
		return u, len(b) > 0
	}
	base, _, ok := hexField(b)
	u.Windows.UsesBase = base != 0
	return u, ok
}
