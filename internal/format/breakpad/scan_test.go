package breakpad_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"symbolon/internal/fault"
	"symbolon/internal/fixture"
	"symbolon/internal/format/breakpad"
)

// scan returns the index of a text that is written in chunks.
func scan(text []byte, chunk int) (*breakpad.Index, error) {
	var s breakpad.Scanner
	for len(text) > 0 {
		n := min(chunk, len(text))
		if got, err := s.Write(text[:n]); got != n || err != nil {
			return nil, fmt.Errorf("Write of %d bytes = %d, %v", n, got, err)
		}
		text = text[n:]
	}
	return s.Finish()
}

func index(t testing.TB, text []byte) *breakpad.Index {
	t.Helper()
	x, err := scan(text, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// everything has every record, valid and damaged.
func everything() *fixture.Sym {
	return fixture.NewSym("lib every thing.so").
		Info("CODE_ID", "0A0B0C").Info("GENERATOR", "by hand").Raw("INFO").
		File(0, "/a.c").Raw("FILE 4294967295 /far.c").File(0, "/again.c").File(7, "").Raw("FILE x /b.c").Raw("FILE 8").
		Origin(3, "three").Origin(1, "one").Raw("INLINE_ORIGIN 9").Raw("INLINE_ORIGIN no").
		Raw("FUNC m 1000 40 8 folded name").Inline(0, 5, 0, 1, 0x1000, 0x10, 0x1020, 8).Raw("INLINE 0 5 0").
		Line(0x1000, 0x10, 1, 0).Raw("").Raw("1010 8 -2 0").Raw("  1018 8 3 0").Raw("1020 q 3 0").Raw("# comment").
		Origin(4, "between").File(9, "/between.c").Line(0x1020, 8, 4, 9).
		Func(0x900, 0x20, "earlier\r").Raw("FUNC 10 zz 0 bad").Line(0x10, 8, 1, 0).
		Public(0x3000, "pub").Raw("PUBLIC m 2000 0\r").Raw("PUBLIC -1 0 bad").
		Raw("STACK CFI 99 .cfa: x").CFIInit(0x1000, 0x40, ".cfa: $rsp 8 +").CFI(0x1004, ".ra: x").Raw("STACK CFI q").Raw("STACK CFI INIT 1").
		Win(0x900, 0x20, "$eip 4 + =").Raw("STACK WIN 0 900").Raw("STACK NONSENSE").Raw("STACK WIN 0 900 20 0 0 4 0 0 0 0 1").
		Func(0x5000, 8, "late").Line(0x5000, 8, 1, 0).Raw("INFO URL http://example.org/").Raw("nothing that we know").Raw("FUNCTION 1 2")
}

func TestIndexHasEveryRecord(t *testing.T) {
	text := everything().String()
	x := index(t, []byte(text))
	at := func(line string) int64 {
		i := strings.Index("\n"+text, "\n"+line)
		if i < 0 {
			t.Fatalf("line %q is missing", line)
		}
		return int64(i)
	}
	span := func(s breakpad.Span) string {
		return fmt.Sprintf("%x+%x %q", s.Addr, s.Size, text[s.Off:s.Off+int64(s.Len)])
	}
	spans := func(list []breakpad.Span) (out []string) {
		for _, s := range list {
			out = append(out, span(s))
			if line := 1 + strings.Count(text[:s.Off], "\n"); int(s.Line) != line {
				t.Errorf("%s is in line %d, index has %d", span(s), line, s.Line)
			}
		}
		return out
	}
	folded := text[at("FUNC m") : at("FUNC 900")-1]
	for _, c := range []struct {
		what      string
		got, want any
	}{
		{"size", x.Size, int64(len(text))},
		{"module", x.Module, breakpad.Module{OS: "Linux", Arch: "x86_64", ID: fixture.SymID, Name: "lib every thing.so"}},
		{"infos", x.Infos, []breakpad.Info{{"CODE_ID", "0A0B0C", true}, {"GENERATOR", "by hand", true}, {"URL", "http://example.org/", false}}},
		{"funcs", spans(x.Funcs), []string{
			fmt.Sprintf("1000+40 %q", folded), `900+20 "FUNC 900 20 0 earlier\r"`, `5000+8 "FUNC 5000 8 0 late\n5000 8 1 0"`,
		}},
		{"publics", x.Publics, []breakpad.Symbol{{Addr: 0x3000, Off: at("PUBLIC 3000")}, {Addr: 0x2000, Off: at("PUBLIC m")}}},
		{"files", x.Files, breakpad.Refs{
			{ID: 0, Off: at("FILE 0 /a.c")}, {ID: 0, Off: at("FILE 0 /again.c")}, {ID: 7, Off: at("FILE 7")},
			{ID: 8, Off: at("FILE 8")}, {ID: 9, Off: at("FILE 9")}, {ID: 4294967295, Off: at("FILE 4294967295")},
		}},
		{"vague files", x.Vague, []int64{at("FILE 7"), at("FILE 8")}},
		{"origins", x.Origins, breakpad.Refs{
			{ID: 1, Off: at("INLINE_ORIGIN 1 ")}, {ID: 3, Off: at("INLINE_ORIGIN 3 ")}, {ID: 4, Off: at("INLINE_ORIGIN 4 ")}, {ID: 9, Off: at("INLINE_ORIGIN 9")},
		}},
		{"cfi", spans(x.CFI), []string{fmt.Sprintf("1000+40 %q", "STACK CFI INIT 1000 40 .cfa: $rsp 8 +\nSTACK CFI 1004 .ra: x")}},
		{"win", spans(x.Win), []string{`900+20 "STACK WIN 4 900 20 1 2 8 4 10 0 1 $eip 4 + ="`}},
		{"win without a program", spans(x.WinFPO), []string{`900+20 "STACK WIN 0 900 20 0 0 4 0 0 0 0 1"`}},
		{"old", x.Old, false},
		{"bad", badKinds(&x.Bad), "FILE 1, INLINE_ORIGIN 1, FUNC 1, PUBLIC 1, STACK 4, orphan 2, unknown 4"},
	} {
		if !reflect.DeepEqual(c.got, c.want) {
			t.Errorf("%s:\n got %v\nwant %v", c.what, c.got, c.want)
		}
	}
	for _, b := range x.Bad.First {
		if line := strings.Split(text, "\n")[b.Line-1]; b.Kind == breakpad.BadFunc && line != "FUNC 10 zz 0 bad" {
			t.Errorf("line %d is %q", b.Line, line)
		}
	}
	if x.Footprint() < 100 {
		t.Error("Footprint is 0")
	}
}

func badKinds(r *breakpad.Report) string {
	var parts []string
	for k, n := range r.Counts {
		if n > 0 {
			parts = append(parts, fmt.Sprint(breakpad.Kind(k), " ", n))
		}
	}
	return strings.Join(parts, ", ")
}

func TestIndexDoesNotDependOnChunks(t *testing.T) {
	long := everything().Func(0x7000, 8, strings.Repeat("long", 40_000)).Line(0x7000, 8, 1, 1).
		Raw("FUNC" + strings.Repeat(" ", 70_000) + "1 1 0 far").Raw("INLINE 0 " + strings.Repeat("1", 70_000))
	for name, text := range map[string]string{
		"everything": everything().String(),
		"crlf":       strings.ReplaceAll(everything().String(), "\n", "\r\n"),
		"no newline": strings.TrimSuffix(everything().String(), "\n"),
		"cut row":    everything().Func(0x7000, 8, "f").String() + "7000 8 1",
		"long lines": long.String(),
	} {
		want, err := scan([]byte(text), len(text))
		if err != nil {
			t.Fatal(err)
		}
		for chunk := 1; chunk <= 64; chunk++ {
			if got, err := scan([]byte(text), chunk); err != nil || !reflect.DeepEqual(got, want) {
				t.Fatalf("%s in chunks of %d: %v\n got %+v\nwant %+v", name, chunk, err, got, want)
			}
		}
	}
}

func TestLongLinesAreSkipped(t *testing.T) {
	var s breakpad.Scanner
	write := func(text string) { _, _ = s.Write([]byte(text)) }
	write(fixture.NewSym("x").Func(0x10, 0x10, "f").String())
	write("FUNC 20 10 0 ")
	chunk := bytes.Repeat([]byte("gigabyte"), 1<<17)
	for range 1 << 10 {
		_, _ = s.Write(chunk)
	}
	write("\n30 10 1 0\nFUNC 40 10 0 " + strings.Repeat("x", 1<<20-13) + "\nFUNC 50 10 0 " + strings.Repeat("x", 1<<20-12) + "\nFUNC 60 10 0 g\n")
	x, err := s.Finish()
	if err != nil {
		t.Fatal(err)
	}
	if len(x.Funcs) != 3 || x.Funcs[1].Addr != 0x40 || x.Funcs[2].Addr != 0x60 || x.Size < 1<<30 {
		t.Errorf("%+v", x.Funcs)
	}
	if got := badKinds(&x.Bad); got != "too long 2, orphan 1" {
		t.Error(got)
	}
}

func TestTextOfFuncIsLimited(t *testing.T) {
	s := fixture.NewSym("x").Func(0x10, 0x10, "f")
	for range 10 {
		s.Raw("INLINE 0 1 0 0" + strings.Repeat(" 1 2", 200_000))
	}
	x := index(t, s.Line(0x10, 4, 1, 0).Func(0x20, 4, "g").Bytes())
	if len(x.Funcs) != 2 || x.Funcs[0].Len > 4<<20 || x.Funcs[0].Len < 3<<20 {
		t.Fatalf("%+v", x.Funcs)
	}
	if got := badKinds(&x.Bad); got != "too long 6" {
		t.Error(got)
	}
	var f breakpad.Func
	var bad breakpad.Report
	text := s.Bytes()[x.Funcs[0].Off:]
	if !x.ParseFunc(x.Funcs[0], text[:x.Funcs[0].Len], &f, &bad) || len(f.Ranges) != 400_000 || badKinds(&bad) != "too long 3" {
		t.Errorf("%d ranges; %s", len(f.Ranges), badKinds(&bad))
	}
}

func TestInfosAreLimited(t *testing.T) {
	s := fixture.NewSym("x")
	for range 1000 {
		s.Info("A", "b")
	}
	if x := index(t, s.Bytes()); len(x.Infos) != 64 || x.Bad.Total() != 0 {
		t.Errorf("%d, %d bad", len(x.Infos), x.Bad.Total())
	}
}

func TestUnknownRecordsAreAccepted(t *testing.T) {
	tabs := fixture.NewSym("x").Raw("FILE\t0\t/t.c").Raw("FUNC\t1000\t10\t0\ttabbed").Raw("1000\t10\t5\t0").Bytes()
	if got := badKinds(&index(t, tabs).Bad); got != "orphan 1, unknown 2" {
		t.Error(got)
	}
	for _, text := range []string{"FUNC 0x10 1 0 f\n", "STACK CFI INIT\n", "INLINE_ORIGIN x\n", "INLINE_ORIGIN 1 y\nFILE z\n"} {
		_, err := scan([]byte(fixture.NewSym("x").String()+text), 7)
		if fault.KindOf(err) != fault.Malformed {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{"", "FILE 0 a.c\n", "STACK CFI INIT 1 1 x\nFUNC x\n", "PUBLIC 1 0\nFUNC x\n"} {
		if _, err := scan([]byte(fixture.NewSym("x").String()+text), 7); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestSecondModuleEndsFile(t *testing.T) {
	other := "MODULE Linux x86_64 111111111111111111111111111111111 other"
	x := index(t, fixture.NewSym("x").Func(0x10, 4, "f").Raw(other).Line(0x10, 4, 1, 0).Func(0x20, 4, "g").Bytes())
	if len(x.Funcs) != 1 || x.Funcs[0].Len != uint32(len("FUNC 10 4 0 f")) || badKinds(&x.Bad) != "MODULE 1" {
		t.Errorf("%+v, %s", x.Funcs, badKinds(&x.Bad))
	}
	for _, same := range []string{"MODULE Linux x86_64 " + strings.ToLower(fixture.SymID) + " x", "MODULE unusable"} {
		x := index(t, fixture.NewSym("x").Func(0x10, 4, "f").Raw(same).Line(0x10, 4, 1, 0).Func(0x20, 4, "g").Bytes())
		if len(x.Funcs) != 2 || badKinds(&x.Bad) != "MODULE 1, orphan 1" {
			t.Errorf("%q: %+v, %s", same, x.Funcs, badKinds(&x.Bad))
		}
	}
}

func TestReportKeepsFirstRecords(t *testing.T) {
	lines := rand.Perm(500)
	var one, left, right breakpad.Report
	for i, l := range lines {
		one.Add(breakpad.BadRow, uint32(l))
		if i%3 == 0 {
			left.Add(breakpad.BadRow, uint32(l))
		} else {
			right.Add(breakpad.BadRow, uint32(l))
		}
	}
	left.Merge(&right)
	if !reflect.DeepEqual(one, left) || one.Total() != 500 || len(one.First) != 100 {
		t.Fatalf("%+v\n%+v", one, left)
	}
	if !slices.IsSortedFunc(one.First, func(a, b breakpad.Bad) int { return int(a.Line) - int(b.Line) }) || one.First[99].Line != 99 {
		t.Errorf("%+v", one.First)
	}
}

func TestTruncatedFiles(t *testing.T) {
	text := everything().Bytes()
	for n := range text {
		x, err := scan(text[:n], n+1)
		if err == nil {
			walk(x, text[:n])
		}
	}
}

// walk parses every record of an index.
func walk(x *breakpad.Index, text []byte) (f breakpad.Func, bad breakpad.Report) {
	for _, s := range x.Funcs {
		x.ParseFunc(s, text[s.Off:s.Off+int64(s.Len)], &f, &bad)
		breakpad.FuncName(text[s.Off:])
	}
	for _, s := range x.CFI {
		for line := range bytes.Lines(text[s.Off : s.Off+int64(s.Len)]) {
			breakpad.ParseStack(line)
		}
	}
	for _, s := range x.Win {
		breakpad.ParseStack(text[s.Off : s.Off+int64(s.Len)])
	}
	for _, r := range x.Files {
		breakpad.FileName(text[r.Off:])
	}
	for _, r := range x.Origins {
		breakpad.OriginName(text[r.Off:], x.Old)
	}
	for _, p := range x.Publics {
		breakpad.PublicName(text[p.Off:])
	}
	return f, bad
}

func TestScanDoesNotAllocatePerLine(t *testing.T) {
	s := fixture.NewSym("x").File(0, "a.c")
	for i := range uint64(5000) {
		s.Func(16*i, 16, "f").Inline(0, 1, 0, 0, 16*i, 8).Line(16*i, 8, 1, 0).Line(16*i+8, 8, 2, 0)
	}
	text := s.Bytes()
	if n := testing.AllocsPerRun(5, func() { _, _ = scan(text, 1000) }); n > 60 {
		t.Errorf("%.0f allocations for 20,000 lines", n)
	}
}
