package debugfile_test

import (
	"testing"

	"symbolon/internal/fixture"
)

func TestRecordsAfterStackAreHonoured(t *testing.T) {
	o := open(t, fixture.NewSym("x").Func(0x1000, 0x10, "before").Raw("STACK CFI INIT 1000 10 .cfa: $rsp 8 +").
		Func(0x2000, 0x10, "after").Public(0x3000, "symbol").Bytes())
	wants(t, o, map[uint64]string{
		0x1000: "before :0 [1000+10]", 0x1010: "", 0x2008: "after :0 [2000+10]", 0x3004: "symbol :0 [3000+0]",
	})
}

func TestNothingOutlastsItsFunction(t *testing.T) {
	for _, text := range []string{
		"FUNC 1000 40 0 f\nINLINE 0 5 0 0 1030 40\n1000 40 3 0\n",
		"FUNC 1000 40 0 f\n1000 80 3 0\n",
		"FUNC 1000 40 0 f\n1050 10 3 0\n",
	} {
		o := open(t, []byte(fixture.NewSym("x").File(0, "/x/y.c").String()+"INLINE_ORIGIN 0 i\n"+text))
		if o.Lookup(nil, 0x103f) == nil || o.Lookup(nil, 0x1040) != nil || o.Lookup(nil, 0x1055) != nil || o.Lookup(nil, 0x2000) != nil {
			t.Errorf("%q: %s, %s", text, show(o, o.Lookup(nil, 0x1040)), show(o, o.Lookup(nil, 0x1055)))
		}
	}
}

func TestAPathWithBadUTF8IsShownWithReplacement(t *testing.T) {
	o := open(t, fixture.NewSym("x").File(0, "/p/\xfft\xfe.c").Func(0x1000, 0x10, "f").Line(0x1000, 0x10, 3, 0).Bytes())
	wants(t, o, map[uint64]string{0x1008: "f /p/\uFFFDt\uFFFD.c:3 [1000+10]"})
}
