package extract_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"symbolon/internal/extract"
	"symbolon/internal/fixture"
	"symbolon/internal/format/symbfile"
)

// interworking returns a program for 32-bit ARM at 0x10000: a function of A32 at
// 0x100, followed by a number that looks like a call, and one of Thumb at 0x110.
func interworking(flags uint32, symbols ...fixture.ELFSymbol) []byte {
	code := "\x00\x00\xa0\xe1\xfe\xff\xff\x0b\x33\xff\x2f\xe1\xfe\xff\xff\xeb" + // nop; bleq; blx r3; a number
		"\x00\xbf\x98\x47\x00\xf0\x00\xe8\x00\xf0\x00\xf8\x00\xdf\x70\x47" // nop; blx r3; blx; bl; svc; bx lr
	e := &fixture.ELF{Type: 2, Machine: 40, Flags: flags, Big: flags != 0}
	at := e.Next()
	e.Add(fixture.ELFSection{Name: ".text", Type: 1, Flags: 6, Addr: 0x10100, Data: []byte(code), Align: 1})
	e.Segment(fixture.ELFSegment{Type: 1, Flags: 4, Vaddr: 0x10000, Filesz: 0x100, Memsz: 0x100})
	e.Segment(fixture.ELFSegment{Type: 1, Flags: 5, Off: at, Vaddr: 0x10100, Filesz: 0x20, Memsz: 0x20})
	for i := range symbols {
		symbols[i].Section = 1
	}
	e.Symtab(".symtab", 2, symbols...)
	return e.Bytes()
}

// Code may be before and after the first segment.
func TestPadsAroundTheFirstSegment(t *testing.T) {
	e := &fixture.ELF{Wide: true, Type: 2, Machine: 62}
	at := e.Next()
	e.Add(fixture.ELFSection{Name: ".text", Type: 1, Flags: 6, Addr: 0x3ffff0, Data: x86(), Align: 1})
	e.Segment(fixture.ELFSegment{Type: 1, Flags: 4, Vaddr: 0x400000})
	e.Segment(fixture.ELFSegment{Type: 1, Flags: 5, Off: at, Vaddr: 0x3ffff0, Filesz: 0x30, Memsz: 0x30})
	var b bytes.Buffer
	w := symbfile.NewWriter(&b)
	if err := errors.Join(w.Range(&symbfile.Range{VA: 0x3ffff0, Length: 0x30, Func: []byte("f"), Lines: []symbfile.Line{{Offset: 0x18, Line: 3}}}), w.Close()); err != nil {
		t.Fatal(err)
	}
	_, pads := make2(t, open(t, b.Bytes()), open(t, e.Bytes()))
	if got, want := dump(t, pads), "0x3ffff8 f :0\n0x400009 f :3\n"; got != want {
		t.Errorf("pads %s, want %s", got, want)
	}
}

// The instruction set is taken from mapping symbols, then functions, then lines, and
// finally from the preceding code.
func TestPadsOfBothInstructionSetsOfARM(t *testing.T) {
	mapping := []fixture.ELFSymbol{{Name: "$a", Value: 0x10100}, {Name: "$d", Value: 0x1010c}, {Name: "$t", Value: 0x10110}}
	functions := []fixture.ELFSymbol{{Name: "old", Kind: 2, Value: 0x10100}, {Name: "thumb", Kind: 2, Value: 0x10111}}
	const (
		a32, number = "0x10107 old /a.c:1\n0x1010b old /a.c:1\n", "0x1010f old /a.c:1\n"
		t32         = "0x10113 thumb /a.c:2\n0x10117 thumb /a.c:2\n0x1011b thumb /a.c:2\n0x1011d thumb /a.c:2\n"
	)
	// Without lines between words the instruction set is ambiguous.
	words := fixture.NewSym("x").File(0, "/a.c").Func(0x100, 0x10, "old").Line(0x100, 0x10, 1, 0).Func(0x110, 0x10, "thumb").Line(0x110, 0x10, 2, 0).Bytes()
	between := fixture.NewSym("x").File(0, "/a.c").Func(0x100, 0x10, "old").Line(0x100, 0x10, 1, 0).
		Func(0x110, 0x10, "thumb").Line(0x110, 4, 2, 0).Line(0x114, 0xa, 3, 0).Line(0x11e, 2, 2, 0).Bytes()
	for _, c := range []struct {
		name        string
		debug, code []byte
		want        string
	}{
		{"mapping symbols", words, interworking(0, mapping...), a32 + t32},
		{"big endian", words, interworking(0x00800000, mapping...), a32 + t32},
		{"mapping symbols of the debug file", interworking(0, append(mapping, functions...)...), interworking(0), strings.NewReplacer("/a.c:1", ":0", "/a.c:2", ":0").Replace(a32 + t32)},
		{"functions", words, interworking(0, functions...), a32 + number + t32},
		{"the function before", words, interworking(0, fixture.ELFSymbol{Name: "before", Kind: 2, Value: 0x100f1}, functions[0], fixture.ELFSymbol{Name: "x", Kind: 2, Value: 0x1010d}), a32 + t32},
		{"lines", between, interworking(0), a32 + number + strings.NewReplacer("17 thumb /a.c:2", "17 thumb /a.c:3", "1b thumb /a.c:2", "1b thumb /a.c:3", "1d thumb /a.c:2", "1d thumb /a.c:3").Replace(t32)},
		{"nothing", words, interworking(0), a32 + number},
	} {
		_, pads := make2(t, open(t, c.debug), open(t, c.code))
		if got := dump(t, pads); got != c.want {
			t.Errorf("%s: pads\n%swanted are\n%s", c.name, got, c.want)
		}
	}
	in := extract.Input{Debug: open(t, words), Code: open(t, interworking(0x05000000, mapping...)), Pads: symbfile.NewWriter(io.Discard)}
	if err := extract.Extract(context.Background(), in); err == nil || !strings.Contains(err.Error(), "instructions for arm are big endian") {
		t.Error(err)
	}
}
