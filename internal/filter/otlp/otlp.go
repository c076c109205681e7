// Package otlp adds names to the profiles of OpenTelemetry's protocol, as in an
// ExportProfilesServiceRequest or ProfilesData of version 1.10 and later.
//
// A location without lines gets the lines of its address, innermost first, if its frame
// is machine code: native, rust, kernel, or without a type. The functions and strings of
// the new lines are appended to their tables; everything else is copied byte for byte. A
// message whose tables have other fields, as in earlier versions, is an error, and so is
// one that exceeds the limits; nothing is written then.
//
// Return addresses are not decremented: the profiler of OpenTelemetry, the only one that
// writes such locations, has done that already. It writes addresses as linked, with
// mappings that start at their linked addresses. A mapping below 4 GiB is taken for one
// of these: loaders place relocatable code above that, and other code at its linked
// address. Addresses in other mappings become offsets in the file. Addresses in a kernel
// are relative to it unless they are in the upper half of the address space.
//
// A module is known by its GNU build id, its Go build id, or the hash of its file. The
// linker of Go derives the GNU build id from that of Go.
//
// Memory is bounded by the limits: 64 bytes and the path for each mapping, 4 for each string, 8
// for each attribute, 80 and the lines for each location that needs names.
package otlp

import (
	"bufio"
	"cmp"
	"context"
	"io"
	"slices"

	"symbolon/internal/fault"
	"symbolon/internal/filter"
	"symbolon/internal/filter/pprof"
	"symbolon/internal/filter/wire"
	"symbolon/internal/ident"
	"symbolon/internal/metric"
)

// Limits of a message. Its profiles are those of a few seconds.
const (
	maxMappings  = 100_000
	maxElements  = 1 << 22  // strings and attributes; also uses of attributes
	maxText      = 1024     // bytes of a path or the text of an attribute; longer ones are ignored
	maxLocations = 1 << 18  // that need names
	maxAdded     = 32 << 20 // bytes of lines, functions and strings
)

// tooMany returns the error of a message that exceeds a limit.
func tooMany(what string, limit int) error {
	return fault.New(fault.Unsupported, "OTLP profiles", "more than %d %s", limit, what)
}

// rewriter is the state of a run.
type rewriter struct {
	run *filter.Run
	tables
	query   filter.Query
	modules map[ident.Module]int32
	unnamed []location // those of the query; then those that get lines
	*pprof.Functions
	lines   []byte // of all locations
	missing int    // locations that need names and have none
}

// location is a location that needs names.
type location struct {
	filter.Address
	at, begin, end int // its place in the dictionary, its lines
}

// Rewrite writes profiles with names.
func Rewrite(ctx context.Context, run *filter.Run, data []byte, out io.Writer) error {
	w := &rewriter{run: run, modules: map[ident.Module]int32{}}
	if err := w.read(data); err != nil {
		return err
	}
	w.newFunctions()
	for r := wire.NewReader(w.dictionary); r.Next(); {
		if r.Tag.Num() == numLocations {
			w.add(r.Start, r.Bytes)
		}
		switch {
		case len(w.unnamed) > maxLocations:
			return tooMany("locations without names", maxLocations)
		case w.uses > maxElements:
			return tooMany("uses of attributes", maxElements)
		case ctx.Err() != nil:
			return ctx.Err()
		}
	}
	if err := w.look(ctx); err != nil {
		return err
	}
	metric.OTLPLocations.Add(int64(len(w.unnamed)), "named")
	metric.OTLPLocations.Add(int64(w.missing), "missing")
	if len(w.unnamed) == 0 {
		_, err := out.Write(data)
		return err
	}
	return w.write(data, out)
}

// newFunctions prepares the new functions and strings. The first element of a table
// means none, so it is added to an empty one.
func (w *rewriter) newFunctions() {
	functions, strings := max(w.functions, 1), max(len(w.strings), 1)
	w.Functions = pprof.NewFunctions(layout, uint64(functions-1), nil, uint64(strings))
	if w.functions == 0 {
		w.Fields = wire.AppendLength(w.Fields, numFunctions, 0)
	}
	if len(w.strings) == 0 {
		w.Fields = wire.AppendLength(w.Fields, numStrings, 0)
	}
}

// add adds the location at a place of the dictionary to the query, if it needs lines.
func (w *rewriter) add(at int, msg []byte) {
	var index, addr uint64
	for r := wire.NewReader(msg); r.Next(); {
		switch r.Tag.Num() {
		case 1:
			index = r.Value
		case 2:
			addr = r.Value
		case numLines:
			if !w.run.Force {
				return
			}
		}
	}
	if index == 0 || index >= uint64(len(w.mappings)) {
		return
	}
	m, kind := &w.mappings[index], string(w.frameType(msg))
	isCode := kind == "" || kind == "native" || kind == "rust" || kind == kernel
	if !isCode || m.limit != 0 && (addr < m.start || addr >= m.limit) {
		return
	}
	if m.module == unseen {
		m.module = w.module(m)
	}
	if m.module == unknown {
		w.missing++
		return
	}
	space, addr := m.place(addr, kind == kernel)
	w.unnamed = append(w.unnamed, location{Address: filter.Address{Module: m.module, Space: space, Addr: addr}, at: at})
}

// module returns the index of the module of a mapping in the query.
func (w *rewriter) module(m *mapping) int32 {
	file, mod := string(w.text(m.file)), w.identify(m)
	if file == "" && mod.CodeID.IsZero() && mod.FileID.IsZero() {
		return unknown
	}
	complete, ok := w.run.Module(cmp.Or(file, "unknown"), mod) // sources are not asked for a file without a name
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

// look looks up the locations and keeps those that get lines. It looks them up in the
// order of addresses, as neighbors have their names close to each other in a table.
func (w *rewriter) look(ctx context.Context) error {
	slices.SortFunc(w.unnamed, func(a, b location) int {
		return cmp.Or(cmp.Compare(a.Module, b.Module), cmp.Compare(a.Addr, b.Addr))
	})
	for i := range w.unnamed {
		w.query.Addresses = append(w.query.Addresses, w.unnamed[i].Address)
	}
	answer, err := w.run.Look(ctx, &w.query)
	if err != nil {
		return err
	}
	defer answer.Release()
	named := w.unnamed[:0]
	for i, l := range w.unnamed {
		frames := answer.Frames(i)
		if len(frames) == 0 {
			w.missing++
			continue
		}
		l.begin = len(w.lines)
		for j := range frames {
			w.lines = w.AppendLine(w.lines, &frames[j])
		}
		l.end = len(w.lines)
		named = append(named, l)
		if len(w.lines)+len(w.Fields) > maxAdded {
			return tooMany("bytes of names", maxAdded)
		}
	}
	w.unnamed = named
	return nil
}

// write copies the message with the new lines, functions and strings.
func (w *rewriter) write(data []byte, out io.Writer) error {
	slices.SortFunc(w.unnamed, func(a, b location) int { return cmp.Compare(a.at, b.at) })
	var size counter
	w.copyDictionary(&size)
	b := bufio.NewWriterSize(out, 1<<16)
	b.Write(data[:w.start])
	b.Write(wire.AppendLength(b.AvailableBuffer(), numDictionary, int(size)))
	w.copyDictionary(b)
	b.Write(data[w.end:])
	return b.Flush()
}

// counter counts the bytes that are written.
type counter int

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// copyDictionary writes the dictionary. The errors are those that out remembers.
func (w *rewriter) copyDictionary(out io.Writer) {
	copied := 0
	var msg, head []byte
	for _, l := range w.unnamed {
		r := wire.NewReader(w.dictionary[l.at:])
		r.Next()
		msg = wire.AppendWithout(msg[:0], r.Bytes, 1<<numLines)
		msg = append(msg, w.lines[l.begin:l.end]...)
		head = wire.AppendLength(head[:0], numLocations, len(msg))
		for _, part := range [...][]byte{w.dictionary[copied:l.at], head, msg} {
			_, _ = out.Write(part)
		}
		copied = l.at + r.End
	}
	_, _ = out.Write(w.dictionary[copied:])
	_, _ = out.Write(w.Fields)
}
