package symcache

import (
	"encoding/binary"
	"math"
)

// Verify reads the whole table and says what is wrong with it: everything that
// a Builder does not write.
func (t *Table) Verify() error {
	for _, check := range []func() error{
		t.verifyExtents, t.verifyGroups, t.verifyNodes, t.verifyCalls, t.verifyNames, t.verifyStrings,
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return t.Damaged()
}

func broken(section int, format string, args ...any) error {
	return malformed(sectionNames[section], format, args...)
}

func (t *Table) verifyExtents() error {
	x := &t.extents
	for i := range x.count {
		group, index := x.get(i, 0), x.get(i, 1)
		if i == 0 && index != 0 || index >= t.groups.count {
			return broken(secExtents, "extent %d starts with group record %d of %d", i, index, t.groups.count)
		}
		if i > 0 && (index <= x.get(i-1, 1) || group <= x.get(i-1, 0)+index-x.get(i-1, 1)) {
			return broken(secExtents, "extent %d does not lie behind the one before", i)
		}
	}
	if (x.count == 0) != (t.groups.count == 0) {
		return broken(secExtents, "none, with %d groups", t.groups.count)
	}
	return nil
}

func (t *Table) verifyGroups() error {
	next := uint64(0)
	for i := range t.groups.count {
		if start := t.groups.get(i, 0); start != next {
			return broken(secGroups, "group %d has rows from %d on, wanted is %d", i, start, next)
		}
		size, err := t.verifyBuckets(i)
		if err != nil {
			return err
		}
		next += size
	}
	if next != t.rows.size {
		return broken(secGroups, "the rows end at %d of %d", next, t.rows.size)
	}
	return nil
}

// bucket is the rows of a bucket and slack bytes; false if it is not within the
// rows.
func (t *Table) bucket(group uint64, bucket int) (rows []byte, ok bool) {
	g := t.groups.b[group*groupStride:][:groupStride]
	from, to := ends(g, bucket)
	start := uint64(binary.LittleEndian.Uint32(g))
	if from > to || to-from > maxBucket || start+to > t.rows.size {
		return nil, false
	}
	at := t.rows.at + start
	return t.body[at+from : at+to+slack], true
}

// verifyBuckets is how many bytes of rows a group has.
func (t *Table) verifyBuckets(i uint64) (size uint64, err error) {
	for k := range buckets {
		b, ok := t.bucket(i, k)
		if !ok {
			return 0, broken(secGroups, "bucket %d of group %d is not within the rows", k, i)
		}
		size += uint64(len(b) - slack)
		r := rowReader{b: b, end: len(b) - slack, columns: t.columns}
		r.node = t.groups.get(i, 1)
		for n := 0; r.i < r.end; n++ {
			r.read(math.MaxUint64, 1)
			if r.broken() {
				break
			}
			if r.at >= bucketSize || n > bucketSize {
				return 0, broken(secRows, "bucket %d of group %d has row %d at offset %d", k, i, n, r.at)
			}
			if r.known && (r.node >= t.nodes.count || r.explicit && r.file > t.files.count) {
				return 0, broken(secRows, "bucket %d of group %d names node %d of %d, file %d of %d",
					k, i, r.node, t.nodes.count, r.file, t.files.count)
			}
		}
		if r.broken() {
			return 0, broken(secRows, "bucket %d of group %d cannot be read", k, i)
		}
	}
	return size, nil
}

func (t *Table) verifyNodes() error {
	for i := range t.nodes.count {
		n := i
		for depth := 0; ; depth++ {
			away, id := t.nodes.get(n, 0), t.nodes.get(n, 1)
			if away == 0 && id < t.functions.count {
				break
			}
			if away == 0 || id >= t.triples.count || away > n || depth == MaxDepth {
				return broken(secNodes, "node %d, %d calls above node %d: number %d, parent %d back", n, depth, i, id, away)
			}
			n -= away
		}
	}
	return nil
}

func (t *Table) verifyCalls() error {
	for i := range t.triples.count {
		if origin, file := t.triples.get(i, 0), t.triples.get(i, 1); origin >= t.origins.count || file > t.files.count {
			return broken(secTriples, "triple %d: origin %d of %d, file %d of %d", i, origin, t.origins.count, file, t.files.count)
		}
	}
	for i := range t.functions.count {
		if origin := t.functions.get(i, 2); origin >= t.origins.count {
			return broken(secFunctions, "function %d: origin %d of %d", i, origin, t.origins.count)
		}
		if i > 0 && t.functions.get(i, 0) < t.functions.get(i-1, 0) {
			return broken(secFunctions, "function %d starts before the one before", i)
		}
	}
	return nil
}

func (t *Table) verifyNames() error {
	most := t.index.count * stringGroup
	for i := range t.origins.count {
		if t.origins.get(i, 0) >= most || t.origins.get(i, 1) > t.files.count || t.origins.get(i, 2) == 0 {
			return broken(secOrigins, "origin %d: string %d of %d, file %d of %d, line %d",
				i, t.origins.get(i, 0), most, t.origins.get(i, 1), t.files.count, t.origins.get(i, 2))
		}
	}
	for i := range t.files.count {
		if t.files.get(i, 0) >= most {
			return broken(secFiles, "file %d: string %d of %d", i, t.files.get(i, 0), most)
		}
	}
	return nil
}

// verifyStrings measures every string: none may contain itself, be deeper
// than a reader follows or be longer than a name can be.
func (t *Table) verifyStrings() error {
	m := measurer{t: t, known: make([]measure, t.index.count*stringGroup)}
	for id := range m.known {
		if _, err := m.of(uint64(id), 0); err != nil {
			return err
		}
	}
	return nil
}

// measure is the length of a string, how many strings it takes to put it
// together, and how deep it refers to others, plus one; busy while it is being
// measured.
type measure struct {
	length, parts uint32
	depth         uint16
}

const busy = 1<<16 - 1

type measurer struct {
	t     *Table
	known []measure
}

func (m *measurer) of(id uint64, above int) (measure, error) {
	if id >= uint64(len(m.known)) {
		return measure{}, broken(secText, "string %d of %d", id, len(m.known))
	}
	if got := m.known[id]; got.depth != 0 && got.depth != busy {
		return got, nil
	}
	if m.known[id].depth == busy || above > maxDecode {
		return measure{}, broken(secText, "string %d contains itself, or is too deep", id)
	}
	m.known[id].depth = busy
	s, ok := m.t.string(id)
	if !ok {
		return measure{}, m.t.Damaged()
	}
	length, parts, depth := uint64(0), uint64(1), uint16(0)
	for len(s) > 0 {
		n := tokenSize(s[0])
		switch {
		case n > len(s):
			return measure{}, broken(secText, "string %d ends early", id)
		case s[0] < lead1 || s[0] == escape:
			length++
		default:
			inner, err := m.of(ref(s[:n]), above+1)
			if err != nil {
				return measure{}, err
			}
			length += uint64(inner.length)
			parts += uint64(inner.parts)
			depth = max(depth, inner.depth)
		}
		s = s[n:]
	}
	if length > MaxText || parts > MaxText || depth >= maxDecode {
		return measure{}, broken(secText, "string %d has %d bytes of %d strings and is %d deep", id, length, parts, depth)
	}
	m.known[id] = measure{uint32(length), uint32(parts), depth + 1}
	return m.known[id], nil
}
