package breakpad

import (
	"bytes"
	"slices"
	"strings"

	"symbolon/internal/fault"
	"symbolon/internal/ident"
)

const (
	// maxFunc limits the bytes of text of one FUNC.
	maxFunc = 4 << 20
	// maxRanges limits the ranges of the INLINE records of one FUNC.
	maxRanges = 1 << 18
	// maxInfos limits the INFO records that are kept.
	maxInfos = 64
)

// Magic is the start of every file.
const Magic = "MODULE "

// unknownName replaces a missing name.
const unknownName = "<unknown>"

// A Scanner builds the Index of a file that is written to it. The zero value is
// ready to use.
type Scanner struct {
	ix   Index
	off  int64  // offset of the current line
	line uint32 // number of the current line
	held []byte // start of the current line, if it is in an earlier chunk
	more int64  // bytes of the current line beyond held, if it is long

	open  *Span // the FUNC or STACK CFI INIT of the following records
	end   int64 // end of the last record that belongs to open
	limit int64 // largest end of the text of an open FUNC, else -1
	body  bool  // the first FILE, FUNC or PUBLIC has been seen
	dead  bool  // the rest is ignored

	ballots, votes int // INLINE records that were examined for the dialect; balance of those of the older one
}

// Write scans the next bytes of the file. It never fails.
func (s *Scanner) Write(p []byte) (int, error) {
	n := len(p)
	s.ix.Size += int64(n)
	for len(p) > 0 && !s.dead {
		i := bytes.IndexByte(p, '\n')
		switch end := s.off + int64(i); {
		case i < 0:
			s.hold(p)
			return n, nil
		case len(s.held) > 0:
			s.hold(p[:i])
			s.flush()
		case p[0]-'0' <= 9 && end <= s.limit && i > 0:
			// A line record, the most frequent line.
			s.line++
			s.off, s.end = end, end
		default:
			s.record(p[:min(i, MaxName)], int64(i))
			s.off = end
		}
		s.off++
		p = p[i+1:]
	}
	return n, nil
}

// hold stores the start of a line that ends in a later chunk.
func (s *Scanner) hold(p []byte) {
	keep := min(len(p), MaxName-len(s.held))
	s.held = append(s.held, p[:keep]...)
	s.more += int64(len(p) - keep)
}

// flush scans the stored line.
func (s *Scanner) flush() {
	n := int64(len(s.held)) + s.more
	s.record(s.held, n)
	s.off += n
	s.held, s.more = s.held[:0], 0
}

// Finish returns the Index. The Scanner must not be used afterwards.
func (s *Scanner) Finish() (*Index, error) {
	if len(s.held) > 0 && !s.dead {
		s.flush()
	}
	s.close()
	s.held = nil
	x := &s.ix
	if x.Module.ID == "" {
		return nil, fault.New(fault.Malformed, "breakpad file, line 1", "no usable MODULE record")
	}
	if !x.usable() && x.Bad.damaged() {
		return nil, fault.New(fault.Malformed, "breakpad file", "no usable record: %d damaged, the first in line %d",
			x.Bad.Total(), x.Bad.First[0].Line)
	}
	for _, refs := range []Refs{x.Files, x.Origins} {
		if !slices.IsSortedFunc(refs, compareRef) {
			slices.SortFunc(refs, compareRef)
		}
	}
	return x, nil
}

// record scans one line. Of a long line it gets the first MaxName bytes; n is
// the full length.
func (s *Scanner) record(line []byte, n int64) {
	s.line++
	switch {
	case s.off == 0:
		s.first(line, n)
		return
	case len(line) == 0:
		return
	}
	switch c := line[0]; {
	case c == 'F' && hasWord(line, "FUNC"):
		s.close()
		s.body = true
		s.judge(s.funcRecord(line, n), n, BadFunc)
	case c == 'F' && hasWord(line, "FILE"):
		s.body = true
		s.judge(s.file(line, n), n, BadFile)
	case c == 'I' && hasWord(line, "INLINE"):
		s.inline(line, n)
	case c == 'I' && hasWord(line, "INLINE_ORIGIN"):
		s.judge(s.origin(line, n), n, BadOrigin)
	case c == 'I' && hasWord(line, "INFO"):
		s.judge(s.info(line, n), n, BadInfo)
	case c == 'P' && hasWord(line, "PUBLIC"):
		s.close()
		s.body = true
		s.judge(s.public(line, n), n, BadPublic)
	case c == 'S' && hasWord(line, "STACK"):
		if s.limit >= 0 {
			s.close()
		}
		s.judge(s.stack(line, n), n, BadStack)
	case c == 'M' && hasWord(line, "MODULE"):
		s.close()
		s.ix.Bad.Add(BadModule, s.line)
		s.dead = !s.same(line)
	case isRow(line):
		s.member(n)
	case len(trimEnd(line)) > 0:
		s.ix.Bad.Add(Unknown, s.line)
	}
}

// judge counts an invalid record.
func (s *Scanner) judge(ok bool, n int64, k Kind) {
	switch {
	case n > MaxLine:
		s.ix.Bad.Add(TooLong, s.line)
	case !ok:
		s.ix.Bad.Add(k, s.line)
	}
}

// first scans the first line, the MODULE record.
func (s *Scanner) first(line []byte, n int64) {
	m, ok := parseModule(line)
	if !ok || n > MaxLine {
		s.dead = true
		return
	}
	s.ix.Module, s.limit = m, -1
}

// same reports whether a second MODULE has the id of the first.
func (s *Scanner) same(line []byte) bool {
	m, ok := parseModule(line)
	return !ok || strings.EqualFold(m.ID, s.ix.Module.ID)
}

func parseModule(line []byte) (m Module, ok bool) {
	line = trimEnd(line)
	if !hasWord(line, "MODULE") {
		return m, false
	}
	os, rest := word(body(line, "MODULE"))
	arch, rest := word(rest)
	id, name := word(rest)
	for _, c := range id {
		if digit[c] > 15 {
			return m, false
		}
	}
	if len(name) == 0 {
		name = []byte(unknownName)
	}
	return Module{string(os), string(arch), string(id), string(name)}, len(id) > 0
}

func (s *Scanner) info(line []byte, n int64) bool {
	scope, rest := word(body(trimEnd(line), "INFO"))
	if len(scope) == 0 || n > MaxLine {
		return false
	}
	if len(s.ix.Infos) < maxInfos {
		s.ix.Infos = append(s.ix.Infos, Info{string(scope), string(rest), !s.body})
	}
	return true
}

func (s *Scanner) file(line []byte, n int64) bool {
	id, path, ok := decField(body(trimEnd(line), "FILE"))
	if !ok || n > MaxLine {
		return false
	}
	s.ix.Files = append(s.ix.Files, Ref{id, s.off})
	if vague(path) {
		s.ix.Vague = append(s.ix.Vague, s.off)
	}
	return true
}

// vague reports whether the last part of a path is not a name.
func vague(path []byte) bool {
	path = bytes.TrimRight(path, `/\`)
	last := ident.FileName(path)
	return len(last) == 0 || string(last) == "." || string(last) == ".."
}

func (s *Scanner) origin(line []byte, n int64) bool {
	id, _, ok := decField(body(trimEnd(line), "INLINE_ORIGIN"))
	if !ok || n > MaxLine {
		return false
	}
	s.ix.Origins = append(s.ix.Origins, Ref{id, s.off})
	return true
}

func (s *Scanner) public(line []byte, n int64) bool {
	p, ok := ParsePublic(line)
	if !ok || n > MaxLine {
		return false
	}
	s.ix.Publics = append(s.ix.Publics, Symbol{p.Addr, s.off})
	return true
}

func (s *Scanner) funcRecord(line []byte, n int64) bool {
	var f Func
	if !f.header(trimEnd(line)) || n > MaxLine {
		return false
	}
	s.ix.Funcs = append(s.ix.Funcs, Span{Addr: f.Addr, Size: f.Size, Off: s.off, Line: s.line})
	s.open = &s.ix.Funcs[len(s.ix.Funcs)-1]
	s.end, s.limit = s.off+n, s.off+maxFunc
	return true
}

// inline scans an INLINE record. The number of its fields shows the dialect; the first 16
// records vote, since one of them may be damaged.
func (s *Scanner) inline(line []byte, n int64) {
	if s.ballots < 16 && n <= MaxName {
		s.ballots++
		words := 0
		for b := body(trimEnd(line), "INLINE"); len(b) > 0; words++ {
			_, b = word(b)
		}
		s.votes += 2*(words%2) - 1
		s.ix.Old = s.votes > 0
	}
	s.member(n)
}

// member extends the open FUNC by a record. ParseFunc validates the record.
func (s *Scanner) member(n int64) {
	end := s.off + n
	switch {
	case s.limit < 0:
		s.ix.Bad.Add(Orphan, s.line)
	case end > s.limit:
		s.ix.Bad.Add(TooLong, s.line)
	default:
		s.end = end
	}
}

// close ends the open record.
func (s *Scanner) close() {
	if s.open != nil {
		s.open.Len = uint32(s.end - s.open.Off)
	}
	s.open, s.limit = nil, -1
}
