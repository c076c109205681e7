package text

import "bytes"

// exact are the texts before the address of an instruction; others follow calls.
var exact = [][]byte{[]byte("RIP: "), []byte("pc : "), []byte("PC is at "), []byte("NIP ["), []byte("WARNING: "),
	[]byte("epc "), []byte("ERA: "), []byte("Krnl PSW : ")}

// parseKernel parses a line with NAME+0xOFFSET/0xSIZE, and after that [MODULE] or
// [MODULE BUILDID] if the function is not one of the kernel itself.
// A line with two of them, as of events, is left: a second run would name the other.
func (r *record) parseKernel(body []byte) bool {
	if !bytes.Contains(body, []byte("/0x")) { // which LastIndex takes longer for
		return false
	}
	slash := bytes.LastIndex(body, []byte("/0x"))
	plus := bytes.LastIndex(body[:slash], []byte("+0x"))
	if plus <= 0 {
		return false
	}
	offset, n := hexadecimal(body[plus+3 : slash])
	size, digits := hexadecimal(body[slash+3:])
	from := plus
	for from > 0 && isSymbol(body[from-1]) {
		from--
	}
	if n == 0 || plus+3+n != slash || digits == 0 || from == plus {
		return false
	}
	if i := bytes.LastIndex(body[:from], []byte("/0x")); i >= 0 && bytes.Contains(body[:i], []byte("+0x")) {
		return false
	}
	r.form, r.addr, r.symbol, r.size = kernel, offset, body[from:plus], size
	r.text, r.place, r.rest = plus, plus, slash+3+digits
	r.isReturn = true
	for _, mark := range exact {
		r.isReturn = r.isReturn && !bytes.Contains(body[:from], mark)
	}
	if module, ok := bytes.CutPrefix(body[r.rest:], []byte(" [")); ok {
		if end := bytes.IndexByte(module, ']'); end > 0 {
			r.name, r.id, _ = bytes.Cut(module[:end], []byte(" "))
		}
	}
	return true
}

func isSymbol(c byte) bool {
	return c == '_' || c == '.' || c == '$' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// addKernel remembers the release of the kernel and its build id, if the line has them:
//
//	Linux version 6.9.1 (gcc …) #2 …
//	CPU: 1 PID: 99 Comm: insmod Not tainted 6.9.1 #2 0123456789abcdef…
func (l *log) addKernel(line []byte) {
	if bytes.IndexByte(line, '#') < 0 { // the number of a build
		return
	}
	if _, rest, ok := bytes.Cut(line, []byte("Linux version ")); ok {
		release, _, _ := bytes.Cut(rest, []byte(" "))
		l.release, l.kernel = bytes.Clone(release), nil
		return
	}
	_, rest, ok := bytes.Cut(line, []byte("Comm: "))
	at := bytes.LastIndex(rest, []byte(" #"))
	if !ok || at < 0 || !bytes.Contains(line, []byte("CPU: ")) {
		return
	}
	l.release = bytes.Clone(rest[bytes.LastIndexByte(rest[:at], ' ')+1 : at])
	l.kernel = nil
	rest = bytes.TrimRight(rest[at:], " \r\n")
	if id := rest[bytes.LastIndexByte(rest, ' ')+1:]; len(id) >= 32 && hexLen(id) == len(id) {
		l.kernel = bytes.Clone(id)
	}
}
