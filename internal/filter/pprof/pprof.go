// Package pprof adds names to profiles in the format of pprof (profile.proto).
//
// A location without lines gets the lines of its address, innermost first, and its
// mapping gets the flags for the kinds of information found. The functions and strings of
// the new lines are appended at the end; everything else is copied byte for byte,
// including unknown fields and damaged records. The order of the tables, and gaps between
// ids, do not matter.
//
// Return addresses are not decremented: Go and the profilers of eBPF have done that
// already, and readers of the format do not either.
//
// Memory is bounded by the profile: 40 bytes for each mapping, 64 for each of up to
// 262,144 locations that are looked up together, 24 and the lines for each that
// gets names.
package pprof

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"symbolon/internal/filter"
	"symbolon/internal/filter/wire"
	"symbolon/internal/ident"
)

// Is reports whether the beginning of a file is a profile. Each field must have
// the type that a profile has, and a type of samples must be there, which the text
// of no other format of protocol buffers resembles.
func Is(head []byte) bool {
	r := wire.NewReader(head)
	hasType := false
	for r.Next() {
		switch r.Tag {
		case tagSampleType, tagPeriodType:
			hasType = true
			if !isValueType(r.Bytes) {
				return false
			}
		case 2<<3 | wire.Bytes, tagMapping, tagLocation, tagFunction, tagString, tagComments:
		default:
			if n := r.Tag.Num(); n <= lastNumber && (r.Tag&7 != wire.Varint || n <= tagString.Num() || n == tagPeriodType.Num()) {
				return false
			}
		}
	}
	return hasType
}

// isValueType reports whether a message has two indices of strings.
func isValueType(msg []byte) bool {
	r := wire.NewReader(msg)
	for r.Next() {
		if r.Tag != 1<<3|wire.Varint && r.Tag != 2<<3|wire.Varint {
			return false
		}
	}
	return r.Err() == nil
}

// maxLook limits the addresses of one lookup, for the memory of the answer.
const maxLook = 1 << 18

// rewriter is the state of a run.
type rewriter struct {
	run      *filter.Run
	data     []byte
	mappings []mapping
	byID     map[uint64]int32
	texts    map[uint64]string // the strings of mappings
	query    filter.Query
	modules  map[ident.Module]int32
	waiting  []waiting // the locations of the next query
	*Functions
	named []named
	lines []byte // of all locations in named
}

// waiting is a location that is looked up.
type waiting struct {
	filter.Address
	mapping int32
	at      int // its place in the profile
}

// named is a location that gets lines.
type named struct {
	at, begin, end int // its place in the profile, its lines
}

// Rewrite writes a profile with names.
func Rewrite(ctx context.Context, run *filter.Run, data []byte, out io.Writer) error {
	w := &rewriter{run: run, data: data, byID: map[uint64]int32{}, texts: map[uint64]string{}, modules: map[ident.Module]int32{}}
	if err := w.readTables(); err != nil {
		return fmt.Errorf("read profile: %w", err)
	}
	if err := w.lookAll(ctx); err != nil {
		return err
	}
	return w.write(out)
}

// readTables reads everything that locations refer to.
func (w *rewriter) readTables() error {
	var used []uint64
	strings := uint64(0)
	r := wire.NewReader(w.data)
	for r.Next() {
		switch r.Tag {
		case tagMapping:
			m, id := readMapping(r.Bytes)
			if id != 0 {
				w.byID[id] = int32(len(w.mappings))
				w.texts[m.file], w.texts[m.buildID] = "", ""
			}
			w.mappings = append(w.mappings, m)
		case tagFunction:
			f := wire.NewReader(r.Bytes)
			for f.Next() {
				if f.Tag == tagFunctionID {
					used = append(used, f.Value)
				}
			}
		case tagString:
			strings++
		}
	}
	if r.Err() != nil {
		return r.Err()
	}
	w.Functions = NewFunctions(layout, 0, used, strings)
	index := uint64(0)
	for r := wire.NewReader(w.data); r.Next(); {
		if r.Tag == tagString {
			if _, ok := w.texts[index]; ok {
				w.texts[index] = string(r.Bytes)
			}
			index++
		}
	}
	return nil
}

// lookAll looks the locations up.
func (w *rewriter) lookAll(ctx context.Context) error {
	for r := wire.NewReader(w.data); r.Next(); {
		if r.Tag != tagLocation {
			continue
		}
		w.add(r.Start, r.Bytes)
		if len(w.waiting) == maxLook {
			if err := w.look(ctx); err != nil {
				return err
			}
		}
	}
	if len(w.waiting) == 0 {
		return nil
	}
	return w.look(ctx)
}

// add adds the location at a place of the profile to the query, if it needs lines.
func (w *rewriter) add(at int, msg []byte) {
	l, ok := readLocation(msg)
	if !ok || l.hasLine && !w.run.Force {
		return
	}
	i, ok := w.byID[l.mapping]
	if l.mapping == 0 && len(w.mappings) == 1 {
		i, ok = 0, true
	}
	if !ok {
		return
	}
	m := &w.mappings[i]
	if l.address < m.start || m.limit != 0 && l.address >= m.limit {
		return
	}
	switch m.module {
	case unseen:
		m.module = w.module(m)
	case unknown:
		if file := m.path(w.texts); file != "" {
			w.run.Unidentified(file)
		}
	}
	if m.module == unknown {
		return
	}
	isKernel := strings.HasPrefix(w.texts[m.file], "[kernel")
	space, addr := m.place(w.query.Modules[m.module].Type, isKernel, l.address)
	w.waiting = append(w.waiting, waiting{filter.Address{Module: m.module, Space: space, Addr: addr}, i, at})
}

// module returns the index of the module of a mapping in the query.
func (w *rewriter) module(m *mapping) int32 {
	file := m.path(w.texts)
	mod := module(file, w.texts[m.buildID])
	if file == "" && mod.CodeID.IsZero() && mod.DebugID.IsZero() {
		return unknown // made by writers that do not know the mappings
	}
	complete, ok := w.run.Module(file, mod)
	if !ok {
		return unknown
	}
	i, ok := w.modules[complete]
	if !ok {
		i = w.query.AddModule(complete)
		w.modules[complete] = i
	}
	return i
}

// look looks up the waiting locations and keeps their lines. It looks them up in the
// order of addresses, as neighbors have their names close to each other in a table.
func (w *rewriter) look(ctx context.Context) error {
	slices.SortFunc(w.waiting, func(a, b waiting) int {
		return cmp.Or(cmp.Compare(a.Module, b.Module), cmp.Compare(a.Addr, b.Addr))
	})
	w.query.Addresses = w.query.Addresses[:0]
	for i := range w.waiting {
		w.query.Addresses = append(w.query.Addresses, w.waiting[i].Address)
	}
	answer, err := w.run.Look(ctx, &w.query)
	if err != nil {
		return err
	}
	first := len(w.named)
	for i, x := range w.waiting {
		frames := answer.Frames(i)
		if len(frames) == 0 {
			continue
		}
		m, begin := &w.mappings[x.mapping], len(w.lines)
		for j := range frames {
			f := &frames[j]
			w.lines = w.AppendLine(w.lines, f)
			m.found |= flag(0, len(f.Function)+len(f.Raw) > 0) | flag(1, len(f.File) > 0) | flag(2, f.Line > 0)
		}
		m.found |= flag(3, len(frames) > 1)
		w.named = append(w.named, named{x.at, begin, len(w.lines)})
	}
	answer.Release()
	w.waiting = w.waiting[:0]
	slices.SortFunc(w.named[first:], func(a, b named) int { return cmp.Compare(a.at, b.at) })
	return nil
}

func flag(i int, isSet bool) uint8 {
	if isSet {
		return 1 << i
	}
	return 0
}

// write copies the profile with the new lines, flags and tables.
func (w *rewriter) write(out io.Writer) error {
	b := bufio.NewWriterSize(out, 1<<16)
	copied, mappings := 0, w.mappings
	var msg []byte
	for r := wire.NewReader(w.data); r.Next(); {
		switch {
		case r.Tag == tagMapping:
			m := mappings[0]
			mappings = mappings[1:]
			if m.found&^m.flags == 0 {
				continue
			}
			msg = appendFlags(msg[:0], r.Bytes, m.found|m.flags)
		case r.Tag == tagLocation && len(w.named) > 0 && w.named[0].at == r.Start:
			msg = wire.AppendWithout(msg[:0], r.Bytes, 1<<numLine|1<<numFolded)
			msg = append(msg, w.lines[w.named[0].begin:w.named[0].end]...)
			w.named = w.named[1:]
		default:
			continue
		}
		b.Write(w.data[copied:r.Start])
		b.Write(wire.AppendLength(b.AvailableBuffer(), r.Tag.Num(), len(msg)))
		b.Write(msg)
		copied = r.End
	}
	b.Write(w.data[copied:])
	b.Write(w.Fields)
	return b.Flush()
}

// appendFlags appends a mapping with its flags set.
func appendFlags(b, msg []byte, flags uint8) []byte {
	drop := uint64(flags) << numHasFunctions
	b = wire.AppendWithout(b, msg, drop)
	for n := numHasFunctions; n <= numHasInlines; n++ {
		if drop>>n&1 != 0 {
			b = wire.AppendVarint(b, n, 1)
		}
	}
	return b
}
