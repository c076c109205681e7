package symcache_test

import (
	"bytes"
	"flag"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symbolon/internal/ident"
	"symbolon/internal/sym"
	"symbolon/internal/symcache"
)

var update = flag.Bool("update", false, "write the golden files")

// example is the table of the package comment: a function with an inlined
// call.
func example() *model {
	m := &model{}
	sum, add := m.text("sum(std::map<unsigned long, unsigned long>)"), m.text("add<std::map<unsigned long, unsigned long>>")
	sumC, addH := m.text("src/sum.c"), m.text("src/add.h")
	m.blocks = []*sym.Block{{
		Nodes: []sym.Node{
			{Parent: -1, Name: sum, Entry: 0x1000, Size: 0x10},
			{Parent: 0, Name: add, CallFile: sumC, CallLine: 4},
		},
		Rows: []sym.Row{
			{Addr: 0x1000, Node: 0, File: sumC, Line: 3},
			{Addr: 0x1004, Node: 1, File: addH, Line: 7},
			{Addr: 0x1008, Node: 0, File: sumC, Line: 5},
			{Addr: 0x1010, Node: sym.Hole},
		},
	}}
	return m
}

// kernel is a table with all other features: columns, addresses up to the end, a
// gap, a function without rows, languages, an empty bucket and group, names that
// need escapes and pieces, a file that is not the usual one.
func kernel() *model {
	const top = 0xffffffff81000000
	m := &model{}
	start, irq, old := m.text("start_kernel"), m.text("irq<lock<raw_spinlock_with_owner>>::enter(lock<raw_spinlock_with_owner> const&, int)"), m.text("größe\x00")
	long, inl := m.text(strings.Repeat("A_very_long_name.", 20)), m.text("irq<lock<raw_spinlock_with_owner>>::leave(lock<raw_spinlock_with_owner> const&)")
	c, h := m.text("/src/kernel/start.c"), m.text("/src/kernel/start.h")
	m.blocks = []*sym.Block{
		{
			Nodes: []sym.Node{
				{Parent: -1, Lang: sym.LangCpp, Name: start, Entry: top, Size: 0x1100},
				{Parent: 0, Lang: sym.LangC, Name: irq, CallFile: c, CallLine: 10, CallColumn: 3},
				{Parent: 1, Lang: sym.LangC, Name: inl, CallFile: h, CallLine: 99},
				{Parent: -1, Name: old, Entry: top - 8},
			},
			Rows: []sym.Row{
				{Addr: top + 0x7d, Node: 0, File: c, Line: 9, Column: 1},
				{Addr: top + 0x80, Node: 2, File: h, Line: 100},
				{Addr: top + 0x81, Node: 2, File: h, Line: 90, Column: 200},
				{Addr: top + 0x84, Node: 2, File: c, Line: 1},
				{Addr: top + 0x90, Node: 2, File: c},
				{Addr: top + 0x104, Node: 1, File: h, Line: 100},
				{Addr: top + 0x1000, Node: 0, File: c, Line: 700},
				{Addr: top + 0x1100, Node: sym.Hole},
			},
		},
		{
			Nodes: []sym.Node{{Parent: -1, Name: long, Entry: top + 0x300000}},
			Rows:  []sym.Row{{Addr: top + 0x300000, Node: 0}},
		},
	}
	return m
}

func dumpOf(t *testing.T, file []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := open(t, file).Dump(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestGolden(t *testing.T) {
	id, err := ident.ParseDebugID("12345678-9abc-def0-1234-56789abcdef0-a")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{"example": example().build(t, symcache.Options{})}
	m := kernel()
	b := symcache.NewBuilder(symcache.Options{}, m.appendText)
	defer b.Close()
	for _, blk := range m.blocks {
		if err := b.Add(blk); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	err = b.Finish(&out, symcache.Info{
		Module: ident.Module{
			Type: ident.TypeELF, Arch: ident.ArchX86_64, CodeFile: "vmlinux", CodeID: "0123abcd", DebugFile: "vmlinux.debug",
			DebugID: id, DebugIDText: "12345678-9ABC-DEF0-1234-56789ABCDEF0-A",
		},
		Producer: "cc 1.0", InputSize: 4711, InputHash: [32]byte{1, 2, 3, 31: 4}, BadRecords: 3,
	})
	if err != nil {
		t.Fatal(err)
	}
	files["kernel"] = out.Bytes()
	for name, file := range files {
		got := dumpOf(t, file)
		path := filepath.Join("testdata", name+".dump")
		if *update {
			if err := os.WriteFile(path, got, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s differs; a change of the format needs another Version:\n%s", path, got)
		}
	}
}

// Each line of the example in the package comment must be a line of the dump.
func TestPackageCommentHasDump(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "doc.go", nil, parser.ParseComments|parser.PackageClauseOnly)
	if err != nil {
		t.Fatal(err)
	}
	_, text, found := strings.Cut(f.Doc.Text(), "# Example")
	if !found {
		t.Fatal("the package comment has no example")
	}
	dump := map[string]bool{}
	for line := range strings.Lines(string(dumpOf(t, example().build(t, symcache.Options{})))) {
		dump[strings.TrimRight(line, "\n")] = true
	}
	shown := 0
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if !strings.HasPrefix(line, "\t") {
			continue
		}
		shown++
		if !dump[line[1:]] {
			t.Errorf("the dump does not have the line %q of the comment", line[1:])
		}
	}
	if shown < 20 {
		t.Errorf("the example has %d lines", shown)
	}
}
