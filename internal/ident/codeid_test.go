package ident_test

import (
	"bytes"
	"strings"
	"testing"

	"symbolon/internal/ident"
)

func TestParseCodeIDKeepsHexDigits(t *testing.T) {
	for text, want := range map[string]ident.CodeID{
		"5AB380779000": "5ab380779000", "5ab38077-a9000": "5ab38077a9000", "67E9247C-814E-392B-A027-DBDE6748FCBF": "67e9247c814e392ba027dbde6748fcbf",
		"": "", "xyz": "", "0xAB": "0ab", " f ": "f", "abcdé": "abcd",
	} {
		if got := ident.ParseCodeID(text); got != want || got.IsZero() != (want == "") || got.String() != string(want) {
			t.Errorf("%q = %q, want %q", text, got, want)
		}
	}
}

func TestPECodeID(t *testing.T) {
	for _, tc := range []struct {
		stamp, size uint32
		want        ident.CodeID
	}{
		{0x5ab38077, 0x9000, "5ab380779000"}, {0xbeef, 0x1f000, "0000beef1f000"}, {0, 0, "000000000"}, {0xffffffff, 0xffffffff, "ffffffffffffffff"},
	} {
		got := ident.PECodeID(tc.stamp, tc.size)
		if got != tc.want {
			t.Errorf("%#x, %#x = %s", tc.stamp, tc.size, got)
		}
		if stamp, size, ok := got.PE(); !ok || stamp != tc.stamp || size != tc.size {
			t.Errorf("%s is %#x, %#x, %v", got, stamp, size, ok)
		}
	}
	for _, id := range []ident.CodeID{"", "5ab38077", "5ab38077123456789", "5ab38077x", "xab380779000", "4f6a0c1d2e3f5061728394a5b6c7d8e9fa0b1c2d"} {
		if _, _, ok := id.PE(); ok {
			t.Errorf("%q is accepted as the id of a PE file", id)
		}
	}
}

func TestUUIDCodeID(t *testing.T) {
	id := ident.UUIDCodeID(uuid1)
	if id != "dfb8e43af2423d73a453aeb6a777ef75" {
		t.Errorf("%s", id)
	}
	if uuid, ok := id.UUID(); !ok || uuid != uuid1 {
		t.Errorf("% x, %v", uuid, ok)
	}
	for _, id := range []ident.CodeID{"", id[:31], id + "0", "x" + id[1:]} {
		if _, ok := id.UUID(); ok {
			t.Errorf("%q is accepted as a UUID", id)
		}
	}
}

func TestParseBuildID(t *testing.T) {
	for text, want := range map[string]ident.BuildID{
		"ab": "ab", "DFB85DE42DAFFD09640C8FE377D572DE3E168920": "dfb85de42daffd09640c8fe377d572de3e168920",
		strings.Repeat("0f", 64): ident.BuildID(strings.Repeat("0f", 64)),
	} {
		got, err := ident.ParseBuildID(text)
		if err != nil || got != want || got.IsZero() || got.CodeID() != ident.CodeID(want) || got.String() != string(want) {
			t.Errorf("%q = %q, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "a", "abc", "0xab", "ab cd", "gg", "é", strings.Repeat("0f", 65)} {
		if got, err := ident.ParseBuildID(text); err == nil || !got.IsZero() {
			t.Errorf("%q = %q, %v", text, got, err)
		}
	}
	if got := ident.NewBuildID([]byte{0x0a, 0xff}); got != "0aff" {
		t.Errorf("%s", got)
	}
}

func TestBuildIDDebugID(t *testing.T) {
	for _, tc := range []struct{ build, little, big string }{
		{"dfb85de42daffd09640c8fe377d572de3e168920", "e45db8df-af2d-09fd-640c-8fe377d572de", "dfb85de4-2daf-fd09-640c-8fe377d572de"},
		{"00112233445566778899aabbccddeeff", "33221100-5544-7766-8899-aabbccddeeff", "00112233-4455-6677-8899-aabbccddeeff"},
		{"0011223344556677", "33221100-5544-7766-0000-000000000000", "00112233-4455-6677-0000-000000000000"},
		{"abcdef12", "12efcdab-0000-0000-0000-000000000000", "abcdef12-0000-0000-0000-000000000000"},
		{"ab", "000000ab-0000-0000-0000-000000000000", "ab000000-0000-0000-0000-000000000000"},
	} {
		id := ident.BuildID(tc.build)
		if got := id.DebugID(false).String(); got != tc.little {
			t.Errorf("%s, little endian: %s, want %s", id, got, tc.little)
		}
		if got := id.DebugID(true).String(); got != tc.big {
			t.Errorf("%s, big endian: %s, want %s", id, got, tc.big)
		}
	}
}

func TestSymName(t *testing.T) {
	for file, want := range map[string]string{
		"xul.pdb": "xul.sym", "XUL.PDB": "XUL.PDB.sym", "firefox": "firefox.sym", "libxul.so": "libxul.so.sym",
		"qipcap.dll": "qipcap.dll.sym", ".pdb": ".sym", "a.pdb.pdb": "a.pdb.sym", "pdb": "pdb.sym", "": ".sym",
	} {
		if got := ident.SymName(file); got != want {
			t.Errorf("%q: %q, want %q", file, got, want)
		}
	}
}

func FuzzCodeID(f *testing.F) {
	f.Add("5AB38077-A9000")
	f.Add("dfb85de42daffd09640c8fe377d572de3e168920")
	f.Add("é0x")
	f.Fuzz(func(t *testing.T, text string) {
		id := ident.ParseCodeID(text)
		if ident.ParseCodeID(string(id)) != id {
			t.Fatalf("%q has other characters than hex digits", id)
		}
		if stamp, size, ok := id.PE(); ok && !strings.HasPrefix(string(ident.PECodeID(stamp, size)), string(id[:8])) {
			t.Fatalf("%q has timestamp %#x", id, stamp)
		}
		if build, err := ident.ParseBuildID(text); err == nil {
			if build.CodeID() != id {
				t.Fatalf("build id %q, code id %q", build, id)
			}
			for _, big := range []bool{false, true} {
				if !bytes.Equal(sorted(build.DebugID(big)), sorted(build.DebugID(!big))) {
					t.Fatalf("%q: the two byte orders differ in more than the order", build)
				}
			}
		}
		for typ := ident.TypeUnknown; typ <= ident.TypeWasm; typ++ {
			m := ident.Module{Type: typ, CodeID: id}
			if d := m.Derive(); d.CodeID != id || d.Derive() != d {
				t.Fatalf("%v: derived %+v, then %+v", m, d, d.Derive())
			}
		}
	})
}

// sorted sorts the bytes of the fields that depend on the byte order.
func sorted(d ident.DebugID) []byte {
	u := d.UUID()
	for _, field := range [][]byte{u[:4], u[4:6], u[6:8]} {
		for i := range field {
			for j := range i {
				if field[j] > field[i] {
					field[i], field[j] = field[j], field[i]
				}
			}
		}
	}
	return u[:]
}

func TestBuildIDStart(t *testing.T) {
	for _, id := range []ident.BuildID{"caeeab3dac563879c0a40e7bbc2a2ad961b2aa8d", "0123456789abcdef0123456789abcdef"} {
		for _, big := range []bool{false, true} {
			d := id.DebugID(big)
			if start := d.BuildIDStart(big); start != id[:32] || !id.Fits(d) || !start.Fits(d) {
				t.Errorf("%s, big endian %v: start %s", id, big, start)
			}
		}
	}
	if ident.BuildID("").Fits(ident.DebugID{}) || ident.BuildID("caee").Fits(ident.BuildID("caef").DebugID(false)) {
		t.Error("an empty or a different build id fits")
	}
}
