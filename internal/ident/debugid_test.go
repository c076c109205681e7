package ident_test

import (
	"strings"
	"testing"

	"symbolon/internal/ident"
)

// uuid1 is dfb8e43a-f242-3d73-a453-aeb6a777ef75.
var uuid1 = [16]byte{0xdf, 0xb8, 0xe4, 0x3a, 0xf2, 0x42, 0x3d, 0x73, 0xa4, 0x53, 0xae, 0xb6, 0xa7, 0x77, 0xef, 0x75}

func TestParseDebugIDInEverySpelling(t *testing.T) {
	for text, want := range map[string]ident.DebugID{
		"dfb8e43a-f242-3d73-a453-aeb6a777ef75":                    ident.NewDebugID(uuid1, 0),
		"DFB8E43A-F242-3D73-A453-AEB6A777EF75":                    ident.NewDebugID(uuid1, 0),
		"dfb8e43af2423d73a453aeb6a777ef75":                        ident.NewDebugID(uuid1, 0),
		"DFB8E43AF2423D73A453AEB6A777EF750":                       ident.NewDebugID(uuid1, 0),
		"DFB8E43AF2423D73A453AEB6A777EF75a":                       ident.NewDebugID(uuid1, 10),
		"dfb8e43af2423d73a453aeb6a777ef75FEDCBA98":                ident.NewDebugID(uuid1, 0xfedcba98),
		"dfb8e43a-f242-3d73-a453-aeb6a777ef75-a":                  ident.NewDebugID(uuid1, 10),
		"dfb8e43a-f242-3d73-a453-aeb6a777ef75-0":                  ident.NewDebugID(uuid1, 0),
		"dfb8e43a-f242-3d73-a453-aeb6a777ef75-00000001":           ident.NewDebugID(uuid1, 1),
		"dfb8e43a-f242-3d73-a453-aeb6a777ef75-feedface00000000":   ident.NewDebugID(uuid1, 0xfeedface),
		"dfb8e43a-f242-3d73-a453-aeb6a777ef75-feedface and more!": ident.NewDebugID(uuid1, 0xfeedface),
		"DFB8E43AF2423D73A453AEB6A777EF75feedface2":               ident.NewDebugID(uuid1, 0xfeedface),
		"418E89C3-1":                           ident.NewPDB20(0x418e89c3, 1),
		"418e89c31":                            ident.NewPDB20(0x418e89c3, 1),
		"418E89C3ffffffff":                     ident.NewPDB20(0x418e89c3, 0xffffffff),
		"418E89C3-ffffffff":                    ident.NewPDB20(0x418e89c3, 0xffffffff),
		"00000000-0000-0000-0000-000000000000": {},
	} {
		if got, err := ident.ParseDebugID(text); err != nil || got != want {
			t.Errorf("%q = %v, %v; want %v", text, got, err, want)
		}
	}
}

// notIDs are invalid as debug ids in every spelling.
var notIDs = []string{
	"", "-", "0", "418E89C3", "418E89C3-", "418E89C3x1", "418E89C3-fffffffff", "418E89C3fffffffff", "418E89C3--1", "x18E89C3-1",
	"dfb8e43af2423d73a453aeb6a777ef7", "dfb8e43af2423d73a453aeb6a777ef75-", "dfb8e43af2423d73a453aeb6a777ef75-a",
	"dfb8e43a-f242-3d73-a453-aeb6a777ef75-", "dfb8e43a-f242-3d73-a453-aeb6a777ef75a", "dfb8e43a-f242-3d73-a453-aeb6a777ef7",
	"dfb8e43a-f2423d73-a453-aeb6-a777ef75", "dfb8e43a-f242-3d73-a453-aeb6a777ef75-+1", "dfb8e43a-f242-3d73-a453-aeb6a777ef75-g",
	"dfb8e43a-f242-3d73-a453-aeb6a777ef75-feedfaceé", "{dfb8e43a-f242-3d73-a453-aeb6a777ef75}", " dfb8e43af2423d73a453aeb6a777ef75",
	"gfb8e43af2423d73a453aeb6a777ef750", "dfb8e43af2423d73a453aeb6a777ef75x", "dfb8e43áf2423d73a453aeb6a777ef7", "418E89Cé1",
}

func TestParseDebugIDRejects(t *testing.T) {
	for _, text := range notIDs {
		if got, err := ident.ParseDebugID(text); err == nil {
			t.Errorf("%q = %v", text, got)
		}
		if got, err := ident.ParseBreakpadID(text); err == nil {
			t.Errorf("Breakpad: %q = %v", text, got)
		}
	}
}

func TestErrorsTruncateLongTexts(t *testing.T) {
	if _, err := ident.ParseDebugID(strings.Repeat("x", 1<<20)); err == nil || len(err.Error()) > 200 {
		t.Errorf("%v", err)
	}
}

func TestParseBreakpadID(t *testing.T) {
	for text, want := range map[string]ident.DebugID{
		"DFB8E43AF2423D73A453AEB6A777EF75a":        ident.NewDebugID(uuid1, 10),
		"dfb8e43af2423d73a453aeb6a777ef750":        ident.NewDebugID(uuid1, 0),
		"DFB8E43AF2423D73A453AEB6A777EF75FFFFFFFF": ident.NewDebugID(uuid1, 0xffffffff),
		"418E89C31":                         ident.NewPDB20(0x418e89c3, 1),
		"000000000000000000000000000000000": {},
	} {
		if got, err := ident.ParseBreakpadID(text); err != nil || got != want {
			t.Errorf("%q = %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{
		"DFB8E43AF2423D73A453AEB6A777EF75", "DFB8E43AF2423D73A453AEB6A777EF75000000000",
		"dfb8e43a-f242-3d73-a453-aeb6a777ef75-a", "dfb8e43a-f242-3d73-a453-aeb6a777ef75", "418E89C3-1",
	} {
		if got, err := ident.ParseBreakpadID(text); err == nil {
			t.Errorf("%q = %v", text, got)
		}
	}
}

func TestDebugIDString(t *testing.T) {
	for _, tc := range []struct {
		id               ident.DebugID
		canon, breakpad  string
		age              uint32
		zero             bool
		uuidFirst, stamp uint32
	}{
		{ident.NewDebugID(uuid1, 0), "dfb8e43a-f242-3d73-a453-aeb6a777ef75", "DFB8E43AF2423D73A453AEB6A777EF750", 0, false, 0xdf, 0},
		{ident.NewDebugID(uuid1, 0xab), "dfb8e43a-f242-3d73-a453-aeb6a777ef75-ab", "DFB8E43AF2423D73A453AEB6A777EF75ab", 0xab, false, 0xdf, 0},
		{ident.NewDebugID(uuid1, 0xffffffff), "dfb8e43a-f242-3d73-a453-aeb6a777ef75-ffffffff", "DFB8E43AF2423D73A453AEB6A777EF75ffffffff", 0xffffffff, false, 0xdf, 0},
		{ident.NewPDB20(0x418e89c3, 1), "418E89C3-1", "418E89C31", 1, false, 0x41, 0x418e89c3},
		{ident.NewPDB20(0x418e89c3, 0), "418E89C3-0", "418E89C30", 0, false, 0x41, 0x418e89c3},
		{ident.DebugID{}, "00000000-0000-0000-0000-000000000000", "000000000000000000000000000000000", 0, true, 0, 0},
		{ident.NewDebugID([16]byte{}, 1), "00000000-0000-0000-0000-000000000000-1", "000000000000000000000000000000001", 1, false, 0, 0},
	} {
		if got := tc.id.String(); got != tc.canon {
			t.Errorf("String = %s, want %s", got, tc.canon)
		}
		if got := tc.id.Breakpad(); got != tc.breakpad {
			t.Errorf("Breakpad = %s, want %s", got, tc.breakpad)
		}
		if tc.id.Age() != tc.age || tc.id.IsZero() != tc.zero || uint32(tc.id.UUID()[0]) != tc.uuidFirst {
			t.Errorf("%s: age %d, zero %v, UUID % x", tc.canon, tc.id.Age(), tc.id.IsZero(), tc.id.UUID())
		}
		stamp, pdb20 := tc.id.PDB20()
		if pdb20 != (tc.stamp != 0) || pdb20 && stamp != tc.stamp {
			t.Errorf("%s: PDB 2.0 %#x, %v", tc.canon, stamp, pdb20)
		}
	}
}

func TestGUIDIsByteSwapped(t *testing.T) {
	guid := [16]byte{0x3a, 0xe4, 0xb8, 0xdf, 0x42, 0xf2, 0x73, 0x3d, 0xa4, 0x53, 0xae, 0xb6, 0xa7, 0x77, 0xef, 0x75}
	if got := ident.NewGUID(guid, 3); got != ident.NewDebugID(uuid1, 3) {
		t.Errorf("%v", got)
	}
}

func FuzzDebugID(f *testing.F) {
	for _, text := range notIDs {
		f.Add(text)
	}
	f.Add("dfb8e43a-f242-3d73-a453-aeb6a777ef75-feedface00000000")
	f.Add("DFB8E43AF2423D73A453AEB6A777EF75a")
	f.Add("418E89C3-1")
	f.Fuzz(func(t *testing.T, text string) {
		strict, err := ident.ParseBreakpadID(text)
		if err == nil {
			if lenient, err := ident.ParseDebugID(text); err != nil || lenient != strict {
				t.Fatalf("strict %v, lenient %v, %v", strict, lenient, err)
			}
		}
		id, err := ident.ParseDebugID(text)
		if err != nil {
			if !id.IsZero() {
				t.Fatalf("an error and %v", id)
			}
			return
		}
		if again, err := ident.ParseDebugID(id.String()); err != nil || again != id {
			t.Fatalf("%q prints as %s, which is %v, %v", text, id, again, err)
		}
		if again, err := ident.ParseBreakpadID(id.Breakpad()); err != nil || again != id {
			t.Fatalf("%q prints as %s, which is %v, %v", text, id.Breakpad(), again, err)
		}
	})
}
