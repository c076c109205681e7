package strtab

// The common parts of mangled names are found by a scanner for the few letters
// that are brackets, as a table must not need a demangler, and as that would
// parse all of the name. It is worth its lines: the strings of the 38,055 names
// that libLLVM 14 exports take 1.61 MB with it and 2.93 MB without.

// mark is the position in a mangled name of the start or end of a part.
type mark struct {
	at   int
	sort markSort
	end  int // of markOpen: index of the mark that closes it
}

// scanner finds the marks of mangled names. It reuses its memory.
type scanner struct {
	marks []mark
	open  []int // indexes in marks of open brackets
}

type markSort uint8

const (
	markOpen  markSort = iota // a part starts after this byte
	markClose                 // a part ends before this byte
	markScope                 // the text before it in its bracket is a scope
)

// isMangled reports whether the rules for mangled names apply to a text.
func isMangled(text []byte) bool {
	if len(text) <= worthEntry || text[0] != '_' || text[1] != 'Z' {
		return false
	}
	for _, c := range text {
		if c >= 0x80 {
			return false
		}
	}
	return true
}

// scan finds the brackets of an Itanium name: nested names, template arguments, function
// types, expressions, literals and local names. It implements only the part of the
// grammar that distinguishes brackets from other letters; after an error less text is
// shared, but the text stays complete. Brackets that are not closed have no marks.
func (s *scanner) scan(text []byte) {
	s.marks, s.open = s.marks[:0], s.open[:0]
	for i := 2; i < len(text) && text[i] != '.'; {
		c, next := text[i], byte(0)
		if i+1 < len(text) {
			next = text[i+1]
		}
		in, at := s.bracketAt(text)
		switch {
		case isDigit(c) && in == 'L' && at != i-1: // value of a literal
			i++
		case isDigit(c):
			s.markScope(in, i)
			i = sourceName(text, i)
		case (c == 'C' || c == 'D') && isDigit(next): // constructor
			s.markScope(in, i)
			i += 2
		case c == 'S' || c == 'T': // substitution
			for i++; i < len(text) && (isDigit(text[i]) || text[i] >= 'A' && text[i] <= 'Z'); i++ {
			}
		case c == 'A' && isDigit(next), c == 'L' && next >= 'a': // array, or literal of a builtin type
			for i++; i < len(text) && text[i] != '_' && text[i] != 'E'; i++ {
			}
			i++
		case c == 'N', c == 'I', c == 'F', c == 'X', c == 'J', c == 'L', c == 'Z' && in != 'L', c == 'U' && next == 'l':
			if len(s.open) == maxOpen-1 {
				s.marks = s.marks[:0]
				return
			}
			s.open = append(s.open, len(s.marks))
			s.marks = append(s.marks, mark{at: i, sort: markOpen})
			i++
		case c == 'E':
			if k := len(s.open) - 1; k >= 0 {
				s.marks[s.open[k]].end = len(s.marks)
				s.open = s.open[:k]
				s.marks = append(s.marks, mark{at: i, sort: markClose})
			}
			if i++; in == 'U' { // number of a lambda
				for i < len(text) && isDigit(text[i]) {
					i++
				}
			}
		default:
			i++
		}
	}
	if len(s.open) > 0 {
		s.marks = s.marks[:s.open[0]]
	}
}

// bracketAt returns the innermost open bracket and its offset.
func (s *scanner) bracketAt(text []byte) (c byte, at int) {
	if k := len(s.open); k > 0 {
		at = s.marks[s.open[k-1]].at
		return text[at], at
	}
	return 0, 0
}

// markScope adds a mark at the start of a part of a nested name.
func (s *scanner) markScope(in byte, at int) {
	if in == 'N' {
		s.marks = append(s.marks, mark{at: at, sort: markScope})
	}
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// sourceName returns the end of a name that follows its length at i.
func sourceName(text []byte, i int) int {
	size := 0
	for ; i < len(text) && isDigit(text[i]) && size <= MaxText; i++ {
		size = size*10 + int(text[i]-'0')
	}
	return min(i+size, len(text))
}
