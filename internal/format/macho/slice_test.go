package macho_test

import (
	"encoding/binary"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/fixture"
	"symbolon/internal/format/macho"
	"symbolon/internal/ident"
)

func TestSlicesOfFatFiles(t *testing.T) {
	x64, arm64 := library(fixture.MachOX64, 3), library(fixture.MachOARM64, 2)
	for _, wide := range []bool{false, true} {
		b := fixture.MachOFat(wide, x64, arm64)
		slices, err := macho.Slices(bin.Bytes(b))
		if err != nil || len(slices) != 2 {
			t.Fatalf("wide %v: %v, %v", wide, slices, err)
		}
		for i, want := range []ident.Arch{ident.ArchX86_64, ident.ArchARM64e} {
			f, err := macho.Open(bin.Bytes(b), slices[i])
			if err != nil || len(f.Problems) > 0 {
				t.Fatalf("wide %v: %v, %v", wide, err, f.Problems)
			}
			if f.Arch() != want || slices[i].CPU != f.CPU {
				t.Errorf("wide %v: slice %d is %v, %+v", wide, i, f.Arch(), slices[i])
			}
			if data, _ := f.Data(f.Section("", "__debug_info")); string(data) != "information" {
				t.Errorf("wide %v: slice %d has %q", wide, i, data)
			}
		}
	}
}

func TestSliceIsTruncatedToFile(t *testing.T) {
	b := fixture.MachOFat(false, library(fixture.MachOX64, 3), library(fixture.MachOX86, 3))
	cut := b[:len(b)-100]
	slices, err := macho.Slices(bin.Bytes(cut))
	if err != nil || len(slices) != 2 || slices[1].Off+slices[1].Size != int64(len(cut)) {
		t.Fatalf("%v, %v", slices, err)
	}
	if f, err := macho.Open(bin.Bytes(cut), slices[1]); err != nil || len(f.Problems) == 0 {
		t.Errorf("the cut slice: %v, %v", f, err)
	}
	slices, err = macho.Slices(bin.Bytes(b[:8+20+10]))
	if err != nil || len(slices) != 1 {
		t.Fatalf("cut in the table: %v, %v", slices, err)
	}
	if _, err := macho.Open(bin.Bytes(b[:38]), slices[0]); fault.KindOf(err) != fault.Malformed {
		t.Errorf("a slice beyond the end: %v", err)
	}
	for _, n := range []int{0, 7, 8} {
		if _, err := macho.Slices(bin.Bytes(b[:n])); fault.KindOf(err) != fault.Malformed {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

func TestJavaClassIsNotFat(t *testing.T) {
	class := append([]byte("\xca\xfe\xba\xbe\x00\x00\x00\x34"), make([]byte, 2000)...)
	if _, err := macho.Slices(bin.Bytes(class)); fault.KindOf(err) != fault.Unsupported {
		t.Errorf("%v", err)
	}
}

func TestThinFileIsOneSlice(t *testing.T) {
	b := library(fixture.MachOX64, 3).Bytes()
	slices, err := macho.Slices(bin.Bytes(b))
	want := macho.Slice{Size: int64(len(b)), CPU: fixture.MachOX64, SubCPU: 3}
	if err != nil || len(slices) != 1 || slices[0] != want {
		t.Errorf("%+v, %v", slices, err)
	}
}

func fileset() *fixture.MachO {
	kernel, driver := library(fixture.MachOARM64, 2), library(fixture.MachOARM64, 2)
	driver.FileType = fixture.MachOKext
	return fixture.NewMachO(fixture.MachOARM64, 2, fixture.MachOSet).UUID([16]byte{1}).
		Entry("com.apple.kernel", 0x10000, kernel).Entry("com.example.driver", 0x10000, driver)
}

func TestFilesetEntries(t *testing.T) {
	thin := fileset().Bytes()
	fat := fixture.MachOFat(false, library(fixture.MachOX64, 3), fileset())
	for name, b := range map[string][]byte{"thin": thin, "fat": fat} {
		slices, err := macho.Slices(bin.Bytes(b))
		if name == "fat" {
			slices = slices[1:]
		}
		if err != nil || len(slices) != 2 || slices[0].Name != "com.apple.kernel" || slices[1].Name != "com.example.driver" {
			t.Fatalf("%s: %+v, %v", name, slices, err)
		}
		for _, s := range slices {
			f, err := macho.Open(bin.Bytes(b), s)
			if err != nil || len(f.Problems) > 0 || f.UUID != id {
				t.Fatalf("%s: %s: %v, %v", name, s.Name, err, f.Problems)
			}
			if data, _ := f.Data(f.Section("", "__debug_info")); string(data) != "information" {
				t.Errorf("%s: %s: %q", name, s.Name, data)
			}
			n := 0
			for range f.Symbols {
				n++
			}
			if n != 4 || f.Kind() != map[string]string{"com.apple.kernel": "lib", "com.example.driver": "lib"}[s.Name] {
				t.Errorf("%s: %s has %d symbols and is %s", name, s.Name, n, f.Kind())
			}
		}
	}
}

func TestFilesetWithoutEntriesIsOneSlice(t *testing.T) {
	body := binary.LittleEndian.AppendUint64(make([]byte, 8), 1<<50)
	m := fixture.NewMachO(fixture.MachOARM64, 2, fixture.MachOSet).UUID(id).
		Command(0x80000035, append(body, make([]byte, 8)...))
	slices, err := macho.Slices(bin.Bytes(m.Bytes()))
	if err != nil || len(slices) != 1 || slices[0].Entry != 0 {
		t.Errorf("%+v, %v", slices, err)
	}
}

func TestArchAndKind(t *testing.T) {
	for _, c := range []struct {
		cpu, sub uint32
		want     ident.Arch
	}{
		{fixture.MachOX86, 3, ident.ArchX86}, {fixture.MachOX64, 3, ident.ArchX86_64},
		{fixture.MachOX64, 0x80000003, ident.ArchX86_64}, {fixture.MachOX64, 8, ident.ArchX86_64h},
		{fixture.MachOARM64, 0, ident.ArchARM64}, {fixture.MachOARM64, 1, ident.ArchARM64v8},
		{fixture.MachOARM64, 0x80000002, ident.ArchARM64e}, {fixture.MachOARM64, 99, ident.ArchARM64},
		{fixture.MachOILP32, 0, ident.ArchARM64_32}, {fixture.MachOILP32, 1, ident.ArchARM64_32v8},
		{fixture.MachOARM, 0, ident.ArchARM}, {fixture.MachOARM, 6, ident.ArchARMv6}, {fixture.MachOARM, 7, ident.ArchARMv5},
		{fixture.MachOARM, 9, ident.ArchARMv7}, {fixture.MachOARM, 11, ident.ArchARMv7s}, {fixture.MachOARM, 12, ident.ArchARMv7k},
		{fixture.MachOPPC, 0, ident.ArchPPC}, {fixture.MachOPPC | 0x01000000, 0, ident.ArchPPC64}, {99, 0, ident.ArchUnknown},
	} {
		if got := (&macho.File{CPU: c.cpu, SubCPU: c.sub}).Arch(); got != c.want {
			t.Errorf("cpu %#x, %#x is %v, want %v", c.cpu, c.sub, got, c.want)
		}
	}
	for kind, want := range map[uint32]string{1: "rel", 2: "exe", 4: "dump", 6: "lib", 7: "exe", 8: "lib", 10: "dbg", 11: "lib", 12: "other", 1 << 31: "other"} {
		if got := (&macho.File{FileType: kind}).Kind(); got != want {
			t.Errorf("file type %d is %s, want %s", kind, got, want)
		}
	}
}
