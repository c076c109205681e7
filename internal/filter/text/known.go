package text

import (
	"bytes"
	"sort"

	"symbolon/internal/filter"
)

// idLimit is the most modules whose build ids are remembered.
const idLimit = 8192

// identities are the build ids of the modules of a process, by their names in its
// stack traces.
type identities map[string][]byte

// add remembers the build id of a module, or that it has none.
func (i identities) add(name, id []byte) {
	delete(i, string(name))
	if len(i) < idLimit && len(id) > 0 {
		i[string(name)] = bytes.Clone(id)
	}
}

// fixed has the programs that are not relocated, by the lines of sanitizers before. Those of
// the thread sanitizer, and summaries, have addresses as linked only.
type fixed struct {
	modules map[string]bool // by the name in the lines
	isLow   bool            // the memory of the report is in a program that is not relocated
}

// note remembers whether the module of a line is not relocated, or notes it in the record.
func (f *fixed) note(r *record) {
	switch {
	case r.form == sanitizer && r.space == filter.Fixed && len(f.modules) < idLimit:
		f.modules[string(r.name)] = true
	case r.form == sanitizer && r.space == filter.Linked:
		delete(f.modules, string(r.name))
		f.isLow = false
	case (r.form == summary || r.form == thread) && r.space == filter.Linked &&
		(f.isLow && !bytes.Contains(r.name, []byte(".so")) || f.modules[string(r.name)]):
		r.space = filter.Fixed
	}
}

// access remembers the memory of a report of the thread sanitizer, as in Write of size 8 at
// 0xADDR by main thread:. Below 4 GiB it is in a program that is not relocated: others are
// loaded above that, and so is the heap.
func (f *fixed) access(line []byte) {
	if bytes.IndexByte(line[max(0, len(line)-len(":\r\n")):], ':') < 0 { // for speed
		return
	}
	if _, size, ok := bytes.Cut(line, []byte(" of size ")); ok {
		if _, at, ok := bytes.Cut(size, []byte(" at 0x")); ok {
			addr, n := hexadecimal(at)
			f.isLow = n > 0 && addr >= lowest && addr>>32 == 0
		}
	}
}

// mappingLimit is the most mappings of a process that are remembered, a little more
// than Linux allows.
const mappingLimit = 1 << 16

// mapping is a part of a file in the memory of a process.
type mapping struct {
	start, end, offset uint64
	file               []byte
}

// memory has the executable mappings of a process, in ascending order.
type memory struct {
	list   []mapping
	isOpen bool // the line before is one of them
}

// add adds the mapping of a line, and returns false for another line. The lines of a
// process are consecutive, so a line of another kind ends them.
func (m *memory) add(line []byte) bool {
	next, isExecutable, ok := parseMapping(line)
	if ok && !m.isOpen {
		m.list = m.list[:0]
	}
	m.isOpen = ok
	n := len(m.list)
	if isExecutable && len(next.file) > 0 && n < mappingLimit && (n == 0 || m.list[n-1].end <= next.start) {
		next.file = bytes.Clone(next.file)
		m.list = append(m.list, next)
	}
	return ok
}

// find returns the file of the call before an address, and the offset of the address.
func (m *memory) find(after uint64) (file []byte, offset uint64, ok bool) {
	i := sort.Search(len(m.list), func(i int) bool { return after <= m.list[i].end })
	if i == len(m.list) || after <= m.list[i].start {
		return nil, 0, false
	}
	return m.list[i].file, after - m.list[i].start + m.list[i].offset, true
}

// parseMapping parses a line of /proc/PID/maps: START-END r-xp OFFSET DEVICE INODE PATH.
func parseMapping(body []byte) (m mapping, isExecutable, ok bool) {
	var n int
	if m.start, n = hexadecimal(body); n == 0 || n == len(body) || body[n] != '-' {
		return m, false, false
	}
	body = body[n+1:]
	if m.end, n = hexadecimal(body); n == 0 || m.end <= m.start || len(body) < n+len(" r-xp ") || body[n] != ' ' || body[n+5] != ' ' {
		return m, false, false
	}
	isExecutable = body[n+3] == 'x'
	body = body[n+len(" r-xp "):]
	if m.offset, n = hexadecimal(body); n == 0 || n == len(body) || body[n] != ' ' {
		return m, false, false
	}
	if at := bytes.IndexByte(body, '/'); at >= 0 {
		m.file = bytes.TrimSuffix(bytes.TrimRight(body[at:], "\r\n"), []byte(" (deleted)"))
	}
	return m, isExecutable, true
}
