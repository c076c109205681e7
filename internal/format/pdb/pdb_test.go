package pdb_test

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/fixture"
	"symbolon/internal/format/breakpad"
	"symbolon/internal/format/pdb"
	"symbolon/internal/sym"
)

const code = 0x60000020

var record = fixture.PDBRecord

func open(t *testing.T, p *fixture.PDB) *pdb.File {
	t.Helper()
	f, err := pdb.Open(bin.Bytes(p.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Problems) > 0 {
		t.Fatal(f.Problems)
	}
	return f
}

// text formats the code of a module.
func text(f *pdb.File, module int) string {
	var b pdb.Body
	var out strings.Builder
	if err := f.Body(module, &b); err != nil {
		fmt.Fprintln(&out, err)
	}
	show := func(first, n int) {
		for _, l := range b.Lines[first : first+n] {
			name := "?"
			if l.File > 0 {
				name = string(f.AppendString(nil, l.File-1))
			}
			fmt.Fprintf(&out, " %x-%x %s:%d", l.Off, l.End, name[strings.LastIndexByte(name, '\\')+1:], l.Line)
			if l.Column > 0 {
				fmt.Fprintf(&out, ":%d", l.Column)
			}
		}
		out.WriteByte('\n')
	}
	for _, p := range b.Procs {
		fmt.Fprintf(&out, "%d:%x+%x %s", p.Section, p.Off, p.Size, f.AppendProc(nil, p.Record))
		show(p.FirstLine, p.NumLines)
		for _, s := range b.Sites[p.FirstSite : p.FirstSite+p.NumSites] {
			parent := int(s.Parent)
			if parent >= 0 {
				parent -= p.FirstSite
			}
			fmt.Fprintf(&out, "  in %d %s", parent, f.AppendItem(nil, s.Item))
			show(s.FirstLine, s.NumLines)
		}
	}
	return out.String()
}

const wantFirst = `1:10+80 yard::weigh(int, char const*) 10-14 one.cc:5:9 14-30 one.cc:6:3 30-90 two.cc:31
  in -1 Crane::lift() const 14-1a one.cc:101 1a-1c one.cc:101 1c-1f two.cc:103 2f-34 two.cc:103
  in 0 ` + "`anonymous namespace'" + `::hidden(int, char const*) 15-17 two.cc:8
3:40+20 yard::weigh(int, char const*)
1:90+6 jump
1:b0+10 other(float (*)(bool), void (Crane::*)(), int Crane::*, Crane const* const&&, Colour, int[3][4], Barge[2], const Tank, char*, char* const&, <missing type 0x9999>, ...)
`

const wantSecond = `1:200+10 borrowed(int, char const*)
  in -1 outside(int, char const*) 205-207 ?:0
`

func TestModulesWithAnyBlockOrder(t *testing.T) {
	for _, scattered := range []bool{false, true} {
		for _, size := range []int{512, 4096, 32768} {
			p := fixture.SamplePDB()
			p.Scattered, p.BlockSize = scattered, size
			f := open(t, p)
			if got := text(f, 0); got != wantFirst {
				t.Errorf("%d bytes, scattered %v:\n%s", size, scattered, got)
			}
			if got := text(f, 1); got != wantSecond {
				t.Errorf("%d bytes, scattered %v:\n%s", size, scattered, got)
			}
		}
	}
}

// source has only ReadAt, like a file that is not mapped.
type source struct {
	b    []byte
	read int
}

func (s *source) Size() int64 { return int64(len(s.b)) }
func (s *source) ReadAt(p []byte, off int64) (int, error) {
	if off >= int64(len(s.b)) {
		return 0, io.EOF
	}
	n := copy(p, s.b[off:])
	s.read += n
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func TestFileOutsideOfMemory(t *testing.T) {
	p := fixture.SamplePDB()
	p.Scattered, p.NoSteps = true, true
	f, err := pdb.Open(&source{b: p.Bytes()})
	if err != nil {
		t.Fatal(err)
	}
	// The number of elements of a declared class is found by hashes.
	if got := text(f, 0) + text(f, 1); got != strings.Replace(wantFirst, "Barge[2]", "Barge[]", 1)+wantSecond {
		t.Error(got)
	}
	var names []string
	if err := f.Publics(func(p pdb.Public) bool {
		names = append(names, fmt.Sprintf("%x %s", p.Addr, f.PublicName(p.Record)))
		return true
	}); err != nil {
		t.Error(err)
	}
	if want := []string{"1300 ?late@@YAXXZ", "1010 ?weigh@yard@@YAHH@Z", "1010 again", "3040 apart"}; !slices.Equal(names, want) {
		t.Error(names)
	}
}

func TestAgeOfDebugInformation(t *testing.T) {
	p := fixture.SamplePDB()
	f := open(t, p)
	if f.Age != 3 || f.GUID != p.GUID || f.Machine != 0x8664 || f.Stripped || !f.HasCode() || !f.HasPublics() || f.HasFrames() {
		t.Errorf("%+v", f)
	}
	p.DebugAge, p.Flags = 0, 2
	if f := open(t, p); f.Age != 7 || !f.Stripped || !f.HasCode() {
		t.Errorf("age %d, stripped %v", f.Age, f.Stripped)
	}
}

func TestPublicsAt(t *testing.T) {
	for _, old := range []bool{false, true} {
		p := fixture.SamplePDB()
		p.OldParts = old
		f := open(t, p)
		for addr, want := range map[uint32]string{0x1010: "?weigh@yard@@YAHH@Z again ", 0x12ff: "?weigh@yard@@YAHH@Z again ", 0x1300: "?late@@YAXXZ ",
			0x1fff: "?late@@YAXXZ ", 0x3041: "apart ", 0x3030: "", 0x1000: "", 0x5000: "", 0x2004: ""} {
			got := ""
			for _, p := range f.PublicsAt(addr) {
				got += string(f.PublicName(p.Record)) + " "
			}
			if got != want {
				t.Errorf("%x: %q, not %q", addr, got, want)
			}
		}
		parts := ""
		f.Parts(func(p pdb.Part) bool {
			parts += fmt.Sprintf("%x-%x %d ", p.Start, p.End, p.Module)
			return true
		})
		if parts != "1000-10c0 0 1200-1210 1 3040-3060 0 " {
			t.Error(parts)
		}
	}
}

func TestMovedCode(t *testing.T) {
	p := fixture.SamplePDB()
	p.OldSections = p.Sections
	p.Sections = []fixture.PDBSection{{0x1000, 0x2000, code}}
	p.FromSource = [][2]uint32{{0x1000, 0x2000}, {0x1040, 0x1800}, {0x1060, 0}, {0x1070, 0x2100}}
	p.ToSource = [][2]uint32{{0x1800, 0x1040}, {0x1820, 0}, {0x2000, 0x1000}, {0x2040, 0}, {0x2100, 0x1070}}
	f := open(t, p)
	if addr, ok := f.Addr(1, 0x45); !ok || addr != 0x1805 {
		t.Errorf("%x %v", addr, ok)
	}
	if _, ok := f.Addr(1, 0x65); ok {
		t.Error("removed code has an address")
	}
	got := fmt.Sprintf("%x", f.Ranges(nil, 1, 0x10, 0x80))
	if want := "[{2010 2040 0} {1800 1820 30} {2100 2120 60}]"; got != want {
		t.Error(got)
	}
	name := ""
	for _, p := range f.PublicsAt(0x2010) {
		name += string(f.PublicName(p.Record))
	}
	if name != "?weigh@yard@@YAHH@Zagain" || f.SectionEnd(0x2010) != 0x3000 {
		t.Errorf("%s, %x", name, f.SectionEnd(0x2010))
	}
}

func TestFramesOfX86(t *testing.T) {
	p := fixture.SamplePDB()
	program := p.String("$T0 $ebp = $eip $T0 4 + ^ = ")
	frame := fixture.Fields(uint32(0x1010), uint32(0x80), uint32(8), uint32(12), uint32(0), program, uint16(3), uint16(4), uint32(4))
	p.Frames = slices.Concat(frame, frame) // a repeated frame is skipped
	p.FPO = fixture.Fields(uint32(0x1090), uint32(6), uint32(2), uint16(3), uint16(0x1205))
	f := open(t, p)
	stack := func() (all string) {
		if err := f.Frames(func(u *sym.Unwind) error { all += string(breakpad.AppendStack(nil, u)); return nil }); err != nil {
			t.Error(err)
		}
		return all
	}
	const fpo = "STACK WIN 0 1090 6 5 0 c 8 8 0 0 1\n"
	if got := stack(); got != fpo+"STACK WIN 4 1010 80 3 0 c 4 8 0 1 $T0 $ebp = $eip $T0 4 + ^ =\n" {
		t.Error(got)
	}
	p.OldSections = p.Sections
	p.FromSource = [][2]uint32{{0x1000, 0x2000}, {0x1040, 0x1800}}
	f = open(t, p)
	want := strings.Replace(fpo, "1090", "1850", 1) + `STACK WIN 4 2010 3 3 0 c 4 8 0 1 $T0 $ebp = $eip $T0 4 + ^ =
STACK WIN 4 2013 2d 0 0 c 4 8 0 1 $T0 $ebp = $eip $T0 4 + ^ =
STACK WIN 4 1800 50 0 0 c 4 8 0 1 $T0 $ebp = $eip $T0 4 + ^ =
`
	if got := stack(); got != want {
		t.Error(got)
	}
}

func TestRecursiveTypesEndArguments(t *testing.T) {
	p := fixture.SamplePDB()
	p.Types = [][]byte{
		record(0x1008, uint32(3), uint8(0), uint8(0), uint16(1), uint32(0x1001)),
		record(0x1201, uint32(2), uint32(0x1002), uint32(0x1002)),
		record(0x1002, uint32(0x1000), uint32(0x1000c)), // to the function itself
	}
	p.Modules[0].Symbols = [][]byte{fixture.PDBProc(0x1110, 0x1000, 0x10, 0x80, "round"), record(6)}
	f := open(t, p)
	if got := text(f, 0); !strings.HasPrefix(got, "1:10+80 round 10-14") {
		t.Error(got)
	}
}

func TestOpenRejects(t *testing.T) {
	whole := fixture.SamplePDB().Bytes()
	cut := func(n int) []byte { return whole[:n] }
	with := func(at int, b ...byte) []byte {
		return append(append(slices.Clone(whole[:at]), b...), whole[at+len(b):]...)
	}
	for want, data := range map[string][]byte{
		"PDB: malformed: superblock: the file ends early":                 cut(50),
		"PDB: malformed: superblock, offset 0x20: invalid block size 513": with(32, 1, 2),
		"PDB: unsupported: compressed file (MSFZ)":                        []byte("Microsoft MSFZ Container\r\n\x1aALD\x00\x00"),
		"PDB: unsupported: version 2, of Visual C++ 6 and older":          []byte("Microsoft C/C++ program database 2.00\r\n\x1aJG"),
	} {
		_, err := pdb.Open(bin.Bytes(data))
		if err == nil || err.Error() != want {
			t.Errorf("%v, not %s", err, want)
		}
	}
	if _, err := pdb.Open(bin.Bytes(with(44, 0xff, 0xff, 0xff, 0xff))); err == nil || !strings.Contains(err.Error(), "stream directory") {
		t.Error(err)
	}
	for n := range len(whole) / 64 { // a truncated file is rejected or read up to its end
		f, err := pdb.Open(bin.Bytes(cut(n * 64)))
		if err == nil {
			text(f, 0)
		}
	}
}

// Streams with shared blocks are skipped once they exceed those of the file.
func TestStreamsAreLimitedByFile(t *testing.T) {
	const size, streams, info = 512, 20, 3
	b := make([]byte, 6*size) // superblock, two maps, the info stream, directory, its list
	copy(b[info*size:], fixture.Fields(uint32(20000404), uint32(7), uint32(1), make([]byte, 16), make([]byte, 28)))
	directory := fixture.Fields(uint32(streams), uint32(0), uint32(56))
	for range streams - 2 {
		directory = append(directory, fixture.Fields(uint32(size))...)
	}
	for range streams - 1 {
		directory = append(directory, fixture.Fields(uint32(info))...)
	}
	copy(b[4*size:], directory)
	copy(b[5*size:], fixture.Fields(uint32(4)))
	copy(b, fixture.Fields([]byte(pdb.Magic), uint32(size), uint32(1), uint32(6), uint32(len(directory)), uint32(0), uint32(5)))
	f, err := pdb.Open(bin.Bytes(b))
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for _, p := range f.Problems {
		if strings.Contains(p.Reason, "has 1 blocks, only 0 are left in the file") {
			refused++
		}
	}
	if refused != streams-1-6 {
		t.Errorf("%d of %d streams are skipped: %v", refused, streams, f.Problems)
	}
}

// Shared data costs no more than data of one owner.
func TestSharedDataIsLimited(t *testing.T) {
	p := fixture.SamplePDB()
	b := p.Bytes()
	f := open(t, p)
	if len(f.Modules) != 2 {
		t.Fatal(len(f.Modules))
	}
	// Two modules of one stream: the number is at offset 34 of each.
	at := strings.Index(string(b), "First.obj\x00First.obj\x00") - 64 + 34
	second := strings.Index(string(b), "second.obj\x00second.obj\x00") - 64 + 34
	if at < 0 || second < 0 {
		t.Fatal("no modules")
	}
	copy(b[second:second+2], b[at:at+2])
	shared, err := pdb.Open(bin.Bytes(b))
	if err != nil {
		t.Fatal(err)
	}
	if got := text(shared, 0) + text(shared, 1); got != wantFirst || !strings.Contains(fmt.Sprint(shared.Problems), "module 1 shares the stream of another one") {
		t.Errorf("%s%v", got, shared.Problems)
	}

	// Procedures that all have the same lines.
	p = fixture.SamplePDB()
	rows := []any{uint32(0x10), uint16(1), uint16(0), uint32(0x80), uint32(0), uint32(100), uint32(12 + 100*8)}
	for i := range uint32(100) {
		rows = append(rows, i, 0x80000000|i)
	}
	p.Modules[0].Lines = [][]byte{p.Modules[0].Lines[0], fixture.PDBLines(0xf2, rows...)}
	p.Modules[0].Symbols = nil
	for i := range uint32(500) {
		p.Modules[0].Symbols = append(p.Modules[0].Symbols, fixture.PDBProc(0x1110, 0, 0x11+i%100, 0x40, "f"), record(6))
	}
	var body pdb.Body
	if err := open(t, p).Body(0, &body); err == nil || !strings.Contains(err.Error(), "too many lines shared by procedures") || len(body.Procs) > 40 {
		t.Errorf("%d procedures, %v", len(body.Procs), err)
	}
}

// Lines of calls take two bytes; a module has a limit of them.
func TestLinesOfCallsAreLimited(t *testing.T) {
	p := fixture.SamplePDB()
	call := record(0x114d, uint32(0), uint32(0), uint32(0x1002), slices.Repeat([]byte{0x0b, 0x01}, 32000))
	p.Modules[0].Symbols = [][]byte{fixture.PDBProc(0x1110, 0, 0x10, 0x80000, "f")}
	for range 80 {
		p.Modules[0].Symbols = append(p.Modules[0].Symbols, call, record(0x114e))
	}
	p.BlockSize = 32768
	var body pdb.Body
	err := open(t, p).Body(0, &body)
	if err == nil || !strings.Contains(err.Error(), "too many lines") || len(body.Lines) > 2<<20+32001 || len(body.Sites) != 80 {
		t.Errorf("%d lines of %d calls, %v", len(body.Lines), len(body.Sites), err)
	}
}

// Some compilers write invalid file offsets for inlined calls.
func TestCallWithoutFileHasFileOfFunction(t *testing.T) {
	p := fixture.SamplePDB()
	p.Modules[0].Symbols = [][]byte{
		fixture.PDBProc(0x1110, 0, 0x10, 0x80, "f"),
		record(0x114d, uint32(0), uint32(0), uint32(0x1002), []byte{0x05, 0x80, 0xc8, 0x0b, 0x24, 0x04, 0x02}), record(0x114e), record(6),
	}
	if got := text(open(t, p), 0); !strings.Contains(got, "lift() const 14-16 one.cc:101\n") {
		t.Error(got)
	}
}

// torn returns the sample split into ranges of four bytes.
func torn() *fixture.PDB {
	p := fixture.SamplePDB()
	p.OldSections, p.Sections = p.Sections, []fixture.PDBSection{{0x1000, 0x100000, code}}
	for i := range uint32(3000) {
		p.FromSource = append(p.FromSource, [2]uint32{0x1000 + 4*i, 0x80000 - 8*i})
	}
	return p
}

func TestRangesAndFramesAreLimited(t *testing.T) {
	p := torn()
	p.Frames = fixture.Fields(uint32(0x1000), uint32(8000), make([]byte, 12), p.String(strings.Repeat("$eip ", 2000)), uint16(3), uint16(4), uint32(4))
	f := open(t, p)
	if n := len(f.Ranges(nil, 1, 0, 12000)); n != 1024 {
		t.Errorf("%d pieces", n)
	}
	records, longest := 0, 0
	if err := f.Frames(func(u *sym.Unwind) error {
		records, longest = records+1, max(longest, len(u.Rules))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if records != 64+1 || longest > 1<<10 { // of the code, and of the prologue
		t.Errorf("%d records of up to %d bytes", records, longest)
	}
}
