package symcache

import (
	"cmp"
	"fmt"

	"symbolon/internal/symcache/strtab"
)

// Verify reads the whole table. It returns an error for everything that a
// Builder does not write.
func (t *Table) Verify() error {
	for _, check := range []func() error{
		t.verifyGroups, t.verifyNodes, t.verifyCalls, t.verifyNames, t.verifyStrings,
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return t.Damaged()
}

// verifyGroups checks that groups, buckets and spots are contiguous.
func (t *Table) verifyGroups() error {
	rows, spots := uint64(0), uint64(0)
	for i := range t.groups.count {
		g := t.group(i)
		if start, _, spot, _, _ := t.groups.read(i); start != rows || spot != spots {
			return invalidSection(secGroups, "group %d starts at row byte %d and spot %d, must start at %d and %d", i, start, spot, rows, spots)
		}
		for k := range uint64(buckets) {
			b, size, ok := t.bucket(g, k)
			n := uint64(0)
			if ok && size > 0 {
				n = rank(b, bucketSize-1)
				ok = n > 0 && size == bucketBytes(n, t.rowBits)
			}
			if !ok {
				return invalidSection(secGroups, "bucket %d of group %d does not have the size of its rows", k, i)
			}
			more, err := t.verifyBucket(g, b, n)
			if err != nil {
				return invalidSection(secRows, "bucket %d of group %d: %w", k, i, err)
			}
			rows += size
			spots += more
		}
	}
	if rows != t.rows.count || spots != t.spots.count {
		return invalidSection(secGroups, "groups have %d of %d bytes of rows, and %d of %d spots", rows, t.rows.count, spots, t.spots.count)
	}
	return nil
}

// verifyBucket checks the n rows of a bucket and returns the number of their
// spots.
func (t *Table) verifyBucket(g *group, b []byte, n uint64) (spots uint64, err error) {
	for k := range n {
		node, file, _, _ := t.row(g, b, k)
		if node == noNode {
			continue
		}
		if node >= t.nodes.count || file != usualFile && file > t.files.count {
			return 0, fmt.Errorf("row %d refers to node %d of %d and file %d of %d", k, node, t.nodes.count, file, t.files.count)
		}
		if file != usualFile {
			spots++
		}
	}
	return spots, nil
}

// verifyNodes checks that each chain of parents ends in a function.
func (t *Table) verifyNodes() error {
	for i := range t.nodes.count {
		n := i
		for depth := 0; ; depth++ {
			away, id := t.nodes.get(n, 0), t.nodes.get(n, 1)
			if away == 0 && id < t.functions.count {
				break
			}
			if away == 0 || id >= t.triples.count || away > n || depth == MaxDepth {
				return invalidSection(secNodes, "node %d, %d calls above node %d: number %d, parent %d back", n, depth, i, id, away)
			}
			n -= away
		}
	}
	return nil
}

// verifyCalls checks the references of triples and functions, and the order of
// functions.
func (t *Table) verifyCalls() error {
	bad := func(origin, usual, file uint64) bool {
		return origin >= t.origins.count || usual > t.files.count || file > t.files.count
	}
	for i := range t.triples.count {
		if origin, usual, file, _, _ := t.triples.read(i); bad(origin, usual, file) {
			return invalidSection(secTriples, "triple %d: origin %d of %d, files %d and %d of %d",
				i, origin, t.origins.count, usual, file, t.files.count)
		}
	}
	for i := range t.functions.count {
		entry, _, origin, usual, _ := t.functions.read(i)
		if bad(origin, usual, 0) {
			return invalidSection(secFunctions, "function %d: origin %d of %d, file %d of %d", i, origin, t.origins.count, usual, t.files.count)
		}
		if i > 0 && entry < t.functions.get(i-1, 0) {
			return invalidSection(secFunctions, "function %d starts before its predecessor", i)
		}
	}
	return nil
}

// verifyNames checks the references of origins and files.
func (t *Table) verifyNames() error {
	most := t.index.count * strtab.Group
	check := func(section int, names *records, what string) error {
		for i := range names.count {
			if id := names.get(i, 0); id >= most {
				return invalidSection(section, "%s %d: string %d of %d", what, i, id, most)
			}
		}
		return nil
	}
	return cmp.Or(check(secOrigins, &t.origins, "origin"), check(secFiles, &t.files, "file"))
}

// verifyStrings checks every string: it must not contain itself, nor exceed the
// limits of nested strings and of the length of a name.
func (t *Table) verifyStrings() error {
	m := measurer{t: t, known: make([]measure, t.index.count*strtab.Group)}
	for id := range m.known {
		if _, err := m.of(uint64(id), 0); err != nil {
			return err
		}
	}
	return nil
}

// measure is the decoded length of a string, the number of strings in it, and
// their depth, plus one; the depth is busy during the measurement.
type measure struct {
	length, parts uint32
	depth         uint16
}

const busy = 1<<16 - 1

type measurer struct {
	t     *Table
	known []measure
}

// of returns the measure of a string inside of above others.
func (m *measurer) of(id uint64, above int) (measure, error) {
	if id >= uint64(len(m.known)) {
		return measure{}, invalidSection(secText, "string %d of %d", id, len(m.known))
	}
	if got := m.known[id]; got.depth != 0 && got.depth != busy {
		return got, nil
	}
	if m.known[id].depth == busy || above > strtab.MaxDecode {
		return measure{}, invalidSection(secText, "string %d contains itself or exceeds the limit of nested strings", id)
	}
	m.known[id].depth = busy
	s, ok := m.t.string(id)
	if !ok {
		return measure{}, m.t.Damaged()
	}
	length, parts, depth := uint64(0), uint64(1), uint16(0)
	for len(s) > 0 {
		n := strtab.TokenSize(s[0])
		switch {
		case n > len(s):
			return measure{}, invalidSection(secText, "string %d is truncated", id)
		case s[0] < strtab.Lead1 || s[0] == strtab.Escape:
			length++
		default:
			inner, err := m.of(strtab.Ref(s[:n]), above+1)
			if err != nil {
				return measure{}, err
			}
			length += uint64(inner.length)
			parts += uint64(inner.parts)
			depth = max(depth, inner.depth)
		}
		s = s[n:]
	}
	if length > MaxText || parts > MaxText || depth >= strtab.MaxDecode {
		return measure{}, invalidSection(secText, "string %d exceeds a limit: %d bytes, %d strings, depth %d", id, length, parts, depth)
	}
	m.known[id] = measure{uint32(length), uint32(parts), depth + 1}
	return m.known[id], nil
}
