package elf_test

import (
	"bytes"
	"slices"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/fixture"
	"symbolon/internal/format/elf"
)

// relocatable returns a relocatable file with .text as section 1 and .debug_info as
// section 2, whose relocations name these symbols: 1 is .text, 2 the function
// f at 0x11 of it, 3 that of another file.
func relocatable(e *fixture.ELF, data []byte, rela bool, relocs ...fixture.ELFReloc) *fixture.ELF {
	e.Type = 1
	e.Add(fixture.ELFSection{Name: ".text", Type: 1, Flags: 6, Data: make([]byte, 64)})
	e.Add(fixture.ELFSection{Name: ".debug_info", Type: 1, Data: data})
	syms := e.Symtab(".symtab", 2, fixture.ELFSymbol{Kind: 3, Section: 1}, fixture.ELFSymbol{Name: "f", Kind: 2, Section: 1, Value: 0x11}, fixture.ELFSymbol{Name: "g"})
	kind := uint32(9)
	if rela {
		kind = 4
	}
	e.Add(fixture.ELFSection{Name: ".r", Type: kind, Link: uint32(syms), Info: 2, Data: e.Relocs(rela, relocs...)})
	return e
}

func TestRelocationsOfAllMachines(t *testing.T) {
	const absent = ^uint64(0)
	// Each kind is applied to 16 bytes of 0xc1, at offset 2 of a section at
	// 0x100, with the symbol .text at 0x4000 and the addend 0x7f.
	for _, tc := range []struct {
		name    string
		machine uint16
		kind    uint32
		size    int
		want    uint64
	}{
		{"x86-64 64", 62, 1, 8, 0x407f}, {"x86-64 32", 62, 10, 4, 0x407f}, {"x86-64 32S", 62, 11, 4, 0x407f}, {"x86-64 16", 62, 12, 2, 0x407f}, {"x86-64 8", 62, 14, 1, 0x7f},
		{"x86-64 PC32", 62, 2, 4, 0x3f7d}, {"x86-64 PLT32", 62, 4, 4, 0x3f7d}, {"x86-64 PC64", 62, 24, 8, 0x3f7d}, {"x86-64 PC16", 62, 13, 2, 0x3f7d}, {"x86-64 PC8", 62, 15, 1, 0x7d},
		{"x86-64 DTPOFF64", 62, 17, 8, 0x407f}, {"x86-64 DTPOFF32", 62, 21, 4, 0x407f}, {"x86-64 NONE", 62, 0, 0, 0}, {"x86-64 COPY", 62, 5, 0, absent}, {"x86-64 far", 62, 1 << 20, 0, absent},
		{"i386 32", 3, 1, 4, 0x407f}, {"i386 16", 3, 20, 2, 0x407f}, {"i386 8", 3, 22, 1, 0x7f}, {"i386 PC32", 3, 2, 4, 0x3f7d}, {"i386 PC16", 3, 21, 2, 0x3f7d}, {"i386 PC8", 3, 23, 1, 0x7d}, {"i386 TLS_LDO_32", 3, 32, 4, 0x407f},
		{"ARM ABS32", 40, 2, 4, 0x407f}, {"ARM REL32", 40, 3, 4, 0x3f7d}, {"ARM ABS16", 40, 5, 2, 0x407f}, {"ARM ABS8", 40, 8, 1, 0x7f}, {"ARM TARGET1", 40, 38, 4, 0x407f}, {"ARM TLS_LDO32", 40, 106, 4, 0x407f},
		{"AArch64 ABS64", 183, 257, 8, 0x407f}, {"AArch64 ABS32", 183, 258, 4, 0x407f}, {"AArch64 ABS16", 183, 259, 2, 0x407f},
		{"AArch64 PREL64", 183, 260, 8, 0x3f7d}, {"AArch64 PREL32", 183, 261, 4, 0x3f7d}, {"AArch64 PREL16", 183, 262, 2, 0x3f7d}, {"AArch64 NONE", 183, 256, 0, 0},
		{"PPC64 ADDR64", 21, 38, 8, 0x407f}, {"PPC64 ADDR32", 21, 1, 4, 0x407f}, {"PPC64 ADDR16", 21, 3, 2, 0x407f}, {"PPC64 REL64", 21, 44, 8, 0x3f7d}, {"PPC64 REL32", 21, 26, 4, 0x3f7d}, {"PPC64 UADDR64", 21, 43, 8, 0x407f},
		{"S390 64", 22, 22, 8, 0x407f}, {"S390 32", 22, 4, 4, 0x407f}, {"S390 16", 22, 3, 2, 0x407f}, {"S390 8", 22, 1, 1, 0x7f}, {"S390 PC64", 22, 23, 8, 0x3f7d}, {"S390 PC32", 22, 5, 4, 0x3f7d}, {"S390 PC16", 22, 16, 2, 0x3f7d},
		{"MIPS 64", 8, 18, 8, 0x407f}, {"MIPS 32", 8, 2, 4, 0x407f}, {"MIPS 16", 8, 1, 2, 0x407f}, {"MIPS PC32", 8, 248, 4, 0x3f7d}, {"MIPS 32+64", 8, 2 | 18<<8, 0, absent},
		{"RISC-V 32", 243, 1, 4, 0x407f}, {"RISC-V 64", 243, 2, 8, 0x407f}, {"RISC-V 32_PCREL", 243, 57, 4, 0x3f7d}, {"RISC-V RELAX", 243, 51, 0, 0},
		{"RISC-V SET8", 243, 54, 1, 0x7f}, {"RISC-V SET16", 243, 55, 2, 0x407f}, {"RISC-V SET32", 243, 56, 4, 0x407f},
		{"RISC-V ADD8", 243, 33, 1, 0x40}, {"RISC-V ADD16", 243, 34, 2, 0x0240}, {"RISC-V ADD32", 243, 35, 4, 0xc1c20240}, {"RISC-V ADD64", 243, 36, 8, 0xc1c1c1c1c1c20240},
		{"RISC-V SUB8", 243, 37, 1, 0x42}, {"RISC-V SUB16", 243, 38, 2, 0x8142}, {"RISC-V SUB32", 243, 39, 4, 0xc1c18142}, {"RISC-V SUB64", 243, 40, 8, 0xc1c1c1c1c1c18142},
		{"ARC 32", 93, 4, 4, 0x407f}, {"ARCv2 32", 195, 4, 4, 0x407f}, {"ARC 16", 195, 2, 2, 0x407f}, {"ARC 8", 195, 1, 1, 0x7f}, {"ARC 32_PCREL", 195, 49, 4, 0x3f7d}, {"ARC TLS_DTPOFF", 195, 67, 4, 0x407f}, {"ARC 32_ME", 195, 27, 0, absent},
		{"C-SKY ADDR32", 252, 1, 4, 0x407f}, {"C-SKY PCREL32", 252, 5, 4, 0x3f7d}, {"C-SKY TLS_LDO32", 252, 55, 4, 0x407f},
		{"68K 32", 4, 1, 4, 0x407f}, {"68K 16", 4, 2, 2, 0x407f}, {"68K 8", 4, 3, 1, 0x7f}, {"68K PC32", 4, 4, 4, 0x3f7d}, {"68K PC16", 4, 5, 2, 0x3f7d}, {"68K PC8", 4, 6, 1, 0x7d}, {"68K TLS_LDO32", 4, 31, 4, 0x407f},
		{"IA-64 DIR32LSB", 50, 0x25, 4, 0x407f}, {"IA-64 DIR64LSB", 50, 0x27, 8, 0x407f}, {"IA-64 DIR64MSB", 50, 0x26, 8, 0x407f}, {"IA-64 SECREL32LSB", 50, 0x65, 4, 0x407f}, {"IA-64 SECREL64LSB", 50, 0x67, 8, 0x407f},
		{"IA-64 PCREL32LSB", 50, 0x4d, 4, 0x3f7d}, {"IA-64 PCREL64LSB", 50, 0x4f, 8, 0x3f7d}, {"IA-64 DTPREL64LSB", 50, 0xb7, 8, 0x407f}, {"IA-64 IMM64", 50, 0x23, 0, absent},
		{"RISC-V SET6", 243, 53, 1, 0xff}, {"RISC-V SUB6", 243, 52, 1, 0xc2},
		{"SPARC 64", 43, 32, 8, 0x407f}, {"SPARC UA64", 43, 54, 8, 0x407f}, {"SPARC 32", 43, 3, 4, 0x407f},
		{"SPARC UA32", 2, 23, 4, 0x407f}, {"SPARC 16", 18, 2, 2, 0x407f}, {"SPARC UA16", 2, 55, 2, 0x407f}, {"SPARC 8", 2, 1, 1, 0x7f},
		{"SPARC DISP64", 43, 46, 8, 0x3f7d}, {"SPARC DISP32", 43, 6, 4, 0x3f7d}, {"SPARC DISP16", 43, 5, 2, 0x3f7d},
		{"SPARC DISP8", 43, 4, 1, 0x7d}, {"SPARC TLS_DTPOFF64", 43, 77, 8, 0x407f}, {"SPARC HI22", 43, 9, 0, absent},
		{"LoongArch 32", 258, 1, 4, 0x407f}, {"LoongArch 64", 258, 2, 8, 0x407f}, {"LoongArch 32_PCREL", 258, 99, 4, 0x3f7d},
		{"LoongArch 64_PCREL", 258, 109, 8, 0x3f7d},
		{"LoongArch ADD8", 258, 47, 1, 0x40}, {"LoongArch ADD32", 258, 50, 4, 0xc1c20240}, {"LoongArch SUB8", 258, 52, 1, 0x42},
		{"LoongArch SUB32", 258, 55, 4, 0xc1c18142}, {"LoongArch RELAX", 258, 100, 0, 0},
		{"BPF ABS64", 247, 2, 8, 0x407f}, {"BPF ABS32", 247, 3, 4, 0x407f}, {"BPF NODYLD32", 247, 4, 4, 0x407f}, {"BPF 64", 247, 1, 0, absent},
		{"Hexagon 32", 164, 6, 4, 0x407f}, {"Hexagon 16", 164, 7, 2, 0x407f}, {"Hexagon 8", 164, 8, 1, 0x7f},
		{"Hexagon 32_PCREL", 164, 31, 4, 0x3f7d},
		{"AVR 32", 83, 1, 4, 0x407f}, {"AVR 16", 83, 4, 2, 0x407f}, {"AVR 8", 83, 26, 1, 0x7f}, {"AVR 32_PCREL", 83, 36, 4, 0x3f7d},
		{"AVR DIFF16", 83, 31, 0, 0},
		{"MSP430 32", 105, 1, 4, 0x407f}, {"MSP430 16_BYTE", 105, 5, 2, 0x407f},
	} {
		for _, big := range []bool{false, true} {
			for _, rela := range []bool{false, true} {
				isNarrow := slices.Contains([]uint16{2, 3, 4, 18, 40, 83, 93, 105, 164, 195, 252}, tc.machine)
				e := &fixture.ELF{Wide: !isNarrow, Big: big, Machine: tc.machine}
				if !e.Wide && tc.kind > 0xff || !rela && (tc.machine == 243 || tc.machine == 258) {
					continue
				}
				data := bytes.Repeat([]byte{0xc1}, 16)
				number := func(v uint64) []byte {
					b := e.Pack(v)
					if big {
						return b[8-tc.size:]
					}
					return b[:tc.size]
				}
				if !rela && tc.want != absent {
					copy(data[2:], number(0x7f))
				}
				f := sound(t, relocatable(e, data, rela, fixture.ELFReloc{Off: 2, Sym: 1, Kind: tc.kind, Addend: 0x7f}))
				want := slices.Clone(data)
				if tc.want != absent {
					copy(want[2:], number(tc.want))
				}
				got, problems := f.Relocate(f.Section(".debug_info"), data, []uint64{0, 0x4000, 0x100})
				if !bytes.Equal(got, want) || (problems != nil) != (tc.want == absent) {
					t.Errorf("%s, big %v, rela %v: % x, want % x, %v", tc.name, big, rela, got, want, problems)
				}
			}
		}
	}
}

// Data whose numbers are in its relocations has zeros in their places.
func TestRelocationsOfUnknownMachinesAreReported(t *testing.T) {
	for _, rela := range []bool{false, true} {
		data := make([]byte, 16)
		f := sound(t, relocatable(&fixture.ELF{Machine: 244}, data, rela, fixture.ELFReloc{Sym: 1, Kind: 1}))
		got, problems := f.Relocate(f.Section(".debug_info"), data, nil)
		if (got == nil) != rela || len(problems) != 1 || problems[0].Reason != "1 for an unsupported machine, 244" {
			t.Errorf("in relocations: %v: %d bytes, %v", rela, len(got), problems)
		}
		if got, problems := f.Relocate(f.Section(".text"), data, nil); got == nil || problems != nil {
			t.Errorf("a section without relocations: %d bytes, %v", len(got), problems)
		}
	}
}

func TestImplicitAddendsAreSigned(t *testing.T) {
	for _, tc := range []struct {
		kind uint32
		data []byte
		want []byte
	}{
		{1, []byte{0xfe, 0xff, 0xff, 0xff}, []byte{0xfe, 0x3f, 0, 0}},
		{20, []byte{0xfe, 0xff, 7, 7}, []byte{0xfe, 0x3f, 7, 7}},
		{23, []byte{0xfe, 7, 7, 7}, []byte{0xfe, 7, 7, 7}},
	} {
		e := relocatable(&fixture.ELF{Machine: 3}, tc.data, false, fixture.ELFReloc{Sym: 1, Kind: tc.kind})
		f := sound(t, e)
		if got, problems := f.Relocate(&f.Sections[2], tc.data, []uint64{0, 0x4000}); !bytes.Equal(got, tc.want) || problems != nil {
			t.Errorf("kind %d: % x, %v", tc.kind, got, problems)
		}
	}
}

func TestNegativeAddendsOfNarrowFiles(t *testing.T) {
	f := sound(t, relocatable(&fixture.ELF{Machine: 243}, make([]byte, 8), true, fixture.ELFReloc{Sym: 1, Kind: 36, Addend: -2}))
	if got, _ := f.Relocate(&f.Sections[2], make([]byte, 8), []uint64{0, 1}); !bytes.Equal(got, bytes.Repeat([]byte{0xff}, 8)) {
		t.Errorf("% x", got)
	}
}

func TestUlebRelocationsKeepLength(t *testing.T) {
	data := []byte{0x80, 0x80, 0x00, 0x55, 0xff, 0xff}
	e := relocatable(&fixture.ELF{Wide: true, Machine: 243}, data, true,
		fixture.ELFReloc{Off: 0, Sym: 1, Kind: 60, Addend: 0x345}, fixture.ELFReloc{Off: 0, Sym: 1, Kind: 61, Addend: 0x45},
		fixture.ELFReloc{Off: 4, Sym: 1, Kind: 60, Addend: 1}, fixture.ELFReloc{Off: 6, Sym: 1, Kind: 60})
	f := sound(t, e)
	got, problems := f.Relocate(&f.Sections[2], data, nil)
	if want := []byte{0x80, 0x86, 0x00, 0x55, 0x81, 0x80}; !bytes.Equal(got, want) || !complains(problems, "section .debug_info, relocations", "1 of unsupported type", "type 60") {
		t.Errorf("% x, %v", got, problems)
	}
}

func TestRelocationsClearThumbBit(t *testing.T) {
	f := sound(t, relocatable(&fixture.ELF{Machine: 40}, make([]byte, 4), false, fixture.ELFReloc{Sym: 2, Kind: 2}))
	if got, _ := f.Relocate(&f.Sections[2], make([]byte, 4), []uint64{0, 0x4000}); !bytes.Equal(got, []byte{0x10, 0x40, 0, 0}) {
		t.Errorf("% x", got)
	}
}

func TestSymbolsOfOtherFilesHaveAddressZero(t *testing.T) {
	f := sound(t, relocatable(&fixture.ELF{Wide: true, Machine: 62}, make([]byte, 8), true, fixture.ELFReloc{Sym: 3, Kind: 1, Addend: 9}))
	if got, problems := f.Relocate(&f.Sections[2], make([]byte, 8), []uint64{7, 7, 7, 7}); got[0] != 9 || problems != nil {
		t.Errorf("% x, %v", got, problems)
	}
}

func TestInvalidRelocationsAreCounted(t *testing.T) {
	data := bytes.Repeat([]byte{1}, 16)
	f := sound(t, relocatable(&fixture.ELF{Wide: true, Machine: 62}, data, true,
		fixture.ELFReloc{Off: 3, Sym: 99, Kind: 1}, fixture.ELFReloc{Off: 9, Sym: 1, Kind: 1}, fixture.ELFReloc{Off: 1 << 63, Sym: 1, Kind: 1},
		fixture.ELFReloc{Off: 1, Sym: 1, Kind: 99}, fixture.ELFReloc{Off: 8, Sym: 1, Kind: 1, Addend: 2}))
	got, problems := f.Relocate(&f.Sections[2], data, nil)
	if len(problems) != 1 || problems[0].Off != 3 || !complains(problems, "4 of unsupported type or range", "type 1", "symbol 99") {
		t.Errorf("%v", problems)
	}
	if !bytes.Equal(got, append(slices.Clone(data[:8]), 2, 0, 0, 0, 0, 0, 0, 0)) || data[8] != 1 {
		t.Errorf("% x, and the data is % x", got, data)
	}
}

func TestLinkedFilesAreNotRelocated(t *testing.T) {
	data := make([]byte, 8)
	e := relocatable(&fixture.ELF{Wide: true, Machine: 62}, data, true, fixture.ELFReloc{Sym: 1, Kind: 1, Addend: 9})
	e.Type = 2
	f := sound(t, e)
	if got, problems := f.Relocate(&f.Sections[2], data, nil); &got[0] != &data[0] || got[0] != 0 || problems != nil {
		t.Errorf("% x, %v", got, problems)
	}
	e.Type = 1
	f = sound(t, e)
	if got, _ := f.Relocate(&f.Sections[1], data, nil); &got[0] != &data[0] {
		t.Error("data without relocations is copied")
	}
	if got, _ := f.Relocate(&f.Sections[2], data, nil); &got[0] == &data[0] || got[0] != 9 {
		t.Error("data with relocations is not copied")
	}
}

func TestOverlappingRelocationTablesAreReadOnce(t *testing.T) {
	e := relocatable(&fixture.ELF{Wide: true, Machine: 243}, make([]byte, 8), true, slices.Repeat([]fixture.ELFReloc{{Sym: 1, Kind: 36, Addend: 1}}, 1000)...)
	off := e.Next() - 24*1000
	for range 1000 {
		e.Add(fixture.ELFSection{Name: ".r", Type: 4, Info: 2, Off: off, Size: 24 * 1000})
	}
	b := e.Bytes()
	f, err := elf.Open(bin.Bytes(b))
	if err != nil {
		t.Fatal(err)
	}
	got, _ := f.Relocate(&f.Sections[2], make([]byte, 8), nil)
	if n := f.Order.Uint64(got); n < 1000 || n > uint64(len(b)/24) {
		t.Errorf("%d relocations of a file of %d bytes", n, len(b))
	}
}
