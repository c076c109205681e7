package crash_test

import (
	"testing"

	"symbolon/internal/crash"
	"symbolon/internal/fixture"
)

func TestLineStartIsItsFirstInstruction(t *testing.T) {
	files := map[string][]byte{"orchard.sym": fixture.NewSym("orchard").File(0, "./main.c").Origin(0, "pick").
		Func(0x1000, 0x8000, "harvest").Inline(0, 7, 0, 0, 0x1010, 0x10).
		Line(0x1000, 4, 2, 0).Line(0x1004, 0xc, 3, 0).Line(0x1010, 8, 4, 0).Line(0x1018, 8, 5, 0).Line(0x1020, 0x7fe0, 6, 0).Bytes()}
	for _, c := range []struct {
		name      string
		addr      uint64
		innermost bool
		want      uint64 // zero: unknown
	}{
		{"line", 0x1007, false, 0x1004},
		{"start of a function", 0x1000, false, 0x1000},
		{"inlined call", 0x101a, true, 0x1018},
		{"around an inlined call", 0x101a, false, 0x1010},
		{"long line", 0x8ff0, false, 0},
		{"no line", 0x9800, false, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newBench(t, files).process(t, crashed(newDump(orchard+c.addr)).Bytes(), crash.Options{})
			start, ok := r.LineStart(&r.Stacks[0].Frames[0], c.innermost)
			if ok != (c.want != 0) || ok && start != orchard+c.want {
				t.Errorf("got %#x, %t, want %#x", start, ok, orchard+c.want)
			}
		})
	}
}

func TestLookupsForStartsOfLinesAreBounded(t *testing.T) {
	files := map[string][]byte{"orchard.sym": fixture.NewSym("orchard").File(0, "./main.c").Func(0x1000, 0x8000, "harvest").Line(0x1000, 0x8000, 2, 0).Bytes()}
	r := newBench(t, files).process(t, crashed(newDump(orchard+0x1400)).Bytes(), crash.Options{})
	f := &r.Stacks[0].Frames[0]
	n := 0
	for ok := true; ok && n < 5000; n++ {
		_, ok = r.LineStart(f, false)
	}
	if n < 200 || n > 300 {
		t.Errorf("%d starts at a distance of 1,024 bytes, want about 256", n)
	}
}
