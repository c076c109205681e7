package debugfile_test

import (
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/debugfile"
	"symbolon/internal/fixture"
	"symbolon/internal/object"
)

func TestHiddenNamesAreGivenBack(t *testing.T) {
	p := oneFunction(modelC, fixture.ProgramFunc{Name: "__hidden#2_"})
	m := machoImage(fixture.MachOARM64, fixture.MachODSYM, uuidA, machoDebug(p)...)
	m.Symbol("__hidden#1_", 0x0f, 1, 0, 0x11c0).Symtab()
	f, err := debugfile.Open(bin.Bytes(m.Bytes()), object.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o := f.Objects()[0]
	var need *object.Need
	for _, n := range o.Needs() {
		if n.Kind == object.NeedMap {
			need = &n
		}
	}
	if need == nil || string(need.ID) != uuidA {
		t.Fatalf("needs are %+v", o.Needs())
	}
	names := "BCSymbolMap Version: 2.0\nzero\n_symbol\n-[Pot pour:]\n"
	if ok, err := o.Supply(*need, bin.Bytes([]byte(names))); !ok || err != nil {
		t.Fatalf("%v, %v", ok, err)
	}
	if len(o.Needs()) > 0 {
		t.Errorf("still needs %+v", o.Needs())
	}
	wants(t, o, map[uint64]string{0x108: "-[Pot pour:] /d/a.c:7 [100+40]", 0x1c0: "symbol :0 [1c0+0]"})
}

func TestExportedNameReplacesAHiddenOne(t *testing.T) {
	p := oneFunction(modelC, fixture.ProgramFunc{Name: "__hidden#2_"})
	m := machoImage(fixture.MachOARM64, fixture.MachODSYM, uuidA, machoDebug(p)...) // with the symbol _global
	m.Symbol("__hidden#1_", 0x0e, 1, 0, 0x1100).Symtab()
	f, err := debugfile.Open(bin.Bytes(m.Bytes()), object.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o := f.Objects()[0]
	wants(t, o, map[uint64]string{0x108: "global /d/a.c:7 [100+40]"})
	agreeWithTable(t, o, "hidden")
}

func TestAMapThatIsNoneIsRefused(t *testing.T) {
	f, err := debugfile.Open(bin.Bytes(machoImage(fixture.MachOX64, fixture.MachODSYM, uuidA).Bytes()), object.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := f.Objects()[0].Supply(object.Need{Kind: object.NeedMap}, bin.Bytes([]byte("MODULE"))); ok || err == nil {
		t.Errorf("%v, %v", ok, err)
	}
}
