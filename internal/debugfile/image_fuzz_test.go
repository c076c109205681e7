package debugfile_test

import (
	"archive/zip"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/debugfile"
	"symbolon/internal/fixture"
	"symbolon/internal/object"
	"symbolon/internal/sym"
	"symbolon/internal/symcache"
)

// imageSeeds are small files of every format.
func imageSeeds(t testing.TB) (all [][]byte) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 8 {
		all = append(all, randomProgram(r).Bytes())
	}
	for _, p := range sizes() {
		all = append(all, p.Bytes())
		p.Pack = packings(t, &fixture.ELF{Wide: p.Wide, Big: p.Big}, 0)[[]string{"zlib", "zstd", "zlib-gnu"}[len(all)%3]]
		all = append(all, p.Bytes())
	}
	p := oneFunction(modelC, fixture.ProgramFunc{Name: "f"})
	eh := fixture.NewFrame(true)
	eh.Addr = 0x1400
	eh.FDE(eh.CIE(fixture.FrameX8664(true)), 0x1100, 0x40, 0x44, 0x0e, 16)
	p.More = append(p.More, fixture.ELFSection{Name: ".eh_frame", Type: 1, Flags: 2, Addr: 0x1400, Data: eh.Bytes()}, buildID("id"),
		fixture.ELFSection{Name: ".gnu_debugdata", Type: 1, Data: xzipped(t, symbolsOf(2).Bytes())})
	all = append(all, p.Bytes(), skeleton(1), splitUnit(1, "split"), declared())
	for _, release := range []int{11, 20} {
		g := goProgram(release)
		g.Funcs = g.Funcs[:3]
		all = append(all, goFile(g, ".gopclntab"))
	}
	unwind := fixture.UnwindInfo(0x180, []uint32{0x02020000}, fixture.UnwindPage{Rows: []fixture.UnwindRow{{Start: 0x100, Encoding: 0x02020000}}})
	m := machoImage(fixture.MachOX64, fixture.MachODSYM, uuidA, append(machoDebug(p), fixture.MachOSection{Name: "__unwind_info", Data: unwind})...)
	wasm, _ := wasmFile(3, func(w *fixture.Wasm) {
		w.Names(fixture.WasmName{Index: 1, Name: "first"})
		for _, s := range (&fixture.Program{Units: p.Units}).Sections() {
			w.Custom(s.Name, s.Data)
		}
	})
	all = append(all, fixture.SamplePDB().Bytes(), moved().Bytes())
	all = append(all, portable(t).Bytes(), m.Bytes(), fixture.MachOFat(false, m, machoImage(fixture.MachOARM64, fixture.MachODylib, uuidB)), wasm)
	x, program := peProgram(fixture.PEX64, fixture.ProgramFunc{Name: "f"})
	all = append(all, exported().Bytes(), withDWARF(x, program).Bytes())
	all = append(all, coffObject(fixture.PEX64).Object(false), coffObject(fixture.PEX64).Object(true), fixture.SampleObject().Object(false))
	all = append(all, fixture.NewWasm().Code([]byte("\x00\x0b")).Linking(fixture.WasmSymbol{Name: "f"}).Bytes())
	for _, pack := range []func(testing.TB, ...member) []byte{arGNU, arBSD, zipped(zip.Store), zipped(zip.Deflate), tarred, cabinet(fixture.CabMSZIP), cabinet(fixture.CabLZX | 15<<8)} {
		all = append(all, pack(t, member{"a.o", oneELF("a")}, member{"b", wasm}))
	}
	for _, pack := range compressors {
		all = append(all, pack(t, oneELF("a")))
	}
	return all
}

// FuzzImage demands that whatever can be opened answers in the same way itself
// and through its table, and costs no more than its size allows.
func FuzzImage(f *testing.F) {
	for _, seed := range imageSeeds(f) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		file, err := debugfile.Open(bin.Bytes(text), object.Options{Columns: len(text)%2 == 0})
		if err == nil {
			for i, o := range file.Objects()[:min(len(file.Objects()), 3)] {
				everyQuestion(t, o, fmt.Sprint("object ", i), len(text))
			}
		}
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 512<<20+uint64(len(text))*4096 {
			t.Errorf("%d bytes cost %d MiB", len(text), n>>20)
		}
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%d bytes took %v", len(text), took)
		}
	})
}

// everyQuestion asks an object for everything that it can be asked for.
func everyQuestion(t *testing.T, o *object.Object, what string, size int) {
	t.Helper()
	table, err := tableOf(o, symcache.Options{}, 1+size%2)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	addrs := everywhere(t, o)
	agree(t, o, table, addrs[:min(len(addrs), 20_000)], what)
	if err := o.CFI(func(*sym.Unwind) error { return nil }); err != nil {
		t.Errorf("%s: unwind information: %v", what, err)
	}
	for _, addr := range addrs[:min(len(addrs), 100)] {
		if err := o.CFIAt(addr, func(*sym.Unwind) error { return nil }); err != nil {
			t.Errorf("%s: unwind information at %#x: %v", what, addr, err)
		}
		o.Line(addr)
		o.Starts(addr)
		o.Locals(addr)
		o.Variable(addr)
	}
	o.Needs()
	o.Origin(`c:\src\one.cc`)
	o.SourceByPath("/d/a.c")
	if once, twice := o.Info(), o.Info(); once.BadRecords != twice.BadRecords {
		t.Errorf("%s: %d problems, then %d", what, once.BadRecords, twice.BadRecords)
	}
}
