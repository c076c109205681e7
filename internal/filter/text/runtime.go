package text

import (
	"bytes"

	"symbolon/internal/filter"
)

// parseTorch parses a frame of PyTorch without a name: frame #N: <unknown function> +
// 0xOFFSET (0xADDR in FILE).
func (r *record) parseTorch(body []byte) bool {
	const unknown = "<unknown function> + 0x"
	at := bytes.Index(body, []byte(unknown))
	if at < 0 || body[len(body)-1] != ')' {
		return false
	}
	addr, n := hexadecimal(body[at+len(unknown):])
	place := at + len(unknown) + n + 1
	address, path, ok := bytes.Cut(body[min(place, len(body)):], []byte(" in "))
	if !ok || n == 0 || !bytes.HasPrefix(address, []byte("(0x")) || len(path) < 2 {
		return false
	}
	r.form, r.name, r.addr, r.space, r.isReturn = torch, path[:len(path)-1], addr, filter.Linked, true
	r.text, r.place, r.rest = at, place, len(body)
	return true
}

// parseNode parses a frame of Node.js without a name: N: 0xADDR  [FILE]. The address is
// one in memory, which is that as linked in programs that are not relocated; those are
// in the first 4 GB.
func (r *record) parseNode(body []byte) bool {
	if body[len(body)-1] != ']' {
		return false
	}
	at := bytes.LastIndex(body, []byte(": 0x"))
	if at < 1 || body[at-1] < '0' || body[at-1] > '9' {
		return false
	}
	addr, n := hexadecimal(body[at+len(": 0x"):])
	place := at + len(": 0x") + n
	name, ok := bytes.CutPrefix(body[place:len(body)-1], []byte("  ["))
	if !ok || len(name) == 0 || addr < pageSize || addr>>32 != 0 {
		return false
	}
	r.form, r.name, r.addr, r.space, r.isReturn = node, name, addr, filter.Fixed, true
	r.text, r.place, r.rest = place+1, place+2, len(body)
	return true
}

// parseWine parses a frame of Wine without a name: N 0xADDR in MODULE (+0xOFFSET) (0xFRAME).
// The first one of a thread is =>0.
func (r *record) parseWine(body []byte) bool {
	const mark = " (+0x"
	open := bytes.LastIndex(body, []byte(mark))
	in := bytes.LastIndex(body[:max(open, 0)], []byte(" in "))
	at := bytes.LastIndexByte(body[:max(in, 0)], ' ')
	if at < 1 || !bytes.HasPrefix(body[at:], []byte(" 0x")) || hexLen(body[at+3:in]) != in-at-3 {
		return false
	}
	addr, n := hexadecimal(body[open+len(mark):])
	if n == 0 || !bytes.HasPrefix(body[open+len(mark)+n:], []byte(") (")) {
		return false
	}
	r.form, r.name, r.addr, r.space = wine, body[in+len(" in "):open], addr, filter.Relative
	r.isReturn = !bytes.HasSuffix(body[:at], []byte("=>0"))
	r.text, r.rest, r.place = in+1, in+1, in+1
	return len(r.name) > 0
}

// appName is the library with the code of a Flutter application, in its stack traces.
const appName = "libapp.so"

// parseDart parses the frame after a number and blanks: abs ADDR virt ADDR
// _kDartIsolateSnapshotInstructions+0xOFFSET, as Dart writes it without its names. The
// second address is that as linked.
func (r *record) parseDart(body []byte) {
	const mark = " virt "
	at := bytes.Index(body[r.text:], []byte(mark))
	if at < 0 {
		return
	}
	at += r.text + len(mark)
	addr, n := hexadecimal(body[at:])
	if n == 0 || !bytes.HasPrefix(body[at+n:], []byte(" _kDart")) {
		return
	}
	r.form, r.name, r.addr, r.space = dart, []byte(appName), addr, filter.Linked
	r.text = at + n + 1
	r.place = r.rest
}

// parseGlog parses a frame of Google's logging libraries without a name: @ 0xADDR (unknown).
// Abseil writes the size of the frame before that, or (unknown). The address after PC: is
// that of the instruction.
func (r *record) parseGlog(body []byte) bool {
	const unknown = " (unknown)"
	at := bytes.LastIndex(body, []byte("@ "))
	if at < 0 || at > 0 && body[at-1] != ' ' && body[at-1] != '\t' || !bytes.HasSuffix(body, []byte(unknown)) {
		return false
	}
	address, ok := bytes.CutPrefix(bytes.TrimLeft(body[at+1:], " "), []byte("0x"))
	addr, n := hexadecimal(address)
	size := bytes.TrimSpace(address[n:max(len(address)-len(unknown), n)])
	if !ok || n == 0 || string(size) != "(unknown)" && len(bytes.Trim(size, "0123456789")) > 0 {
		return false
	}
	r.form, r.addr, r.isAbsolute = chromium, addr, true
	r.isReturn = !bytes.HasSuffix(body[:at], []byte("PC: "))
	r.text, r.rest = len(body)-len("(unknown)"), len(body)
	return true
}
