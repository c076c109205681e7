package cficache_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/cficache"
	"symbolon/internal/debugfile"
	"symbolon/internal/fault"
	"symbolon/internal/fixture"
	"symbolon/internal/format/breakpad"
	"symbolon/internal/ident"
	"symbolon/internal/object"
	"symbolon/internal/proctest"
	"symbolon/internal/sym"
	"symbolon/internal/unwind/rule"
)

// parse returns STACK records, without their first word.
func parse(lines ...string) (all []sym.Unwind) {
	for _, line := range lines {
		if u, ok := breakpad.ParseStack([]byte("STACK " + line)); ok {
			all = append(all, u)
		}
	}
	return all
}

// each returns a function that yields records.
func each(all []sym.Unwind) func(func(*sym.Unwind) error) error {
	return func(yield func(*sym.Unwind) error) error {
		for _, u := range all {
			if err := yield(&u); err != nil {
				return err
			}
		}
		return nil
	}
}

// build returns the bytes of a table, and the table.
func build(t *testing.T, arch ident.Arch, all []sym.Unwind) ([]byte, *cficache.Table) {
	t.Helper()
	var b bytes.Buffer
	if err := cficache.Build(&b, arch, each(all), cficache.Options{}); err != nil {
		t.Fatal(err)
	}
	table, err := cficache.Open(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), table
}

// model answers from a list of all rows.
type model struct {
	pieces []piece
}

type piece struct {
	kind       int // 0 Windows with a program, 1 without one, 2 CFI
	start, end uint64
	rows       []span // fewer if rules are invalid
}

type span struct {
	start, end uint64
	row        rule.Row
}

func newModel(arch ident.Arch, all []sym.Unwind) *model {
	m := &model{}
	c := rule.Compiler{CPU: rule.For(arch)}
	if c.CPU == nil {
		return m
	}
	for i := 0; i < len(all); i++ {
		u := &all[i]
		p := piece{kind: 2, start: u.Addr, end: u.Addr + u.Size}
		if p.end < p.start {
			p.end = math.MaxUint64
		}
		isPiece := u.Kind == sym.UnwindBegin
		if w := &u.Windows; u.Kind == sym.UnwindWindows {
			p.kind = 1 - int(w.Type/4)
			isPiece = w.Type == 4 && w.HasProgram || w.Type == 0 && !w.HasProgram
		}
		yield := func(start, end uint64, row rule.Row) error {
			p.rows = append(p.rows, span{start, end, slices.Clone(row)})
			return nil
		}
		_ = c.Add(&all[i], yield)
		for ; i+1 < len(all) && all[i+1].Kind == sym.UnwindChange; i++ {
			_ = c.Add(&all[i+1], yield)
		}
		if _ = c.Flush(yield); isPiece && p.start < p.end {
			m.pieces = append(m.pieces, p)
		}
	}
	return m
}

func (p *piece) row(addr uint64) rule.Row {
	for _, s := range p.rows {
		if s.start <= addr && addr < s.end {
			return s.row
		}
	}
	return nil
}

// row returns the row at an address: of Windows that of the piece that starts
// last, of CFI that of the piece that starts first.
func (m *model) row(addr uint64) (row rule.Row) {
	var best [3]*piece
	for i := range m.pieces {
		p := &m.pieces[i]
		b := best[p.kind]
		switch {
		case addr < p.start || p.kind == 2 && addr >= p.end:
		case b == nil || p.kind < 2 && p.start > b.start || p.kind == 2 && p.start < b.start:
			best[p.kind] = p
		}
	}
	for kind, p := range best {
		if p == nil || kind == 1 && len(row) > 0 {
			continue
		}
		row = append(row, p.row(addr)...)
	}
	return row
}

// edges returns the addresses at and around each start and end, except for the
// last address, which is not in a range with a size.
func (m *model) edges() (addrs []uint64) {
	addrs = []uint64{0}
	for _, p := range m.pieces {
		for _, s := range append([]span{{start: p.start, end: p.end}}, p.rows...) {
			addrs = append(addrs, s.start-1, s.start, s.start+1, s.start+(s.end-s.start)/2, s.end-1, s.end, s.end+1, s.end+1<<14)
		}
	}
	slices.Sort(addrs)
	return slices.DeleteFunc(slices.Compact(addrs), func(a uint64) bool { return a == math.MaxUint64 })
}

// checkTable compares a table with the model, and with the table of its records.
func checkTable(t *testing.T, arch ident.Arch, all []sym.Unwind) {
	t.Helper()
	data, table := build(t, arch, all)
	m := newModel(arch, all)
	var exported []sym.Unwind
	if err := table.Records(func(u *sym.Unwind) error {
		r := *u
		r.Rules = bytes.Clone(u.Rules)
		exported = append(exported, r)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	var again bytes.Buffer
	if err := cficache.Build(&again, arch, each(exported), cficache.Options{Info: table.Info()}); err != nil || !bytes.Equal(data, again.Bytes()) {
		t.Errorf("the table of the records of the table differs: %v", err)
	}
	if err := table.Verify(); err != nil {
		t.Error(err)
	}
	var text []sym.Unwind // as symbolon cfi writes them
	for _, u := range all {
		if v, ok := breakpad.ParseStack(breakpad.AppendStack(nil, &u)); ok {
			text = append(text, v)
		}
	}
	if second, _ := build(t, arch, text); !bytes.Equal(data, second) {
		t.Error("the table of the text of the records differs")
	}
	edges := m.edges()
	if len(edges) > 20000 { // the model is slow
		random := rand.New(rand.NewPCG(1, 1))
		random.Shuffle(len(edges), func(i, k int) { edges[i], edges[k] = edges[k], edges[i] })
		edges = edges[:20000]
	}
	for _, addr := range edges {
		want := m.row(addr)
		if got := table.Row(addr); !bytes.Equal(got, want) {
			t.Fatalf("at %#x: got row %x, want %x", addr, got, want)
		}
	}
}

func TestRowsAreThoseOfTheRecords(t *testing.T) {
	for name, c := range map[string]struct {
		arch  ident.Arch
		lines string
	}{
		"nothing": {ident.ArchX86_64, ""},
		"changes": {ident.ArchX86_64, "CFI INIT 1000 100 .cfa: $rsp 8 + .ra: .cfa -8 + ^|CFI 1001 .cfa: $rsp 16 +|CFI 1004 $rbx: .cfa -16 + ^"},
		"no order": {ident.ArchARM64, "CFI INIT 2000 100 .cfa: sp .ra: x30|CFI 2004 .cfa: sp 16 +|CFI INIT 1000 100 .cfa: sp .ra: x30|" +
			"CFI INIT 1100 10 .cfa: sp .ra: x30"},
		"overlaps": {ident.ArchX86_64, "CFI INIT 1000 100 .cfa: 1 .ra: 1|CFI INIT 1080 100 .cfa: 2 .ra: 2|CFI 1100 .cfa: 3|CFI INIT 1000 200 .cfa: 4 .ra: 4|" +
			"CFI INIT 10f0 8 .cfa: 5 .ra: 5"},
		"large code": {ident.ArchX86_64, "CFI INIT 800 20000 .cfa: 1 .ra: 1|CFI 1fff .cfa: 2|CFI 3000 .cfa: 3|CFI 9001 .cfa: 4|CFI e000 .cfa: 5|" +
			"CFI 13fff .cfa: 6|CFI INIT 1000000000 5000 .cfa: 7 .ra: 7|CFI INIT 7ffffffffffff000 8 .cfa: 8 .ra: 8"},
		"end of the addresses": {ident.ArchX86_64, "CFI INIT fffffffffffffff0 100 .cfa: 1 .ra: 1|CFI INIT 0 10 .cfa: 1 .ra: 1"},
		"holes":                {ident.ArchX86_64, "CFI INIT 0 10 .cfa: 1 .ra: 1|CFI 8 .cfa:|CFI 9 .cfa: 1|CFI INIT 10 10 .cfa: 1 .ra: 1|CFI INIT 20 10 x"},
		"windows": {ident.ArchX86, "WIN 4 1000 80 3 0 c 4 8 0 1 $eip 4 ^ =|WIN 4 1001 7f 3 0 c 4 8 0 1 $eip 8 @ =|WIN 4 1010 8 3 0 c 4 8 0 1 $eip 1 =|" +
			"WIN 0 0ff0 20 0 0 8 0 0 0 0 1|WIN 0 0ff0 40 0 0 4 0 0 0 0 0|WIN 0 2000 20 0 0 8 0 0 0 0 1"},
		"windows and CFI": {ident.ArchX86, "WIN 4 1000 80 3 0 c 4 8 0 1 $eip 4 ^ =|CFI INIT 1010 100 .cfa: 1 .ra: 2|CFI 1020 .cfa: 2|WIN 0 1000 200 0 0 8 0 0 0 0 1"},
		"no CPU":          {ident.ArchWasm32, "CFI INIT 1000 100 .cfa: 1 .ra: 1"},
	} {
		t.Run(name, func(t *testing.T) { checkTable(t, c.arch, parse(strings.Split(c.lines, "|")...)) })
	}
}

func TestRowsAreThoseOfRandomRecords(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		var lines []string
		addr := uint64(random.IntN(1 << 16))
		for range 1 + random.IntN(40) {
			switch random.IntN(8) {
			case 0:
				addr = uint64(random.IntN(1 << 16))
			case 1:
				addr = random.Uint64() >> random.IntN(64)
			}
			size := 1 + random.IntN(1<<random.IntN(14))
			switch random.IntN(4) {
			case 0:
				lines = append(lines, fmt.Sprintf("WIN 4 %x %x 0 0 %x 4 8 0 1 $eip %d =", uint32(addr), size, random.IntN(3), random.IntN(3)))
			case 1:
				lines = append(lines, fmt.Sprintf("WIN 0 %x %x 0 0 %x 4 8 0 0 1", uint32(addr), size, random.IntN(3)))
			default:
				lines = append(lines, fmt.Sprintf("CFI INIT %x %x .cfa: $esp %d + .ra: .cfa -4 + ^", addr, size, random.IntN(9)))
				for range random.IntN(4) {
					lines = append(lines, fmt.Sprintf("CFI %x .cfa: $esp %d +", addr+uint64(random.IntN(size)), random.IntN(9)))
				}
			}
			addr += uint64(size)
		}
		checkTable(t, ident.ArchX86, parse(lines...))
	}
}

// records returns the records of the objects of a file.
func records(t *testing.T, b []byte) (arch ident.Arch, all []sym.Unwind) {
	t.Helper()
	f, err := debugfile.Open(bin.Bytes(b), object.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o := f.Objects()[0]
	if err := o.CFI(func(u *sym.Unwind) error {
		r := *u
		r.Rules = bytes.Clone(u.Rules)
		all = append(all, r)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Fatal("the file has no unwind information")
	}
	return o.Info().Module.Arch, all
}

func TestRowsAreThoseOfFiles(t *testing.T) {
	frames := fixture.NewFrame(true)
	frames.Addr = 0x1400
	c := frames.CIE(fixture.FrameX8664(true))
	at := frames.Len()
	frames.FDE(c, 0x1140, 0x20, 0x44, 0x0e, 32)
	frames.FDE(c, 0x1100, 0x20, 0x44, 0x0e, 48, 0x44, 0x07, 16)
	elf := &fixture.ELF{Wide: true, Type: 3, Machine: 62}
	elf.Segment(fixture.ELFSegment{Type: 1, Flags: 5, Vaddr: 0x1000, Memsz: 0x1000})
	elf.Add(fixture.ELFSection{Name: ".text", Type: 1, Flags: 6, Addr: 0x1100, Data: make([]byte, 0x100)})
	elf.Add(fixture.ELFSection{Name: ".eh_frame", Type: 1, Flags: 2, Addr: 0x1400, Data: frames.Bytes()})

	macho := fixture.NewMachO(fixture.MachOX64, 3, fixture.MachODylib)
	macho.Segment("__TEXT", 0x1000, 0x1000,
		fixture.MachOSection{Name: "__text", Addr: 0x1100, Data: make([]byte, 0x100), Flags: fixture.MachOCode},
		fixture.MachOSection{Name: "__eh_frame", Addr: 0x1400, Data: frames.Bytes()},
		fixture.MachOSection{Name: "__unwind_info", Addr: 0x1200, Data: fixture.UnwindInfo(0x180, []uint32{0x02020000},
			fixture.UnwindPage{Rows: []fixture.UnwindRow{
				{Start: 0x100, Encoding: 0x02020000}, {Start: 0x140, Encoding: 0x04000000 | uint32(at)}, {Start: 0x160, Encoding: 0x02030000},
			}})})

	pe := fixture.NewPE(fixture.PEX64)
	pe.Section(fixture.PESection{Name: ".text", Addr: 0x1000, Size: 0x4000, Data: make([]byte, 0x400), Flags: fixture.PECode})
	pe.Section(fixture.PESection{Name: ".xdata", Addr: 0x5000, Data: fixture.PEUnwind{Prolog: 5, Codes: []uint16{0x4205, 0x3001}}.Bytes()})
	pe.Table(fixture.PEDirException, fixture.PESection{Name: ".pdata", Addr: 0x6000,
		Data: fixture.PEPack([]uint32{0x1000, 0x1010, 0x5000, 0x1020, 0x1040, 0x5000})})

	pdb := fixture.SamplePDB()
	pdb.Machine = 0x14c
	program := pdb.String("$T0 $ebp = $eip $T0 4 + ^ = $esp $T0 8 + = ")
	pdb.Frames = fixture.Fields(uint32(0x1010), uint32(0x80), uint32(8), uint32(12), uint32(0), program, uint16(3), uint16(4), uint32(4))
	pdb.FPO = fixture.Fields(uint32(0x1090), uint32(6), uint32(2), uint16(3), uint16(0x1205))

	text := fixture.NewSym("a.so").CFIInit(0x1000, 0x40, ".cfa: $rsp 8 + .ra: .cfa 8 - ^").CFI(0x1004, ".cfa: $rsp 16 +")
	for name, b := range map[string][]byte{
		"ELF": elf.Bytes(), "Mach-O": macho.Bytes(), "PE": pe.Bytes(), "PDB": pdb.Bytes(), "Breakpad": text.Bytes(),
	} {
		t.Run(name, func(t *testing.T) {
			arch, all := records(t, b)
			checkTable(t, arch, all)
		})
	}
}

func TestRowsAreThoseOfCompilers(t *testing.T) {
	proctest.Program(t, "clang")
	const source = `
int sink(const char *, ...);
int small(int n) { return n * 3; }
int calls(int n) { int s = 0; for (int i = 0; i < n; i++) s += sink("%d", i) + small(i); return s; }
int large(int n) { char b[9000]; for (int i = 0; i < n; i++) b[i % 9000] = i; return sink(b, n) + calls(n); }
int varies(int n) { char b[n]; if (n > 3) return sink(b, n); return n < 0 ? varies(-n) + 1 : sink("", n, b); }
`
	dir := t.TempDir()
	from := filepath.Join(dir, "a.c")
	if err := os.WriteFile(from, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{
		"x86_64-linux-gnu", "i686-linux-gnu", "aarch64-linux-gnu", "mips-linux-gnu", "mips64el-linux-gnu", "powerpc64le-linux-gnu", "riscv64-linux-gnu",
		"x86_64-apple-macos", "arm64-apple-macos",
	} {
		for _, flag := range []string{"-O0", "-O2"} {
			t.Run(target+flag, func(t *testing.T) {
				to := filepath.Join(dir, "a.o")
				proctest.Run(t, dir, "clang", "--target="+target, flag, "-g", "-fasynchronous-unwind-tables", "-c", from, "-o", to)
				b, err := os.ReadFile(to)
				if err != nil {
					t.Fatal(err)
				}
				arch, all := records(t, b)
				checkTable(t, arch, all)
			})
		}
	}
}

func TestTableHasTheDescriptionOfItsInput(t *testing.T) {
	id, err := ident.ParseDebugID("4B3C2D1E-5A69-7887-96A5-B4C3D2E1F00F-a")
	if err != nil {
		t.Fatal(err)
	}
	want := cficache.Info{Module: ident.Module{DebugID: id, CodeID: "abc"}, InputSize: 7, InputHash: [32]byte{1, 31: 2}, BadRecords: 3}
	var b bytes.Buffer
	all := parse("CFI INIT 0 10 x", "CFI INIT 10 10 .cfa: 1 .ra: 1", "CFI INIT 30 10 .cfa: 1 .ra: 1")
	if err := cficache.Build(&b, ident.ArchX86, each(all), cficache.Options{Info: want}); err != nil {
		t.Fatal(err)
	}
	table, err := cficache.Open(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	want.Module.Arch = ident.ArchX86
	want.BadRecords = 4
	if got := table.Info(); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if ranges, rows := table.Counts(); ranges != 4 || rows != 1 {
		t.Errorf("%d ranges and %d rows, want 4 and 1", ranges, rows)
	}
}

// A table of an older program must be rejected, or be understood: increase
// Version if this test fails.
func TestTableIsThatOfTheVersion(t *testing.T) {
	data, _ := build(t, ident.ArchX86, parse("WIN 4 1000 80 3 0 c 4 8 0 1 $eip 4 ^ = $esp $T0 16 @ =", "WIN 0 2000 80 3 0 c 4 8 0 0 1",
		"CFI INIT 1010 10000 .cfa: $esp 4 + .ra: .cfa 4 - ^", "CFI 1020 .cfa: $esp 8 + $ebp: $ebx 2 * 3 / 4 % $ebx: .undef"))
	if sum := crc32.ChecksumIEEE(data); cficache.Version != 1 || sum != 0xd8ffdcfd {
		t.Errorf("version %d has the checksum %#x", cficache.Version, sum)
	}
}

func TestBuildEndsWithTheFirstFailure(t *testing.T) {
	failure := errors.New("unreadable")
	err := cficache.Build(&bytes.Buffer{}, ident.ArchX86, func(func(*sym.Unwind) error) error { return failure }, cficache.Options{})
	if err != failure {
		t.Errorf("got %v, want the failure of the records", err)
	}
	all := parse("CFI INIT 10 10 .cfa: 1 .ra: 1", "CFI INIT 30 10 .cfa: 1 .ra: 1")
	for writes := range 6 {
		if err := cficache.Build(&failing{left: writes, err: failure}, ident.ArchX86, each(all), cficache.Options{}); err != failure {
			t.Errorf("%d writes: got %v, want the failure of the writer", writes, err)
		}
	}
	_, table := build(t, ident.ArchX86, all)
	if err := table.Records(func(*sym.Unwind) error { return failure }); err != failure {
		t.Errorf("got %v, want the failure of yield", err)
	}
}

type failing struct {
	left int
	err  error
}

func (f *failing) Write(b []byte) (int, error) {
	if f.left--; f.left < 0 {
		return 0, f.err
	}
	return len(b), nil
}

func TestBuildIsLimited(t *testing.T) {
	var all []sym.Unwind
	for i := range 100 {
		all = append(all, sym.Unwind{Addr: uint64(i) << 20, Size: 1 << 19, Rules: fmt.Appendf(nil, ".cfa: %d .ra: 1", i)})
	}
	for _, limit := range []int64{1, 4000, 12000, 15000} {
		err := cficache.Build(&bytes.Buffer{}, ident.ArchX86, each(all), cficache.Options{Memory: limit})
		if fault.KindOf(err) != fault.Unsupported {
			t.Errorf("limit %d: got %v, want an Unsupported", limit, err)
		}
	}
	if err := cficache.Build(&bytes.Buffer{}, ident.ArchX86, each(all), cficache.Options{Memory: 100000}); err != nil {
		t.Error(err)
	}
}

func TestDamagedTablesAreRejected(t *testing.T) {
	data, _ := build(t, ident.ArchX86_64, parse("CFI INIT 1000 100 .cfa: $rsp 8 + .ra: .cfa -8 + ^", "CFI 1001 .cfa: $rsp 16 +"))
	for i := range data {
		b := bytes.Clone(data)
		b[i] ^= 1
		if _, err := cficache.Open(b); err == nil {
			t.Errorf("accepted a wrong byte %d", i)
		}
		if _, err := cficache.Open(data[:i]); err == nil {
			t.Errorf("accepted %d bytes of %d", i, len(data))
		}
	}
	if _, err := cficache.Open(append(bytes.Clone(data), 0)); err == nil {
		t.Error("accepted an extra byte")
	}
	b := bytes.Clone(data)
	b[8]++
	if _, err := cficache.Open(b); fault.KindOf(err) != fault.Unsupported {
		t.Errorf("another version: got %v, want an Unsupported", err)
	}
}

func TestVerifyFindsInvalidReferences(t *testing.T) {
	// An extent of 12 bytes, a page of 4, three ranges of 2, 8 zeros, two ends of 4.
	data, _ := build(t, ident.ArchX86_64, parse("CFI INIT 1000 100 .cfa: $rsp 8 + .ra: .cfa -8 + ^", "CFI 1001 .cfa: $rsp 16 +"))
	head := int(binary.LittleEndian.Uint32(data[12:]))
	for what, c := range map[string]struct {
		at  int
		bit byte
	}{
		"record of an extent": {8, 1}, "range of a page": {12, 1}, "order of ranges": {16, 3}, "row of a range": {17, 0x30}, "zeros": {24, 1}, "end of a row": {30, 1},
	} {
		b := bytes.Clone(data)
		b[head+c.at] ^= c.bit
		seal(b)
		table, err := cficache.Open(b)
		if err != nil {
			t.Fatal(err)
		}
		if err := table.Verify(); fault.KindOf(err) != fault.Malformed {
			t.Errorf("%s: got %v, want a Malformed", what, err)
		}
	}
}

func TestLookupAllocatesNothing(t *testing.T) {
	_, table := build(t, ident.ArchX86_64, parse("CFI INIT 1000 100 .cfa: $rsp 8 + .ra: .cfa -8 + ^", "CFI 1001 .cfa: $rsp 16 +"))
	if n := testing.AllocsPerRun(100, func() { table.Row(0x1004) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
