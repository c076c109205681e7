// Package otlp adds names to the profiles of OpenTelemetry's protocol, as in an
// ExportProfilesServiceRequest or ProfilesData of version 1.10 and later.
//
// A location without lines gets those of its address, innermost first, if its frame is
// of machine code: native, rust, kernel, or of no type. The functions and strings of
// the new lines are appended to their tables; everything else is copied as it is. A
// message whose tables have other fields, as those of earlier versions, is an error,
// and so is one that exceeds the limits: nothing is written then.
//
// Addresses are looked up as they are: the profiler of OpenTelemetry, the only one that
// writes such locations, has stepped back already. It writes them as linked, with
// mappings that start where they are linked. A mapping below 4 GiB is taken for one of
// these: loaders put what can be moved above that, and the rest where it is linked.
// Addresses in other mappings become offsets in the file. Addresses in a kernel are
// relative to it unless they are in the upper half of the address space.
//
// A module is known by its GNU build id, its Go build id, or the hash of its file. The
// linker of Go derives the GNU build id from that of Go.
//
// Memory is bounded by the limits: 48 bytes for each mapping, 4 for each string and
// attribute, 64 for each of up to 262,144 locations that are looked up together, 24 and
// the lines for each that gets names.
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
	maxElements  = 1 << 22  // strings and attributes
	maxLocations = 1 << 20  // that need names
	maxLook      = 1 << 18  // that are looked up together, for the memory of the answer
	maxAdded     = 64 << 20 // bytes of lines, functions and strings
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
	waiting []waiting // the locations of the next query
	*pprof.Functions
	named   []named
	lines   []byte // of all locations in named
	missing int    // locations that need names and have none
}

// waiting is a location that is looked up.
type waiting struct {
	filter.Address
	at int // its place in the dictionary
}

// named is a location that gets lines.
type named struct {
	at, begin, end int // its place in the dictionary, its lines
}

// Rewrite writes profiles with names.
func Rewrite(ctx context.Context, run *filter.Run, data []byte, out io.Writer) error {
	w := &rewriter{run: run, modules: map[ident.Module]int32{}}
	if err := w.read(data); err != nil {
		return err
	}
	w.newFunctions()
	if err := w.lookAll(ctx); err != nil {
		return err
	}
	metric.OTLPLocations.Add(int64(len(w.named)), "named")
	metric.OTLPLocations.Add(int64(w.missing), "missing")
	if len(w.named) == 0 {
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

// lookAll looks the locations up.
func (w *rewriter) lookAll(ctx context.Context) error {
	for r := wire.NewReader(w.dictionary); r.Next(); {
		if r.Tag.Num() != numLocations {
			continue
		}
		if w.add(r.Start, r.Bytes); len(w.waiting) == maxLook {
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

// add adds the location at a place of the dictionary to the query, if it needs lines.
func (w *rewriter) add(at int, msg []byte) {
	l := newLocation(msg)
	if l.hasLine && !w.run.Force || l.mapping == 0 || l.mapping >= uint64(len(w.mappings)) {
		return
	}
	switch string(w.frameType(msg)) {
	case "", "native", "rust":
	case "kernel":
		l.isKernel = true
	default:
		return
	}
	m := &w.mappings[l.mapping]
	if m.limit != 0 && (l.address < m.start || l.address >= m.limit) {
		return
	}
	if m.module == unseen {
		m.module = w.module(m)
	}
	if m.module == unknown {
		w.missing++
		return
	}
	space, addr := m.place(&l)
	w.waiting = append(w.waiting, waiting{filter.Address{Module: m.module, Space: space, Addr: addr}, at})
}

// module returns the index of the module of a mapping in the query.
func (w *rewriter) module(m *mapping) int32 {
	file, mod := w.identify(m)
	if file == "" && mod.CodeID.IsZero() && mod.FileID.IsZero() {
		return unknown
	}
	complete, ok := w.run.Module(cmp.Or(file, "unknown"), mod) // sources are not asked for a file without a name
	if !ok {
		return unknown
	}
	i, ok := w.modules[complete]
	if !ok {
		i = int32(len(w.query.Modules))
		w.modules[complete] = i
		w.query.Modules = append(w.query.Modules, complete)
	}
	return i
}

// look looks the waiting locations up, and keeps their lines. It does so in the
// order of addresses, as the names of neighbors are in one place.
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
	defer answer.Release()
	for i, x := range w.waiting {
		frames := answer.Frames(i)
		if len(frames) == 0 {
			w.missing++
			continue
		}
		begin := len(w.lines)
		for j := range frames {
			w.lines = w.AppendLine(w.lines, &frames[j])
		}
		w.named = append(w.named, named{x.at, begin, len(w.lines)})
		if len(w.lines)+len(w.Fields) > maxAdded {
			return tooMany("bytes of names", maxAdded)
		}
	}
	if len(w.named)+w.missing > maxLocations {
		return tooMany("locations without names", maxLocations)
	}
	w.waiting = w.waiting[:0]
	return nil
}

// write copies the message with the new lines, functions and strings.
func (w *rewriter) write(data []byte, out io.Writer) error {
	slices.SortFunc(w.named, func(a, b named) int { return cmp.Compare(a.at, b.at) })
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
	for _, n := range w.named {
		r := wire.NewReader(w.dictionary[n.at:])
		r.Next()
		msg = wire.AppendWithout(msg[:0], r.Bytes, 1<<numLines)
		msg = append(msg, w.lines[n.begin:n.end]...)
		head = wire.AppendLength(head[:0], numLocations, len(msg))
		for _, part := range [...][]byte{w.dictionary[copied:n.at], head, msg} {
			_, _ = out.Write(part)
		}
		copied = n.at + r.End
	}
	_, _ = out.Write(w.dictionary[copied:])
	_, _ = out.Write(w.Fields)
}
