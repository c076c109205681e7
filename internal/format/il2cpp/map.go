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

// limits of one mapping.
type limits struct {
	lines  int // in all files
	inFile int // in one file of C++
	names  int // bytes of memory for the names of files
	text   int // bytes of one string
	depth  int // levels of JSON
}

var most = limits{lines: 5 << 20, inFile: 1 << 20, names: 16 << 20, text: 64 << 10, depth: 128}

// reach is for how many lines below it a listed line stands.
const reach = 50

// sentinel is a key that is no file: which binary the mapping was made for.
const sentinel = "__debug-id__"

// Map is a mapping. It does not change, and is safe for concurrent use.
type Map struct {
	ids   []string
	files []string // of C#
	lines map[string]Lines
	size  int64
	space bin.Space
}

// Lines are those of one file of C++, in rising order: of each its number, that
// of the line of C#, and that of the file of C#.
type Lines []byte

const entrySize = 12

type entry struct{ cpp, cs, file uint32 }

func (l Lines) number(i, field int) uint32 {
	return binary.LittleEndian.Uint32(l[i*entrySize+field*4:])
}

// IDs are the debug ids of the binaries that the mapping says it is for, as it
// writes them.
func (m *Map) IDs() []string { return m.ids }

// Of are the lines of a file of C++; nil if it is not in the mapping.
func (m *Map) Of(path []byte) Lines { return m.lines[string(path)] }

// At is the place that a line comes from: the number of a file, and a line in
// it. It is false where no line is listed at or close above.
func (l Lines) At(line uint32) (file, cs uint32, ok bool) {
	i := sort.Search(len(l)/entrySize, func(i int) bool { return l.number(i, 0) > line }) - 1
	if i < 0 || line-l.number(i, 0) > reach {
		return 0, 0, false
	}
	return l.number(i, 2), l.number(i, 1), true
}

// File is the path of the file of C# with a number; "" if there is none.
func (m *Map) File(n uint32) string {
	if uint64(n) >= uint64(len(m.files)) {
		return ""
	}
	return m.files[n]
}

// Footprint is about how many bytes the mapping takes, in memory and in the space
// of its lines.
func (m *Map) Footprint() int64 { return m.size }

// Relax gives memory back through which the lines are read.
func (m *Map) Relax() {
	if r, ok := m.space.(interface{ Relax() }); ok {
		r.Relax()
	}
}

// fileSize is what a file takes beside its name and lines, roughly.
const fileSize = 96

// Read reads a mapping. Its lines are in the space, which must stay open and may
// be nil: then they are on the heap.
func Read(text []byte, space bin.Space) (*Map, error) { return read(text, space, most) }

func read(text []byte, space bin.Space, most limits) (*Map, error) {
	m := &Map{lines: map[string]Lines{}, space: space}
	r := &reader{text: text, most: most, m: m, numbers: map[string]uint32{}}
	err := r.members(0, func(key []byte) error {
		if string(key) == sentinel {
			return r.ids()
		}
		path := string(key)
		r.entries = r.entries[:0]
		if err := r.file(); err != nil {
			return err
		}
		r.settle()
		if len(r.entries) == 0 {
			delete(m.lines, path) // of two files with one name the later counts
			return nil
		}
		m.lines[path] = r.keep()
		return r.named(path)
	})
	if err == nil {
		err = r.end()
	}
	if err == nil && len(m.lines) == 0 {
		err = r.wrong("it has no lines")
	}
	m.Relax()
	if err != nil {
		return nil, err
	}
	return m, nil
}

// named counts a name that is kept.
func (r *reader) named(name string) error {
	r.names += fileSize + len(name)
	r.m.size += fileSize + int64(len(name))
	if r.names > r.most.names {
		return r.wrong("its names take more than %d bytes", r.most.names)
	}
	return nil
}

// ids reads what the mapping is for: the keys of an object, or a text.
func (r *reader) ids() error {
	add := func(id []byte) error {
		r.m.ids = append(r.m.ids, string(id))
		return r.named(string(id))
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

// file reads the entries of a file of C++.
func (r *reader) file() error {
	return r.members(1, func(key []byte) error {
		n, known := r.numbers[string(key)]
		if !known {
			n = uint32(len(r.m.files))
			r.m.files = append(r.m.files, string(key))
			r.numbers[r.m.files[n]] = n
			if err := r.named(r.m.files[n]); err != nil {
				return err
			}
		}
		return r.members(2, func(key []byte) error {
			cpp, err := strconv.ParseUint(strings.TrimPrefix(string(key), "+"), 10, 32)
			if err != nil {
				return r.wrong("%.40q is no line", key)
			}
			cs, err := r.line()
			if r.lines++; r.lines > r.most.lines || len(r.entries) >= r.most.inFile {
				return r.wrong("more than %d lines, or %d of one file", r.most.lines, r.most.inFile)
			}
			r.entries = append(r.entries, entry{uint32(cpp), cs, n})
			return err
		})
	})
}

// settle sorts entries, and keeps the last of those with one line.
func (r *reader) settle() {
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

// pieceSize is how much of a space is taken at least, for the lines of many files.
const pieceSize = 1 << 20

// keep makes lines of the entries.
func (r *reader) keep() Lines {
	n := len(r.entries) * entrySize
	if len(r.room) < n {
		var err error
		if r.m.space != nil {
			r.room, err = r.m.space.Take(max(n, min(pieceSize, 2*len(r.text))))
		}
		if r.m.space == nil || err != nil { // the heap has as much as one mapping takes
			r.room = make([]byte, n)
		}
	}
	lines := Lines(r.room[:0:n])
	r.room = r.room[n:]
	for _, e := range r.entries {
		for _, v := range [...]uint32{e.cpp, e.cs, e.file} {
			lines = binary.LittleEndian.AppendUint32(lines, v)
		}
	}
	r.m.size += int64(n)
	return lines
}
