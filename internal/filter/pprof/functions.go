package pprof

import (
	"encoding/binary"
	"slices"

	"symbolon/internal/filter"
	"symbolon/internal/filter/wire"
)

// Layout has the numbers of the fields of a format with functions and strings.
type Layout struct {
	Function, String int // in the message with the tables
	ID               int // of a function; zero: its index in the table
	Name             int // of a function, which the mangled name and the file follow
	Line             int // of the lines of a location
}

// Functions are the functions and strings that are added to a profile.
type Functions struct {
	Fields []byte // of the message with the tables

	layout Layout
	used   []uint64 // ids of the functions of the profile, ascending
	last   uint64   // the greatest id that was given to a function
	next   uint64   // index of the next string
	ids    map[string]uint64
	texts  map[string]uint64
	key    []byte
}

// NewFunctions returns Functions for a profile with a number of strings, whose
// functions have the ids up to last, or those in used.
func NewFunctions(layout Layout, last uint64, used []uint64, strings uint64) *Functions {
	slices.Sort(used)
	return &Functions{layout: layout, last: last, used: used, next: strings, ids: map[string]uint64{}, texts: map[string]uint64{"": 0}}
}

// id returns the id of the function of a frame.
func (t *Functions) id(f *filter.Frame) uint64 {
	name, raw := f.Function, f.Raw
	if len(name) == 0 {
		name = raw
	}
	if len(raw) == 0 {
		raw = name
	}
	t.key = binary.AppendUvarint(t.key[:0], uint64(len(name)))
	t.key = append(t.key, name...)
	t.key = binary.AppendUvarint(t.key, uint64(len(raw)))
	t.key = append(t.key, raw...)
	t.key = append(t.key, f.File...)
	id, ok := t.ids[string(t.key)]
	if !ok {
		id = t.unused()
		t.ids[string(t.key)] = id
		t.add(id, name, raw, f.File)
	}
	return id
}

// unused returns the least id that no function has: readers index functions by
// their ids if these are dense.
func (t *Functions) unused() uint64 {
	t.last++
	for len(t.used) > 0 && t.used[0] <= t.last {
		if t.used[0] == t.last {
			t.last++
		}
		t.used = t.used[1:]
	}
	return t.last
}

func (t *Functions) add(id uint64, name, raw, file []byte) {
	n, s, f := t.text(name), t.text(raw), t.text(file)
	var room [4 * 11]byte
	msg := room[:0]
	if t.layout.ID != 0 {
		msg = wire.AppendVarint(msg, t.layout.ID, id)
	}
	msg = wire.AppendVarint(msg, t.layout.Name, n)
	msg = wire.AppendVarint(msg, t.layout.Name+1, s)
	if f != 0 {
		msg = wire.AppendVarint(msg, t.layout.Name+2, f)
	}
	t.Fields = wire.AppendBytes(t.Fields, t.layout.Function, msg)
}

// text returns the index of a string.
func (t *Functions) text(s []byte) uint64 {
	i, ok := t.texts[string(s)]
	if !ok {
		i = t.next
		t.next++
		t.texts[string(s)] = i
		t.Fields = wire.AppendBytes(t.Fields, t.layout.String, s)
	}
	return i
}

// AppendLine appends the line of a frame to a location.
func (t *Functions) AppendLine(b []byte, f *filter.Frame) []byte {
	var room [3 * 11]byte
	msg := wire.AppendVarint(room[:0], 1, t.id(f))
	if f.Line > 0 {
		msg = wire.AppendVarint(msg, 2, uint64(f.Line))
	}
	if f.Column > 0 {
		msg = wire.AppendVarint(msg, 3, uint64(f.Column))
	}
	return wire.AppendBytes(b, t.layout.Line, msg)
}
