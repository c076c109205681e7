package symcache

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"

	"symbolon/internal/bin"
	"symbolon/internal/sym"
	"symbolon/internal/symcache/strtab"
)

// Dump writes a description of every field and record of the table to w. It
// does not check them.
func (t *Table) Dump(w io.Writer) error {
	d := dumper{t: t, d: bin.NewDump(w)}
	d.head()
	d.sums()
	d.records(secExtents, &t.extents, func(i uint64) string {
		return fmt.Sprintf("group records from %d on are for %#x", t.extents.get(i, 1), t.head.base+t.extents.get(i, 0)<<groupShift)
	})
	d.records(secGroups, &t.groups, func(i uint64) string {
		row, node, spot, _, _ := t.groups.read(i)
		return fmt.Sprintf("group %d: rows from %#x on, first node %d, first spot %d, ends of buckets", i, row, node, spot)
	})
	d.rows()
	d.records(secSpots, &t.spots, func(i uint64) string {
		node, file, line, column, _ := t.spots.read(i)
		return fmt.Sprintf("spot %d: node %d, file %d, line %d, column %d", i, node, file, line, column)
	})
	d.records(secNodes, &t.nodes, d.node)
	d.records(secTriples, &t.triples, func(i uint64) string {
		origin, usual, file, line, column := t.triples.read(i)
		return fmt.Sprintf("triple %d: origin %d, usual file %d, called at file %d, line %d, column %d", i, origin, usual, file, line, column)
	})
	d.records(secFunctions, &t.functions, func(i uint64) string {
		entry, size, origin, usual, _ := t.functions.read(i)
		return fmt.Sprintf("function %d: %#x, %d bytes, origin %d, usual file %d", i, t.head.base+entry, size, origin, usual)
	})
	d.records(secOrigins, &t.origins, func(i uint64) string {
		return fmt.Sprintf("origin %d: string %d: %s%s", i, t.origins.get(i, 0), d.text(t.origins.get(i, 0)), inLang(t.lang(i)))
	})
	d.records(secFiles, &t.files, func(i uint64) string {
		return fmt.Sprintf("file %d: string %d: %s", i+1, t.files.get(i, 0), d.text(t.files.get(i, 0)))
	})
	d.records(secIndex, &t.index, func(i uint64) string {
		return fmt.Sprintf("strings from %d on are at %#x", i*strtab.Group, t.index.get(i, 0))
	})
	d.strings()
	return d.d.Err()
}

type dumper struct {
	t *Table
	d *bin.Dump
}

// bodyOff returns the offset in the file of an offset in the body.
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
	c := bin.NewCursor(d.t.raw[at:], binary.LittleEndian)
	c.Uleb()
	line(c.Off(), "languages %d", len(h.langs))
	for _, l := range h.langs {
		c := bin.NewCursor(d.t.raw[at:], binary.LittleEndian)
		c.Skip(int(c.Uleb()))
		c.Uleb()
		line(c.Off(), "%d origins%s", l.count, inLang(l.lang))
	}
	line(4, "checksum of the head")
}

// inLang returns the suffix of a note that names a language.
func inLang(l sym.Lang) string {
	if l == sym.LangNone {
		return ""
	}
	return " in " + l.String()
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
		for k := range uint64(buckets) {
			d.bucket(i, k, t.head.base+group<<groupShift+k<<bucketShift)
		}
	}
}

func (d *dumper) bucket(index, bucket, addr uint64) {
	t := d.t
	g := t.group(index)
	b, size, ok := t.bucket(g, bucket)
	if !ok || size > 0 && size != bucketBytes(rank(b, bucketSize-1), t.rowBits) {
		d.d.Line(d.bodyOff(t.rows.at), nil, fmt.Sprintf("bucket %d of group %d does not have the size of its rows", bucket, index))
		return
	}
	if size == 0 {
		return
	}
	at := d.bodyOff(t.rows.at + uint64(len(t.rows.b)-len(b)))
	d.d.Line(at, b[:bucketHead], fmt.Sprintf("where rows start in %#x to %#x", addr, addr+bucketSize-1))
	starts := binary.LittleEndian.Uint64(b)
	for k := uint64(0); starts != 0; k++ {
		node, file, line, column := t.row(g, b, k)
		note := fmt.Sprintf("node %d, ", node)
		switch {
		case node == noNode:
			note = "hole"
		case file != usualFile:
			note += fmt.Sprintf("file %d, line %d", file, line)
		default:
			note += fmt.Sprintf("usual file, line %d", line)
		}
		if t.head.info.Flags&HasColumns != 0 && node != noNode {
			note += fmt.Sprintf(", column %d", column)
		}
		from, to := bucketHead+k*t.rowBits/8, bucketBytes(k+1, t.rowBits)
		d.d.Line(at+int64(from), b[from:to], fmt.Sprintf("%#x: %s", addr+uint64(bits.TrailingZeros64(starts)), note))
		starts &= starts - 1
	}
}

func (d *dumper) strings() {
	t := d.t
	d.d.Section(sectionNames[secText])
	for g := range t.index.count {
		start := t.index.get(g, 0)
		if start+strtab.Group > t.text.size {
			continue
		}
		at := t.text.at + start
		d.d.Line(d.bodyOff(at), t.body[at:at+strtab.Group], fmt.Sprintf("sizes of the strings from %d on", g*strtab.Group))
		for k := range uint64(strtab.Group) {
			s, ok := t.string(g*strtab.Group + k)
			if !ok || len(s) == 0 {
				continue
			}
			from := at + strtab.Group + sumBytes(t.body[at:], k)
			d.d.Line(d.bodyOff(from), s, fmt.Sprintf("string %d: %s", g*strtab.Group+k, d.text(g*strtab.Group+k)))
		}
	}
}

// text returns the quoted start of a string.
func (d *dumper) text(id uint64) string {
	const most = 100
	dec := decoder{t: d.t, left: 10 * most, most: most}
	b, _ := dec.append(nil, id, 0)
	if len(b) > most {
		return fmt.Sprintf("%q...", b[:most])
	}
	return fmt.Sprintf("%q", b)
}
