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

// mangled is like root, but for a mangled name, whose brackets are letters.
func (n *Builder) mangled(text []byte) uint32 {
	n.findMarks(text)
	from := 0
	for m := 0; m < len(n.marks); m++ {
		k := n.marks[m]
		n.out = append(n.out, text[from:k.at]...)
		from = k.at
		switch k.sort {
		case markScope:
			n.stack[len(n.stack)-1].prefix = len(n.out)
		case markClose:
			n.closeAt(len(n.stack) - 1)
		case markOpen:
			from++
			n.out = append(n.out, text[k.at])
			end, part := n.marks[k.end].at, -1
			if end-k.at > worthEntry {
				if part = n.part(text[from:end]); n.known[part].level > 0 {
					n.refer(n.known[part])
					from, m = end, k.end
					continue
				}
			}
			n.openBracket('E', part)
		}
	}
	n.out = append(n.out, text[from:]...)
	return n.whole(n.stack[0].level)
}

// findMarks finds the brackets of an Itanium name: nested names, template
// arguments, function types, expressions, literals and local names. It knows only
// the part of the grammar that distinguishes brackets from other letters; after
// an error less text is shared, but the text stays complete. Brackets that are
// not closed have no marks.
func (n *Builder) findMarks(text []byte) {
	n.marks, n.open = n.marks[:0], n.open[:0]
	for i := 2; i < len(text) && text[i] != '.'; {
		c, next := text[i], byte(0)
		if i+1 < len(text) {
			next = text[i+1]
		}
		in, at := n.bracketAt(text)
		switch {
		case isDigit(c) && in == 'L' && at != i-1: // value of a literal
			i++
		case isDigit(c):
			n.markScope(in, i)
			i = sourceName(text, i)
		case (c == 'C' || c == 'D') && isDigit(next): // constructor
			n.markScope(in, i)
			i += 2
		case c == 'S' || c == 'T': // substitution
			for i++; i < len(text) && (isDigit(text[i]) || text[i] >= 'A' && text[i] <= 'Z'); i++ {
			}
		case c == 'A' && isDigit(next), c == 'L' && next >= 'a': // array, or literal of a builtin type
			for i++; i < len(text) && text[i] != '_' && text[i] != 'E'; i++ {
			}
			i++
		case c == 'N', c == 'I', c == 'F', c == 'X', c == 'J', c == 'L', c == 'Z' && in != 'L', c == 'U' && next == 'l':
			if len(n.open) == maxOpen-1 {
				n.marks = n.marks[:0]
				return
			}
			n.open = append(n.open, len(n.marks))
			n.marks = append(n.marks, mark{at: i, sort: markOpen})
			i++
		case c == 'E':
			if k := len(n.open) - 1; k >= 0 {
				n.marks[n.open[k]].end = len(n.marks)
				n.open = n.open[:k]
				n.marks = append(n.marks, mark{at: i, sort: markClose})
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
	if len(n.open) > 0 {
		n.marks = n.marks[:n.open[0]]
	}
}

// bracketAt returns the innermost open bracket and its offset.
func (n *Builder) bracketAt(text []byte) (c byte, at int) {
	if k := len(n.open); k > 0 {
		at = n.marks[n.open[k-1]].at
		return text[at], at
	}
	return 0, 0
}

// markScope adds a mark at the start of a part of a nested name.
func (n *Builder) markScope(in byte, at int) {
	if in == 'N' {
		n.marks = append(n.marks, mark{at: at, sort: markScope})
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
