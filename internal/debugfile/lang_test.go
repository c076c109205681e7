package debugfile_test

import (
	"fmt"
	"testing"

	"symbolon/internal/fixture"
	"symbolon/internal/object"
	"symbolon/internal/sym"
)

// languages are those of the frames of an address, innermost first.
func languages(o *object.Object, addr uint64) string {
	var all []string
	for _, f := range o.Lookup(nil, addr) {
		all = append(all, f.Lang.String())
	}
	return fmt.Sprintf("%q", all)
}

func TestLanguagesOfDWARFAreKnown(t *testing.T) {
	for lang, want := range map[int]sym.Lang{
		0x01: sym.LangC, 0x02: sym.LangC, 0x0c: sym.LangC, 0x1d: sym.LangC, 0x2c: sym.LangC, 0x3e: sym.LangC,
		0x04: sym.LangCpp, 0x19: sym.LangCpp, 0x1a: sym.LangCpp, 0x21: sym.LangCpp, 0x2a: sym.LangCpp, 0x2b: sym.LangCpp, 0x3a: sym.LangCpp,
		0x10: sym.LangObjC, 0x11: sym.LangObjCpp, 0x13: sym.LangD, 0x16: sym.LangGo, 0x1c: sym.LangRust, 0x9000: sym.LangRust,
		0x1e: sym.LangSwift, 0x32: sym.LangCSharp, 0x8001: sym.LangNone, 0x08: sym.LangNone, 0: sym.LangNone,
	} {
		o := open(t, oneFunction(lang, fixture.ProgramFunc{Name: "f"}).Bytes())
		if got := languages(o, 0x110); got != fmt.Sprintf("%q", []string{want.String()}) {
			t.Errorf("DW_LANG %#x: got %s, want %q", lang, got, want)
		}
		if f, ok := o.Nearest(0x1000); !ok || f.Lang != want {
			t.Errorf("DW_LANG %#x: nearest %+v", lang, f)
		}
	}
}

// The language of a symbol is not known, and one that gives a function a better
// name changes nothing of its language.
func TestSymbolsHaveNoLanguage(t *testing.T) {
	p := oneFunction(modelCpp, fixture.ProgramFunc{Name: "f"}, fixture.ELFSymbol{Name: "f.cold"}, fixture.ELFSymbol{Name: "_Z1gv", Value: 0x1180, Size: 8})
	o := open(t, p.Bytes())
	if got := languages(o, 0x110); got != `["cpp"]` {
		t.Errorf("a function is in %s", got)
	}
	if got := languages(o, 0x184); got != `[""]` {
		t.Errorf("a symbol is in %s", got)
	}
}

// A method is in the language of the document of its first line.
func TestLanguagesOfPortablePDBsAreThoseOfTheirDocuments(t *testing.T) {
	p := fixture.NewPPDB()
	for _, guid := range []string{
		"\xf8\x62\x51\x3f\xc6\x07\xd3\x11\x90\x53\x00\xc0\x4f\xa3\x02\xa1", "\xb8\xd0\x12\x3a\x6c\xc2\xd0\x11\xb4\x42\x00\xa0\x24\x4a\x1d\xd2",
		"\xc9\x38\x4f\xab\xe6\xb6\xba\x43\xbe\x3b\x58\x08\x0b\x2c\xcc\xe3", "no such language",
	} {
		p.Row(fixture.PPDBDocument, "hhhh", p.Blob([]byte{0}), 0, 0, p.GUID(guid))
	}
	p.Row(fixture.PPDBDocument, "hhhh", p.Blob([]byte{0}), 0, 0, 0)
	for doc := range uint32(5) {
		p.Method(doc+1, fixture.NewPPDBPoints(0).Hidden(0).Point(2, 10, 5, 10, 20).Document((doc+1)%5+1).Point(4, 20, 1, 20, 2))
	}
	o := open(t, p.Bytes())
	for i, want := range []string{"csharp", "visualbasic", "fsharp", "", ""} {
		for _, off := range []uint64{2, 9} {
			if got := languages(o, il(uint64(i)+1, off)); got != fmt.Sprintf("%q", []string{want}) {
				t.Errorf("method %d is in %s, want %q", i+1, got, want)
			}
		}
	}
	agreeWithTable(t, o, "portable")
}

func TestFunctionTablesAreOfGo(t *testing.T) {
	o := open(t, goFile(goProgram(20), ".gopclntab"))
	if got := languages(o, 0x103a); got != `["go" "go"]` {
		t.Errorf("they are of %s", got)
	}
}
