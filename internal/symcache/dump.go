package symcache

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"symbolon/internal/bin"
)

// Dump writes the table for people: every byte that means something, with what
// it means. It shows what is there, whether or not it is right.
func (t *Table) Dump(w io.Writer) error {
	d := dumper{t: t, d: bin.NewDump(w)}
	d.head()
	d.sums()
	d.records(secExtents, &t.extents, func(i uint64) string {
		return fmt.Sprintf("group records from %d on are for %#x", t.extents.get(i, 1), t.head.base+t.extents.get(i, 0)<<groupShift)
	})
	d.records(secGroups, &t.groups, func(i uint64) string {
		return fmt.Sprintf("group %d: rows from %#x on, first node %d, ends of buckets", i, t.groups.get(i, 0), t.groups.get(i, 1))
	})
	d.rows()
	d.records(secNodes, &t.nodes, d.node)
	d.records(secTriples, &t.triples, func(i uint64) string {
		g := func(k int) uint64 { return t.triples.get(i, k) }
		return fmt.Sprintf("triple %d: origin %d called at file %d, line %d, column %d", i, g(0), g(1), g(2), g(3))
	})
	d.records(secFunctions, &t.functions, func(i uint64) string {
		g := func(k int) uint64 { return t.functions.get(i, k) }
		return fmt.Sprintf("function %d: %#x, %d bytes, origin %d", i, t.head.base+g(0), g(1), g(2))
	})
	d.records(secOrigins, &t.origins, func(i uint64) string {
		g := func(k int) uint64 { return t.origins.get(i, k) }
		return fmt.Sprintf("origin %d: string %d, file %d, line %d: %s", i, g(0), g(1), g(2), d.text(g(0)))
	})
	d.records(secFiles, &t.files, func(i uint64) string {
		return fmt.Sprintf("file %d: string %d: %s", i+1, t.files.get(i, 0), d.text(t.files.get(i, 0)))
	})
	d.records(secIndex, &t.index, func(i uint64) string {
		return fmt.Sprintf("strings from %d on are at %#x", i*stringGroup, t.index.get(i, 0))
	})
	d.strings()
	return d.d.Err()
}

type dumper struct {
	t *Table
	d *bin.Dump
}

// bodyOff is where an offset of the body is in the file.
func (d *dumper) bodyOff(at uint64) int64 { return int64(uint64(d.t.size) - d.t.head.bodySize + at) }

func (d *dumper) head() {
	h := d.t.head
	m := &h.info.Module
	d.d.Section("head")
	at := 0
	line := func(n int, format string, args ...any) {
		d.d.Line(int64(at), d.t.raw[at:at+n], fmt.Sprintf(format, args...))
		at += n
	}
	line(8, "magic")
	line(4, "version %d", Version)
	line(4, "size of the head %d", h.size)
	line(8, "size of the body %d", h.bodySize)
	line(4, "checksum of the checksums")
	line(4, "pages of 1<<%d, buckets of 1<<%d, %d sections", pageShift, bucketShift, sections)
	line(8, "base %#x", h.base)
	line(8, "size of the input %d", h.info.InputSize)
	line(32, "SHA-256 of the input")
	line(8, "bad records %d", h.info.BadRecords)
	line(4, "has %s", h.info.Flags)
	line(24, "debug id %s", m.DebugID)
	line(4, "padding")
	for i := range h.shapes {
		s := &h.shapes[i]
		line(descriptor, "%s: %d of %d bytes, bits %d", sectionNames[i], s.count, s.stride, s.width)
	}
	for _, f := range [...]struct{ name, text string }{
		{"type", m.Type.String()}, {"arch", m.Arch.String()}, {"code file", m.CodeFile}, {"code id", string(m.CodeID)},
		{"debug file", m.DebugFile}, {"debug id as spelled", m.DebugIDText}, {"producer", h.info.Producer},
	} {
		c := bin.NewCursor(d.t.raw[at:], binary.LittleEndian)
		c.Skip(int(c.Uleb()))
		line(c.Off(), "%s %q", f.name, f.text)
	}
	line(4, "checksum of the head")
}

func (d *dumper) sums() {
	d.d.Section("checksums")
	for i := range uint64(d.t.head.pages()) {
		d.d.Line(int64(d.t.head.size)+int64(4*i), d.t.sums[4*i:4*i+4], fmt.Sprintf("page %d", i))
	}
}

func (d *dumper) records(section int, r *records, note func(i uint64) string) {
	d.d.Section(sectionNames[section])
	for i := range r.count {
		from := i * r.stride
		d.d.Line(d.bodyOff(r.at+from), r.b[from:from+r.stride], note(i))
	}
}

func (d *dumper) node(i uint64) string {
	away, id := d.t.nodes.get(i, 0), d.t.nodes.get(i, 1)
	if away == 0 {
		return fmt.Sprintf("node %d: function %d", i, id)
	}
	return fmt.Sprintf("node %d: triple %d in node %d", i, id, int64(i-away))
}

func (d *dumper) rows() {
	t := d.t
	d.d.Section(sectionNames[secRows])
	x := uint64(0)
	for i := range t.groups.count {
		for x+1 < t.extents.count && t.extents.get(x+1, 1) <= i {
			x++
		}
		var group uint64
		if x < t.extents.count {
			group = t.extents.get(x, 0) + i - t.extents.get(x, 1)
		}
		for k := range buckets {
			d.bucket(i, k, t.head.base+group<<groupShift+uint64(k)<<bucketShift)
		}
	}
}

func (d *dumper) bucket(group uint64, bucket int, addr uint64) {
	t := d.t
	b, ok := t.bucket(group, bucket)
	if !ok {
		d.d.Line(d.bodyOff(t.rows.at), nil, fmt.Sprintf("bucket %d of group %d is not within the rows", bucket, group))
		return
	}
	from, _ := ends(t.groups.b[group*groupStride:], bucket)
	at := d.bodyOff(t.rows.at + t.groups.get(group, 0) + from)
	r := rowReader{b: b, end: len(b) - slack, columns: t.columns}
	r.node = t.groups.get(group, 1)
	for start := 0; start < r.end; start = r.i {
		r.read(math.MaxUint64, 1)
		note := fmt.Sprintf("%#x: ", addr+r.at)
		switch {
		case r.broken():
			note += "cannot be read"
		case !r.known:
			note += "hole"
		case r.explicit:
			note += fmt.Sprintf("node %d, file %d, line %d", r.node, r.file, r.line)
		case r.line == 0:
			note += fmt.Sprintf("node %d, usual file, no line", r.node)
		default:
			note += fmt.Sprintf("node %d, usual file, lowest line + %d", r.node, r.line-1)
		}
		if r.columns && r.known {
			note += fmt.Sprintf(", column %d", r.column)
		}
		d.d.Line(at+int64(start), b[start:min(r.i, r.end)], note)
	}
}

func (d *dumper) strings() {
	t := d.t
	d.d.Section(sectionNames[secText])
	for g := range t.index.count {
		start := t.index.get(g, 0)
		if start+stringGroup > t.text.size {
			continue
		}
		at := t.text.at + start
		d.d.Line(d.bodyOff(at), t.body[at:at+stringGroup], fmt.Sprintf("sizes of the strings from %d on", g*stringGroup))
		for k := range uint64(stringGroup) {
			s, ok := t.string(g*stringGroup + k)
			if !ok || len(s) == 0 {
				continue
			}
			from := at + stringGroup + sumBytes(t.body[at:], k)
			d.d.Line(d.bodyOff(from), s, fmt.Sprintf("string %d: %s", g*stringGroup+k, d.text(g*stringGroup+k)))
		}
	}
}

// text is the start of a string, quoted.
func (d *dumper) text(id uint64) string {
	const most = 100
	dec := decoder{t: d.t, left: 10 * most, most: most}
	b, _ := dec.append(nil, id, 0)
	if len(b) > most {
		return fmt.Sprintf("%q...", b[:most])
	}
	return fmt.Sprintf("%q", b)
}
