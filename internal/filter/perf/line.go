package perf

import (
	"bytes"
	"strconv"

	"symbolon/internal/filter"
)

// frame is an address in a line.
type frame struct {
	addr       uint64
	start, end int // of the name
	isUnknown  bool
	path       []byte
}

// parseFrame reads a line of a call chain: an address, a name and a path.
func parseFrame(line []byte) (f frame, ok bool) {
	at := 0
	for at < len(line) && (line[at] == '\t' || line[at] == ' ') {
		at++
	}
	if at == 0 {
		return f, false
	}
	n := bytes.IndexByte(line[at:], ' ')
	if n < 0 || !parseHex(line[at:at+n], &f.addr) {
		return f, false
	}
	f.start = at + n + 1
	// A sample may begin with the name of a process that looks like a number.
	ok = f.parseName(line) && (line[0] == '\t' || f.isUnknown)
	return f, ok
}

// parseSample reads a line of a sample without a call chain, which ends with an
// address, a name and a path.
func parseSample(line []byte) (f frame, ok bool) {
	if len(line) == 0 || line[len(line)-1] != ')' {
		return f, false
	}
	for end := len(line); ; {
		i := bytes.LastIndex(line[:end], []byte(": "))
		if i < 0 {
			return f, false
		}
		at := i + 1
		for line[at] == ' ' { // the line ends with a parenthesis
			at++
		}
		if n := bytes.IndexByte(line[at:], ' '); n > 0 && parseHex(line[at:at+n], &f.addr) {
			f.start = at + n + 1
			return f, f.parseName(line)
		}
		end = i
	}
}

// parseName reads the name and the path that follow an address. The path is in the
// last parentheses and may have others.
func (f *frame) parseName(line []byte) bool {
	open, depth := len(line)-1, 0
	for ; open > f.start; open-- {
		switch line[open] {
		case ')':
			depth++
		case '(':
			depth--
		}
		if depth == 0 {
			break
		}
	}
	if open <= f.start || depth != 0 || open == len(line)-1 || line[open-1] != ' ' {
		return false
	}
	f.end, f.path = open-1, line[open+1:len(line)-1]
	f.isUnknown = string(line[f.start:f.end]) == "[unknown]"
	if i := bytes.LastIndex(f.path, []byte("+0x")); i > 0 { // field dsoff
		var offset uint64
		if parseHex(f.path[i+3:], &offset) {
			f.path, f.addr = f.path[:i], offset
		}
	}
	return true
}

func parseHex(digits []byte, v *uint64) bool {
	if len(digits) == 0 || len(digits) > 16 {
		return false
	}
	*v = 0
	for _, c := range digits {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		default:
			return false
		}
		*v = *v<<4 | uint64(c)
	}
	return true
}

// process returns the number of the process, or else the thread, before the time of
// a sample.
func process(line []byte) int {
	var last []byte
	for field := range bytes.FieldsSeq(line) {
		if isTime(field) {
			break
		}
		if field[0] != '[' {
			last = field
		}
	}
	pid, _, _ := bytes.Cut(last, []byte("/"))
	n, _ := strconv.Atoi(string(pid))
	return n
}

// isTime reports whether a field is the time of a sample, with six digits after the
// point or nine with --ns: 81.123456:
func isTime(field []byte) bool {
	seconds, fraction, ok := bytes.Cut(bytes.TrimSuffix(field, []byte(":")), []byte("."))
	return ok && field[len(field)-1] == ':' && isDecimal(seconds) && isDecimal(fraction) && len(fraction) >= 6
}

func isDecimal(b []byte) bool { return len(b) > 0 && len(bytes.Trim(b, "0123456789")) == 0 }

// Location is a module and an offset in its file, instead of a name.
type Location struct {
	Module   []byte
	Addr     uint64
	IsModule bool // Module is not the name of a function
	Len      int  // of the text without a suffix such as _[k]
}

// ParseLocation reads the name of a frame that is MODULE+0xOFFSET, the same in
// brackets, or [MODULE <OFFSET>].
func ParseLocation(name []byte) (l Location, ok bool) {
	if n := len(name) - 4; n > 0 && name[n] == '_' && name[n+1] == '[' && name[n+3] == ']' {
		name = name[:n]
	}
	l.Len = len(name)
	if n := len(name); n > 2 && name[0] == '[' && name[n-1] == ']' {
		name, l.IsModule = name[1:n-1], true
	}
	if i := bytes.LastIndex(name, []byte("+0x")); i > 0 {
		l.Module, ok = name[:i], parseHex(name[i+3:], &l.Addr)
	} else if i := bytes.LastIndex(name, []byte(" <")); i > 0 && l.IsModule && name[len(name)-1] == '>' {
		l.Module, ok = name[:i], parseHex(name[i+2:len(name)-1], &l.Addr)
	}
	l.IsModule = l.IsModule || bytes.IndexByte(l.Module, '/') >= 0 || bytes.Contains(l.Module, []byte(".so"))
	return l, ok && string(bytes.Trim(l.Module, "[]")) != "unknown" // as stackcollapse-perf.pl writes [unknown]
}

// Space returns how the address is counted: those of the kernel and of JIT compilers
// are absolute.
func (l Location) Space() filter.Space {
	if l.Addr >= kernelStart || isMap(l.Module) {
		return filter.Fixed
	}
	return filter.Offset
}

// cutCount returns a line without the count at its end.
func cutCount(line []byte) (stack []byte, ok bool) {
	i := bytes.LastIndexByte(line, ' ')
	if i <= 0 || i == len(line)-1 {
		return nil, false
	}
	count := line[i+1:]
	isCount := '0' <= count[0] && count[0] <= '9' && len(bytes.Trim(count, "0123456789.")) == 0
	return line[:i], isCount
}

// Is reports whether a text begins like the output of perf script, which may only have
// call chains, or with folded stacks, one of which has two frames. Lines of perf
// buildid-list may precede both.
func Is(head []byte) bool {
	hasID, hasFrame, hasStack := false, false, false
	isChain, isFolded := true, true
	for range 64 {
		line, rest, ok := bytes.Cut(head, []byte("\n"))
		if !ok {
			break
		}
		head = rest
		line = bytes.TrimRight(line, "\r")
		if _, _, ok := identity(line); ok || len(line) == 0 {
			hasID = hasID || ok
			continue
		}
		if isHeader(line) {
			return true
		}
		_, ok = parseFrame(line)
		isChain = isChain && ok
		hasFrame = hasFrame || ok
		stack, ok := cutCount(line)
		isFolded = isFolded && ok && line[0] != ' ' && line[0] != '\t'
		hasStack = hasStack || bytes.IndexByte(stack, ';') > 0
	}
	return isChain && (hasFrame || hasID) || isFolded && hasStack
}

// isHeader reports whether a line begins a sample or is a mapping: it has a time
// after the number of a process.
func isHeader(line []byte) bool {
	_, isSample := parseSample(line)
	isEvent := isSample || bytes.HasSuffix(bytes.TrimRight(line, " "), []byte(":")) || bytes.Contains(line, []byte(": PERF_RECORD_"))
	number := 0
	for field := range bytes.FieldsSeq(line) {
		if isTime(field) {
			return isEvent && number > 1
		}
		number++
	}
	return false
}
