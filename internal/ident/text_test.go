package ident_test

import (
	"encoding/json"
	"testing"

	"symbolon/internal/ident"
)

func TestModuleJSONRoundTrip(t *testing.T) {
	for _, m := range []ident.Module{
		{},
		{Type: ident.TypeELF, Arch: ident.ArchARM64, CodeFile: "c", CodeID: "abcd", DebugFile: "d", DebugID: ident.NewDebugID(uuid1, 10), DebugIDText: "x"},
		{Type: ident.TypePE, DebugID: ident.NewPDB20(0x418e89c3, 1)},
		{Type: ident.TypeMachO, Arch: ident.ArchPPC64le, DebugID: ident.NewDebugID(uuid1, 0)},
		{FileID: ident.FileID(uuid1)},
	} {
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		var got ident.Module
		if err := json.Unmarshal(text, &got); err != nil || got != m {
			t.Errorf("%+v becomes %s, which is %+v, %v", m, text, got, err)
		}
	}
}

func TestUnmarshalInvalidText(t *testing.T) {
	d := ident.NewDebugID(uuid1, 1)
	if err := d.UnmarshalText([]byte("nonsense")); err == nil || !d.IsZero() {
		t.Errorf("%v, %v", d, err)
	}
	f := ident.FileID(uuid1)
	if err := f.UnmarshalText([]byte("nonsense")); err == nil || !f.IsZero() {
		t.Errorf("%v, %v", f, err)
	}
	var a ident.Arch
	var typ ident.Type
	if a.UnmarshalText([]byte("vax")) != nil || a != ident.ArchUnknown || typ.UnmarshalText([]byte("minix")) != nil || typ != ident.TypeUnknown {
		t.Errorf("unknown names unmarshal as %v and %v", a, typ)
	}
}
