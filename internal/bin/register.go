package bin

import (
	"strconv"
	"strings"
)

// A Register is a register of a thread, by its name in the output of debuggers.
type Register struct {
	Name  string
	Value uint64
}

// RegisterNames returns the words of a list. A word that ends in a range, as r0-3, is
// one name for each number.
func RegisterNames(list string) (names []string) {
	for word := range strings.FieldsSeq(list) {
		from, to, _ := strings.Cut(word, "-")
		prefix := strings.TrimRight(from, "0123456789")
		first, err := strconv.Atoi(from[len(prefix):])
		last, lastErr := strconv.Atoi(to)
		if err != nil || lastErr != nil {
			names = append(names, word)
			continue
		}
		for i := first; i <= last; i++ {
			names = append(names, prefix+strconv.Itoa(i))
		}
	}
	return names
}

// Registers reads consecutive registers of 4 or 8 bytes. Those with the name - are
// skipped.
func (c *Cursor) Registers(size int, names []string) []Register {
	list := make([]Register, 0, len(names))
	for _, name := range names {
		if v := c.Word(size == 8); name != "-" {
			list = append(list, Register{name, v})
		}
	}
	return list
}
