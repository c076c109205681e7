package standin_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symbolon/internal/fixture"
)

// routine is a program of one function at 0x1000, whose line is in a file of the unit.
func routine(lang int, file, name, symbol string) *fixture.Program {
	const from, to = 0x1000, 0x1010
	span := [][2]uint64{{from, to}}
	return &fixture.Program{
		Wide: true, Loads: span, Code: span,
		Symbols: []fixture.ELFSymbol{{Name: symbol, Value: from, Size: to - from, Kind: 2, Section: 1}},
		Units: []*fixture.ProgramUnit{{
			Version: 4, Lang: lang, Dir: "/src", Files: []string{"pot", "<none>"}, Ranges: span,
			Funcs:     []fixture.ProgramFunc{{Name: name, Ranges: span}},
			Sequences: []fixture.ProgramLines{{Rows: []fixture.ProgramRow{{Addr: from, File: map[string]int{"pot": 1, "<none>": 2, "missing": 3}[file], Line: 7}}, End: to}},
		}},
	}
}

// written writes a program, and returns its path.
func written(t *testing.T, p *fixture.Program) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "routine")
	if err := os.WriteFile(path, p.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAddr2lineUsesTheSymbolOfALanguageThatManglesNames(t *testing.T) {
	const (
		c, ada, pascal, d, fortran = 0x0c, 0x0d, 0x09, 0x13, 0x22
	)
	for _, x := range []struct {
		lang               int
		name, symbol, want string
	}{
		{c, "lid", "lid.1", "lid"},
		{ada, "jar__lid", "jar__lid.162", "jar__lid.162"},
		{ada, "jar__lid", "jar__lid.162.cold", "jar__lid.162.cold"},
		{fortran, "lid", "lid.1", "lid.1"},
		{d, "all", "_D3jar__T3allZ", "_D3jar__T3allZ"},
		{pascal, "LID", "P$JAR_$$_LID", "LID"},
	} {
		if got := output(t, "addr2line", "-fpse", written(t, routine(x.lang, "pot", x.name, x.symbol)), "0x1004"); got != x.want+" at pot:7\n" {
			t.Errorf("%s, %s: got %s", x.name, x.symbol, got)
		}
	}
}

func TestAddr2lineNamesAnInlinedCallOfCPPLikeASymbolThatIsNotMangled(t *testing.T) {
	p := routine(0x04, "pot", "_GLOBAL__sub_I_pot.cc", "_GLOBAL__sub_I_pot.cc")
	f := &p.Units[0].Funcs[0]
	f.Calls = []*fixture.ProgramCall{{Name: "__cxx_global_var_init", Ranges: f.Ranges, File: 1, Line: 9}}
	const want = "_GLOBAL__sub_I_pot.cc at pot:7\n (inlined by) _GLOBAL__sub_I_pot.cc at pot:9\n"
	if got := output(t, "addr2line", "-fpsie", written(t, p), "0x1004"); got != want {
		t.Errorf("got %s", got)
	}
}

func TestCalledFunctionWithoutARowHasTheFileOfItsSymbol(t *testing.T) {
	const from, to = 0x1000, 0x1010
	span := [][2]uint64{{from, to}}
	call := &fixture.ProgramCall{Name: "lid", Ranges: span, File: 1, Line: 3}
	p := &fixture.Program{
		Wide: true, Loads: span, Code: span,
		Symbols: []fixture.ELFSymbol{{Name: "pot.c", Kind: 4, Section: 0xfff1}, {Name: "jar", Value: from, Size: to - from, Kind: 2, Section: 1}},
		Units: []*fixture.ProgramUnit{{
			Version: 4, Lang: 0x0c, Dir: "/src", Files: []string{"jar.c"}, Ranges: span,
			Funcs:     []fixture.ProgramFunc{{Name: "jar", Ranges: span, Calls: []*fixture.ProgramCall{call}}},
			Sequences: []fixture.ProgramLines{{Rows: []fixture.ProgramRow{{Addr: from, File: 1, Line: 7}}, End: from + 8}},
		}},
	}
	path := written(t, p)
	for flag, want := range map[string]string{
		"--no-inlines": "jar\npot.c:0:0\n\n", "--inlines": "lid\n??:0:0\njar\n/src/jar.c:3:0\n\n",
	} {
		if got := output(t, "llvm-symbolizer", flag, "-e", path, "0x100c"); got != want {
			t.Errorf("%s: got\n%s", flag, got)
		}
	}
}

func TestAddr2lineOmitsTheNumberOfACaller(t *testing.T) {
	p := routine(0x0d, "pot", "jar__lid", "jar__lid.162")
	f := &p.Units[0].Funcs[0]
	f.Calls = []*fixture.ProgramCall{{Name: "jar__tip", Ranges: f.Ranges, File: 1, Line: 9}}
	if got := output(t, "addr2line", "-fpsie", written(t, p), "0x1004"); !strings.HasSuffix(got, "\n (inlined by) jar__lid at pot:9\n") {
		t.Errorf("got %s", got)
	}
}

func TestWithoutASymbolTheInnermostCallIsTheFunction(t *testing.T) {
	p := routine(0x0c, "pot", "jar", "jar")
	f := &p.Units[0].Funcs[0]
	f.Calls = []*fixture.ProgramCall{{Name: "lid", Ranges: f.Ranges, File: 1, Line: 9}}
	for _, symbols := range [][]fixture.ELFSymbol{p.Symbols, nil} {
		p.Symbols = symbols
		want := "lid\npot:7:0\n\n"
		if symbols != nil {
			want = "jar\npot:7:0\n\n"
		}
		if got := output(t, "llvm-symbolizer", "--no-inlines", "-s", "-e", written(t, p), "0x1004"); got != want {
			t.Errorf("%d symbols: got\n%s", len(symbols), got)
		}
	}
}

func TestARowOfAFileWithoutANameHasNoLine(t *testing.T) {
	path := written(t, routine(0x0c, "missing", "lid", "lid"))
	if got := output(t, "addr2line", "-fpe", path, "0x1004"); got != "lid at ??:?\n" {
		t.Errorf("addr2line: got %s", got)
	}
	if got := output(t, "llvm-symbolizer", "-e", path, "0x1004"); got != "lid\n??:0:0\n\n" {
		t.Errorf("llvm-symbolizer: got %s", got)
	}
}

func TestNamesOfFilesInBracketsAreBelowTheirFolder(t *testing.T) {
	p := routine(0x0c, "<none>", "lid", "lid")
	p.Units[0].Dir = "/src/"
	path := written(t, p)
	if got := output(t, "addr2line", "-fpe", path, "0x1004"); got != "lid at /src//<none>:7\n" {
		t.Errorf("addr2line: got %s", got)
	}
	if got := output(t, "llvm-symbolizer", "-e", path, "0x1004"); got != "lid\n/src/<none>:7:0\n\n" {
		t.Errorf("llvm-symbolizer: got %s", got)
	}
}

func TestShortNamesAreThoseOfTheSource(t *testing.T) {
	p := routine(0x22, "pot", "qs", "__sort_MOD_qs")
	p.Units[0].Funcs[0].Linkage = "__sort_MOD_qs"
	span := p.Units[0].Ranges
	p.Units[0].Funcs[0].Calls = []*fixture.ProgramCall{{Name: "swap<int*>", Ranges: [][2]uint64{{span[0][0], span[0][0] + 8}}, File: 1, Line: 9}}
	path := written(t, p)
	for addr, want := range map[string]string{"0x1004": "swap<int*>\npot:7:0\nqs\npot:9:0\n\n", "0x100c": "qs\npot:7:0\n\n"} {
		if got := output(t, "llvm-symbolizer", "-s", "--functions=short", "-e", path, addr); got != want {
			t.Errorf("%s: got\n%s", addr, got)
		}
	}
	for name, want := range map[string]string{"loop.0": "loop.0", "_ZN2ns3jarEv.lto_priv.0": "ns::jar() (.lto_priv.0)"} {
		p.Units[0].Funcs[0].Name = name
		if got := output(t, "llvm-symbolizer", "-s", "--functions=short", "-e", written(t, p), "0x100c"); got != want+"\npot:7:0\n\n" {
			t.Errorf("%s: got\n%s", name, got)
		}
	}
	p.Units[0].Funcs = nil
	if got := output(t, "llvm-symbolizer", "-s", "--functions=short", "-e", written(t, p), "0x1004"); got != "??\npot:7:0\n\n" {
		t.Errorf("without a function in the debug information: got\n%s", got)
	}
}
