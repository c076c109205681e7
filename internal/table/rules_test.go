package table_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/cficache"
	"symbolon/internal/debugfile"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
	"symbolon/internal/metric"
	"symbolon/internal/object"
	"symbolon/internal/sym"
	"symbolon/internal/table"
	"symbolon/internal/trial/rig"
	"symbolon/internal/unwind/rule"
	"symbolon/internal/waittest"
)

// unwindFile is file with unwind information.
const unwindFile = file + "STACK CFI INIT 1000 40 .cfa: $rsp 8 + .ra: .cfa -8 + ^\nSTACK CFI 1001 .cfa: $rsp 16 +\nSTACK CFI INIT 2000 10 invalid\n"

// serveSym serves body as the .sym file, and counts how often.
func serveSym(body string, count *atomic.Int32) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, ".sym") {
			http.NotFound(w, r)
			return
		}
		count.Add(1)
		fmt.Fprint(w, body)
	}
}

// stack is memory whose words are their addresses.
type stack struct{}

func (stack) ReadAt(dst []byte, addr uint64) int {
	for i := range dst {
		dst[i] = byte(addr >> (8 * i))
	}
	return len(dst)
}

// callers formats the callers of frames at some addresses.
func callers(r table.Rules) (out []string) {
	cpu := rule.For(ident.ArchX86_64)
	for _, addr := range []uint64{0xfff, 0x1000, 0x1001, 0x103f, 0x1040, 0x2000} {
		var callee rule.Registers
		callee.Set(cpu.SP, 0x8000)
		c, outcome, _ := r.Row(addr).Eval(cpu, &callee, stack{}, false, rule.Windows{})
		pc, _ := c.Get(cpu.PC)
		out = append(out, fmt.Sprintf("%x: %s %x", addr, outcome, pc))
	}
	return out
}

var wantCallers = []string{"fff: failed 0", "1000: found 8000", "1001: found 8008", "103f: found 8008", "1040: failed 0", "2000: failed 0"}

func TestNamesAndUnwindInformationComeFromOneFetch(t *testing.T) {
	var fetched atomic.Int32
	b := newBench(t, serveSym(unwindFile, &fetched))
	tables, stop := b.start(t)
	defer stop()
	m := rig.Module("a.so")
	r, report := tables.Unwind(t.Context(), m)
	if r == nil {
		t.Fatal(report.Fault)
	}
	defer r.Close()
	h, report := tables.Symbols(t.Context(), m, locate.SymFirst)
	if h == nil {
		t.Fatal(report.Fault)
	}
	defer h.Close()
	if n := fetched.Load(); n != 1 {
		t.Errorf("the file was fetched %d times, want once", n)
	}
	if got := callers(r); !r.HasRules() || fmt.Sprint(got) != fmt.Sprint(wantCallers) {
		t.Errorf("got %q, want %q", got, wantCallers)
	}
	if f := h.Lookup(nil, 0x1000); len(f) != 1 || text(h, f[0].Func) != "outer" {
		t.Errorf("got frames %+v", f)
	}
}

func TestDamageIsCountedOnceForBothTables(t *testing.T) {
	var fetched atomic.Int32
	b := newBench(t, serveSym(unwindFile+"FUNC zz 10 0 damaged\n", &fetched))
	tables, stop := b.start(t)
	defer stop()
	before := metric.BadRecords.Value("breakpad")
	m := rig.Module("a.so")
	r, report := tables.Unwind(t.Context(), m)
	if r == nil {
		t.Fatal(report.Fault)
	}
	h, report := tables.Symbols(t.Context(), m, locate.SymFirst)
	if h == nil {
		t.Fatal(report.Fault)
	}
	h.Close()
	r.Close()
	tables.Wait(t.Context())
	if n := metric.BadRecords.Value("breakpad") - before; n != 1 {
		t.Errorf("%d records are counted, want 1", n)
	}
}

func TestModuleWithoutUnwindInformation(t *testing.T) {
	b := newBench(t, serveSym(file, new(atomic.Int32)))
	tables, stop := b.start(t)
	defer stop()
	for range 2 { // the second time it is remembered
		if r, report := tables.Unwind(t.Context(), rig.Module("a.so")); r != nil || report.Fault == nil {
			t.Errorf("got rules %v, fault %v", r != nil, report.Fault)
		}
	}
}

func TestStoredUnwindInformationNeedsNoFetch(t *testing.T) {
	var fetched atomic.Int32
	b := newBench(t, serveSym(unwindFile, &fetched))
	m := rig.Module("a.so")
	for i := range 3 {
		tables, stop := b.start(t)
		r, report := tables.Unwind(t.Context(), m)
		if r == nil {
			t.Fatal(report.Fault)
		}
		if got := callers(r); !r.HasRules() || fmt.Sprint(got) != fmt.Sprint(wantCallers) {
			t.Errorf("start %d: got %q, want %q", i, got, wantCallers)
		}
		if i > 0 && !report.Hit {
			t.Errorf("start %d: the table was not used", i)
		}
		r.Close()
		waittest.Until(t, "the table is stored", func() bool { return entries(t, b.dir, "cficache") == 1 })
		stop()
	}
	if n := fetched.Load(); n != 1 {
		t.Errorf("the file was fetched %d times, want once", n)
	}
	if n := entries(t, b.dir, "symcache"); n != 0 {
		t.Errorf("%d tables of names were built", n)
	}
}

func TestTableHasTheRowsOfItsFile(t *testing.T) {
	files, err := filepath.Glob("../object/testdata/corpus/*")
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // a folder
		}
		f, err := debugfile.Open(bin.Bytes(text), object.Options{})
		if err != nil {
			continue // not a debug file
		}
		for _, obj := range f.Objects() {
			compared += compareRows(t, filepath.Base(name), obj)
		}
	}
	f, err := debugfile.Open(bin.Bytes([]byte(mixedFile)), object.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if n := compareRows(t, "mixed", f.Objects()[0]); n < 9 {
		t.Errorf("a file of both kinds has only %d ranges", n)
	}
	if compared < 500 {
		t.Errorf("only %d ranges were compared", compared)
	}
}

// mixedFile has overlapping records of 32-bit Windows and of CFI.
const mixedFile = "MODULE windows x86 " + id + " a.pdb\nFUNC 1000 40 0 f\nSTACK CFI INIT 1000 80 .cfa: $esp 4 + .ra: .cfa 4 - ^\nSTACK CFI 1010 .cfa: $esp 8 +\n" +
	"STACK CFI INIT 1060 80 .cfa: $esp 12 + .ra: .cfa 4 - ^\nSTACK WIN 4 1004 20 0 0 4 0 8 0 1 $eip $esp ^ = $esp $esp 4 + =\n" +
	"STACK WIN 4 1008 1c 0 0 8 0 8 0 1 $eip $esp ^ = $esp $esp 8 + =\nSTACK WIN 4 1008 8 0 0 8 0 8 0 1 $eip 1 = $esp 1 =\n" +
	"STACK WIN 0 1000 50 0 0 4 0 8 0 0 1\nSTACK WIN 0 10d0 50 0 0 4 0 8 0 0 1\nSTACK WIN 0 10d8 8 0 0 4 0 8 0 0 0\n"

// compareRows compares the rows of an object with those of its table around all
// borders. It returns the number of ranges.
func compareRows(t *testing.T, name string, obj *object.Object) (ranges int) {
	t.Helper()
	var out bytes.Buffer
	if err := table.BuildUnwind(t.Context(), &out, obj, 0, table.Input{}); err != nil {
		t.Errorf("%s: %v", name, err)
		return 0
	}
	tab, err := cficache.Open(out.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	direct := table.RulesOf(obj)
	addrs := map[uint64]bool{}
	err = tab.Ranges(func(start, end uint64, _ rule.Row) error {
		ranges++
		for _, at := range []uint64{start - 1, start, end - 1, end} {
			addrs[at] = true
		}
		return nil
	})
	if err == nil {
		err = obj.CFI(func(u *sym.Unwind) error {
			addrs[u.Addr], addrs[u.Addr+u.Size] = true, true
			return nil
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	for addr := range addrs {
		if got, want := direct.Row(addr), tab.Row(addr); !bytes.Equal(got, want) {
			t.Errorf("%s at %#x: the file has %x, its table %x", name, addr, got, want)
			return ranges
		}
	}
	return ranges
}

func TestTableHasTheRowsOfOverlappingRecords(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		text := "MODULE windows x86 " + id + " a.pdb\nFUNC 1000 40 0 f\n"
		for range 20 {
			start, size := 0x1000+r.IntN(0x100), r.IntN(0x40)
			switch r.IntN(7) {
			case 5:
				text += fmt.Sprintf("STACK WIN 4 %x %x 0 0 %x 0 8 0 1 ) (\n", start, size, r.IntN(9))
			case 6:
				text += fmt.Sprintf("STACK CFI INIT %x %x .cfa: $esp %d + .ra: .cfa 4 - ^\nSTACK CFI %x invalid\n", start, size, r.IntN(9),
					start+r.IntN(9))
			case 0:
				text += fmt.Sprintf("STACK WIN 4 %x %x 0 0 %x 0 8 0 1 $eip $esp ^ = $esp $esp 4 + =\n", start, size, r.IntN(9))
			case 1:
				text += fmt.Sprintf("STACK WIN 0 %x %x 0 0 %x 0 8 0 0 1\n", start, size, r.IntN(9))
			default:
				text += fmt.Sprintf("STACK CFI INIT %x %x .cfa: $esp %d + .ra: .cfa 4 - ^\n", start, size, r.IntN(9))
				for at := start; r.IntN(3) > 0; at += 1 + r.IntN(8) {
					text += fmt.Sprintf("STACK CFI %x .cfa: $esp %d + $ebp: .cfa %d - ^\n", at, r.IntN(9), r.IntN(9))
				}
			}
		}
		f, err := debugfile.Open(bin.Bytes([]byte(text)), object.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if compareRows(t, fmt.Sprint("seed ", seed), f.Objects()[0]); t.Failed() {
			t.Fatal(text)
		}
	}
}

func TestTablesOfATemporaryCacheAreBuiltOfReusedFiles(t *testing.T) {
	var fetched atomic.Int32
	b := newBench(t, serveSym(unwindFile, &fetched))
	b.table.OnlyReused = true
	tables, stop := b.start(t)
	defer stop()
	before := metric.Builds.Value("built")
	for answer := 1; answer <= 3; answer++ {
		h, report := tables.Symbols(t.Context(), rig.Module("a.so"), locate.SymFirst)
		if h == nil {
			t.Fatal(report.Fault)
		}
		h.Close()
		tables.Wait(t.Context())
		if n := metric.Builds.Value("built") - before; n != int64(answer/3) {
			t.Errorf("%d tables are built after %d answers, want %d", n, answer, answer/3)
		}
	}
}
