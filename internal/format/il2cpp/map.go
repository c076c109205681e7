package il2cpp

import (
	"cmp"
	"encoding/binary"
	"slices"
	"sort"
	"strconv"
	"strings"

	"symbolon/internal/bin"
)

// limits of a mapping.
type limits struct {
	lines  int // in all files
	inFile int // in one file of C++
	names  int // bytes of memory for the names of files
	text   int // bytes of one string
	depth  int // levels of JSON
}

var maxLimits = limits{lines: 5 << 20, inFile: 1 << 20, names: 16 << 20, text: 64 << 10, depth: 128}

// reach is the number of lines below a listed line that it applies to.
const reach = 50

// idsKey is a key that is not a file: the binaries of the mapping.
const idsKey = "__debug-id__"

// Map is a mapping. It does not change, and is safe for concurrent use.
type Map struct {
	ids   []string
	files []string // of C#
	lines map[string]Lines
	size  int64
	space bin.Space
}

// Lines are the entries of a C++ file in ascending order: for each its line,
// the line of C#, and the number of the C# file.
type Lines []byte

const entrySize = 12

type entry struct{ cpp, cs, file uint32 }

func (l Lines) number(i, field int) uint32 {
	return binary.LittleEndian.Uint32(l[i*entrySize+field*4:])
}

// IDs returns the debug ids of the binaries of the mapping, as written there.
func (m *Map) IDs() []string { return m.ids }

// Of returns the lines of a C++ file, nil if the mapping lacks it.
func (m *Map) Of(path []byte) Lines { return m.lines[string(path)] }

// At returns the origin of a line: the number of a C# file, and a line in it.
// ok is false if no entry is at the line or close above it.
func (l Lines) At(line uint32) (file, cs uint32, ok bool) {
	i := sort.Search(len(l)/entrySize, func(i int) bool { return l.number(i, 0) > line }) - 1
	if i < 0 || line-l.number(i, 0) > reach {
		return 0, 0, false
	}
	return l.number(i, 2), l.number(i, 1), true
}

// File returns the path of a C# file, "" for an invalid number.
func (m *Map) File(n uint32) string {
	if uint64(n) >= uint64(len(m.files)) {
		return ""
	}
	return m.files[n]
}

// Footprint estimates the bytes of the mapping, in memory and in its space.
func (m *Map) Footprint() int64 { return m.size }

// Relax releases the resident memory of the lines.
func (m *Map) Relax() {
	if r, ok := m.space.(interface{ Relax() }); ok {
		r.Relax()
	}
}

// fileSize estimates the memory of a file besides its name and lines.
const fileSize = 96

// Read reads a mapping. Its lines are in space, which must stay open, or on the
// heap if space is nil.
func Read(text []byte, space bin.Space) (*Map, error) { return read(text, space, maxLimits) }

func read(text []byte, space bin.Space, limit limits) (*Map, error) {
	m := &Map{lines: map[string]Lines{}, space: space}
	r := &reader{text: text, limit: limit, m: m, numbers: map[string]uint32{}}
	err := r.members(0, func(key []byte) error {
		if string(key) == idsKey {
			return r.ids()
		}
		path := string(key)
		r.entries = r.entries[:0]
		if err := r.file(); err != nil {
			return err
		}
		r.sortEntries()
		if len(r.entries) == 0 {
			delete(m.lines, path) // the last of several files with one name wins
			return nil
		}
		m.lines[path] = r.pack()
		return r.addName(path)
	})
	if err == nil {
		err = r.end()
	}
	if err == nil && len(m.lines) == 0 {
		err = r.errorf("the mapping has no lines")
	}
	m.Relax()
	if err != nil {
		return nil, err
	}
	return m, nil
}

// addName adds the size of a stored name.
func (r *reader) addName(name string) error {
	r.names += fileSize + len(name)
	r.m.size += fileSize + int64(len(name))
	if r.names > r.limit.names {
		return r.errorf("names of files exceed %d bytes", r.limit.names)
	}
	return nil
}

// ids reads the binaries of the mapping: the keys of an object, or a string.
func (r *reader) ids() error {
	add := func(id []byte) error {
		r.m.ids = append(r.m.ids, string(id))
		return r.addName(string(id))
	}
	if r.peek() == '"' {
		id, err := r.string()
		if err != nil {
			return err
		}
		return add(id)
	}
	return r.members(1, func(id []byte) error {
		if err := add(id); err != nil {
			return err
		}
		return r.skip(2)
	})
}

// file reads the entries of a C++ file.
func (r *reader) file() error {
	return r.members(1, func(key []byte) error {
		n, known := r.numbers[string(key)]
		if !known {
			n = uint32(len(r.m.files))
			r.m.files = append(r.m.files, string(key))
			r.numbers[r.m.files[n]] = n
			if err := r.addName(r.m.files[n]); err != nil {
				return err
			}
		}
		return r.members(2, func(key []byte) error {
			cpp, err := strconv.ParseUint(strings.TrimPrefix(string(key), "+"), 10, 32)
			if err != nil {
				return r.errorf("invalid line %.40q: must be a number of 32 bits", key)
			}
			cs, err := r.line()
			if r.lines++; r.lines > r.limit.lines || len(r.entries) >= r.limit.inFile {
				return r.errorf("more than %d lines, or %d in one file", r.limit.lines, r.limit.inFile)
			}
			r.entries = append(r.entries, entry{uint32(cpp), cs, n})
			return err
		})
	})
}

// sortEntries sorts entries, and keeps the last one of each line.
func (r *reader) sortEntries() {
	slices.SortStableFunc(r.entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.cpp, b.cpp), cmp.Compare(r.m.files[a.file], r.m.files[b.file]))
	})
	kept := r.entries[:0]
	for i, e := range r.entries {
		if i+1 < len(r.entries) && r.entries[i+1].cpp == e.cpp {
			continue
		}
		kept = append(kept, e)
	}
	r.entries = kept
}

// pieceSize is the smallest allocation from a space, for the lines of many
// files.
const pieceSize = 1 << 20

// pack encodes the entries.
func (r *reader) pack() Lines {
	n := len(r.entries) * entrySize
	if len(r.free) < n {
		var err error
		if r.m.space != nil {
			r.free, err = r.m.space.Take(max(n, min(pieceSize, 2*len(r.text))))
		}
		if r.m.space == nil || err != nil { // the limits bound the heap
			r.free = make([]byte, n)
		}
	}
	lines := Lines(r.free[:0:n])
	r.free = r.free[n:]
	for _, e := range r.entries {
		for _, v := range [...]uint32{e.cpp, e.cs, e.file} {
			lines = binary.LittleEndian.AppendUint32(lines, v)
		}
	}
	r.m.size += int64(n)
	return lines
}
