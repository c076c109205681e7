package symcache

// mark is a place in a mangled name where something begins or ends.
type mark struct {
	at   int
	sort markSort
	end  int // markOpen: the number of the mark that closes it
}

type markSort uint8

const (
	markOpen  markSort = iota // what is inside starts behind this byte
	markClose                 // and ends before this one
	markScope                 // what stands before it in its bracket is a scope
)

// isMangled says whether a text is shared by the rules for mangled names.
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

// mangled is root for a mangled name, whose brackets are letters.
func (n *names) mangled(text []byte) uint32 {
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

// findMarks finds the brackets of an Itanium name: nested names, arguments of
// templates, types of functions, expressions, literals, what is local to a
// function. It knows as much of their grammar as tells their letters from
// others; where it is wrong less is shared, and nothing is lost. If something
// is not closed, what stands in it has no marks.
func (n *names) findMarks(text []byte) {
	n.marks, n.open = n.marks[:0], n.open[:0]
	for i := 2; i < len(text) && text[i] != '.'; {
		c, next := text[i], byte(0)
		if i+1 < len(text) {
			next = text[i+1]
		}
		in, at := n.bracketAt(text)
		switch {
		case isDigit(c) && in == 'L' && at != i-1: // the value of a literal
			i++
		case isDigit(c):
			n.markScope(in, i)
			i = sourceName(text, i)
		case (c == 'C' || c == 'D') && isDigit(next): // a constructor
			n.markScope(in, i)
			i += 2
		case c == 'S' || c == 'T': // a substitution
			for i++; i < len(text) && (isDigit(text[i]) || text[i] >= 'A' && text[i] <= 'Z'); i++ {
			}
		case c == 'A' && isDigit(next), c == 'L' && next >= 'a': // an array; a literal of a builtin type
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
			if i++; in == 'U' { // the number of a lambda
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

// bracketAt is the innermost open bracket and its place.
func (n *names) bracketAt(text []byte) (c byte, at int) {
	if k := len(n.open); k > 0 {
		at = n.marks[n.open[k-1]].at
		return text[at], at
	}
	return 0, 0
}

// markScope notes that a part of a nested name begins.
func (n *names) markScope(in byte, at int) {
	if in == 'N' {
		n.marks = append(n.marks, mark{at: at, sort: markScope})
	}
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// sourceName is the end of a name that its length stands in front of.
func sourceName(text []byte, i int) int {
	size := 0
	for ; i < len(text) && isDigit(text[i]) && size <= MaxText; i++ {
		size = size*10 + int(text[i]-'0')
	}
	return min(i+size, len(text))
}
