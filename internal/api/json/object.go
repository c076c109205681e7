package json

import (
	"fmt"
	"math/bits"
)

// A Member is a member of an object that readers of type R understand. Read is
// called at its value.
type Member[R any] struct {
	Name     string
	Read     func(r R, name string)
	Required bool
}

// A DuplicateError reports that an object has two members with the same name.
type DuplicateError struct{ Name string }

func (e *DuplicateError) Error() string { return fmt.Sprintf("duplicate member %q", e.Name) }

// A Table has the members of an object. It does not change.
type Table[R any] struct {
	members  []Member[R]
	required uint64 // bits of members
}

// NewTable returns the table of at most 64 members, the most frequent ones first.
func NewTable[R any](members []Member[R]) *Table[R] {
	t := &Table[R]{members: members}
	for i := range members {
		if members[i].Required {
			t.required |= 1 << i
		}
	}
	return t
}

// Read reads the object at the present position of d: it calls the readers of the
// members with r, and skips members that are not in the table. It returns the
// name of the first required member that is missing, or "". Of several members
// with the same name each is read, unless d is Unique.
func (t *Table[R]) Read(d *Decoder, r R) (missing string) {
	var seen uint64
	d.Enter()
	for n := 0; d.Next(&n); {
		i := t.find(d.Key())
		if i < 0 {
			d.Skip()
			continue
		}
		m := &t.members[i]
		if d.Unique && seen&(1<<i) != 0 {
			d.Fail(&DuplicateError{m.Name})
			return ""
		}
		seen |= 1 << i
		m.Read(r, m.Name)
	}
	if absent := t.required &^ seen; absent != 0 {
		return t.members[bits.TrailingZeros64(absent)].Name
	}
	return ""
}

func (t *Table[R]) find(name []byte) int {
	for i := range t.members {
		if t.members[i].Name == string(name) {
			return i
		}
	}
	return -1
}
