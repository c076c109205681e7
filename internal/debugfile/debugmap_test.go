package debugfile_test

import (
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/debugfile"
	"symbolon/internal/fixture"
	"symbolon/internal/object"
)

// linkedImage is a dylib that was linked from an object file with one function,
// and that object file.
func linkedImage(path string) (image, obj []byte) {
	p := oneFunction(modelC, fixture.ProgramFunc{Name: "f"})
	o := fixture.NewMachO(fixture.MachOX64, 3, fixture.MachOObject)
	sections := append([]fixture.MachOSection{
		{Name: "__text", Segment: "__TEXT", Addr: 0x1100, Size: 0x100, Flags: fixture.MachOCode, Data: make([]byte, 0x100)},
	}, machoDebug(p)...)
	o.Segment("", 0, 0x2000, sections...).Symbol("_f", 0x0f, 1, 0, 0x1100).Symtab()

	m := fixture.NewMachO(fixture.MachOX64, 3, fixture.MachODylib)
	m.UUID([16]byte([]byte(uuidA)))
	m.Segment("__TEXT", 0x1000, 0x1000, fixture.MachOSection{Name: "__text", Addr: 0x1100, Size: 0x400, Flags: fixture.MachOCode, Data: make([]byte, 0x400)})
	m.Symbol("", 0x64, 0, 0, 0).Symbol(path, 0x66, 3, 1, 1234)
	m.Symbol("_f", 0x24, 1, 0, 0x1300).Symbol("", 0x24, 0, 0, 0x40).Symbol("", 0x64, 1, 0, 0)
	m.Symbol("_f", 0x0f, 1, 0, 0x1300).Symbol("_other", 0x0f, 1, 0, 0x1340).Symtab()
	return m.Bytes(), o.Bytes()
}

func TestObjectFilesOfADebugMapAnswerForTheImage(t *testing.T) {
	for path, wrap := range map[string]func(text []byte) []byte{
		"/build/f.o":      func(text []byte) []byte { return text },
		"/build/lib.a(m)": func(text []byte) []byte { return arGNU(t, member{"x", text[:64]}, member{"m", text}) },
	} {
		image, obj := linkedImage(path)
		f, err := debugfile.Open(bin.Bytes(image), object.Options{})
		if err != nil {
			t.Fatal(err)
		}
		o := f.Objects()[0]
		var need *object.Need
		for _, n := range o.Needs() {
			if n.Kind == object.NeedObject {
				need = &n
			}
		}
		if need == nil || need.Name+need.Member != "/build/f.o" && need.Name+need.Member != "/build/lib.am" || need.Time != 1234 {
			t.Fatalf("needs are %+v", o.Needs())
		}
		if ok, err := o.Supply(*need, bin.Bytes(wrap(obj))); !ok || err != nil {
			t.Fatalf("%s: %v, %v", path, ok, err)
		}
		wants(t, o, map[uint64]string{0x308: "f /d/a.c:7 [300+40]", 0x344: "other :0 [340+0]", 0x108: ""})
		agreeWithTable(t, o, path)
	}
}

func TestAnObjectFileOfAnotherImageIsRefused(t *testing.T) {
	image, _ := linkedImage("/build/f.o")
	f, err := debugfile.Open(bin.Bytes(image), object.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o := f.Objects()[0]
	for _, n := range o.Needs() {
		if ok, _ := o.Supply(n, bin.Bytes(image)); ok {
			t.Errorf("%+v is satisfied by the image itself", n)
		}
	}
}
