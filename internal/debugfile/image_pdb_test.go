package debugfile_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"symbolon/internal/debugfile"
	"symbolon/internal/fixture"
	"symbolon/internal/object"
	"symbolon/internal/symcache"
	"symbolon/internal/trial"
)

// answersPDB demands answers of a PDB and of its table.
func answersPDB(t *testing.T, p *fixture.PDB, want map[uint64]string) *object.Object {
	t.Helper()
	o := open(t, p.Bytes())
	table, err := tableOf(o, symcache.Options{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for addr, frames := range want {
		if got := brief(open(t, p.Bytes()).Lookup(nil, addr), o.AppendText); got != frames {
			t.Errorf("%#x\n   is %s\nwants %s", addr, got, frames)
		}
		if got := brief(table.Lookup(nil, addr), ofTable{table}.AppendText); got != frames {
			t.Errorf("%#x in the table\n   is %s\nwants %s", addr, got, frames)
		}
	}
	return o
}

const (
	weigh = `yard::weigh(int, char const*);c:\src\`
	lift  = `Crane::lift() const;c:\src\`
)

func TestCallsOfPDBsAreMadeWhereTheCodeAroundThemIs(t *testing.T) {
	o := answersPDB(t, fixture.SamplePDB(), map[uint64]string{
		0x1010: weigh + "one.cc;5",
		0x1014: lift + "one.cc;101 < " + weigh + "one.cc;6",
		0x1015: "`anonymous namespace'::hidden(int, char const*);" + `c:\src\two.cc;8 < ` + lift + "one.cc;101 < " + weigh + "one.cc;6",
		0x1017: lift + "one.cc;101 < " + weigh + "one.cc;6",
		0x101d: lift + "two.cc;103 < " + weigh + "one.cc;6",
		0x1020: weigh + "one.cc;6",
		0x1030: lift + "two.cc;103 < " + weigh + "one.cc;6", // the line of the call began there
		0x1040: weigh + "two.cc;31",
		0x1090: "jump;;",
		0x1096: "", // the last public symbol before it is of a function that has ended
		0x3045: "yard::weigh(int, char const*);;",
		0x1204: "borrowed(int, char const*);;",
		0x1206: "outside(int, char const*);; < borrowed(int, char const*);;", // the function has no lines
		0x1207: "borrowed(int, char const*);;",                               // nor is what follows of the call
		0x1305: "?late@@YAXXZ;;",
		0x1400: "?late@@YAXXZ;;",
		0x2004: "",
		0x0fff: "",
	})
	info := o.Info()
	if info.Kind != "pdb" || info.Module.DebugID.String() != "00030201-0000-0000-0000-000000000010-3" || info.Module.Arch.String() != "x86_64" ||
		info.Features != object.HasSymbols|object.HasDebug || info.BadRecords != 0 {
		t.Errorf("%+v", info)
	}
}

func TestOfFunctionsMadeOneTheOwnerOfTheCodeAnswers(t *testing.T) {
	p := fixture.SamplePDB()
	proc := func(name string) [][]byte {
		return [][]byte{fixture.PDBProc(0x1110, 0, 0x10, 0x20, name), fixture.PDBRecord(6)}
	}
	p.Modules = []fixture.PDBModule{
		{Name: "a.obj", Symbols: proc("folded")},
		{Name: "b.obj", Symbols: append(append(proc("kept"), proc("second")...), proc("third")...)},
	}
	p.Parts = []fixture.PDBPart{{1, 0x10, 0x20, 1}}
	p.Publics = nil
	// Of those without lines the first counts, of others the last.
	answersPDB(t, p, map[uint64]string{0x1010: "kept;;", 0x102f: "kept;;", 0x1030: ""})
	file := p.String("x.c")
	p.Modules[1].Lines = [][]byte{
		fixture.PDBLines(0xf4, file, uint32(0)),
		fixture.PDBLines(0xf2, uint32(0x10), uint32(1), uint32(0x20), uint32(0), uint32(1), uint32(20), uint32(0), uint32(9)),
	}
	answersPDB(t, p, map[uint64]string{0x1010: "third;x.c;9"})
	// As many as have lines have their own: a call is where its function says.
	p.Modules[1].Symbols = append(proc("none"), proc("short")...)
	p.Modules[1].Symbols = append(p.Modules[1].Symbols, fixture.PDBProc(0x1110, 0, 0x10, 0x20, "long"),
		fixture.PDBRecord(0x114d, uint32(0), uint32(0), uint32(0x1005), []byte{0x0c, 0x04, 0x08}), fixture.PDBRecord(0x114e), fixture.PDBRecord(6))
	lines := func(pairs ...uint32) []byte {
		return fixture.PDBLines(0xf2, uint32(0x10), uint32(1), uint32(0x20), uint32(0), uint32(len(pairs)/2), uint32(12+4*len(pairs)), pairs)
	}
	p.Modules[1].Lines = [][]byte{p.Modules[1].Lines[0], lines(0, 1, 8, 2, 0x10, 3), lines(0, 70, 0x14, 71)}
	answersPDB(t, p, map[uint64]string{0x1010: "long;x.c;70", 0x1018: "outside(int, char const*);; < long;x.c;70", 0x1022: "long;x.c;70", 0x1024: "long;x.c;71"})
	p.Parts = nil // without section contributions the first module counts
	answersPDB(t, p, map[uint64]string{0x1010: "folded;;"})
}

func TestFunctionsWithoutTypeHaveTheNameOfTheirSymbol(t *testing.T) {
	p := fixture.SamplePDB()
	p.Modules = []fixture.PDBModule{{Name: "a.obj"}}
	p.Publics = nil
	for i, names := range [][2]string{
		{"ns::f", "?f@ns@@YAXXZ"}, {"g<int>", "??$g@H@@YAXXZ"}, {"operator+", "??H@YAXXZ"},
		{"h", "?other@@YAXXZ"}, {"plain", "plain"}, {"k", "??$other@H@@YAXXZ"},
	} {
		off := uint32(0x10 * i)
		p.Modules[0].Symbols = append(p.Modules[0].Symbols, fixture.PDBProc(0x1110, 0, off, 0x10, names[0]), fixture.PDBRecord(6))
		p.Publics = append(p.Publics, fixture.PDBRecord(0x110e, uint32(2), off, uint16(1), names[1]))
	}
	p.Parts = []fixture.PDBPart{{1, 0, 0x60, 0}}
	answersPDB(t, p, map[uint64]string{
		0x1001: "?f@ns@@YAXXZ;;", 0x1011: "??$g@H@@YAXXZ;;", 0x1021: "??H@YAXXZ;;", 0x1031: "h;;", 0x1041: "plain;;", 0x1051: "k;;",
	})
}

// moved is the sample after a tool has torn it apart.
func moved() *fixture.PDB {
	p := fixture.SamplePDB()
	p.OldSections = p.Sections
	p.Sections = []fixture.PDBSection{{0x1000, 0x4000, 0x60000020}}
	p.FromSource = [][2]uint32{{0x1000, 0x2000}, {0x1016, 0x1800}, {0x1060, 0}, {0x1070, 0x2100}, {0x3040, 0x4040}}
	p.ToSource = [][2]uint32{{0x1800, 0x1016}, {0x184a, 0}, {0x2000, 0x1000}, {0x2016, 0}, {0x2100, 0x1070}, {0x4040, 0x3040}}
	return p
}

func TestTheTypeOfNullptrIsNoPointerToVoid(t *testing.T) {
	p := fixture.SamplePDB()
	first := 0x1000 + uint32(len(p.Types))
	p.Types = append(p.Types, fixture.PDBRecord(0x1001, uint32(0x103), uint16(1)),
		fixture.PDBRecord(0x1201, uint32(3), uint32(0x103), first, uint32(0x603)),
		fixture.PDBRecord(0x1008, uint32(0x74), uint8(0), uint8(0), uint16(3), first+1))
	p.Modules = []fixture.PDBModule{{Name: "a.obj", Symbols: [][]byte{fixture.PDBProc(0x1110, first+2, 0x10, 0x20, "f"), fixture.PDBRecord(6)}}}
	answersPDB(t, p, map[uint64]string{0x1010: "f(std::nullptr_t, const std::nullptr_t, void*);;"})
}

func TestCodeThatWasMovedAnswersWhereItIs(t *testing.T) {
	answersPDB(t, moved(), map[uint64]string{
		0x2010: weigh + "one.cc;5",
		0x2014: lift + "one.cc;101 < " + weigh + "one.cc;6",
		0x2016: "",
		0x1800: "`anonymous namespace'::hidden(int, char const*);" + `c:\src\two.cc;8 < ` + lift + "one.cc;101 < " + weigh + "one.cc;6",
		0x180a: weigh + "one.cc;6",
		0x1820: weigh + "two.cc;31",
		0x2105: weigh + "two.cc;31",
		0x4040: "yard::weigh(int, char const*);;",
	})
}

func TestEveryPartOfAPDBAnswersAsItsTable(t *testing.T) {
	opened := 0
	for _, p := range []*fixture.PDB{fixture.SamplePDB(), moved()} {
		whole, step := p.Bytes(), 1
		if trial.Race() {
			step = 10
		}
		for n := 0; n < len(whole); n += 97 * step {
			if harmless(t, whole[:n], fmt.Sprintf("the first %d bytes", n)) {
				opened++
			}
		}
		r := rand.New(rand.NewPCG(5, 5))
		for range 400 / step {
			at, b := r.IntN(len(whole)), byte(r.Uint32())
			was := whole[at]
			whole[at] = b
			if harmless(t, whole, fmt.Sprintf("byte %d from %d to %d", at, was, b)) {
				opened++
			}
			whole[at] = was
		}
	}
	if opened < 40 {
		t.Errorf("only %d are files", opened)
	}
}

func TestDecoratedNamesOfC(t *testing.T) {
	names := [][3]string{ // as linked, on x86, elsewhere
		{"_foo@12", "foo", "_foo@12"}, {"@foo@8", "foo", "@foo@8"}, {"foo@@16", "foo", "foo"}, {"_foo", "foo", "_foo"}, {"foo", "foo", "foo"},
		{"_", "_", "_"}, {"foo@", "foo@", "foo@"}, {"@12", "@12", "@12"}, {"__Z3foov", "_Z3foov", "__Z3foov"}, {"?f@@YAXXZ@4", "?f@@YAXXZ@4", "?f@@YAXXZ@4"},
		{"_foo@1234567", "foo@1234567", "_foo@1234567"},
		{".weak._foo.default.main", "foo", "_foo"}, {".weak.foo.default", "foo", "foo"}, {".weak.foo.main", "foo", "foo"}, {".weak.foo", ".weak.foo", ".weak.foo"},
	}
	for i, machine := range []uint16{0x14c, 0x8664} {
		p := &fixture.PDB{GUID: [16]byte{1}, Machine: machine, Sections: []fixture.PDBSection{{0x1000, 0x1000, 0x60000020}}}
		want := map[uint64]string{}
		for k, name := range names {
			p.Publics = append(p.Publics, fixture.PDBRecord(0x110e, uint32(2), uint32(16*k), uint16(1), name[0]))
			want[uint64(0x1000+16*k)] = name[1+i] + ";;"
		}
		answersPDB(t, p, want)
	}
}

// The stand-ins show names as the linker has them, but not those of definitions.
func TestWrittenNamesAreThoseOfWeakSymbols(t *testing.T) {
	p := &fixture.PDB{GUID: [16]byte{1}, Machine: 0x8664, Sections: []fixture.PDBSection{{0x1000, 0x1000, 0x60000020}}}
	for _, name := range []string{".weak.foo.default.main", "foo"} {
		p.Publics = append(p.Publics, fixture.PDBRecord(0x110e, uint32(2), uint32(0), uint16(1), name))
	}
	f, err := debugfile.Open(bytes.NewReader(p.Bytes()), object.Options{Written: true})
	if err != nil {
		t.Fatal(err)
	}
	o := f.Objects()[0]
	if frames := o.Lookup(nil, 0x1000); len(frames) != 1 || str(o, frames[0].Func) != "foo" {
		t.Errorf("got %s", show(o, frames))
	}
}

// Code in very many pieces, each with all lines, is not followed without end.
func TestCodeInTooManyPiecesIsTold(t *testing.T) {
	p := moved()
	p.FromSource = nil
	for i := range uint32(1000) {
		p.FromSource = append(p.FromSource, [2]uint32{0x1000 + 4*i, 0x4000 - 8*i})
	}
	p.Modules[0].Symbols = [][]byte{
		fixture.PDBProc(0x1110, 0, 0, 0xf00, "f"),
		fixture.PDBRecord(0x114d, uint32(0), uint32(0), uint32(0x1002), bytes.Repeat([]byte{0x0b, 0x01}, 2000)),
		fixture.PDBRecord(0x114e), fixture.PDBRecord(6),
	}
	o := open(t, p.Bytes())
	if _, err := tableOf(o, symcache.Options{}, 1); err != nil {
		t.Fatal(err)
	}
	if told := fmt.Sprint(o.Info().Damage); !strings.Contains(told, "torn into too many pieces") {
		t.Error(told)
	}
}

// An order of symbols that is wrong changes no answer, whichever question comes
// first.
func TestSymbolsInAWrongOrderAnswer(t *testing.T) {
	p := fixture.SamplePDB()
	b := p.Bytes()
	order := fixture.Fields(uint32(0), uint32(4*5), make([]byte, 20)) // its header, and what follows
	at := strings.Index(string(b), string(order[:8]))
	if at < 0 {
		t.Fatal("no order")
	}
	list := b[at+28:][:20]
	for i, j := 0, 16; i < j; i, j = i+4, j-4 {
		for k := range 4 {
			list[i+k], list[j+k] = list[j+k], list[i+k]
		}
	}
	o := open(t, b)
	for range 8 {
		if got := brief(o.Lookup(nil, 0x1305), o.AppendText); got != "?late@@YAXXZ;;" {
			t.Fatal(got)
		}
	}
	harmless(t, b, "wrong order")
}

// holed is a file with zeros between its first bytes and the rest, which gives
// its bytes by ReadAt alone and counts them.
type holed struct {
	b        []byte
	at, hole int64
	read     int
}

func (h *holed) Size() int64 { return int64(len(h.b)) + h.hole }

func (h *holed) ReadAt(p []byte, off int64) (int, error) {
	h.read += len(p)
	clear(p)
	for i, c := range h.b[:h.at] {
		if at := int64(i) - off; at >= 0 && at < int64(len(p)) {
			p[at] = c
		}
	}
	for i := range p {
		if at := off + int64(i) - h.hole; at >= h.at && at < int64(len(h.b)) {
			p[i] = h.b[at]
		}
	}
	return int(min(int64(len(p)), max(0, h.Size()-off))), nil
}

// One address of a PDB of more than 4 GiB with many functions takes few reads.
func TestOneAddressOfAnEndlessPDB(t *testing.T) {
	p := fixture.SamplePDB()
	p.BlockSize, p.Hole = 4096, 3<<20
	const many = 2000
	long := strings.Repeat("long", 600) // so that symbols are not soon read
	p.Sections[0][1] = 64 * (many + 0x100)
	for i := range uint32(many) {
		off := 0x1000 + 64*i
		m := fixture.PDBModule{Name: fmt.Sprintf("module %d", i)}
		for k := range uint32(8) {
			m.Symbols = append(m.Symbols, fixture.PDBProc(0x1110, 0x1002, off+4*k, 4, fmt.Sprintf("f%d_%d", i, k)), fixture.PDBRecord(6))
		}
		p.Modules = append(p.Modules, m)
		p.Parts = append(p.Parts, fixture.PDBPart{1, off, 64, uint32(len(p.Modules) - 1)})
		p.Publics = append(p.Publics, fixture.PDBRecord(0x110e, uint32(2), off+40, uint16(1), fmt.Sprintf("?f%d@%s@@YAXXZ", i, long)))
	}
	b := p.Bytes()
	src := &holed{b: b, at: 3 * 4096, hole: int64(p.Hole) * 4096}
	f, err := debugfile.Open(src, object.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o := f.Objects()[0]
	for addr, want := range map[uint64]string{0x2000 + 64*1000 + 5: "f1000_1(int, char const*);;", 0x2000 + 64*1000 + 45: "?f1000@" + long + "@@YAXXZ;;"} {
		if got := brief(o.Lookup(nil, addr), o.AppendText); got != want {
			t.Errorf("%#x: %s, not %s", addr, got, want)
		}
	}
	if src.read > 2<<20 {
		t.Errorf("%d bytes were read of %d", src.read, len(b))
	}
}

func TestSourcesOfPDBsAreToldWhereTheyAreKept(t *testing.T) {
	server := `SRCSRV: ini ------------------------------------------------
VERSION=2
VERCTRL=%s
SRCSRV: variables ------------------------------------------
HOST=https://host/%%var2%%
SRCSRVTRG=%s
LOOP=%%loop%%
SRCSRV: source files ---------------------------------------
c:\src\one.cc*depot*//depot/src/One.cc*77
SRCSRV: end ------------------------------------------------
`
	link := `{"documents":{"C:\\src\\*":"https://web/tree/*?raw","C:\\src\\two.cc":"https://web/two","c:\\*x":"bad","c:\\none\\*":"no star"}}`
	for _, x := range []struct {
		name    string
		streams [][2]string
		path    string
		want    object.Origin
	}{
		{"nothing", nil, `c:\src\one.cc`, object.Origin{}},
		{"link", [][2]string{{"sourcelink", link}}, `c:\SRC\Sub\One.cc`, object.Origin{URL: "https://web/tree/Sub/One.cc?raw"}},
		{"whole path", [][2]string{{"sourcelink", link}}, `c:\src\two.cc`, object.Origin{URL: "https://web/two"}},
		{"longer path", [][2]string{{"sourcelink", link}}, `c:\src\two.ccx`, object.Origin{URL: "https://web/tree/two.ccx?raw"}},
		{"elsewhere", [][2]string{{"sourcelink", link}}, `d:\src\two.cc`, object.Origin{}},
		{"broken", [][2]string{{"sourcelink", link[1:]}}, `c:\src\two.cc`, object.Origin{}},
		{"perforce", [][2]string{{"srcsrv", fmt.Sprintf(server, "Perforce", `%targ%\%var2%\%fnbksl%(%var3%)\%fnfile%(%var1%)`)}}, `C:\src\One.cc`,
			object.Origin{Path: "depot/src/One.cc", Revision: "77"}},
		{"http", [][2]string{{"srcsrv", fmt.Sprintf(server, "http", `%host%/%fnvar%(VAR4)/%fnfile%(%var1%)`)}}, `c:\src\one.cc`,
			object.Origin{URL: "https://host/depot/77/one.cc"}},
		{"of no file", [][2]string{{"srcsrv", fmt.Sprintf(server, "http", "%host%")}}, `c:\src\two.cc`, object.Origin{}},
		{"both", [][2]string{{"srcsrv", fmt.Sprintf(server, "Perforce", "")}, {"sourcelink", link}}, `c:\src\one.cc`,
			object.Origin{URL: "https://web/tree/one.cc?raw", Path: "depot/src/One.cc", Revision: "77"}},
		{"endless", [][2]string{{"srcsrv", fmt.Sprintf(server, "x", "%loop%%loop%%var9%%fnfile%(%")}}, `c:\src\one.cc`, object.Origin{}},
	} {
		p := fixture.SamplePDB()
		p.Named = x.streams
		if got := open(t, p.Bytes()).Origin(x.path); got != x.want {
			t.Errorf("%s: %+v", x.name, got)
		}
	}
}
