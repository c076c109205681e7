package ident_test

import (
	"strings"
	"testing"

	"symbolon/internal/ident"
)

func mustDebugID(t *testing.T, text string) ident.DebugID {
	t.Helper()
	if text == "" {
		return ident.DebugID{}
	}
	d, err := ident.ParseDebugID(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDerive(t *testing.T) {
	const (
		elf  = "dfb85de42daffd09640c8fe377d572de3e168920"
		uuid = "67e9247c-814e-392b-a027-dbde6748fcbf"
		flat = "67e9247c814e392ba027dbde6748fcbf"
	)
	for name, tc := range map[string]struct {
		typ                 ident.Type
		arch                ident.Arch
		code, debug         string
		wantCode, wantDebug string
	}{
		"elf":                         {ident.TypeELF, ident.ArchX86_64, elf, "", elf, "e45db8df-af2d-09fd-640c-8fe377d572de"},
		"elf of unknown arch":         {ident.TypeELF, ident.ArchUnknown, elf, "", elf, "e45db8df-af2d-09fd-640c-8fe377d572de"},
		"elf of a big-endian machine": {ident.TypeELF, ident.ArchS390x, elf, "", elf, "dfb85de4-2daf-fd09-640c-8fe377d572de"},
		"elf of ppc64le":              {ident.TypeELF, ident.ArchPPC64le, elf, "", elf, "e45db8df-af2d-09fd-640c-8fe377d572de"},
		"elf with a short id":         {ident.TypeELF, ident.ArchUnknown, "abcdef12", "", "abcdef12", "12efcdab-0000-0000-0000-000000000000"},
		"elf with half a byte":        {ident.TypeELF, ident.ArchUnknown, "abcdef123", "", "abcdef123", ""},
		"elf with both":               {ident.TypeELF, ident.ArchUnknown, elf, uuid, elf, uuid},
		"elf with a debug id only":    {ident.TypeELF, ident.ArchUnknown, "", uuid, "", uuid},
		"macho, code":                 {ident.TypeMachO, ident.ArchARM64, flat, "", flat, uuid},
		"macho, debug":                {ident.TypeMachO, ident.ArchARM64, "", uuid, flat, uuid},
		"macho, debug with age":       {ident.TypeMachO, ident.ArchARM64, "", uuid + "-1", flat, uuid + "-1"},
		"macho, odd code":             {ident.TypeMachO, ident.ArchARM64, elf, "", elf, ""},
		"macho, PDB 2.0":              {ident.TypeMachO, ident.ArchARM64, "", "418E89C3-1", "", "418E89C3-1"},
		"macho, both":                 {ident.TypeMachO, ident.ArchARM64, "aa", uuid, "aa", uuid},
		"wasm":                        {ident.TypeWasm, ident.ArchWasm32, "bda18fd85d4a4eb893022d6bfad846b1c5b1c2d3", "", "bda18fd85d4a4eb893022d6bfad846b1c5b1c2d3", "bda18fd8-5d4a-4eb8-9302-2d6bfad846b1"},
		"wasm with a short id":        {ident.TypeWasm, ident.ArchWasm32, "bda18fd85d4a4eb8", "", "bda18fd85d4a4eb8", ""},
		"pe, code":                    {ident.TypePE, ident.ArchX86, "5ab380779000", "", "5ab380779000", ""},
		"pe, debug":                   {ident.TypePE, ident.ArchX86, "", uuid + "-1", "", uuid + "-1"},
		"dotnet":                      {ident.TypeDotnet, ident.ArchUnknown, flat, "", flat, ""},
		"unknown, code":               {ident.TypeUnknown, ident.ArchX86_64, flat, "", flat, ""},
		"unknown, debug":              {ident.TypeUnknown, ident.ArchX86_64, "", uuid, "", uuid},
		"nothing":                     {ident.TypeELF, ident.ArchX86_64, "", "", "", ""},
	} {
		m := ident.Module{
			Type: tc.typ, Arch: tc.arch, CodeFile: "c", DebugFile: "d", DebugIDText: "as sent",
			CodeID: ident.ParseCodeID(tc.code), DebugID: mustDebugID(t, tc.debug),
		}
		want := m
		want.CodeID, want.DebugID = ident.CodeID(tc.wantCode), mustDebugID(t, tc.wantDebug)
		if got := m.Derive(); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

func TestTypeNames(t *testing.T) {
	for _, name := range []string{"unknown", "elf", "macho", "pe", "pe_dotnet", "wasm"} {
		if got := ident.ParseType(name).String(); got != name {
			t.Errorf("%s becomes %s", name, got)
		}
	}
	if ident.ParseType("minix") != ident.TypeUnknown || ident.ParseType("elf") != ident.TypeELF || ident.ParseType("ELF") != ident.TypeUnknown {
		t.Error("the name of a type is parsed as another type")
	}
	if got := ident.Type(99).String(); got != "type 99" {
		t.Errorf("%s", got)
	}
}

func TestArchNames(t *testing.T) {
	for name, want := range map[string]ident.Arch{
		"x86": ident.ArchX86, "i386": ident.ArchX86, "i686": ident.ArchX86, "386": ident.ArchX86,
		"x86_64": ident.ArchX86_64, "amd64": ident.ArchX86_64, "AMD64": ident.ArchX86_64, "x64": ident.ArchX86_64,
		"arm64": ident.ArchARM64, "aarch64": ident.ArchARM64, "ARM-64": ident.ArchARM64, "arm64e": ident.ArchARM64e,
		"arm": ident.ArchARM, "armv7": ident.ArchARMv7, "ppc": ident.ArchPPC, "powerpc64": ident.ArchPPC64, "ppc64le": ident.ArchPPC64le,
		"mipsel": ident.ArchMIPSel, "riscv": ident.ArchRISCV32, "riscv64": ident.ArchRISCV64, "s390x": ident.ArchS390x,
		"loongarch64": ident.ArchLoong64, "wasm32": ident.ArchWasm32, "sparcv9": ident.ArchSPARC64,
		"": ident.ArchUnknown, "unknown": ident.ArchUnknown, "vax": ident.ArchUnknown, " x86": ident.ArchUnknown, strings.Repeat("x", 1<<16): ident.ArchUnknown,
	} {
		if got := ident.ParseArch(name); got != want {
			t.Errorf("%.20q is %v, want %v", name, got, want)
		}
	}
}

func TestArchString(t *testing.T) {
	names := "unknown x86 x86_64 x86_64h arm armv5 armv6 armv6m armv7 armv7f armv7s armv7k armv7m armv7em " +
		"arm64 arm64v8 arm64e arm64_32 arm64_32_v8 ppc ppc64 mips mips64 wasm32"
	for name := range strings.FieldsSeq(names) {
		if got := ident.ParseArch(name).String(); got != name {
			t.Errorf("%s becomes %s", name, got)
		}
	}
	for a := ident.ArchUnknown; a <= ident.ArchWasm64; a++ {
		if a.String() == "" || ident.ParseArch(a.String()) != a {
			t.Errorf("%d prints as %q, which is %d", a, a, ident.ParseArch(a.String()))
		}
	}
	if got := ident.Arch(200).String(); got != "arch 200" {
		t.Errorf("%s", got)
	}
}

func TestArchByteOrder(t *testing.T) {
	big := " ppc ppc64 mips mips64 s390 s390x sparc sparc64 "
	for a := ident.ArchUnknown; a <= ident.ArchWasm64; a++ {
		if got := a.BigEndian(); got != strings.Contains(big, " "+a.String()+" ") {
			t.Errorf("%s: big endian %v", a, got)
		}
		if f := a.Family(); f != a && (f.BigEndian() == a.BigEndian() || !strings.HasPrefix(a.String(), f.String())) {
			t.Errorf("%s has the family %s", a, f)
		}
	}
	if ident.ArchPPC64le.Family() != ident.ArchPPC64 || ident.ArchMIPSel.Family() != ident.ArchMIPS || ident.ArchMIPS64el.Family() != ident.ArchMIPS64 {
		t.Error("Family of a little-endian architecture is wrong")
	}
}
