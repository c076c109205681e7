package il2cpp

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

const (
	maxLines = 8 << 20
	maxFiles = 1 << 20
	maxDepth = 128
)

// reach is for how many lines below it a listed line stands.
const reach = 50

// sentinel is a key that is no file: which binary the mapping was made for.
const sentinel = "__debug-id__"

// Map is a mapping. It does not change, and is safe for concurrent use.
type Map struct {
	files []string // of C#
	lines map[string]Lines
	size  int64
}

// Lines are those of one file of C++, in rising order.
type Lines []entry

type entry struct{ cpp, cs, file uint32 }

// Of are the lines of a file of C++; nil if it is not in the mapping.
func (m *Map) Of(path []byte) Lines { return m.lines[string(path)] }

// At is the place that a line comes from: the number of a file, and a line in
// it. It is false where no line is listed at or close above.
func (l Lines) At(line uint32) (file, cs uint32, ok bool) {
	i, found := slices.BinarySearchFunc(l, line, func(e entry, line uint32) int { return cmp.Compare(e.cpp, line) })
	if !found {
		i--
	}
	if i < 0 || line-l[i].cpp > reach {
		return 0, 0, false
	}
	return l[i].file, l[i].cs, true
}

// File is the path of the file of C# with a number; "" if there is none.
func (m *Map) File(n uint32) string {
	if uint64(n) >= uint64(len(m.files)) {
		return ""
	}
	return m.files[n]
}

// Footprint is about how many bytes of memory the mapping takes.
func (m *Map) Footprint() int64 { return m.size }

// What an entry and a file take, roughly.
const (
	entrySize = 12
	fileSize  = 96
)

// Read reads a mapping.
func Read(text []byte) (*Map, error) {
	r := &reader{text: text}
	m := &Map{lines: map[string]Lines{}}
	numbers := map[string]uint32{}
	count := 0
	err := r.members(0, func(key []byte) error {
		if string(key) == sentinel {
			return r.skip(1)
		}
		path := string(key)
		lines, err := r.file(m, numbers)
		if count += len(lines); err == nil && count > maxLines {
			return r.wrong("more than %d lines", maxLines)
		}
		lines = m.settle(lines)
		m.size += int64(cap(lines)) * entrySize
		switch {
		case len(lines) == 0:
			delete(m.lines, path) // of two files with one name the later counts
		case len(m.lines) == maxFiles:
			return r.wrong("more than %d files", maxFiles)
		default:
			m.lines[path] = lines
			m.size += fileSize + int64(len(path))
		}
		return err
	})
	if err == nil {
		err = r.end()
	}
	if err != nil {
		return nil, err
	}
	return m, nil
}

// file reads the lines of a file of C++.
func (r *reader) file(m *Map, numbers map[string]uint32) (lines Lines, err error) {
	err = r.members(1, func(key []byte) error {
		n, known := numbers[string(key)]
		if !known {
			if len(m.files) == maxFiles {
				return r.wrong("more than %d files", maxFiles)
			}
			n = uint32(len(m.files))
			m.files = append(m.files, string(key))
			numbers[m.files[n]] = n
			m.size += fileSize + int64(len(key))
		}
		return r.members(2, func(key []byte) error {
			cpp, err := strconv.ParseUint(strings.TrimPrefix(string(key), "+"), 10, 32)
			if err != nil {
				return r.wrong("%.40q is no line", key)
			}
			cs, err := r.line()
			if len(lines) >= maxLines {
				return r.wrong("more than %d lines", maxLines)
			}
			lines = append(lines, entry{uint32(cpp), cs, n})
			return err
		})
	})
	return lines, err
}

// settle sorts lines, and keeps the last of those with one number.
func (m *Map) settle(lines Lines) Lines {
	slices.SortStableFunc(lines, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.cpp, b.cpp), cmp.Compare(m.files[a.file], m.files[b.file]))
	})
	kept := lines[:0]
	for i, e := range lines {
		if i+1 < len(lines) && lines[i+1].cpp == e.cpp {
			continue
		}
		kept = append(kept, e)
	}
	return slices.Clone(kept)
}
