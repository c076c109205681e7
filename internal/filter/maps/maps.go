// Package maps looks up names in lists of symbols: /proc/kallsyms, System.map and the
// output of nm, and the files /tmp/perf-PID.map that JIT compilers write.
//
//	ffffffff81001000 T start_kernel
//	ffffffffc0123000 t nf_hook	[nf_tables]
//	7f3330005900 11c JS:^hot [eval]:1:13
//
// The addresses of a Map are absolute; relative addresses are relative to the symbol
// _text. Lists of the first form have types instead of sizes: a symbol ends at the next
// one, and of several at one address the first global one is used. In lists of JIT
// compilers the last one is used, since replaced code remains in the list.
//
// A Map has 32 bytes for each symbol and refers to the text that it was read from.
// It is safe for concurrent use.
package maps

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strconv"

	"symbolon/internal/fault"
)

// pageSize is the unit in which the last symbol ends if the list has no sizes.
const pageSize = 4 << 10

// Map has the symbols of a list.
type Map struct {
	text    []byte
	symbols []symbol // by start
	base    uint64   // of relative addresses
}

type symbol struct {
	start, size uint64
	at, len     uint32 // of the name in the text
	order       uint8  // at an address: 0 if the symbol is global, else 1
}

// Is reports whether a text begins like a list of symbols.
func Is(head []byte) bool {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	_, kind, ok := parseLine(line)
	return ok && (isType(kind) || parseHex(kind, new(uint64)))
}

// Read reads a list of symbols. The first line decides whether they have types or
// sizes. Other lines are skipped.
func Read(text []byte) (*Map, error) {
	const place = "list of symbols"
	first, _, _ := bytes.Cut(text, []byte("\n"))
	switch {
	case !Is(first):
		return nil, fault.New(fault.Malformed, place+", line 1",
			"invalid line %.80q: must be an address, a type or size, and a name", first)
	case uint64(len(text)) > math.MaxUint32:
		return nil, fault.New(fault.Unsupported, place, "has %d bytes: must have less than 4 GiB", len(text))
	}
	_, kind, _ := parseLine(first)
	m := &Map{text: text, symbols: make([]symbol, 0, len(text)/48)}
	hasTypes, at := isType(kind), 0
	for line := range bytes.Lines(text) {
		s, kind, ok := parseLine(line)
		s.at += uint32(at)
		switch {
		case !ok:
		case !hasTypes:
			if parseHex(kind, &s.size) {
				m.symbols = append(m.symbols, s)
			}
		case isType(kind):
			s.order = kind[0] >> 5 & 1 // the case of the letter
			m.symbols = append(m.symbols, s)
		}
		at += len(line)
	}
	if !hasTypes {
		slices.Reverse(m.symbols) // the last one is the first at its address
	}
	slices.SortStableFunc(m.symbols, func(a, b symbol) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.order, b.order))
	})
	if hasTypes {
		m.setSizes()
	}
	if m.symbols[len(m.symbols)-1].start == 0 {
		return nil, fault.New(fault.Denied, place, "all addresses are zero: read /proc/kallsyms as root")
	}
	m.symbols = slices.CompactFunc(m.symbols, func(a, b symbol) bool { return a.start == b.start })
	return m, nil
}

// parseLine reads an address, a type or size, and a name. A tabulator and the name
// of a kernel module may follow.
func parseLine(line []byte) (s symbol, kind []byte, ok bool) {
	address, rest, _ := bytes.Cut(bytes.TrimRight(line, "\r\n"), []byte(" "))
	kind, name, _ := bytes.Cut(rest, []byte(" "))
	name, _, _ = bytes.Cut(name, []byte("\t"))
	s.at, s.len = uint32(len(address)+len(kind)+2), uint32(len(name))
	return s, kind, len(name) > 0 && parseHex(address, &s.start)
}

// isType reports whether a field is a type. A size of one digit in the first line
// is not expected: it is too small for a function.
func isType(kind []byte) bool { return len(kind) == 1 && kind[0]|0x20 >= 'a' && kind[0]|0x20 <= 'z' }

func parseHex(digits []byte, v *uint64) (ok bool) {
	n, err := strconv.ParseUint(string(bytes.TrimPrefix(digits, []byte("0x"))), 16, 64)
	*v = n
	return err == nil
}

// setSizes ends the symbols at the next one, and sets the base.
func (m *Map) setSizes() {
	end := m.symbols[len(m.symbols)-1].start&^(pageSize-1) + pageSize
	for i := len(m.symbols) - 1; i >= 0; i-- {
		s := &m.symbols[i]
		s.size = end - s.start
		if i > 0 && m.symbols[i-1].start != s.start {
			end = s.start
		}
		if string(m.name(s)) == "_text" {
			m.base = s.start
		}
	}
}

func (m *Map) name(s *symbol) []byte { return m.text[s.at : s.at+s.len] }

// find returns the symbol that contains an absolute address, nil if none does.
func (m *Map) find(addr uint64) *symbol {
	i, ok := slices.BinarySearchFunc(m.symbols, addr, func(s symbol, addr uint64) int { return cmp.Compare(s.start, addr) })
	if !ok {
		i--
	}
	if i < 0 || addr-m.symbols[i].start >= m.symbols[i].size {
		return nil
	}
	return &m.symbols[i]
}
