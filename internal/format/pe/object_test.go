package pe_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/fixture"
	"symbolon/internal/format/pe"
)

// object returns an object with two sections of code, the relocations of one
// section of debug information, and symbols of all classes.
func object(machine uint16, relocs ...fixture.PEReloc) *fixture.PE {
	p := &fixture.PE{Machine: machine, Time: 7}
	p.Section(fixture.PESection{Name: ".text", Data: make([]byte, 0x40), Flags: fixture.PECode})
	p.Section(fixture.PESection{Name: ".text$_ZN4long", Data: make([]byte, 0x20), Flags: fixture.PECode})
	p.Section(fixture.PESection{Name: ".debug_info", Data: bytes.Repeat([]byte{1}, 64), Flags: 0x42100040, Relocs: relocs})
	p.Symbols = []fixture.PESymbol{
		{Name: ".file", Section: -2, Class: 103, Aux: 2},                                     // 0
		{Name: ".text", Section: 1, Class: 3, Aux: 1},                                        // 3
		{Name: "main", Section: 1, Value: 8, Type: 0x20, Class: 2, Aux: 1},                   // 5
		{Name: "a_name_of_more_than_8", Section: 2, Value: 4, Type: 0x20, Class: 3},          // 7
		{Name: "weakling", Class: 105, Aux: 1, Weak: 10},                                     // 8
		{Name: ".weak.weakling.default.main", Section: 1, Value: 0x10, Type: 0x20, Class: 2}, // 10
		{Name: "elsewhere", Class: 2},                                                        // 11
		{Name: ".debug_info", Section: 3, Class: 3},                                          // 12
		{Name: "orphan", Class: 105, Aux: 1, Weak: 11},                                       // 13
		{Name: "$LN3", Section: 1, Value: 0x14, Class: 6},                                    // 15
		{Name: "beyond", Section: 77, Class: 2},                                              // 16
		{Name: "absolute", Section: -1, Value: 0x20, Class: 2},                               // 17
	}
	return p
}

// laid opens an object and gives its sections of code addresses.
func laid(t *testing.T, b []byte) *pe.File {
	t.Helper()
	f, err := pe.OpenObject(bin.Bytes(b))
	if err != nil {
		t.Fatal(err)
	}
	for i := range f.Sections[:min(2, len(f.Sections))] {
		f.Sections[i].Addr = 0x1000 * uint32(i+1)
	}
	return f
}

func TestSymbolsOfObjects(t *testing.T) {
	for _, big := range []bool{false, true} {
		b := object(fixture.PEX64).Object(big)
		f := laid(t, b)
		got := ""
		for s := range f.Symbols {
			got += fmt.Sprintf("%x %s; ", s.Addr, s.Name)
		}
		if want := "1008 main; 2004 a_name_of_more_than_8; 1010 weakling; "; got != want {
			t.Errorf("large: %v: got %s, want %s", big, got, want)
		}
		want := fmt.Sprintf("[symbol table: at offset %#x: section or number of auxiliary records of 1 of 12 symbols is invalid]",
			f.Sections[2].Off+64) // "beyond"
		if f.Kind() != "rel" || len(f.Sections) != 3 || f.Sections[1].Name != ".text$_ZN4long" || fmt.Sprint(f.Problems) != want {
			t.Errorf("large: %v: %s, %+v, %v", big, f.Kind(), f.Sections, f.Problems)
		}
		if !pe.IsObject(b) || pe.IsObject(b[:50]) {
			t.Errorf("large: %v: its beginning is not recognized", big)
		}
	}
}

func TestRelocationsOfObjects(t *testing.T) {
	const first = 0x01010101 // each number before
	for _, c := range []struct {
		machine uint16
		reloc   fixture.PEReloc
		want    []byte
	}{
		{fixture.PEX64, fixture.PEReloc{Off: 8, Symbol: 5, Type: 1}, fixture.PEPack(uint64(first)<<32 + first + 0x1008)},
		{fixture.PEX64, fixture.PEReloc{Off: 8, Symbol: 7, Type: 2}, fixture.PEPack(uint32(first + 0x2004))},
		{fixture.PEX64, fixture.PEReloc{Off: 8, Symbol: 7, Type: 3}, fixture.PEPack(uint32(first + 0x2004))},
		{fixture.PEX64, fixture.PEReloc{Off: 8, Symbol: 7, Type: 4}, fixture.PEPack(uint32(first + 0x2004 - 12))},
		{fixture.PEX64, fixture.PEReloc{Off: 8, Symbol: 7, Type: 9}, fixture.PEPack(uint32(first + 0x2004 - 17))},
		{fixture.PEX64, fixture.PEReloc{Off: 8, Symbol: 7, Type: 10}, fixture.PEPack(uint16(1))},
		{fixture.PEX64, fixture.PEReloc{Off: 8, Symbol: 11, Type: 10}, fixture.PEPack(uint16(0x0101))},
		{fixture.PEX64, fixture.PEReloc{Off: 8, Symbol: 12, Type: 11}, fixture.PEPack(uint32(first))},
		{fixture.PEX64, fixture.PEReloc{Off: 8, Symbol: 17, Type: 2}, fixture.PEPack(uint32(first + 0x20))},
		{fixture.PEX64, fixture.PEReloc{Off: 8, Symbol: 8, Type: 2}, fixture.PEPack(uint32(first + 0x1010))}, // weak
		{fixture.PEX64, fixture.PEReloc{Off: 8, Symbol: 7, Type: 0}, fixture.PEPack(uint32(first))},
		{fixture.PEX86, fixture.PEReloc{Off: 8, Symbol: 7, Type: 6}, fixture.PEPack(uint32(first + 0x2004))},
		{fixture.PEX86, fixture.PEReloc{Off: 8, Symbol: 7, Type: 20}, fixture.PEPack(uint32(first + 0x2004 - 12))},
		{fixture.PEX86, fixture.PEReloc{Off: 8, Symbol: 7, Type: 11}, fixture.PEPack(uint32(first + 0x2004))},
		{fixture.PEARM, fixture.PEReloc{Off: 8, Symbol: 7, Type: 15}, fixture.PEPack(uint32(first + 0x2004))},
		{fixture.PEARM, fixture.PEReloc{Off: 8, Symbol: 7, Type: 14}, fixture.PEPack(uint16(1))},
		{fixture.PEARM64, fixture.PEReloc{Off: 8, Symbol: 7, Type: 14}, fixture.PEPack(uint64(first)<<32 + first + 0x2004)},
		{fixture.PEARM64, fixture.PEReloc{Off: 8, Symbol: 7, Type: 8}, fixture.PEPack(uint32(first + 0x2004))},
		{fixture.PEARM64, fixture.PEReloc{Off: 8, Symbol: 7, Type: 13}, fixture.PEPack(uint16(1))},
		{fixture.PEARM64, fixture.PEReloc{Off: 8, Symbol: 7, Type: 17}, fixture.PEPack(uint32(first + 0x2004 - 12))},
	} {
		for _, many := range []bool{false, true} {
			p := object(c.machine, c.reloc)
			p.Sections[2].ManyRelocs = many
			f := laid(t, p.Object(many))
			data := bytes.Repeat([]byte{1}, 64)
			problems := f.Relocate(&f.Sections[2], data)
			want := append(bytes.Repeat([]byte{1}, 8), c.want...)
			want = append(want, bytes.Repeat([]byte{1}, 64-len(want))...)
			if len(problems) > 0 || !bytes.Equal(data, want) {
				t.Errorf("machine %#x, %+v, counted in the first one: %v: % x, want % x, %v", c.machine, c.reloc, many, data[8:16], want[8:16], problems)
			}
		}
	}
}

func TestEmptySectionMayBeginAfterTheEnd(t *testing.T) {
	b := object(fixture.PEX64).Object(false)
	header := b[20+40:] // of the second section
	binary.LittleEndian.PutUint32(header[16:], 0)
	binary.LittleEndian.PutUint32(header[20:], uint32(len(b)+1))
	f, err := pe.OpenObject(bin.Bytes(b))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range f.Problems {
		if strings.Contains(p.Reason, "0 of 0 bytes") {
			t.Errorf("got %v", p)
		}
	}
}

func TestRelocationsThatCannotBeAppliedAreCounted(t *testing.T) {
	for name, relocs := range map[string][]fixture.PEReloc{
		"type":   {{Off: 8, Symbol: 7, Type: 77}, {Off: 8, Symbol: 7, Type: 12}},
		"symbol": {{Off: 8, Symbol: 99, Type: 2}, {Off: 8, Symbol: 99, Type: 2}},
		"offset": {{Off: 61, Symbol: 7, Type: 2}, {Off: 1 << 31, Symbol: 7, Type: 2}},
	} {
		f := laid(t, object(fixture.PEX64, append(relocs, fixture.PEReloc{Off: 0, Symbol: 7, Type: 2})...).Object(false))
		data := make([]byte, 64)
		problems := f.Relocate(&f.Sections[2], data)
		if len(problems) != 1 || !strings.HasPrefix(problems[0].Reason, "2 of 3 ") || data[1] != 0x20 || bytes.Count(data, []byte{0}) != 62 {
			t.Errorf("%s: %v, % x", name, problems, data)
		}
	}
	f := laid(t, object(fixture.PEX64, make([]fixture.PEReloc, 65)...).Object(false))
	if p := f.Relocate(&f.Sections[2], make([]byte, 64)); len(p) != 1 || !strings.Contains(p[0].Reason, "invalid number 65 for 64 bytes") {
		t.Errorf("more relocations than bytes: %v", p)
	}
}

func TestOtherFilesAreNotObjects(t *testing.T) {
	good := object(fixture.PEX64).Object(false)
	for name, change := range map[string]func(b []byte){
		"machine":         func(b []byte) { b[0] = 0x65 },
		"sections":        func(b []byte) { b[2], b[3] = 0, 0 },
		"optional header": func(b []byte) { b[16] = 0xe0 },
		"linked":          func(b []byte) { b[18] = 2 },
		"name":            func(b []byte) { b[20] = 0 },
		"control":         func(b []byte) { b[21] = 7 },
		"place":           func(b []byte) { b[40] = 20 },
		"symbols":         func(b []byte) { copy(b[8:], "\x13\x00\x00\x00") },
	} {
		b := bytes.Clone(good)
		if change(b); pe.IsObject(b) {
			t.Errorf("with another %s it is an object", name)
		}
	}
	big := object(fixture.PEX64).Object(true)
	for _, at := range []int{4, 12} { // an import, and code for the linker to compile
		b := bytes.Clone(big)
		if b[at] = 0; pe.IsObject(b) {
			t.Errorf("with another byte %d it is a large object", at)
		}
	}
	if _, err := pe.OpenObject(bin.Bytes(big[:30])); fault.KindOf(err) != fault.Malformed {
		t.Errorf("of a truncated header: %v", err)
	}
}
