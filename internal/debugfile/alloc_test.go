//go:build !race

package debugfile_test

import (
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/debugfile"
	"symbolon/internal/fixture"
	"symbolon/internal/object"
	"symbolon/internal/sym"
)

// The race detector makes pools forget at random.
func TestLookupDoesNotAllocate(t *testing.T) {
	s := fixture.NewSym("x").File(0, "a.c").Origin(0, "i")
	for i := range uint64(200) {
		s.Func(0x100*i, 0x100, "f").Inline(0, 1, 0, 0, 0x100*i+0x10, 0x40).Line(0x100*i, 0x100, 3, 0).Line(0x100*i+0x30, 0x20, 4, 0)
	}
	for _, src := range []bin.Source{bin.Bytes(s.Bytes()), onDisk{bin.Bytes(s.Bytes())}} {
		f, err := debugfile.Open(src, object.Options{})
		if err != nil {
			t.Fatal(err)
		}
		o := f.Objects()[0]
		frames, text := make([]sym.Frame, 0, 8), make([]byte, 0, 64)
		one := func(addr uint64) {
			frames = o.Lookup(frames[:0], addr)
			for _, f := range frames {
				text = o.AppendText(o.AppendText(text[:0], f.Func), f.File)
			}
		}
		for i := range uint64(200) {
			one(0x100*i + 0x20)
		}
		i := uint64(0)
		if n := testing.AllocsPerRun(500, func() { i++; one(i * 0x4321 % 0xc000) }); n > 0 {
			t.Errorf("%.1f allocations", n)
		}
	}
}
