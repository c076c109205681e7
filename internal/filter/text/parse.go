package text

import (
	"bytes"

	"symbolon/internal/filter"
	"symbolon/internal/ident"
)

// form is the form of the lines of a writer.
type form uint8

const (
	numbered  form = iota // any other line of a trace
	sanitizer             // #0 0x55d0  (app+0xddeaa)
	thread                // #0 <null> <null> (app+0xddeaa), of the thread sanitizer
	summary               // SUMMARY: AddressSanitizer: … (app+0xddeaa)
	tombstone             // #00 pc 000ddeaa  /system/lib/libfoo.so, of Android
	coredump              // #0  0x000055d0 n/a (libfoo.so + 0x3c6a5), of systemd
	backtrace             // /bin/app(+0x1162)[0x55d0], of glibc
	darwin                // 0   app   0x0000000100003f50 app + 16208, of macOS
	java                  // C  [libfoo.so+0x1234]
	chromium              // #0 0x55c0ffee1234 <unknown>
	rust                  // 0:     0x55695000a22a - <unknown>
	kernel                // f+0x1c/0x80 [module], of Linux
	mozilla               // #01: ???[/usr/lib/libxul.so +0x1234], of Firefox
	dotnet                // at N.T.M() in App.dll:token 0x6000001+0x1a, of .NET
	fault                 // app[4242]: segfault at 10 ip … in libfoo.so[1180,7f1e2a3b4000+1000], of Linux
	torch                 // frame #3: <unknown function> + 0x513c46 (0x7f1e in /lib/libfoo.so), of PyTorch
	node                  //  4: 0x10fb205  [node], of Node.js
	wine                  // =>0 0x00000140001530 in app (+0x1530) (0x00000000c812e0)
	dart                  // #00 abs 00007a1c virt 001ed6d7 _kDartIsolateSnapshotInstructions+0x1e26d7
	elfutils              // [BUILDID]@0x55c000000000+0x1234, after a frame of eu-stack
	identity              // Module libfoo.so, build-id=…, of systemd
	process               // Process 4242 (app) of user 0 dumped core.
)

// record is a line that is parsed. Positions are those in the line.
type record struct {
	form     form
	isNamed  bool
	isReturn bool
	// The address is one in memory, and not one of a module.
	isAbsolute bool
	space      filter.Space
	addr       uint64
	name, id   []byte // of the module; the id may be empty
	symbol     []byte // that addr is counted from, if it is not empty
	size       uint64 // of the symbol

	number      int
	digits, end int // the digits of the number; both are zero if the line has none
	text, rest  int // the part that names replace
	place       int // the beginning of the module and the offset in that part

	from, to int // the line in the chunk
	index    int // of the address in the query; -1 if it is not looked up
	exact    int // the same, without a step back; -1 if it may not be the right one
}

// isAddress reports whether the line has an address of a module.
func (r *record) isAddress() bool {
	return r.form != numbered && r.form != identity && r.form != process
}

func (r *record) hasNumber() bool { return r.end > 0 }

// parse parses a line. It returns false for a line that is copied in any case.
func (r *record) parse(line []byte) bool {
	*r = record{}
	body := bytes.TrimRight(line, " \t\r\n")
	if len(body) > 0 && body[len(body)-1] == 'm' {
		body = cutColors(body)
	}
	if len(body) == 0 {
		return false
	}
	hasOffset := bytes.IndexByte(body, '+') >= 0
	return hasOffset && (r.parseKernel(body) || r.parseDotnet(body) || r.parseMozilla(body) ||
		r.parseFault(body) || r.parseTorch(body) || r.parseWine(body) || r.parseElfutils(body)) || r.parseNumbered(body) ||
		hasOffset && r.parseDarwin(body) || r.parseBacktrace(body) || r.parseRust(body) || r.parseJava(body) || r.parseNode(body) ||
		r.parseGlog(body) || r.parseSummary(body) || r.parseIdentity(body)
}

// cutColors cuts the sequences of a terminal that end a line in color: ESC [ NUMBERS m.
func cutColors(body []byte) []byte {
	for {
		at := bytes.LastIndex(body, []byte("\x1b["))
		if at < 0 || len(bytes.TrimLeft(body[at+2:], "0123456789;")) != 1 || body[len(body)-1] != 'm' {
			return body
		}
		body = bytes.TrimRight(body[:at], " \t")
	}
}

const maxDigits = 4 // of the number of a frame, which may be written again

// parseNumbered parses a frame with a number. The number follows a prefix of any
// form if an address comes after it, and blanks otherwise.
func (r *record) parseNumbered(body []byte) bool {
	for first := bytes.IndexByte(body, '#'); ; {
		at := bytes.IndexByte(body[r.end:], '#')
		if at < 0 {
			*r = record{}
			return false
		}
		r.digits = r.end + at + 1
		r.number, r.end = decimal(body, r.digits)
		if r.end == r.digits || r.end-r.digits > maxDigits || r.end == len(body) || body[r.end] != ' ' {
			continue
		}
		text := bytes.TrimLeft(body[r.end:], " ")
		r.text, r.rest = len(body)-len(text), len(body)
		switch {
		case bytes.HasPrefix(text, []byte("0x")):
			r.parseAddress(body)
		case bytes.HasPrefix(text, []byte("pc ")):
			r.parseTombstone(body)
		case bytes.HasPrefix(text, []byte("abs ")):
			r.parseDart(body)
		case r.digits == first+1 && isBlank(body[:first]):
			r.parseThread(body)
		default:
			continue
		}
		return true
	}
}

// parseAddress parses the frame after a number and blanks: 0xADDR [in NAME] (MODULE+0xOFFSET),
// or 0xADDR NAME (MODULE + 0xOFFSET). Sanitizers write two blanks if there is no name,
// and step back. Chromium writes one, and the addresses after calls.
func (r *record) parseAddress(body []byte) {
	addr, n := hexadecimal(body[r.text+2:])
	at := r.text + 2 + n
	rest := body[at:]
	if n == 0 || len(rest) < 2 || rest[0] != ' ' {
		return
	}
	switch {
	case string(rest) == " <unknown>":
		r.form, r.addr, r.isReturn, r.isAbsolute = chromium, addr, true, true
	case rest[1] == '(' && r.parsePlace(body, at+1, at+1):
		r.form, r.isReturn = sanitizer, true
	case rest[1] == ' ' && r.parsePlace(body, at+2, at+2):
		r.form = sanitizer
	case bytes.HasPrefix(rest, []byte(" in ")) && r.parsePlace(body, at+4, -1):
		r.form, r.isNamed = sanitizer, true
	case r.parseCoredump(body, at+1):
		return
	default:
		if mark := []byte(" - "); bytes.Contains(rest, mark) { // of eu-stack, for the next line
			r.name = rest[bytes.LastIndex(rest, mark)+len(mark):]
		}
	}
	r.text = at + 1
	if r.form == sanitizer && r.space == filter.Linked && r.addr == addr && addr >= lowest {
		r.space = filter.Fixed
	}
}

// lowest is the lowest address at which Linux places a program.
const lowest = 64 << 10

var unknownFrame = []byte("<null> <null> ")

// parseThread parses the frame after a number and blanks: NAME <null> (MODULE+0xOFFSET).
func (r *record) parseThread(body []byte) {
	isUnknown := bytes.HasPrefix(body[r.text:], unknownFrame)
	switch {
	case isUnknown && r.parsePlace(body, r.text+len(unknownFrame), r.text+len(unknownFrame)):
		r.form = thread
	case !isUnknown && r.parsePlace(body, r.text, -1) && bytes.HasSuffix(body[:r.place], unknownFrame[len("<null> "):]):
		r.form, r.isNamed = thread, true
	}
}

var summaryMark = []byte("SUMMARY: ")

// parseSummary parses SUMMARY: WRITER: KIND (MODULE+0xOFFSET) [in NAME].
func (r *record) parseSummary(body []byte) bool {
	at := bytes.Index(body, summaryMark)
	if at < 0 {
		return false
	}
	open := bytes.Index(body[at:], []byte(" ("))
	if open < 0 {
		return false
	}
	open += at + 1
	place := body
	in := bytes.Index(body[open:], []byte(") in "))
	if in >= 0 {
		place = body[:open+in+1]
	}
	if !r.parsePlace(place, open, open) {
		return false
	}
	r.form, r.text, r.rest, r.isNamed = summary, open, len(body), in >= 0
	return true
}

// parsePlace parses a module and an offset, (NAME[:ARCH]+0xOFFSET), and a build id,
// (BuildId: HEX), at the end of body. The parenthesis is the one at open, or if that
// is negative the last that follows a blank after from.
func (r *record) parsePlace(body []byte, from, open int) bool {
	text, id := cutBuildID(body)
	addr, plus, ok := offsetAtEnd(text, "+0x")
	if !ok || plus < from {
		return false
	}
	if open < 0 {
		at := bytes.LastIndex(text[from:plus], []byte(" ("))
		if at < 0 {
			return false
		}
		open = from + at + 1
	}
	if open+1 >= plus || text[open] != '(' {
		return false
	}
	r.name, r.id, r.addr, r.place, r.space = text[open+1:plus], id, addr, open, filter.Linked
	if at := bytes.LastIndexByte(r.name, ':'); at > 0 && ident.ParseArch(string(r.name[at+1:])) != ident.ArchUnknown {
		// The image of a Mach-O program begins with its page zero, of 4 GB.
		if r.name = r.name[:at]; addr>>32 == 0 {
			r.space = filter.Relative
		}
	}
	return true
}

// cutBuildID cuts a build id, (BuildId: HEX), from the end of text.
func cutBuildID(text []byte) (rest, id []byte) {
	at := bytes.LastIndex(text, []byte(" (BuildId: "))
	if at < 0 {
		return text, nil
	}
	id = text[at+len(" (BuildId: "):]
	if n := hexLen(id); n == 0 || n != len(id)-1 || id[n] != ')' {
		return text, nil
	}
	return text[:at], id[:len(id)-1]
}

// offsetAtEnd returns the number between the last separator and a parenthesis at the
// end of text, and the position of the separator.
func offsetAtEnd(text []byte, separator string) (offset uint64, at int, ok bool) {
	if len(text) == 0 || text[len(text)-1] != ')' {
		return 0, 0, false
	}
	if at = bytes.LastIndex(text, []byte(separator)); at < 0 {
		return 0, 0, false
	}
	offset, n := hexadecimal(text[at+len(separator):])
	return offset, at, n > 0 && at+len(separator)+n == len(text)-1
}

// decimal returns the number at a position and the position after it.
func decimal(b []byte, at int) (value, end int) {
	for ; at < len(b) && b[at] >= '0' && b[at] <= '9'; at++ {
		value = min(value*10+int(b[at]-'0'), 1<<20)
	}
	return value, at
}

// hexadecimal returns the number at the beginning of b and the count of its digits, which
// is zero if it is larger than an address.
func hexadecimal(b []byte) (value uint64, n int) {
	n = hexLen(b)
	if n > 16 {
		return 0, 0
	}
	for _, c := range b[:n] {
		if c >= 'a' {
			c -= 'a' - '9' - 1
		}
		value = value<<4 | uint64(c-'0')
	}
	return value, n
}

// hexLen returns the number of digits at the beginning of b.
func hexLen(b []byte) int {
	for i, c := range b {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return i
		}
	}
	return len(b)
}

func isBlank(b []byte) bool { return len(bytes.TrimLeft(b, " \t")) == 0 }
