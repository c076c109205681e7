package macho_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/fixture"
	"symbolon/internal/format/macho"
	"symbolon/internal/ident"
)

// entries formats the unwind entries of a file, a line each.
func entries(f *macho.File) (lines []string, problems []bin.Problem) {
	problems = f.UnwindEntries(func(e macho.Entry) bool {
		rules, ok := macho.AppendCompact([]byte("= "), e, f.Arch())
		if !ok {
			rules = append(rules, "none"...)
		}
		line := fmt.Sprintf("%x-%x %08x %s", e.Start, e.End, e.Encoding, rules)
		if e.LSDA {
			line += " lsda"
		}
		if e.DWARF {
			line += fmt.Sprintf(" fde %x", e.FDE)
		}
		lines = append(lines, line)
		return true
	})
	return lines, problems
}

func TestUnwindInfoOfBothKindsOfPage(t *testing.T) {
	got, problems := entries(clean(t, library(fixture.MachOX64, 3).Bytes()))
	want := []string{
		"11000-11010 02010000 = .cfa: $rsp 8 + .ra: .cfa -8 + ^",
		"11010-11020 41000001 = .cfa: $rbp 16 + $rbp: .cfa -16 + ^ .ra: .cfa -8 + ^ $rbx: .cfa -16 + ^ lsda",
		"11020-11030 03040000 = .cfa: $rsp 5000 + .ra: .cfa -8 + ^",
		"11030-11040 04000020 = none fde 20",
	}
	if !slices.Equal(got, want) || len(problems) > 0 {
		t.Errorf("%v\n%s\nwant\n%s", problems, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// unwound returns a library with this section of unwind information.
func unwound(data []byte, code string) *fixture.MachO {
	return fixture.NewMachO(fixture.MachOX64, 3, fixture.MachODylib).Segment("__TEXT", 0x1000, 0x1000,
		fixture.MachOSection{Name: "__text", Addr: 0x1100, Data: []byte(code), Flags: fixture.MachOCode},
		fixture.MachOSection{Name: "__unwind_info", Addr: 0x1800, Data: data})
}

func TestFrameSizeFromCode(t *testing.T) {
	// push %rbx; sub $0x1388, %rsp: the number is at byte 4, and a word more was
	// pushed beside the return address.
	code := "\x53\x48\x81\xec\x88\x13\x00\x00\xc3"
	info := func(encoding uint32) []byte {
		return fixture.UnwindInfo(0x109, nil, fixture.UnwindPage{Rows: []fixture.UnwindRow{{Start: 0x100, Encoding: encoding}}})
	}
	got, problems := entries(clean(t, unwound(info(0x03044400), code).Bytes()))
	if want := []string{"1100-1109 03044400 = .cfa: $rsp 5016 + .ra: .cfa -8 + ^ $rbx: .cfa -16 + ^"}; !slices.Equal(got, want) || len(problems) > 0 {
		t.Errorf("%q, %v, want %q", got, problems, want)
	}
	got, _ = entries(clean(t, unwound(info(0x03ff4400), code).Bytes()))
	if want := []string{"1100-1109 03ff4400 = none"}; !slices.Equal(got, want) {
		t.Errorf("beyond the code: %q", got)
	}
}

func TestPageWithOwnEncodings(t *testing.T) {
	rows := []fixture.UnwindRow{{Start: 0x100, Encoding: 0x02020000}, {Start: 0x104, Encoding: 0x02030000}, {Start: 0x108, Encoding: 0x02020000}}
	info := fixture.UnwindInfo(0x10c, []uint32{0x02030000}, fixture.UnwindPage{Compressed: true, Rows: rows})
	got, problems := entries(clean(t, unwound(info, strings.Repeat("\x90", 12)).Bytes()))
	want := []string{
		"1100-1104 02020000 = .cfa: $rsp 16 + .ra: .cfa -8 + ^",
		"1104-1108 02030000 = .cfa: $rsp 24 + .ra: .cfa -8 + ^",
		"1108-110c 02020000 = .cfa: $rsp 16 + .ra: .cfa -8 + ^",
	}
	if !slices.Equal(got, want) || len(problems) > 0 {
		t.Errorf("%q, %v", got, problems)
	}
}

func TestDamagedPageIsSkipped(t *testing.T) {
	page := func(compressed bool, start uint32) fixture.UnwindPage {
		return fixture.UnwindPage{Compressed: compressed, Rows: []fixture.UnwindRow{{Start: start, Encoding: 0x02020000}, {Start: start + 4, Encoding: 0x02030000}}}
	}
	info := fixture.UnwindInfo(0x118, []uint32{0x02020000}, page(false, 0x100), page(true, 0x108), page(false, 0x110))
	le := binary.LittleEndian
	second := int(le.Uint32(info[32+12+4:]))
	for what, c := range map[string]struct {
		change func(b []byte) []byte
		reason string
		want   []string
	}{
		"kind":       {func(b []byte) []byte { le.PutUint32(b[second:], 9); return b }, "unknown type", []string{"1100", "1104", "1110", "1114"}},
		"encoding":   {func(b []byte) []byte { b[second+12+7] = 7; return b }, "invalid encoding", []string{"1100", "1104", "1108", "1110", "1114"}},
		"order":      {func(b []byte) []byte { b[second+12] = 6; return b }, "not in ascending order", []string{"1100", "1104", "110e", "1110", "1114"}},
		"page order": {func(b []byte) []byte { le.PutUint32(b[32+12:], 0x80); return b }, "not in ascending order", []string{"1100", "1110", "1114"}},
		"page ahead": {func(b []byte) []byte { le.PutUint32(b[32+24:], 0x180); return b }, "not in ascending order", []string{"1100", "1104", "1108", "110c"}},
		"page end":   {func(b []byte) []byte { return b[:len(b)-4] }, "ends in a page", []string{"1100", "1104", "1108", "110c", "1110"}},
		"version":    {func(b []byte) []byte { b[0] = 2; return b }, "version 1", nil},
		"index":      {func(b []byte) []byte { le.PutUint32(b[24:], 1<<31); return b }, "", []string{"1100", "1104", "1108", "110c", "1110", "1114"}},
		"index end":  {func(b []byte) []byte { return b[:60] }, "ends in the index", nil},
		"short":      {func(b []byte) []byte { return b[:20] }, "version 1", nil},
		"no end row": {func(b []byte) []byte { b[24] = 3; return b }, "", []string{"1100", "1104", "1108", "110c", "1110", "1114"}},
	} {
		got, problems := entries(clean(t, unwound(c.change(slices.Clone(info)), strings.Repeat("\x90", 0x18)).Bytes()))
		var starts []string
		for _, line := range got {
			start, _, _ := strings.Cut(line, "-")
			starts = append(starts, start)
		}
		reported := c.reason == "" || slices.ContainsFunc(problems, func(p bin.Problem) bool {
			return strings.Contains(p.Reason, c.reason) && p.Place == "__unwind_info"
		})
		if !slices.Equal(starts, c.want) || !reported {
			t.Errorf("%s: %q, %v", what, got, problems)
		}
	}
}

func TestOverlappingPagesEndTable(t *testing.T) {
	var pages []fixture.UnwindPage
	for p := range uint32(4) {
		var rows []fixture.UnwindRow
		for i := range uint32(100) {
			rows = append(rows, fixture.UnwindRow{Start: 0x1000*p + i, Encoding: 0x02020000})
		}
		pages = append(pages, fixture.UnwindPage{Compressed: true, Rows: rows})
	}
	info := fixture.UnwindInfo(0x8000, []uint32{0x02020000}, pages...)
	index := info[32:]
	first := binary.LittleEndian.Uint32(index[4:])
	for i := range 4 {
		binary.LittleEndian.PutUint32(index[12*i+4:], first)
	}
	info = info[:first+12+400]
	got, problems := entries(clean(t, unwound(info, "\x90").Bytes()))
	if len(got) > len(info)/4 || len(problems) != 1 || problems[0].Reason != "pages overlap" {
		t.Errorf("%d entries, %v", len(got), problems)
	}
}

func TestUnwindEntriesStopsWithYield(t *testing.T) {
	n := 0
	clean(t, library(fixture.MachOX64, 3).Bytes()).UnwindEntries(func(macho.Entry) bool { n++; return n < 2 })
	if n != 2 {
		t.Errorf("%d entries", n)
	}
}

func compactUnwind(wide bool, rows ...[5]uint64) (b []byte) {
	word := func(v uint64) {
		if wide {
			b = binary.LittleEndian.AppendUint64(b, v)
		} else {
			b = binary.LittleEndian.AppendUint32(b, uint32(v))
		}
	}
	for _, r := range rows {
		word(r[0])
		b = binary.LittleEndian.AppendUint32(b, uint32(r[1]))
		b = binary.LittleEndian.AppendUint32(b, uint32(r[2]))
		word(r[3])
		word(r[4])
	}
	return b
}

func TestCompactUnwindOfObjectFiles(t *testing.T) {
	for _, cpu := range []uint32{fixture.MachOARM64, fixture.MachOILP32} {
		wide, width := cpu == fixture.MachOARM64, uint32(2)
		if wide {
			width = 3
		}
		table := compactUnwind(wide, [5]uint64{0, 0x18, 0x02000000, 0, 0}, [5]uint64{0, 0x20, 0x03000005, 0, 1}, [5]uint64{0x40, 0, 0x02000000, 0, 0})
		m := fixture.NewMachO(cpu, 0, fixture.MachOObject).Segment("", 0, 0x100,
			fixture.MachOSection{Name: "__text", Segment: "__TEXT", Size: 0x60, Flags: fixture.MachOCode},
			fixture.MachOSection{Name: "__compact_unwind", Segment: "__LD", Addr: 0x60, Data: append(table, 1), Relocs: [][2]uint32{reloc(uint32(len(table)/3), 0, 0, width, 1, 0)}}).
			Symbol("_a", inSection, 1, 0, 0x20).Symtab()
		got, problems := entries(clean(t, m.Bytes()))
		want := []string{"0-18 02000000 = .cfa: sp 0 + .ra: x30 0 +", "20-40 03000005 = none lsda fde 0"}
		if !slices.Equal(got, want) || len(problems) != 1 || problems[0].Reason != "the section ends in an entry" {
			t.Errorf("cpu %#x: %q, %v", cpu, got, problems)
		}
	}
}

// The encodings were made by llvm-mc of the CFI directives that the rules
// repeat.
func TestRulesOfEncodings(t *testing.T) {
	const none = ""
	for _, c := range []struct {
		arch     ident.Arch
		encoding uint32
		stack    uint32
		want     string
	}{
		{ident.ArchX86_64, 0x01000000, 0, ".cfa: $rbp 16 + $rbp: .cfa -16 + ^ .ra: .cfa -8 + ^"},
		{ident.ArchX86_64, 0x010558d1, 0, ".cfa: $rbp 16 + $rbp: .cfa -16 + ^ .ra: .cfa -8 + ^ $rbx: .cfa -56 + ^ $r12: .cfa -48 + ^ $r13: .cfa -40 + ^ $r14: .cfa -32 + ^ $r15: .cfa -24 + ^"},
		{ident.ArchX86_64, 0x01030161, 0, ".cfa: $rbp 16 + $rbp: .cfa -16 + ^ .ra: .cfa -8 + ^ $rbx: .cfa -40 + ^ $r14: .cfa -32 + ^ $r15: .cfa -24 + ^"},
		{ident.ArchX86_64h, 0x02020000, 0, ".cfa: $rsp 16 + .ra: .cfa -8 + ^"},
		{ident.ArchX86_64, 0x02081020, 0, ".cfa: $rsp 64 + .ra: .cfa -8 + ^ $rbp: .cfa -16 + ^ $r15: .cfa -24 + ^ $r14: .cfa -32 + ^ $rbx: .cfa -40 + ^"},
		{ident.ArchX86_64, 0x02040802, 0, ".cfa: $rsp 32 + .ra: .cfa -8 + ^ $r14: .cfa -16 + ^ $rbx: .cfa -24 + ^"},
		{ident.ArchX86_64, 0x030df800, 5056, ".cfa: $rsp 5056 + .ra: .cfa -8 + ^ $rbp: .cfa -16 + ^ $r15: .cfa -24 + ^ $r14: .cfa -32 + ^ $r13: .cfa -40 + ^ $r12: .cfa -48 + ^ $rbx: .cfa -56 + ^"},
		{ident.ArchX86_64, 0x030df800, 0, none},
		{ident.ArchX86_64, 0x02000000, 0, none}, // too small for the return address
		{ident.ArchX86_64, 0x02081c00, 0, none}, // seven registers
		{ident.ArchX86_64, 0x02080406, 0, none}, // the seventh of six
		{ident.ArchX86_64, 0x04000123, 0, none},
		{ident.ArchX86_64, 0, 0, none},
		{ident.ArchX86, 0x0208102c, 0, ".cfa: $esp 32 + .ra: .cfa -4 + ^ $ebp: .cfa -8 + ^ $edi: .cfa -12 + ^ $esi: .cfa -16 + ^ $ebx: .cfa -20 + ^"},
		{ident.ArchX86, 0x01020011, 0, ".cfa: $ebp 8 + $ebp: .cfa -8 + ^ .ra: .cfa -4 + ^ $ebx: .cfa -16 + ^ $ecx: .cfa -12 + ^"},
		{ident.ArchARM64, 0x02000000, 0, ".cfa: sp 0 + .ra: x30 0 +"},
		{ident.ArchARM64e, 0x02002000, 0, ".cfa: sp 32 + .ra: x30 0 +"},
		{ident.ArchARM64, 0x02001001, 0, ".cfa: sp 16 + .ra: x30 0 + x19: .cfa -8 + ^ x20: .cfa -16 + ^"},
		{ident.ArchARM64_32, 0x04000911, 0, ".cfa: x29 16 + x29: .cfa -16 + ^ .ra: .cfa -8 + ^ x19: .cfa -24 + ^ x20: .cfa -32 + ^ x27: .cfa -40 + ^ x28: .cfa -48 + ^ d8: .cfa -56 + ^ d9: .cfa -64 + ^ d14: .cfa -72 + ^ d15: .cfa -80 + ^"},
		{ident.ArchARM64, 0x03000000, 0, none},
		{ident.ArchARMv7k, 0x0100006f, 0, ".cfa: r7 8 + r7: .cfa -8 + ^ .ra: .cfa -4 + ^ r6: .cfa -12 + ^ r5: .cfa -16 + ^ r4: .cfa -20 + ^ r11: .cfa -24 + ^ r10: .cfa -28 + ^ r8: .cfa -32 + ^"},
		{ident.ArchARMv7, 0x02800001, 0, ".cfa: r7 16 + r7: .cfa -16 + ^ .ra: .cfa -12 + ^ r4: .cfa -20 + ^"},
		{ident.ArchARM, 0x04000000, 0, none},
		{ident.ArchPPC, 0x01000000, 0, none},
	} {
		got, ok := macho.AppendCompact([]byte("before "), macho.Entry{Encoding: c.encoding, Stack: c.stack}, c.arch)
		if string(got) != "before "+c.want || ok != (c.want != none) {
			t.Errorf("%v %08x: %q, %v, want %q", c.arch, c.encoding, got, ok, c.want)
		}
	}
}

// encode encodes the order of saved registers as a compiler does: each is an
// index in the list of those not yet used.
func encode(order []int) uint32 {
	var code uint32
	for i, n := range order {
		digit := n - 1
		for _, before := range order[:i] {
			if before < n {
				digit--
			}
		}
		code = code*uint32(6-i) + uint32(digit)
	}
	return code
}

func TestEveryOrderOfSavedRegisters(t *testing.T) {
	names := []string{"", "$rbx", "$r12", "$r13", "$r14", "$r15", "$rbp"}
	count := 0
	var try func(order []int)
	try = func(order []int) {
		count++
		want := fmt.Sprintf(".cfa: $rsp %d + .ra: .cfa -8 + ^", 8*20)
		for i := len(order) - 1; i >= 0; i-- {
			want += fmt.Sprintf(" %s: .cfa %d + ^", names[order[i]], -8*(len(order)-i+1))
		}
		encoding := 0x02000000 | 20<<16 | uint32(len(order))<<10 | encode(order)
		if got, ok := macho.AppendCompact(nil, macho.Entry{Encoding: encoding}, ident.ArchX86_64); !ok || string(got) != want {
			t.Fatalf("%v: %08x is %q, want %q", order, encoding, got, want)
		}
		for n := 1; n <= 6; n++ {
			if !slices.Contains(order, n) {
				try(append(order[:len(order):len(order)], n))
			}
		}
	}
	try(nil)
	if count != 1957 { // the partial permutations of six
		t.Errorf("%d orders", count)
	}
}
