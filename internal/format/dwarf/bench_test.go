package dwarf_test

import (
	"fmt"
	"testing"

	"symbolon/internal/format/dwarf"
)

// BenchmarkWalk reads a typical unit: for each function some types, variables
// and calls.
func BenchmarkWalk(b *testing.B) {
	d := little()
	leaf := &die{Tag: tSub, Attrs: attrs{{aLinkage, fStrp, d.Strp("_Z4leafv")}, {aName, fStrp, d.Strp("leaf")}}}
	kids := []*die{leaf}
	variable := func(i int) *die {
		return &die{Tag: 0x34, Attrs: attrs{{aName, fStrp, 0}, {0x3a, fImplicit, 1}, {0x3b, fData2, i}, {0x49, fRef4, 12}, {0x02, fExprloc, []byte{0x91, 1}}}}
	}
	for i := range 500 {
		at := 0x1000 * (i + 1)
		inside := []*die{call(leaf, at+0x10, at+0x20, i, call(leaf, at+0x14, at+0x18, 2))}
		for j := range 30 {
			inside = append(inside, variable(j), &die{Tag: tParam, Attrs: attrs{{0x31, fRef4, 12}, {0x02, fSecOffset, 1}}})
		}
		f := code(at, attrs{{aName, fStrp, d.Strp(fmt.Sprint("f", i))}}...)
		f.Kids = inside
		kids = append(kids, f)
	}
	d.Unit(cu(langCpp, kids...), nil)
	s := sections(d)
	data := dwarf.Open(s, 0)
	var w dwarf.Walker
	b.SetBytes(int64(len(s.Info)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := w.Walk(data, 0); err != nil {
			b.Fatal(err)
		}
	}
}
