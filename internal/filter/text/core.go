package text

import (
	"bytes"

	"symbolon/internal/filter"
)

// parseTombstone parses the frame after a number and blanks: pc ADDR  PATH[!LIBRARY]
// [(offset 0xOFFSET)] [(NAME)] [(BuildId: HEX)]; ART has ??? as an unknown name. Debuggerd
// steps back itself, and prints addresses as linked.
func (r *record) parseTombstone(body []byte) {
	at := r.text + len("pc ")
	if bytes.HasPrefix(body[at:], []byte("0x")) {
		at += 2
	}
	addr, n := hexadecimal(body[at:])
	path := bytes.TrimLeft(body[at+n:], " ")
	at = len(body) - len(path)
	if end := bytes.IndexByte(path, ' '); end >= 0 {
		path = path[:end]
	}
	if n == 0 || len(path) == 0 {
		return
	}
	r.text = at + len(path)
	rest, id := cutBuildID(body)
	if len(rest) < r.text {
		return
	}
	r.place = len(rest)
	if offset := []byte(" (offset 0x"); bytes.HasPrefix(rest[r.text:], offset) {
		n := hexLen(rest[r.text+len(offset):])
		if end := r.text + len(offset) + n; end < len(rest) && rest[end] == ')' {
			r.text = end + 1
		}
	}
	if name := rest[r.text:]; len(name) > 0 && string(name) != " (???)" { // of ART
		if r.isNamed = true; name[len(name)-1] != ')' {
			return
		}
	}
	r.form, r.addr, r.space = tombstone, addr, filter.Linked
	r.name, r.id = path[bytes.LastIndexByte(path, '!')+1:], id
}

// parseCoredump parses the frame after the address: NAME (MODULE + 0xOFFSET). Elfutils
// returns the addresses after calls, and offsets from the start of the image.
func (r *record) parseCoredump(body []byte, at int) bool {
	offset, plus, ok := offsetAtEnd(body, " + 0x")
	if !ok || plus < at {
		return false
	}
	open := bytes.LastIndex(body[at:plus], []byte(" ("))
	if open <= 0 || at+open+2 == plus || string(body[at+open+2:plus]) == "n/a" { // of code without a file
		return false
	}
	r.text, r.place = at, at+open+1
	r.form, r.isNamed = coredump, string(body[at:at+open]) != "n/a"
	r.addr, r.space, r.isReturn, r.name = offset, filter.Relative, r.number > 0, body[r.place+1:plus]
	return true
}

// parseElfutils parses the line of eu-stack --build-id after that of a frame:
// [BUILDID]@0xBASE+0xOFFSET. Eu-stack steps back itself.
func (r *record) parseElfutils(body []byte) bool {
	id, place, _ := bytes.Cut(bytes.TrimLeft(body, " \t"), []byte("]@0x"))
	id, ok := bytes.CutPrefix(id, []byte("["))
	if !ok || len(id) < minBuildID || hexLen(id) != len(id) {
		return false
	}
	digits := hexLen(place)
	offset, ok := bytes.CutPrefix(place[digits:], []byte("+0x"))
	addr, n := hexadecimal(offset)
	if !ok || digits == 0 || n == 0 || n < len(offset) {
		return false
	}
	r.form, r.id, r.addr, r.space = elfutils, id, addr, filter.Relative
	r.text, r.rest, r.place = len(body), len(body), len(body)
	return true
}

// minBuildID is the number of digits of a short build id.
const minBuildID = 16

// parseIdentity parses a line about a module of a process that dumped core, as each
// version of systemd-coredump writes it, or the line before those.
func (r *record) parseIdentity(body []byte) bool {
	at := bytes.Index(body, []byte("odule "))
	if body[len(body)-1] == '\'' {
		_, id, ok := bytes.Cut(body, []byte("build_id: '"))
		r.form, r.name, r.id = identity, []byte(appName), id[:hexLen(id)]
		return ok
	}
	if at < 1 || body[at-1] != 'M' && body[at-1] != 'm' {
		r.form = process
		return bytes.HasSuffix(body, []byte(" dumped core."))
	}
	name := body[at+len("odule "):]
	end := bytes.IndexAny(name, " ,")
	if end <= 0 {
		return false
	}
	r.form, r.name = identity, name[:end]
	if at := bytes.LastIndex(name, []byte("build-id")); at >= end {
		id := bytes.TrimLeft(name[at+len("build-id"):], "=: ")
		r.id = id[:hexLen(id)]
	}
	for _, before := range []string{", build-id=", " with build-id", " from ", " without build-id"} {
		if bytes.HasPrefix(name[end:], []byte(before)) {
			return true
		}
	}
	return false
}
