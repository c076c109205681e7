package breakpad_test

import (
	"reflect"
	"strings"
	"testing"

	"symbolon/internal/fixture"
	"symbolon/internal/format/breakpad"
)

func TestParseFunc(t *testing.T) {
	text := "FUNC m 1000 40 8 name\r\n" +
		"INLINE 1 5 2 3 1000 10 1020 8\n" + "INLINE  2  99999999999  0  7  A  ffffffffffffffff \n" +
		"INLINE_ORIGIN 1 x\nXYZ\n\n \n" +
		"1000 10 1 0\n 1010\t8 -2 18446744073709551615 \r\n1018 0 99999999999 1"
	var f breakpad.Func
	var bad breakpad.Report
	if !new(breakpad.Index).ParseFunc(breakpad.Span{Line: 10}, []byte(text), &f, &bad) {
		t.Fatal("no FUNC")
	}
	want := breakpad.Func{
		Addr: 0x1000, Size: 0x40, Params: 8, Multiple: true,
		Inlines: []breakpad.Inline{
			{Depth: 1, CallLine: 5, CallFile: 2, Origin: 3, First: 0, N: 2},
			{Depth: 2, CallLine: 1215752191, Origin: 7, First: 2, N: 1},
		},
		Ranges: []breakpad.Range{{0x1000, 0x10}, {0x1020, 8}, {10, 1<<64 - 1}},
		Lines: []breakpad.Line{
			{Addr: 0x1000, Size: 0x10, Line: 1}, {Addr: 0x1010, Size: 8, File: 1<<64 - 1}, {Addr: 0x1018, Line: 1215752191, File: 1},
		},
	}
	if !reflect.DeepEqual(f, want) || bad.Total() != 0 {
		t.Errorf("got  %+v\nwant %+v\n%s", f, want, badKinds(&bad))
	}
}

func TestParseFuncSkipsDamagedRecords(t *testing.T) {
	for line, kind := range map[string]breakpad.Kind{
		"1000 q 1 0": breakpad.BadRow, "1000 8": breakpad.BadRow, "1000 8 1": breakpad.BadRow, "1000 8 1 0 0": breakpad.BadRow,
		"0x1000 8 1 0": breakpad.BadRow, "1000 8 +1 0": breakpad.BadRow, "1000 8 1 0x": breakpad.BadRow, "1000 8 -": breakpad.BadRow,
		"11112222333344445 8 1 0": breakpad.BadRow, "1000 8 18446744073709551616 0": breakpad.BadRow, "abc": breakpad.BadRow,
		"INLINE 0 5 0": breakpad.BadInline, "INLINE 0 5 0 1": breakpad.BadInline, "INLINE 0 5 0 1 10": breakpad.BadInline,
		"INLINE 0 -5 0 1 10 1": breakpad.BadInline, "INLINE x 5 0 1 10 1": breakpad.BadInline, "INLINE 0 5 0 1 10 1 z 1": breakpad.BadInline,
		"INLINE 0 5 0 1 10 1 10 10000000000000000": breakpad.BadInline, "INLINE 0 5 0 z 10 1": breakpad.BadInline,
		"1 2 3 " + strings.Repeat("4", 1<<20):              breakpad.TooLong,
		"INLINE 0 1 1 1" + strings.Repeat(" 10 10", 1<<18): breakpad.TooLong,
	} {
		var f breakpad.Func
		var bad breakpad.Report
		ok := new(breakpad.Index).ParseFunc(breakpad.Span{Line: 3}, []byte("FUNC 1000 40 0 f\n"+line+"\n1000 8 1 0\n"), &f, &bad)
		if !ok || len(f.Lines) != 1 || len(f.Inlines)+len(f.Ranges) != 0 {
			t.Errorf("%.60q: %v, %+v", line, ok, f)
		}
		if len(bad.First) != 1 || bad.First[0] != (breakpad.Bad{Line: 4, Kind: kind}) {
			t.Errorf("%.60q: %+v", line, bad.First)
		}
	}
	for _, head := range []string{"", "FUNC", "FUNC 1", "FUNC 1 2", "FUNC m1 2 3 f", "FUNC m", "FUNC 1 2 x f", "FUNC\t1 2 3 f", "PUBLIC 1 2 3"} {
		var f breakpad.Func
		if new(breakpad.Index).ParseFunc(breakpad.Span{}, []byte(head+"\n1 1 1 1\n"), &f, nil) {
			t.Errorf("%q is accepted as a FUNC: %+v", head, f)
		}
	}
}

func TestDialectIsThatOfMostInlines(t *testing.T) {
	now, old, cut := "INLINE 0 5 1 2 10 8", "INLINE 0 5 2 10 8 20 8", "INLINE 0 5 1 2 10 8 20"
	for _, c := range []struct {
		lines []string
		old   bool
		good  int
	}{
		{[]string{now}, false, 1}, {[]string{old}, true, 1}, {[]string{cut, now, now}, false, 2},
		{[]string{"INLINE 0", old, old}, true, 2}, {[]string{old, now}, false, 1}, {nil, false, 0},
	} {
		s := fixture.NewSym("x").Func(0x10, 0x20, "f")
		for _, l := range c.lines {
			s.Raw(l)
		}
		x := index(t, s.Bytes())
		var f breakpad.Func
		x.ParseFunc(x.Funcs[0], s.Bytes()[x.Funcs[0].Off:], &f, nil)
		if x.Old != c.old || len(f.Inlines) != c.good || c.good > 0 && f.Inlines[0].Origin != 2 {
			t.Errorf("%q: old %v, %+v", c.lines, x.Old, f.Inlines)
		}
	}
}

func TestParsePublic(t *testing.T) {
	for line, want := range map[string]breakpad.Public{
		"PUBLIC 10 4 name": {Addr: 0x10, Params: 4}, "PUBLIC m FF 0": {Addr: 255, Multiple: true}, "PUBLIC  00000000ABCDF8  0 x\r": {Addr: 0xABCDF8},
	} {
		if got, ok := breakpad.ParsePublic([]byte(line)); !ok || got != want {
			t.Errorf("%q: %+v, %v", line, got, ok)
		}
	}
	for _, line := range []string{"", "PUBLIC", "PUBLIC 10", "PUBLIC 10 name", "PUBLIC m10 0", "PUBLIC mm 10 0", "FUNC 10 0 0"} {
		if got, ok := breakpad.ParsePublic([]byte(line)); ok {
			t.Errorf("%q: %+v", line, got)
		}
	}
}

func TestNames(t *testing.T) {
	type get func([]byte) []byte
	old := func(b []byte) []byte { return breakpad.OriginName(b, true) }
	now := func(b []byte) []byte { return breakpad.OriginName(b, false) }
	for _, c := range []struct {
		get        get
		text, want string
	}{
		{breakpad.FuncName, "FUNC m 10 20 0  a  b \r\n10 20 1 0", "a  b"},
		{breakpad.FuncName, "FUNC 10 20 0", "<unknown>"},
		{breakpad.FuncName, "FUNC 10 20 0 m 1", "m 1"},
		{breakpad.FuncName, "PUBLIC 10 0 x", ""},
		{breakpad.PublicName, "PUBLIC m 10 0 name", "name"},
		{breakpad.PublicName, "PUBLIC 10 0\n", "<unknown>"},
		{breakpad.PublicName, "FILE 0 x", ""},
		{now, "INLINE_ORIGIN 7 12 f", "12 f"},
		{now, "INLINE_ORIGIN 7\n", "<name omitted>"},
		{now, "INLINE 7", ""},
		{old, "INLINE_ORIGIN 7 12 f", "f"},
		{old, "INLINE_ORIGIN 7 operator new", "operator new"},
		{breakpad.FileName, "FILE 3 a b.c\n", "a b.c"},
		{breakpad.FileName, "FILE 3\n", ""},
		{breakpad.FileName, "FUNC 3\n", ""},
	} {
		if got := string(c.get([]byte(c.text))); got != c.want {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
	if got := breakpad.FileName([]byte("FILE 1 " + strings.Repeat("x", 1<<20))); len(got) != breakpad.MaxName-7 {
		t.Errorf("a name of %d bytes", len(got))
	}
}

func TestRefsFind(t *testing.T) {
	x := index(t, fixture.NewSym("x").File(2, "two").File(0, "a").File(1, "one").File(0, "b").Func(1, 1, "f").File(0, "c").File(9, "late").Bytes())
	fn := x.Funcs[0].Off
	for _, c := range []struct {
		id     uint64
		before int64
		want   int // index in x.Files, -1 for a missing one
	}{
		{0, fn, 1}, {0, 1 << 40, 2}, {0, 0, 0}, {1, fn, 3}, {1, 0, 3}, {2, fn, 4}, {9, fn, 5}, {9, 1 << 40, 5}, {3, fn, -1}, {10, fn, -1}, {1<<64 - 1, fn, -1},
	} {
		got, ok := x.Files.Find(c.id, c.before)
		if ok != (c.want >= 0) || ok && got != x.Files[c.want] {
			t.Errorf("%d before %d: %+v, %v", c.id, c.before, got, ok)
		}
	}
	twice := breakpad.Refs{{ID: 1, Off: 5}, {ID: 1, Off: 9}}
	if got, ok := twice.Find(1, 7); !ok || got != twice[0] {
		t.Errorf("of two definitions Find returns %+v", got)
	}
	dense := breakpad.Refs{{ID: 0, Off: 5}, {ID: 1, Off: 6}, {ID: 2, Off: 7}}
	for i, want := range dense {
		if got, ok := dense.Find(uint64(i), 0); !ok || got != want {
			t.Errorf("%d: %+v", i, got)
		}
	}
}

func TestParseDoesNotAllocate(t *testing.T) {
	s := fixture.NewSym("x").Func(0, 4096, "f")
	for i := range uint64(200) {
		s.Inline(0, 1, 0, 0, 16*i, 8, 16*i+10, 2).Line(16*i, 8, 1, 0)
	}
	text := s.Bytes()
	x := index(t, text)
	var f breakpad.Func
	var bad breakpad.Report
	if n := testing.AllocsPerRun(20, func() { x.ParseFunc(x.Funcs[0], text[x.Funcs[0].Off:], &f, &bad) }); n > 0 {
		t.Errorf("%.0f allocations", n)
	}
}
