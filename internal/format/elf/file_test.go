package elf_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/fixture"
	"symbolon/internal/format/elf"
	"symbolon/internal/ident"
)

// kinds runs a test for both classes and both byte orders.
func kinds(t *testing.T, f func(t *testing.T, e *fixture.ELF)) {
	for _, wide := range []bool{false, true} {
		for _, big := range []bool{false, true} {
			t.Run(fmt.Sprintf("wide=%v,big=%v", wide, big), func(t *testing.T) {
				f(t, &fixture.ELF{Wide: wide, Big: big, Type: elf.TypeExec, Machine: 62})
			})
		}
	}
}

func open(t *testing.T, b []byte) *elf.File {
	t.Helper()
	f, err := elf.Open(bin.Bytes(b))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// sound opens a file without problems.
func sound(t *testing.T, e *fixture.ELF) *elf.File {
	t.Helper()
	f := open(t, e.Bytes())
	if f.Problems != nil || f.IsCut {
		t.Fatalf("problems: %v", f.Problems)
	}
	return f
}

// complains reports whether one of the problems has all of the words.
func complains(problems []bin.Problem, words ...string) bool {
	for _, p := range problems {
		text, all := fmt.Sprint(p), true
		for _, w := range words {
			all = all && strings.Contains(text, w)
		}
		if all {
			return true
		}
	}
	return false
}

func TestHeadersOfAllClassesAndOrders(t *testing.T) {
	kinds(t, func(t *testing.T, e *fixture.ELF) {
		e.Machine, e.Flags, e.Entry = 8, 0x70001001, 0x401234
		text := fixture.ELFSection{Name: ".text", Type: 1, Flags: 6, Addr: 0x401000, Data: []byte("code"), Link: 5, Info: 6, Align: 16, Entsize: 7}
		e.Add(text)
		e.Add(fixture.ELFSection{Name: ".bss", Type: 8, Flags: 3, Size: 0x9000})
		load := fixture.ELFSegment{Type: 1, Flags: 5, Off: 0x200, Vaddr: 0x401000, Filesz: 4, Memsz: 8, Align: 0x1000}
		e.Segment(fixture.ELFSegment{Type: 6, Vaddr: 0x12})
		e.Segment(load)
		for _, e.Crowded = range []bool{false, true} {
			f := sound(t, e)
			if want := map[bool]int{false: 32, true: 64}[e.Wide]; f.Class != want || (f.Order == binary.BigEndian) != e.Big {
				t.Errorf("class %d, order %v", f.Class, f.Order)
			}
			if f.Type != 2 || f.Machine != 8 || f.Flags != 0x70001001 || f.Entry != 0x401234 || f.LoadAddress() != 0x401000 {
				t.Errorf("header %+v", f)
			}
			if len(f.Segments) != 2 || f.Segments[1] != elf.Segment(load) {
				t.Errorf("segments %+v", f.Segments)
			}
			if len(f.Sections) != 4 {
				t.Fatalf("%d sections", len(f.Sections))
			}
			s := f.Sections[1]
			if s.Name != ".text" || s.Type != 1 || s.Flags != 6 || s.Addr != 0x401000 || s.Off != 512 || s.Size != 4 ||
				s.Link != 5 || s.Info != 6 || s.Align != 16 || s.Entsize != 7 || s.Index != 1 {
				t.Errorf("section %+v", s)
			}
			if b, err := f.Raw(&f.Sections[1]); string(b) != "code" || err != nil {
				t.Errorf("bytes %q, %v", b, err)
			}
			if b, err := f.Raw(f.Section(".bss")); b != nil || err != nil {
				t.Errorf("bytes of NOBITS %q, %v", b, err)
			}
		}
	})
}

func TestOpenRejectsInvalidHeader(t *testing.T) {
	good := (&fixture.ELF{Wide: true}).Bytes()
	for name, b := range map[string][]byte{
		"empty":     {},
		"magic":     append([]byte("\x7fELG"), good[4:]...),
		"class":     append([]byte("\x7fELF\x03"), good[5:]...),
		"order":     append([]byte("\x7fELF\x02\x00"), good[6:]...),
		"cut":       good[:63],
		"cut early": good[:15],
	} {
		if _, err := elf.Open(bin.Bytes(b)); fault.KindOf(err) != fault.Malformed || !strings.Contains(err.Error(), "elf, header") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTruncatedFile(t *testing.T) {
	e := &fixture.ELF{Wide: true, Type: 2}
	e.Add(fixture.ELFSection{Name: ".text", Type: 1, Flags: 6, Data: []byte("the code")})
	e.Add(fixture.ELFSection{Name: ".far", Type: 1, Off: 1 << 40, Size: 4})
	e.Add(fixture.ELFSection{Name: ".wide", Type: 1, Off: 512, Size: 1<<64 - 1})
	e.Segment(fixture.ELFSegment{Type: 1, Vaddr: 0x400000})
	b := e.Bytes()
	f := open(t, b)
	if !complains(f.Problems, "section .far", "0x10000000000") || !complains(f.Problems, "section .wide", "0xffffffffffffffff bytes") || len(f.Problems) != 2 || !f.IsCut {
		t.Errorf("problems %v, cut off: %v", f.Problems, f.IsCut)
	}
	if b, err := f.Raw(f.Section(".far")); len(b) != 0 || err != nil {
		t.Errorf("far: %q, %v", b, err)
	}
	if got, err := f.Raw(f.Section(".wide")); len(got) != len(b)-512 || err != nil {
		t.Errorf("wide: %d bytes, %v", len(got), err)
	}
	f = open(t, b[:len(b)-70]) // without one section header and a part of another
	if len(f.Sections) != 3 || !complains(f.Problems, "section headers", "3 of 5") || !f.IsCut {
		t.Errorf("%d sections, %v, cut off: %v", len(f.Sections), f.Problems, f.IsCut)
	}
	if !complains(f.Problems, "section names", "3 of 3 names", "section 4") {
		t.Errorf("names: %v", f.Problems)
	}
	f = open(t, b[:600])
	if len(f.Sections) != 0 || f.LoadAddress() != 0x400000 || !complains(f.Problems, "section headers", "0x258 bytes") || !f.IsCut {
		t.Errorf("no sections: %d, %#x, %v, cut off: %v", len(f.Sections), f.LoadAddress(), f.Problems, f.IsCut)
	}
	if f = open(t, b[:64+40]); len(f.Segments) != 0 || !complains(f.Problems, "program headers") {
		t.Errorf("no segments: %d, %v", len(f.Segments), f.Problems)
	}
}

func TestWrongCountsDoNotAllocate(t *testing.T) {
	b := (&fixture.ELF{Wide: true, Crowded: true}).Bytes()
	at := binary.LittleEndian.Uint64(b[40:])
	binary.LittleEndian.PutUint64(b[at+32:], 1<<60) // the number of sections
	binary.LittleEndian.PutUint32(b[at+44:], 1<<31) // the number of segments
	binary.LittleEndian.PutUint32(b[at+40:], 1<<31) // the section of names
	f := open(t, b)
	if len(f.Sections) != 2 || len(f.Segments) > len(b)/56 || !complains(f.Problems, "section headers", "2 of 1152921504606846976") ||
		!complains(f.Problems, "program headers", "of 2147483648") || !complains(f.Problems, "section names", "2147483648") {
		t.Errorf("%d sections, %d segments, %v", len(f.Sections), len(f.Segments), f.Problems)
	}
}

func TestSegmentsAreLimited(t *testing.T) {
	e := &fixture.ELF{Bare: true, Crowded: true}
	e.Add(fixture.ELFSection{Data: make([]byte, 40+(1<<21+1)*32)})
	b := e.Bytes()
	const at = 64 + 8*56
	binary.LittleEndian.PutUint32(b[28:], at+40)      // offset of the program headers
	binary.LittleEndian.PutUint32(b[32:], at)         // offset of the section headers
	binary.LittleEndian.PutUint32(b[at+28:], 1<<21+1) // the number of segments
	if f := open(t, b); len(f.Segments) != 1<<21 || !complains(f.Problems, "program headers", "2097153 entries, of which 2097152 are read") {
		t.Errorf("%d segments, %v", len(f.Segments), f.Problems)
	}
}

func TestNotesOfSegments(t *testing.T) {
	kinds(t, func(t *testing.T, e *fixture.ELF) {
		notes := append(e.Note("CORE", 1, []byte("first"), 4), e.Note("LINUX", 2, nil, 4)...)
		off := e.Next()
		for range 4 {
			e.Segment(fixture.ELFSegment{Type: 4, Off: off, Filesz: uint64(len(notes))})
		}
		e.Segment(fixture.ELFSegment{Type: 4, Off: off, Filesz: uint64(len(notes)) - 4}) // cut within the second
		e.Add(fixture.ELFSection{Data: notes})
		var got []string
		open(t, e.Bytes()).Notes(func(n elf.Note) bool {
			got = append(got, fmt.Sprintf("%s %d %q at %d", n.Owner, n.Type, n.Desc, n.Off-int64(off)))
			return len(got) < 9
		})
		if want := strings.Repeat(`CORE 1 "first" at 20 LINUX 2 "" at 48 `, 4) + `CORE 1 "first" at 20`; strings.Join(got, " ") != want {
			t.Errorf("got %q", got)
		}
	})
}

func TestNotesEndWhenTheSegmentsRepeatTheFile(t *testing.T) {
	e := &fixture.ELF{Bare: true}
	notes := bytes.Repeat(e.Note("CORE", 1, nil, 4), 1000)
	for range 8 {
		e.Segment(fixture.ELFSegment{Type: 4, Off: e.Next(), Filesz: uint64(len(notes))})
	}
	e.Add(fixture.ELFSection{Data: notes})
	n := 0
	open(t, e.Bytes()).Notes(func(elf.Note) bool { n++; return true })
	if n != 2000 {
		t.Errorf("%d notes, want those of two segments", n)
	}
}

func TestEntriesHaveMinimumSize(t *testing.T) {
	e := &fixture.ELF{Wide: true}
	e.Add(fixture.ELFSection{Name: ".text", Type: 1, Data: []byte("code")})
	e.Segment(fixture.ELFSegment{Type: 1, Vaddr: 1})
	e.Segment(fixture.ELFSegment{Type: 4, Vaddr: 2})
	b := e.Bytes()
	binary.LittleEndian.PutUint16(b[58:], 0)  // the size of a section header
	binary.LittleEndian.PutUint16(b[54:], 55) // the size of a program header
	f := open(t, b)
	if !complains(f.Problems, "section headers", "invalid size of entries 0: must be at least 64") || !complains(f.Problems, "program headers", "invalid size of entries 55: must be at least 56") {
		t.Errorf("%v", f.Problems)
	}
	if f.Section(".text") == nil || f.Segments[1].Vaddr != 2 {
		t.Errorf("%+v, %+v", f.Sections, f.Segments)
	}
}

func TestProblemsAreLimited(t *testing.T) {
	e := &fixture.ELF{}
	for range 1000 {
		e.Add(fixture.ELFSection{Name: ".x", Type: 1, Off: 1 << 30, Size: 1})
	}
	if n := len(open(t, e.Bytes()).Problems); n != 64 {
		t.Errorf("%d problems", n)
	}
}

// slow is a source outside of memory that fails from an offset on.
type slow struct {
	io.ReaderAt
	size, fails int64
}

func (s slow) Size() int64 { return s.size }

func (s slow) ReadAt(p []byte, off int64) (int, error) {
	if off >= s.fails {
		return 0, io.ErrUnexpectedEOF
	}
	return s.ReaderAt.ReadAt(p, off)
}

func TestErrorsOfSourceAreReported(t *testing.T) {
	e := &fixture.ELF{Wide: true, Type: 2}
	e.Add(fixture.ELFSection{Name: ".text", Type: 1, Data: []byte("code")})
	b := e.Bytes()
	f, err := elf.Open(slow{bin.Bytes(b), int64(len(b)), 1 << 40})
	if err != nil || f.Problems != nil || f.Section(".text") == nil {
		t.Fatalf("%+v, %v", f, err)
	}
	f, err = elf.Open(slow{bin.Bytes(b), int64(len(b)), 100})
	if err != nil || !complains(f.Problems, "section headers", "cannot be read") {
		t.Errorf("%+v, %v", f, err)
	}
	if _, err = elf.Open(slow{bin.Bytes(b), int64(len(b)), 0}); err == nil {
		t.Error("no error without a header")
	}
}

func TestArch(t *testing.T) {
	for _, tc := range []struct {
		machine   uint16
		wide, big bool
		want      ident.Arch
	}{
		{3, false, false, ident.ArchX86}, {62, true, false, ident.ArchX86_64}, {62, false, false, ident.ArchX86_64},
		{40, false, false, ident.ArchARM}, {183, true, false, ident.ArchARM64}, {183, true, true, ident.ArchARM64},
		{20, false, true, ident.ArchPPC}, {21, true, true, ident.ArchPPC64}, {21, true, false, ident.ArchPPC64le},
		{8, false, true, ident.ArchMIPS}, {8, false, false, ident.ArchMIPSel}, {10, false, false, ident.ArchMIPSel},
		{8, true, true, ident.ArchMIPS64}, {8, true, false, ident.ArchMIPS64el},
		{243, true, false, ident.ArchRISCV64}, {243, false, false, ident.ArchRISCV32},
		{22, true, true, ident.ArchS390x}, {22, false, true, ident.ArchS390},
		{2, false, true, ident.ArchSPARC}, {43, true, true, ident.ArchSPARC64}, {258, true, false, ident.ArchLoong64},
		{9999, true, true, ident.ArchUnknown},
	} {
		f := open(t, (&fixture.ELF{Machine: tc.machine, Wide: tc.wide, Big: tc.big}).Bytes())
		if got := f.Arch(); got != tc.want {
			t.Errorf("machine %d, wide %v, big %v: %v", tc.machine, tc.wide, tc.big, got)
		}
	}
}

func TestKind(t *testing.T) {
	text := fixture.ELFSection{Name: ".text", Type: 1, Flags: 6, Data: []byte("code")}
	gone := fixture.ELFSection{Name: ".text", Type: 8, Flags: 6, Size: 4}
	for _, tc := range []struct {
		want   string
		kind   uint16
		text   fixture.ELFSection
		interp bool
		tags   []uint64
	}{
		{"rel", 1, text, false, nil},
		{"exe", 2, text, false, nil},
		{"dbg", 2, gone, true, nil},
		{"dbg", 3, gone, false, nil},
		{"lib", 3, text, false, nil},
		{"lib", 3, fixture.ELFSection{Name: ".text", Type: 8, Flags: 6}, false, nil},
		{"exe", 3, text, true, nil},
		{"lib", 3, text, true, []uint64{14, 1}},                   // has a name, as the C library
		{"exe", 3, text, false, []uint64{0x6ffffffb, 0x08000001}}, // static PIE
		{"dump", 4, fixture.ELFSection{}, false, nil},
		{"other", 0xfe00, text, false, nil},
	} {
		e := &fixture.ELF{Wide: true, Type: tc.kind}
		e.Add(tc.text)
		if tc.interp {
			e.Segment(fixture.ELFSegment{Type: 3})
		}
		off := e.Next()
		var b []byte
		for _, v := range append(tc.tags, 0, 0) {
			b = append(b, e.Pack(v)...)
		}
		e.Add(fixture.ELFSection{Name: ".dynamic", Type: 6, Data: b})
		e.Segment(fixture.ELFSegment{Type: 2, Off: off, Filesz: uint64(len(b))})
		if got := open(t, e.Bytes()).Kind(); got != tc.want {
			t.Errorf("%+v: %s", tc, got)
		}
	}
}
