package symcache

import "symbolon/internal/sym"

// Handles of names: the low bit is 0 for functions and 1 for files, which have
// separate numbers. Files are numbered from one, as zero means no file.
const handleFile = 1

func funcText(origin uint64) sym.Text { return sym.Text(origin+1) << 1 }

func fileText(file uint64) sym.Text {
	if file == 0 {
		return 0
	}
	return sym.Text(file)<<1 | handleFile
}

// Lookup appends the frames at addr to dst, innermost first. It appends nothing
// if the table has no row for addr. It allocates only if dst is too small.
func (t *Table) Lookup(dst []sym.Frame, addr uint64) []sym.Frame {
	if addr < t.head.base {
		return dst
	}
	rel := addr - t.head.base
	group, offset := rel>>groupShift, rel%groupSize
	x, behind := 0, len(t.starts)
	for x < behind {
		if mid := (x + behind) / 2; t.starts[mid].group <= group {
			x = mid + 1
		} else {
			behind = mid
		}
	}
	if x == 0 {
		return dst
	}
	start, end := t.starts[x-1], t.groups.count
	if x < len(t.starts) {
		end = t.starts[x].index
	}
	index := start.index + group - start.group
	if group-start.group >= end-start.index {
		// In a gap the last row before it applies.
		index, offset = end-1, groupSize-1
	}
	if node, file, line, column := t.find(index, offset); node != noNode {
		return t.appendFrames(dst, node, file, line, column)
	}
	return dst
}

// find returns the row at an offset in a group.
func (t *Table) find(index, offset uint64) (node, file uint64, line, column uint32) {
	g := t.group(index)
	bucket, target := offset>>bucketShift, offset%bucketSize
	for {
		b, size, ok := t.bucket(g, bucket)
		if ok && size > 0 {
			if k := rank(b, target); bucketBytes(k, t.rowBits) > size {
				ok = false
			} else if k > 0 {
				return t.row(g, b, k-1)
			}
		}
		if !ok {
			t.damaged(secGroups, "bucket %d of group %d does not have the size of its rows", bucket, index)
			return noNode, 0, 0, 0
		}
		// The last row of the bucket before still applies.
		if bucket == 0 {
			return noNode, 0, 0, 0
		}
		bucket, target = bucket-1, bucketSize-1
	}
}

// appendFrames appends the frames of a node, whose innermost frame is at file,
// line and column.
func (t *Table) appendFrames(dst []sym.Frame, node, file uint64, line, column uint32) []sym.Frame {
	first := len(dst)
	for depth := 0; depth <= MaxDepth && node < t.nodes.count; depth++ {
		w := t.nodes.word(node, 0)
		away, id := t.nodes.field[0].of(w), t.nodes.field[1].of(w)
		of := &t.triples
		if away == 0 {
			of = &t.functions
		}
		if id >= of.count {
			break
		}
		a, b, c, d, e := of.read(id)
		origin, usual := a, b
		if away == 0 {
			origin, usual = c, d
		}
		if file == usualFile {
			file = usual
		}
		if origin >= t.origins.count || file > t.files.count {
			break
		}
		dst = append(dst, sym.Frame{})
		f := &dst[len(dst)-1]
		f.Func, f.File, f.Line, f.Column, f.Inlined = funcText(origin), fileText(file), line, column, away != 0
		f.Lang = t.lang(origin)
		if away == 0 {
			for i := first; i < len(dst); i++ {
				dst[i].Entry, dst[i].Size = t.head.base+a, b
			}
			return dst
		}
		file, line, column = c, uint32(d), uint32(e)
		node -= away
	}
	t.damaged(secNodes, "node %d of %d leads to nothing, or has more than %d calls above it", node, t.nodes.count, MaxDepth)
	return dst[:first]
}

// lang returns the language of an origin, which must exist.
func (t *Table) lang(origin uint64) sym.Lang {
	for i := range t.langs {
		if l := &t.langs[i]; origin < l.end {
			return l.lang
		}
	}
	return sym.LangNone
}

// atOrBefore returns the last record of r whose first field is at most v.
func (r *records) atOrBefore(v uint64) (uint64, bool) {
	lo, hi := uint64(0), r.count
	for lo < hi {
		mid := (lo + hi) / 2
		if r.get(mid, 0) <= v {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo - 1, lo > 0
}

// Nearest returns the function or symbol with the greatest start that is at
// most addr, at any distance. If several start there, it returns the first one
// that was added of those whose size is known, else of all. The frame has
// neither file nor line.
func (t *Table) Nearest(addr uint64) (sym.Frame, bool) {
	if addr < t.head.base {
		return sym.Frame{}, false
	}
	i, ok := t.functions.atOrBefore(addr - t.head.base)
	if !ok {
		return sym.Frame{}, false
	}
	entry := t.functions.get(i, 0)
	if entry > 0 {
		// The best of those that start together is the first.
		before, ok := t.functions.atOrBefore(entry - 1)
		if i = 0; ok {
			i = before + 1
		}
	} else {
		i = 0
	}
	if i >= t.functions.count || t.functions.get(i, 0) != entry { // they are not in order
		return sym.Frame{}, false
	}
	origin := t.functions.get(i, 2)
	if origin >= t.origins.count {
		return sym.Frame{}, t.damaged(secFunctions, "function %d: origin %d of %d", i, origin, t.origins.count)
	}
	return sym.Frame{Func: funcText(origin), Entry: t.head.base + entry, Size: t.functions.get(i, 1), Lang: t.lang(origin)}, true
}
