package debugfile_test

import (
	"archive/zip"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
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
	for _, pattern := range []string{"*.o", "*.obj", "*.wasm"} { // objects of compilers
		names, err := filepath.Glob(filepath.Join(corpus, pattern))
		if err != nil || len(names) == 0 {
			f.Fatalf("no files %s: %v", pattern, err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(text)
		}
	}
	typed := fixture.SampleObject()
	typed.Sections[4].Data = append([]byte{4, 0, 0, 0}, fixture.PDBRecord(0x1515, fixture.SamplePDB().GUID, uint32(3), "vc140.pdb")...)
	typed.Sections[4].Size = uint32(len(typed.Sections[4].Data))
	f.Add(typed.Object(false))
	slim := &fixture.PE{Machine: fixture.PEX64}
	slim.Section(fixture.PESection{Name: ".gnu.lto_.lto.1", Data: []byte{12, 0, 0, 0, 1, 0, 0, 0}})
	f.Add(slim.Object(false))
	f.Add(wasmWith("external_debug_info", "debug.wasm"))
	f.Add(wasmWith("build_id", "0123"))
	f.Add(fixture.NewWasm().Custom(".debug_frame", make([]byte, 16)).Section(10, []byte{9, 9}).Bytes())
	debug := oneFunction(modelC, fixture.ProgramFunc{Name: "f"}).Sections()
	needed := [][]byte{fixture.SamplePDB().Bytes(), skeleton(1), splitUnit(1, "split"), wasmWith("build_id", "0123", debug...)}
	f.Fuzz(func(t *testing.T, text []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		file, err := debugfile.Open(bin.Bytes(text), object.Options{Columns: len(text)%2 == 0, Written: len(text)%3 == 0})
		if err == nil {
			for i, o := range file.Objects()[:min(len(file.Objects()), 3)] {
				everyQuestion(t, o, fmt.Sprint("object ", i), len(text))
				for _, n := range o.Needs()[:min(len(o.Needs()), 10)] {
					for _, other := range needed {
						_, _ = o.Supply(n, bin.Bytes(other)) // which it may refuse
					}
				}
			}
			_, _, _ = debugfile.Identify(bin.Bytes(text))
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

// wasmWith returns a module with a section that has a string.
func wasmWith(section, value string, more ...fixture.ELFSection) []byte {
	text, _ := wasmFile(3, func(w *fixture.Wasm) {
		w.String(section, value)
		for _, s := range more {
			w.Custom(s.Name, s.Data)
		}
	})
	return text
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
	_, _ = o.AppendCode(nil, 0, 64)
	_, _, _ = o.Stretches()
	o.Origin(`c:\src\one.cc`)
	o.SourceByPath("/d/a.c")
	if once, twice := o.Info(), o.Info(); once.BadRecords != twice.BadRecords {
		t.Errorf("%s: %d problems, then %d", what, once.BadRecords, twice.BadRecords)
	}
}
