package text

import (
	"bytes"

	"symbolon/internal/filter"
)

// parseFault parses a line of Linux about a signal: … in FILE[OFFSET,START+SIZE], or of older
// kernels … ip ADDR … in FILE[START+SIZE] and … ip:ADDR … in FILE[START+SIZE].
func (r *record) parseFault(body []byte) bool {
	open := bytes.LastIndexByte(body, '[')
	in := bytes.LastIndex(body[:max(open, 0)], []byte(" in "))
	if in < 0 {
		return false
	}
	start, n := hexadecimal(body[open+1:])
	rest := body[open+1+n:]
	offset, hasOffset := start, bytes.HasPrefix(rest, []byte(","))
	if hasOffset {
		start, n = hexadecimal(rest[1:])
		rest = rest[1+n:]
	}
	size, ok := bytes.CutPrefix(rest, []byte("+"))
	r.size, n = hexadecimal(size)
	if rest = size[n:]; !ok || n == 0 || len(rest) == 0 || rest[0] != ']' || r.size == 0 || (start|r.size)%pageSize != 0 {
		return false
	}
	r.space = filter.Offset
	if !hasOffset {
		at := bytes.LastIndex(body[:in], []byte(" ip"))
		if at < 0 || at+len(" ip ") > in {
			return false
		}
		addr, _ := hexadecimal(body[at+len(" ip "):])
		if addr < start || addr-start >= r.size {
			return false
		}
		offset, r.space = addr-start, filter.Mapped
	}
	if offset > 0 && bytes.Contains(body[:in], []byte(" trap int3")) { // which precedes the address
		offset--
	}
	r.form, r.name, r.addr = fault, body[in+len(" in "):open], offset
	r.text = len(body) - len(rest) + 1
	r.rest, r.place = r.text, r.text
	r.isNamed = bytes.HasPrefix(body[r.text:], []byte(" ("))
	return len(r.name) > 0
}

// pageSize is the unit of mappings.
const pageSize = 4096
