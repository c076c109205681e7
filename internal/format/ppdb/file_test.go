package ppdb_test

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/fixture"
	"symbolon/internal/format/ppdb"
)

// sample returns a file with all parts that are read.
func sample() *fixture.PPDB {
	p := fixture.NewPPDB()
	p.ID = [20]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 0x78, 0x56, 0x34, 0x12}
	p.Rows = map[int]uint32{0x02: 3, 0x06: 4}
	return fill(p)
}

func fill(p *fixture.PPDB) *fixture.PPDB {
	return p.Document("/src/a.cs", "/").Document(`C:\src\b.cs`, `\`).Document("plain", "").Document("x→y", "→").
		Method(1, fixture.NewPPDBPoints(0).Point(0, 10, 5, 10, 20).Hidden(3).Point(8, 9, 70, 12, 6)).
		Method(0, nil).
		Method(0, fixture.NewPPDBPoints(2).Hidden(0).Point(2, 300, 1, 300, 9).Document(1).Point(0x90, 70000, 9, 70001, 2).Document(2).Point(0x5000, 5, 200, 5, 201)).
		Row(0x35, "2h", 0, 0).
		Row(fixture.PPDBCustom, "2hh", 1<<5|22, p.GUID("sixteen bytes of"), p.Blob([]byte("link"))).
		Row(fixture.PPDBCustom, "2hh", 1<<5|7, p.GUID(fixture.PPDBLink), p.Blob([]byte(`{"documents":{"/*":"https://example.com/*"}}`))).
		Source(2, 0, []byte("class B {}")).Source(1, 900, []byte("packed"))
}

func open(t *testing.T, b []byte) *ppdb.File {
	t.Helper()
	f, err := ppdb.Open(bin.Bytes(b))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// points formats the points of a method.
func points(f *ppdb.File, method uint32) (out []string, err error) {
	p := f.Points(method)
	for p.Next() {
		if p.Hidden {
			out = append(out, fmt.Sprintf("%#x hidden", p.IL))
			continue
		}
		out = append(out, fmt.Sprintf("%#x %d:%d:%d", p.IL, p.Document, p.Line, p.Column))
	}
	return out, p.Err()
}

var (
	firstPoints = []string{"0x0 1:10:5", "0x3 hidden", "0x8 1:9:70"}
	thirdPoints = []string{"0x0 hidden", "0x2 2:300:1", "0x90 1:70000:9", "0x5000 2:5:200"}
)

// The contents of the tables do not depend on the widths of columns.
func TestColumnsOfEveryWidth(t *testing.T) {
	forms := map[string]func() *fixture.PPDB{
		"narrow": sample,
		"wide heaps": func() *fixture.PPDB {
			p := fixture.NewPPDB()
			p.Wide = true
			return fill(p)
		},
		"edited": func() *fixture.PPDB {
			p := sample()
			p.Edited, p.Extra = true, []string{"#Strings", "#US", "#JTD", "abc"}
			return p
		},
	}
	for name, form := range forms {
		f := open(t, form().Bytes())
		var paths []string
		for d := range f.Documents() + 2 {
			paths = append(paths, string(f.AppendPath(nil, uint32(d))))
		}
		if want := []string{"", "/src/a.cs", `C:\src\b.cs`, "plain", "x→y", ""}; !slices.Equal(paths, want) {
			t.Errorf("%s: %q", name, paths)
		}
		if f.Methods() != 3 || f.Sources() != 2 || f.Link == nil || len(f.Problems) > 0 {
			t.Errorf("%s: %d methods, %d sources, %v", name, f.Methods(), f.Sources(), f.Problems)
		}
		for method, want := range [][]string{nil, firstPoints, nil, thirdPoints, nil} {
			if got, err := points(f, uint32(method)); err != nil || !slices.Equal(got, want) {
				t.Errorf("%s: method %d: %q, %v", name, method, got, err)
			}
		}
		packed, size, err := f.Source(1)
		if string(packed) != "packed" || size != 900 || err != nil {
			t.Errorf("%s: %q, %d, %v", name, packed, size, err)
		}
		plain, size, err := f.Source(2)
		if string(plain) != "class B {}" || size != 0 || err != nil {
			t.Errorf("%s: %q, %d, %v", name, plain, size, err)
		}
		if text, _, err := f.Source(3); text != nil || err != nil {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
}

func TestIdentity(t *testing.T) {
	f := open(t, sample().Bytes())
	if f.GUID != [16]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16} || f.Stamp != 0x12345678 {
		t.Errorf("%x, %x", f.GUID, f.Stamp)
	}
}

// A column with indexes into tables of the assembly has the width that those
// need, though the file lacks them.
func TestWidthsDependOnTablesOfAssembly(t *testing.T) {
	for _, c := range []struct {
		rows    map[int]uint32
		scope   string // columns of LocalScope
		machine string // columns of StateMachineMethod
		custom  string
	}{
		{map[int]uint32{0x06: 0x7ff}, "222244", "22", "2hh"},
		{map[int]uint32{0x06: 0x800}, "222244", "22", "4hh"}, // 5 bits select the table
		{map[int]uint32{0x06: 0xffff}, "222244", "22", "4hh"},
		{map[int]uint32{0x06: 0x10000}, "422244", "44", "4hh"},
		{map[int]uint32{0x2b: 0x800}, "222244", "22", "4hh"},
		{map[int]uint32{0x1f: 0x10000}, "222244", "22", "2hh"}, // no column refers to it
	} {
		p := fixture.NewPPDB()
		p.Rows = c.rows
		p.Document("a", "")
		p.Row(0x32, c.scope, 1, 1, 1, 1, 0, 9).Row(0x36, c.machine, 1, 1)
		p.Row(fixture.PPDBCustom, c.custom, 1<<5|22, p.GUID(fixture.PPDBSource), p.Blob([]byte("\x00\x00\x00\x00text")))
		f := open(t, p.Bytes())
		if text, _, err := f.Source(1); string(text) != "text" || err != nil {
			t.Errorf("%v: %q, %v", c.rows, text, err)
		}
	}
}

// assembly returns a row of each table of an assembly, with two bytes for every
// index, in the order of the tables.
var assembly = []string{
	"2hhhh", "2hh", "4hh222", "2", "2hh", "2", "422hh2", "2", "22h", "22", "2hh", "22h", "22h", "2h", "22h", "224", "42", "h", "22", "2",
	"2h2", "22", "2", "2hh", "222", "222", "h", "h", "22h2", "42", "44", "4", "422224hhh", "4", "444", "22224hhhh", "42", "4442", "4hh",
	"44hh2", "44h2", "22", "222h", "2h", "22",
}

func TestTablesOfAssemblyInFile(t *testing.T) {
	for _, wide := range []bool{false, true} {
		p := fixture.NewPPDB()
		p.Wide = wide
		for table, columns := range assembly {
			if columns == "224" {
				columns = "242"
			}
			p.Row(table, columns, make([]uint32, 9)...)
		}
		f := open(t, fill(p).Bytes())
		if got, err := points(f, 1); err != nil || !slices.Equal(got, firstPoints) || len(f.Problems) > 0 {
			t.Errorf("wide %v: %q, %v, %v", wide, got, err, f.Problems)
		}
	}
}

func TestInvalidPointsEndMethod(t *testing.T) {
	begin := func() *fixture.PPDBPoints { return fixture.NewPPDBPoints(0).Point(4, 10, 5, 10, 20) }
	for name, p := range map[string]*fixture.PPDBPoints{
		"cut number":       begin().Raw(0x80),
		"unknown number":   begin().Raw(0xff, 1, 1, 1, 1),
		"cut record":       begin().Raw(1, 0, 1),
		"cut document":     begin().Raw(0),
		"line below zero":  begin().Point(9, -1, 5, -1, 6),
		"column too small": begin().Point(9, 10, -5, 10, 6),
	} {
		f := open(t, fixture.NewPPDB().Document("a", "").Method(1, p).Bytes())
		if got, err := points(f, 1); err == nil || !slices.Equal(got, []string{"0x4 1:10:5"}) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	f := open(t, fixture.NewPPDB().Method(0, fixture.NewPPDBPoints(0)).Row(fixture.PPDBMethod, "2h", 1, 999).Bytes())
	if got, err := points(f, 1); len(got) > 0 || err == nil {
		t.Errorf("without a document: %q, %v", got, err)
	}
	if got, err := points(f, 2); len(got) > 0 || err == nil {
		t.Errorf("outside of the heap: %q, %v", got, err)
	}
	var many fixture.PPDBPoints
	many.Raw(0, 1, 0, 0, 0)
	for range 9 {
		many.Raw(0xdf, 0xff, 0xff, 0xff, 0, 0) // the largest step
	}
	f = open(t, fixture.NewPPDB().Method(0, &many).Bytes())
	if got, err := points(f, 1); len(got) != 9 || err == nil {
		t.Errorf("beyond 32 bits: %q, %v", got, err)
	}
}

// Offset 0 of #Blob is the empty byte string, whatever its content is.
func TestFirstBlobIsEmpty(t *testing.T) {
	b := fixture.NewPPDB().Document("a", "").Method(1, nil).Bytes()
	heap := bytes.Index(b, []byte("\x00\x01a"))
	copy(b[heap:], "\x06\x00\x00\x00\x01\x01\x01")
	f := open(t, b)
	for _, method := range []uint32{0, 1, 2} {
		if got, err := points(f, method); len(got) > 0 || err != nil {
			t.Errorf("method %d: %q, %v", method, got, err)
		}
	}
}

func TestLongPathsAreTruncated(t *testing.T) {
	p := fixture.NewPPDB()
	part := p.Blob(bytes.Repeat([]byte("p"), 3000))
	name := []byte("/")
	for range 20_000 {
		name = fixture.PPDBNumber(name, part)
	}
	p.Row(fixture.PPDBDocument, "hhhh", p.Blob(name), 0, 0, 0)
	p.Row(fixture.PPDBDocument, "hhhh", p.Blob([]byte("/\xff")), 0, 0, 0)
	f := open(t, p.Bytes())
	if got := f.AppendPath([]byte("x"), 1); len(got) != 4097 || !strings.HasPrefix(string(got), "xppp") {
		t.Errorf("%d bytes", len(got))
	}
	if got := f.AppendPath(nil, 2); string(got) != "" {
		t.Errorf("%q", got)
	}
}

func TestErrorsOfSources(t *testing.T) {
	p := fixture.NewPPDB().Source(1, 0xffffffff, nil).Row(fixture.PPDBCustom, "2hh", 2<<5|22, 1, 999).Row(fixture.PPDBCustom, "2hh", 3<<5|22, 9, 1)
	f := open(t, p.Bytes())
	for d, want := range map[uint32]string{1: "unknown format 0xffffffff", 2: "truncated in #Blob at offset 0x3e7"} {
		if _, _, err := f.Source(d); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if f.Sources() != 2 || f.Link != nil {
		t.Errorf("%d", f.Sources())
	}
}

func TestOpenRejects(t *testing.T) {
	whole := sample().Bytes()
	cut := bytes.Replace(whole, []byte("#Pdb"), []byte("#Odb"), 1)
	for _, c := range []struct {
		name string
		data []byte
		kind fault.Kind
		want string
	}{
		{"other", []byte("BSJX"), fault.Malformed, "invalid magic"},
		{"empty", nil, fault.Malformed, "invalid magic"},
		{"head", whole[:20], fault.Malformed, "truncated list of streams at offset"},
		{"assembly", cut, fault.Unsupported, "the metadata is not that of a portable PDB"},
		{"id", whole[:100], fault.Malformed, "truncated id at offset"},
		{"tables", bytes.Replace(whole, []byte("#~"), []byte("#x"), 1), fault.Malformed, "truncated header"},
	} {
		_, err := ppdb.Open(bin.Bytes(c.data))
		var f *fault.Error
		if !errors.As(err, &f) || f.Kind != c.kind || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestDamagedFiles(t *testing.T) {
	more := sample()
	more.Counts = map[int]uint32{fixture.PPDBCustom: 1 << 31}
	unknown := sample().Row(0x2d, "2", 1)
	shortID := fixture.NewPPDB()
	shortID.Rows = map[int]uint32{6: 1}
	id := shortID.Bytes()
	id[bytes.Index(id, []byte("#Pdb"))-4] -= 4
	name := sample().Bytes()
	copy(name[bytes.Index(name, []byte("#GUID")):], strings.Repeat("x", 40))
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"rows", more.Bytes(), "the file has 4 of 2147483648 rows of table 0x37"},
		{"unknown", unknown.Bytes(), "unknown table 0x2d"},
		{"rows of #Pdb", id, "the stream ends in the numbers of rows"},
		{"name", name, "3 of 4 streams have a name"},
		{"cut", sample().Bytes()[:len(sample().Bytes())-20], "bytes of #GUID"},
	} {
		f, err := ppdb.Open(bin.Bytes(c.data))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if !strings.Contains(fmt.Sprint(f.Problems), c.want) {
			t.Errorf("%s: %v", c.name, f.Problems)
		}
	}
}

// Methods may share sequence points, up to a limit.
func TestSharedPointsAreLimited(t *testing.T) {
	p := fixture.NewPPDB()
	points := fixture.NewPPDBPoints(1).Point(0, 10, 5, 10, 20)
	for range 100 << 10 {
		points.Raw(1, 0)
	}
	at := p.Blob(points.Bytes())
	for range 100 {
		p.Row(fixture.PPDBMethod, "2h", 0, at)
	}
	f := open(t, p.Bytes())
	if f.Methods() != 2 || !strings.Contains(fmt.Sprint(f.Problems), "methods from 0x3 on share") {
		t.Errorf("%d, %v", f.Methods(), f.Problems)
	}
}

// Counts without rows do not allocate.
func TestCountsDoNotAllocate(t *testing.T) {
	p := sample()
	p.Counts = map[int]uint32{fixture.PPDBDocument: 1<<32 - 1}
	p.Rows = map[int]uint32{6: 1<<32 - 1}
	b := p.Bytes()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	open(t, b)
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 64<<10 {
		t.Errorf("%d bytes", n)
	}
}

func TestPointsDoNotAllocate(t *testing.T) {
	f := open(t, sample().Bytes())
	if n := testing.AllocsPerRun(100, func() {
		for p := f.Points(3); p.Next(); {
			_ = p.Line
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
