package elf_test

import (
	"fmt"
	"strings"
	"testing"

	"symbolon/internal/fixture"
)

// marks formats the marks of a file, and whether they cover all code.
func marks(t *testing.T, e *fixture.ELF) string {
	t.Helper()
	list, mapped := sound(t, e).Marks()
	var out strings.Builder
	for _, m := range list {
		fmt.Fprintf(&out, "%c%x ", m.Kind, m.Addr)
	}
	return fmt.Sprint(out.String(), mapped)
}

func TestMarksOfMappingSymbols(t *testing.T) {
	for _, big := range []bool{false, true} {
		e := &fixture.ELF{Big: big, Type: 2, Machine: 40, Flags: 0x05800000}
		code(e)
		symbols := []fixture.ELFSymbol{
			{Name: "f", Kind: 2, Section: 1, Value: 0x1011}, {Name: "$t.1", Section: 1, Value: 0x1010}, {Name: "$a", Section: 1, Value: 0x1000},
			{Name: "$d", Section: 1, Value: 0x1020}, {Name: "$t", Section: 1, Value: 0x1020}, {Name: "$d", Section: 2, Value: 0x2008},
			{Name: "$x", Section: 1, Value: 0x1018}, {Name: "$ab", Section: 1, Value: 0x1018}, {Name: "$a", Kind: 2, Value: 0x1018}, {Name: "$", Section: 1, Value: 0x1018},
		}
		e.Symtab(".symtab", 2, symbols...)
		if got, want := marks(t, e), "a1000 t1010 t1020 d1040 true"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if open(t, e.Bytes()).SwappedCode() {
			t.Error("the code of BE8 must be little endian")
		}
		e.Flags = 0x05000000
		if open(t, e.Bytes()).SwappedCode() != big {
			t.Error("wrong byte order of code")
		}
		e.Machine = 62
		if got := marks(t, e); got != "false" {
			t.Errorf("another machine: %s", got)
		}
	}
}

// Without mapping symbols, marks are those of functions, also of .dynsym.
func TestMarksOfFunctions(t *testing.T) {
	e := &fixture.ELF{Type: 3, Machine: 40}
	code(e)
	e.Symtab(".dynsym", 11, fixture.ELFSymbol{Name: "f", Kind: 2, Bind: 1, Section: 1, Value: 0x1011}, fixture.ELFSymbol{Name: "g", Kind: 10, Bind: 1, Section: 1, Value: 0x1020},
		fixture.ELFSymbol{Name: "elsewhere", Kind: 2, Bind: 1, Value: 0x1031}, fixture.ELFSymbol{Name: "label", Bind: 1, Section: 1, Value: 0x1031})
	e.Symtab(".symtab", 2, fixture.ELFSymbol{Name: "f", Kind: 2, Bind: 1, Section: 1, Value: 0x1011}, fixture.ELFSymbol{Name: "h", Kind: 2, Section: 1, Value: 0x1004})
	if got, want := marks(t, e), "a1004 t1010 a1020 false"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
