package symwrite

import (
	"bytes"
	"hash/maphash"

	"symbolon/internal/demangle"
	"symbolon/internal/object"
	"symbolon/internal/sym"
)

// texts converts handles to text, and assigns the ids of FILE and INLINE_ORIGIN
// records.
type texts struct {
	names   *object.Names
	mangled bool // keep mangled names
	files   table
	origins table
	text    []byte // of a handle
	plain   []byte // readable name
}

// name returns the text of a name, valid until the next call.
func (s *texts) name(t sym.Text) []byte {
	s.text = s.names.AppendText(s.text[:0], t)
	if s.mangled {
		return s.text
	}
	s.plain = demangle.Append(s.plain[:0], s.text, demangle.Called)
	return s.plain
}

// A table assigns ids to strings in the order in which they are added. Handles of
// equal strings have the same id.
type table struct {
	byText map[sym.Text]uint64
	byHash map[uint64]uint64
	first  []sym.Text // by id
	seed   maphash.Seed
}

func newTable() table {
	return table{byText: map[sym.Text]uint64{}, byHash: map[uint64]uint64{}, seed: maphash.MakeSeed()}
}

// noID is the id of a missing string, the largest that every reader accepts.
const noID = 1<<31 - 1

// id returns the id of a string.
func (n *table) id(t sym.Text) uint64 {
	if id, ok := n.byText[t]; ok {
		return id
	}
	return noID
}

// add assigns an id to a string, if it has none.
func (s *texts) add(n *table, t sym.Text) {
	if _, ok := n.byText[t]; ok || t == 0 {
		return
	}
	s.text = s.names.AppendText(s.text[:0], t)
	sum := maphash.Bytes(n.seed, s.text)
	id, ok := n.byHash[sum]
	if !ok || !s.hasText(n.first[id]) { // another string may have the same hash
		id = uint64(len(n.first))
		n.first = append(n.first, t)
		n.byHash[sum] = id
	}
	n.byText[t] = id
}

// hasText reports whether the string of t is that in s.text.
func (s *texts) hasText(t sym.Text) bool {
	n := len(s.text)
	s.text = s.names.AppendText(s.text, t)
	same := bytes.Equal(s.text[n:], s.text[:n])
	s.text = s.text[:n]
	return same
}

// collect assigns ids to the strings of a block, in the order of its rows.
func (s *texts) collect(b *sym.Block) {
	last := int32(sym.Hole)
	for i := range b.Rows {
		r := &b.Rows[i]
		if r.Node < 0 {
			continue
		}
		if r.Node != last {
			last = r.Node
			for n := &b.Nodes[r.Node]; n.Parent >= 0; n = &b.Nodes[n.Parent] {
				s.add(&s.origins, n.Name)
				s.add(&s.files, n.CallFile)
			}
		}
		s.add(&s.files, r.File)
	}
}
