package json

import "fmt"

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

// ReadObject reads the object at the present position of d: it calls Read with
// r for each member in the table, which has at most 64, and skips the others. It
// returns the name of the first required member that is missing, or "". Of
// several members with the same name each is read, unless d is Unique.
func ReadObject[R any](d *Decoder, r R, table []Member[R]) (missing string) {
	var seen uint64
	d.Enter()
	for n := 0; d.Next(&n); {
		i := find(table, d.Key())
		if i < 0 {
			d.Skip()
			continue
		}
		if d.Unique && seen&(1<<i) != 0 {
			d.Fail(&DuplicateError{table[i].Name})
			return ""
		}
		seen |= 1 << i
		table[i].Read(r, table[i].Name)
	}
	for i := range table {
		if table[i].Required && seen&(1<<i) == 0 {
			return table[i].Name
		}
	}
	return ""
}

func find[R any](table []Member[R], name []byte) int {
	for i := range table {
		if table[i].Name == string(name) {
			return i
		}
	}
	return -1
}
