package firefox

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"slices"
	"strconv"

	"symbolon/internal/api/json"
	"symbolon/internal/filter"
	"symbolon/internal/filter/rawjson"
)

// A mapping is where a library is in the memory of a process.
type mapping struct {
	library
	start, end, offset uint64
	number             int32 // in the query; unasked before it is needed, or unknown
}

const (
	unasked = -1
	unknown = -2
)

// A location is a string of a thread that is the address of a frame.
type location struct {
	span
	mapping  *mapping
	address  uint64 // relative to the library
	isReturn bool
}

// A gecko reads a profile of Firefox itself: processes with threads, whose frames
// have a string each.
type gecko struct{ locations []location }

// rewriteGecko replaces the addresses in strings by names, in a form that the
// profiler reads: NAME (in LIBRARY) (FILE:LINE). There is one for each frame, so
// inlined calls are not shown. An address is a return address if a stack has
// its frame as prefix.
func rewriteGecko(ctx context.Context, run *filter.Run, data []byte, out io.Writer) error {
	var g gecko
	r := rawjson.Reader{Data: data}
	g.scanProcess(&r)
	if r.End(); r.Err != nil {
		return r.Err
	}
	edits, err := g.lookUp(ctx, run)
	if err != nil {
		return err
	}
	return writeEdits(data, edits, out)
}

// scanProcess reads a process, and those that it contains.
func (g *gecko) scanProcess(r *rawjson.Reader) {
	var libs []*mapping
	var own []location
	for r.Enter('{'); r.Next(); {
		switch string(r.Key()) {
		case "libs":
			for r.Enter('['); r.Next(); {
				libs = append(libs, scanMapping(r))
			}
		case "threads":
			for r.Enter('['); r.Next(); {
				own = scanThread(r, own)
			}
		case "processes":
			for r.Enter('['); r.Next(); {
				g.scanProcess(r)
			}
		default:
			r.Skip()
		}
	}
	slices.SortFunc(libs, func(a, b *mapping) int { return cmp.Compare(a.start, b.start) })
	for _, l := range own {
		i, ok := slices.BinarySearchFunc(libs, l.address, func(m *mapping, a uint64) int { return cmp.Compare(m.start, a) })
		if !ok {
			i--
		}
		if i >= 0 && l.address < libs[i].end {
			l.mapping = libs[i]
			l.address -= libs[i].start - libs[i].offset
			g.locations = append(g.locations, l)
		}
	}
}

func scanMapping(r *rawjson.Reader) *mapping {
	m := &mapping{number: unasked}
	for r.Enter('{'); r.Next(); {
		var place *uint64
		switch key := string(r.Key()); key {
		case "start":
			place = &m.start
		case "end":
			place = &m.end
		case "offset":
			place = &m.offset
		default:
			m.library.scan(r, key)
			continue
		}
		text := r.Skip()
		*place, _ = strconv.ParseUint(string(text), 10, 64)
	}
	return m
}

// scanThread reads a thread and appends the addresses in its strings to list.
func scanThread(r *rawjson.Reader, list []location) []location {
	var frames, prefixes, stackFrames []int32
	strings := stringArray{data: r.Data}
	for r.Enter('{'); r.Next(); {
		switch string(r.Key()) {
		case "frameTable":
			frames = scanRows(r, "location")[0]
		case "stackTable":
			rows := scanRows(r, "prefix", "frame")
			prefixes, stackFrames = rows[0], rows[1]
		case "stringTable":
			strings.span = skip(r)
		default:
			r.Skip()
		}
	}
	if strings.to == 0 || r.Err != nil {
		return nil
	}
	if r.Err = strings.load(); r.Err != nil {
		return nil
	}
	isReturn := make([]bool, len(frames))
	for _, p := range prefixes {
		if p >= 0 && int(p) < len(stackFrames) && stackFrames[p] >= 0 && int(stackFrames[p]) < len(frames) {
			isReturn[stackFrames[p]] = true
		}
	}
	known := map[int32]int{} // by the number of the string
	for frame, s := range frames {
		if i, ok := known[s]; ok {
			list[i].isReturn = list[i].isReturn || isReturn[frame]
			continue
		}
		rest, ok := bytes.CutPrefix(strings.quoted(int64(s)), []byte(`"0x`))
		digits := len(rest) - len(trimHex(rest))
		if !ok || !bytes.HasPrefix(rest[digits:], []byte(`"`)) {
			continue
		}
		address, err := strconv.ParseUint(string(rest[:digits]), 16, 64)
		if err != nil {
			continue
		}
		known[s] = len(list)
		at := int(strings.at[s])
		list = append(list, location{span: span{at, at + digits + 4}, address: address, isReturn: isReturn[frame]})
	}
	return list
}

// scanRows returns columns of a table whose rows are arrays, with -1 for values
// that are not positions. Its schema, which has the numbers of the columns,
// precedes its data.
func scanRows(r *rawjson.Reader, names ...string) [][]int32 {
	columns := make([][]int32, len(names))
	at := slices.Repeat([]int{-1}, len(names))
	for r.Enter('{'); r.Next(); {
		switch string(r.Key()) {
		case "schema":
			for r.Enter('{'); r.Next(); {
				i := slices.Index(names, string(r.Key()))
				if v, ok := r.Int(); ok && i >= 0 {
					at[i] = int(v)
				}
			}
		case "data":
			for r.Enter('['); r.Next(); {
				for i := range columns {
					columns[i] = append(columns[i], -1)
				}
				n := 0
				for r.Enter('['); r.Next(); n++ {
					v, ok := r.Int()
					if i := slices.Index(at, n); i >= 0 && ok && 0 <= v && v < maxRows {
						columns[i][len(columns[i])-1] = int32(v)
					}
				}
			}
		default:
			r.Skip()
		}
	}
	return columns
}

// lookUp returns the edits that replace addresses by names.
func (g *gecko) lookUp(ctx context.Context, run *filter.Run) (edits []edit, err error) {
	q := filter.Query{Called: true}
	var asked []*location
	for i := range g.locations {
		l := &g.locations[i]
		if l.mapping.number == unasked {
			l.mapping.number = unknown
			if m, ok := run.Module(l.mapping.place(), l.mapping.module); ok {
				l.mapping.number = q.AddModule(m)
			}
		}
		if l.mapping.number >= 0 {
			asked = append(asked, l)
		}
	}
	if len(asked) == 0 {
		return nil, nil
	}
	slices.SortFunc(asked, func(a, b *location) int {
		return cmp.Or(cmp.Compare(a.mapping.number, b.mapping.number), cmp.Compare(a.address, b.address))
	})
	for _, l := range asked {
		q.Addresses = append(q.Addresses, filter.Address{Module: l.mapping.number, IsReturn: l.isReturn, Addr: l.address})
	}
	a, err := run.Look(ctx, &q)
	if err != nil {
		return nil, err
	}
	defer a.Release()
	for i, l := range asked {
		frames := a.Frames(i)
		if len(frames) == 0 || len(frames[len(frames)-1].Function) == 0 {
			continue
		}
		text := appendLocation(nil, &frames[len(frames)-1], l.mapping.module.CodeFile)
		edits = append(edits, edit{l.from, func(e *rawjson.Editor) error {
			e.Replace(l.from, l.to)
			e.Out.Write(json.AppendQuoted(e.Out.AvailableBuffer(), text))
			return nil
		}})
	}
	slices.SortFunc(edits, func(a, b edit) int { return cmp.Compare(a.at, b.at) })
	return edits, nil
}

// appendLocation appends the text of a frame in a library, which must not have a
// closing parenthesis for the profiler to read it.
func appendLocation(dst []byte, f *filter.Frame, library string) []byte {
	dst = append(append(dst, f.Function...), " (in "...)
	dst = append(append(dst, bytes.ReplaceAll([]byte(library), []byte(")"), nil)...), ')')
	if len(f.File) > 0 {
		dst = append(append(append(dst, " ("...), f.File...), ':')
		dst = append(strconv.AppendUint(dst, uint64(f.Line), 10), ')')
	}
	return dst
}
