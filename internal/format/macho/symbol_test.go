package macho_test

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"symbolon/internal/fault"
	"symbolon/internal/fixture"
	"symbolon/internal/format/macho"
)

func TestSymbolsOfCode(t *testing.T) {
	for name, m := range layouts() {
		f := clean(t, m.Bytes())
		var got []string
		for s := range f.Symbols {
			got = append(got, fmt.Sprintf("%x %s %d %v %v", s.Addr, s.Name, s.Section, s.External, s.Weak))
			if string(f.SymbolName(s.NameOff)) != string(s.Name) {
				t.Errorf("%s: the handle of %s is %s", name, s.Name, f.SymbolName(s.NameOff))
			}
		}
		thumb := "11031"
		if m.CPU == fixture.MachOARM {
			thumb = "11030"
		}
		want := []string{"11000 first 1 true false", "11010 _ZN6second4nameEv 1 false true", "11020 __hidden#7_ 1 false false", thumb + " -[Third method:] 1 false false"}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
		for range f.Symbols {
			break
		}
	}
}

func TestStubsAreCodeWithoutTheFlag(t *testing.T) {
	m := fixture.NewMachO(fixture.MachOX64, 3, fixture.MachODSYM).Segment("__TEXT", 0, 0x1000,
		fixture.MachOSection{Name: "__stubs", Addr: 0x10, Size: 4}, fixture.MachOSection{Name: "__const", Addr: 0x20, Size: 4}).
		Symbol("_stub", inSection, 1, 0, 0x10).Symbol("_const", inSection, 2, 0, 0x20).Symtab()
	var got []string
	for s := range clean(t, m.Bytes()).Symbols {
		got = append(got, string(s.Name))
	}
	if !slices.Equal(got, []string{"stub"}) {
		t.Errorf("%q", got)
	}
}

func TestSymbolNameBeyondTableIsNil(t *testing.T) {
	f := clean(t, library(fixture.MachOX64, 3).Bytes())
	if name := f.SymbolName(1 << 31); name != nil {
		t.Errorf("%q", name)
	}
}

func TestFunctionStarts(t *testing.T) {
	for cpu, last := range map[uint32]uint64{fixture.MachOX64: 0x11031, fixture.MachOARM: 0x11030} {
		got := clean(t, library(cpu, 0).Bytes()).FunctionStarts([]uint64{7})
		if want := []uint64{7, 0x11000, 0x11010, 0x11020, last}; !slices.Equal(got, want) {
			t.Errorf("cpu %#x: %x, want %x", cpu, got, want)
		}
	}
	over := fixture.NewMachO(fixture.MachOX64, 3, 2).FunctionStarts(1<<63, 1<<63, 5)
	if got := clean(t, over.Bytes()).FunctionStarts(nil); !slices.Equal(got, []uint64{1 << 63}) {
		t.Errorf("beyond the last address: %x", got)
	}
}

func TestDebugMap(t *testing.T) {
	got := clean(t, library(fixture.MachOX64, 3).Bytes()).DebugMap()
	want := []macho.ObjectFile{
		{Path: []byte("/obj/a.o"), Time: 0x5f000000, Functions: []macho.Function{{Name: []byte("first"), Addr: 0x11000, Size: 0x10}}},
		{Path: []byte("/obj/lib.a(b.o)"), Time: 0x5f000001, Functions: []macho.Function{{Name: []byte("_ZN6second4nameEv"), Addr: 0x11010}}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
}

// reloc encodes a relocation: width is the logarithm of the bytes.
func reloc(at, symbol, relative, width, extern, kind uint32) [2]uint32 {
	return [2]uint32{at, symbol | relative<<24 | width<<25 | extern<<27 | kind<<28}
}

func object(cpu uint32, relocs ...[2]uint32) *fixture.MachO {
	data := make([]byte, 40)
	for i := range 5 {
		binary.LittleEndian.PutUint64(data[8*i:], 0x100)
	}
	return fixture.NewMachO(cpu, 0, fixture.MachOObject).Segment("", 0, 0x100,
		fixture.MachOSection{Name: "__text", Segment: "__TEXT", Addr: 0, Size: 0x80, Flags: fixture.MachOCode},
		fixture.MachOSection{Name: "__debug_info", Segment: "__DWARF", Addr: 0x80, Data: data, Relocs: relocs}).
		Symbol("_a", inSection, 1, 0, 0x20).Symbol("_b", inSection, 1, 0, 0x4).Symtab()
}

func TestRelocationsOfSymbolsAreApplied(t *testing.T) {
	for _, c := range []struct {
		cpu, subtract, width uint32
	}{{fixture.MachOX64, 5, 3}, {fixture.MachOARM64, 1, 3}, {fixture.MachOILP32, 1, 2}} {
		m := object(c.cpu,
			reloc(0, 0, 0, c.width, 1, 0),                                         // + a
			reloc(8, 1, 0, c.width, 1, c.subtract), reloc(8, 0, 0, c.width, 1, 0), // - b + a
			reloc(16, 1, 0, c.width, 0, 0), // of a section
			reloc(24, 0, 1, c.width, 1, 0), // relative to itself
			reloc(32, 0, 0, c.width, 1, 9), // of another kind
			reloc(1<<31, 0, 0, c.width, 1, 0), reloc(37, 0, 0, 2, 1, 0), reloc(32, 99, 0, 3, 1, 0), reloc(32, 0, 0, 1, 1, 0))
		f := clean(t, m.Bytes())
		s := f.Section("__DWARF", "__debug_info")
		data, _ := f.Data(s)
		got := f.Relocate(s, data)
		for i, want := range []uint64{0x120, 0x11c, 0x100, 0x100, 0x100} {
			if v := binary.LittleEndian.Uint64(got[8*i:]); v != want {
				t.Errorf("cpu %#x, number %d: %#x, want %#x", c.cpu, i, v, want)
			}
		}
		if binary.LittleEndian.Uint64(data) != 0x100 {
			t.Errorf("cpu %#x: the file was changed", c.cpu)
		}
	}
}

func TestSectionWithoutSymbolRelocationsStaysInPlace(t *testing.T) {
	m := object(fixture.MachOX64, reloc(0, 1, 0, 3, 0, 0))
	f := clean(t, m.Bytes())
	s := f.Section("__DWARF", "__debug_info")
	data, _ := f.Data(s)
	if got := f.Relocate(s, data); &got[0] != &data[0] {
		t.Error("copied")
	}
	m.FileType = fixture.MachODylib
	f = clean(t, m.Bytes())
	if got := f.Relocate(s, data); &got[0] != &data[0] {
		t.Error("a linked file is relocated")
	}
}

const symbolMap = "BCSymbolMap Version: 2.0\n-[One method]\n_two\r\n/three/path\n\nlast"

func TestSymbolMap(t *testing.T) {
	m, err := macho.ReadSymbolMap([]byte(symbolMap))
	if err != nil {
		t.Fatal(err)
	}
	for s, want := range map[string]string{
		"__hidden#0_": "-[One method]", "__hidden#1_": "_two", "__hidden#2_": "/three/path", "__hidden#3_": "", "__hidden#4_": "last",
		"__hidden#5_": "__hidden#5_", "__hidden#1": "__hidden#1", "__hidden#_": "__hidden#_", "__hidden#-1_": "__hidden#-1_",
		"__hidden#99999999999999999999_": "__hidden#99999999999999999999_", "main": "main", "": "",
	} {
		if got := string(m.Name([]byte(s))); got != want {
			t.Errorf("%s is %q, want %q", s, got, want)
		}
	}
	for s, want := range map[string]string{"__hidden#1_": "two", "__hidden#0_": "-[One method]", "_main": "_main", "__hidden#9_": "__hidden#9_"} {
		if got := string(m.Symbol([]byte(s))); got != want {
			t.Errorf("symbol %s is %q, want %q", s, got, want)
		}
	}
}

func TestReadSymbolMapRejects(t *testing.T) {
	for _, text := range []string{"", "BCSymbolMap Version: 3.0\na\n", "BCSymbolMap", strings.Repeat("x", 100)} {
		if _, err := macho.ReadSymbolMap([]byte(text)); fault.KindOf(err) != fault.Malformed {
			t.Errorf("%q: %v", text, err)
		}
	}
	if m, err := macho.ReadSymbolMap([]byte("BCSymbolMap Version: 2.0")); err != nil || string(m.Name([]byte("__hidden#0_"))) != "__hidden#0_" {
		t.Errorf("a map without names: %v", err)
	}
}

const plist = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>DBGArchitecture</key>
	<string>arm64</string>
	<key>DBGOriginalUUID</key>
	<string>C8374B6D-6E96-34D8-AE38-EFAA5FEC424F</string>
</dict>
</plist>
`

func TestReadUUIDMap(t *testing.T) {
	got, err := macho.ReadUUIDMap([]byte(plist))
	want := [16]byte{0xc8, 0x37, 0x4b, 0x6d, 0x6e, 0x96, 0x34, 0xd8, 0xae, 0x38, 0xef, 0xaa, 0x5f, 0xec, 0x42, 0x4f}
	if err != nil || got != want {
		t.Errorf("%x, %v", got, err)
	}
	for what, change := range map[string][2]string{
		"no list": {"<plist", "<list"}, "no key": {"Original", "Other"}, "no string": {"<string>C8", "<data>C8"},
		"not closed": {"424F</string>", "424F"}, "too short": {"424F", "42"}, "no digits": {"C837", "X837"},
	} {
		text := strings.Replace(plist, change[0], change[1], 1)
		if got, err := macho.ReadUUIDMap([]byte(text)); fault.KindOf(err) != fault.Malformed || got != [16]byte{} {
			t.Errorf("%s: %x, %v", what, got, err)
		}
	}
}

func TestDSYMPaths(t *testing.T) {
	const inside = ".dSYM/Contents/Resources/DWARF/"
	for binary, want := range map[string][]string{
		"tool":      {"tool" + inside + "tool"},
		"/bin/tool": {"/bin/tool" + inside + "tool"},
		"a/../tool": {"tool" + inside + "tool"},
		"../x/tool": {"../x/tool" + inside + "tool"},
		"/p/My.app/Contents/MacOS/My": {
			"/p/My.app/Contents/MacOS/My" + inside + "My", "/p/My.app" + inside + "My",
		},
		"p/My.app/Frameworks/In.framework/Versions/A/In": {
			"p/My.app/Frameworks/In.framework/Versions/A/In" + inside + "In", "p/My.app/Frameworks/In.framework" + inside + "In", "p/My.app" + inside + "In",
		},
	} {
		if got := macho.DSYMPaths(binary); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", binary, got, want)
		}
	}
}
