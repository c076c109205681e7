package symcache

import (
	"encoding/binary"

	"symbolon/internal/sym"
)

// Handles of names: functions and files count by themselves, the low bit says
// which. Files count from one, as zero is no file.
const handleFile = 1

func funcText(origin uint64) sym.Text { return sym.Text(origin+1) << 1 }

func fileText(file uint64) sym.Text {
	if file == 0 {
		return 0
	}
	return sym.Text(file)<<1 | handleFile
}

// Lookup appends the frames at addr to dst, innermost first; nothing where the
// table knows nothing. It allocates only what dst lacks.
func (t *Table) Lookup(dst []sym.Frame, addr uint64) []sym.Frame {
	r := rowReader{columns: t.columns}
	if t.find(&r, addr) {
		return t.appendFrames(dst, &r.spot)
	}
	return dst
}

// find reads up to the row that holds at addr; false if nothing does.
func (t *Table) find(r *rowReader, addr uint64) bool {
	if addr < t.head.base {
		return false
	}
	rel := addr - t.head.base
	group := rel >> groupShift
	x, ok := t.extents.atOrBefore(group)
	if !ok {
		return false
	}
	start, index, end := t.extents.get(x, 0), t.extents.get(x, 1), t.groups.count
	if x+1 < t.extents.count {
		end = t.extents.get(x+1, 1)
	}
	if index >= end || end > t.groups.count {
		return t.damaged(secExtents, "extent %d has groups %d to %d of %d", x, index, end, t.groups.count)
	}
	offset := rel % groupSize
	if away := group - start; away < end-index {
		index += away
	} else {
		// In a gap holds what was said last.
		index, offset = end-1, groupSize-1
	}
	return t.findInGroup(r, index, offset)
}

func (t *Table) findInGroup(r *rowReader, index, offset uint64) bool {
	g := t.groups.b[index*groupStride:][:groupStride]
	bucket, target := int(offset>>bucketShift), offset%bucketSize
	from, to := ends(g, bucket)
	for from == to {
		// An empty bucket goes on with what the one before ended with.
		if bucket == 0 {
			return false
		}
		bucket--
		target = bucketSize
		from, to = ends(g, bucket)
	}
	start := uint64(binary.LittleEndian.Uint32(g))
	if from > to || to-from > maxBucket || start+to > t.rows.size {
		return t.damaged(secGroups, "group %d has rows %d to %d of %d from %d on", index, from, to, t.rows.size, start)
	}
	at := t.rows.at + start + from
	r.b, r.end = t.body[at:at+to-from+slack], int(to-from)
	r.node = uint64(binary.LittleEndian.Uint32(g[4:]))
	r.read(target, maxBucket)
	if r.broken() {
		return t.damaged(secRows, "bucket %d of group %d cannot be read", bucket, index)
	}
	return r.known
}

// ends is where the rows of a bucket start and end, behind those of its group.
func ends(g []byte, bucket int) (from, to uint64) {
	if bucket > 0 {
		from = uint64(binary.LittleEndian.Uint16(g[6+2*bucket:]))
	}
	return from, uint64(binary.LittleEndian.Uint16(g[8+2*bucket:]))
}

// appendFrames appends the frames of a spot.
func (t *Table) appendFrames(dst []sym.Frame, s *spot) []sym.Frame {
	first := len(dst)
	file, line, column := s.file, s.line, s.column
	node := s.node
	for depth := 0; depth <= MaxDepth; depth++ {
		if node >= t.nodes.count {
			t.damaged(secNodes, "node %d of %d", node, t.nodes.count)
			return dst[:first]
		}
		away, id := t.nodes.get(node, 0), t.nodes.get(node, 1)
		of, k := &t.triples, 0
		if away == 0 {
			of, k = &t.functions, 2
		}
		if id >= of.count {
			t.damaged(secNodes, "node %d is number %d of %d", node, id, of.count)
			return dst[:first]
		}
		origin := of.get(id, k)
		if depth == 0 && !s.explicit {
			file, line = t.usual(origin, line)
		}
		if origin >= t.origins.count || file > t.files.count {
			t.damaged(secNodes, "node %d: origin %d of %d, file %d of %d", node, origin, t.origins.count, file, t.files.count)
			return dst[:first]
		}
		dst = append(dst, sym.Frame{})
		f := &dst[len(dst)-1]
		f.Func, f.File, f.Line, f.Column, f.Inlined = funcText(origin), fileText(file), line, column, away != 0
		if away == 0 {
			entry, size := t.head.base+of.get(id, 0), of.get(id, 1)
			for i := first; i < len(dst); i++ {
				dst[i].Entry, dst[i].Size = entry, size
			}
			return dst
		}
		file, line, column = of.get(id, 1), uint32(of.get(id, 2)), uint32(of.get(id, 3))
		node -= away
	}
	t.damaged(secNodes, "more than %d calls inlined", MaxDepth)
	return dst[:first]
}

// usual is the usual file of an origin, and the line that is relative to its
// lowest one there.
func (t *Table) usual(origin uint64, line uint32) (uint64, uint32) {
	if origin >= t.origins.count {
		return 0, 0
	}
	if line != 0 {
		line += uint32(t.origins.get(origin, 2)) - 1
	}
	return t.origins.get(origin, 1), line
}

// atOrBefore is the last record of r whose first field is at most v.
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

// Nearest is the function or symbol with the greatest start that is not behind
// addr, however far away it is. Of several that start there it is one whose
// size is known, if there is one, else the first that was added. Its frame has
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
	return sym.Frame{Func: funcText(origin), Entry: t.head.base + entry, Size: t.functions.get(i, 1)}, true
}
