package crash_test

import (
	"encoding/binary"
	"io"
	"strings"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/crash"
	"symbolon/internal/fixture"
)

// FuzzProcess reads any file, with any extra data, walks its stacks, with the symbols of
// two modules, and writes the JSON. The files of modules of a core file are program.
func FuzzProcess(f *testing.F) {
	for _, seed := range seeds(f) {
		f.Add(seed, []byte(`{"ModuleSignatureInfo": "{\"Orchard Inc.\": [\"orchard\"]}", "CPUMicrocodeVersion": "0x1f"}`))
	}
	f.Add(newDump(press).Bytes(), []byte(`{"ModuleSignatureInfo": {"Orchard Inc.": [5]}}`))
	f.Add(newDump(press).Bytes(), []byte(`{"ModuleSignatureInfo": 5}`))
	f.Add(newDump(press).Bytes(), []byte(`{}`))
	b := newBench(f, symbols)
	f.Fuzz(func(t *testing.T, file, extra []byte) {
		d, apple, err := crash.Open(bin.Bytes(file))
		if err != nil {
			return
		}
		if apple != nil {
			if err := b.SymbolicateApple(t.Context(), apple, crash.Options{}); err != nil {
				t.Fatal(err)
			}
			if err := crash.WriteJSON(io.Discard, apple, false); err != nil {
				t.Fatal(err)
			}
			return
		}
		if d.AddExtra(extra) != nil {
			d.Certificates = nil
		}
		for _, i := range d.Unidentified() {
			d.Identify(i, "program", bin.Bytes(program()))
		}
		d.MapFiles(map[string]bin.Source{"/srv/orchard": bin.Bytes(program())})
		d.LocalFiles()
		r, err := b.Process(t.Context(), d, crash.Options{Explain: true})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Release()
		document(t, r)
		for _, s := range r.Stacks {
			for i := range s.Frames {
				f := &s.Frames[i]
				if start, ok := r.LineStart(f, i%2 == 0); ok && (start > f.Addr || start < r.Modules[f.Module].Base) {
					t.Fatalf("the line of %#x starts at %#x", f.Addr, start)
				}
			}
		}
	})
}

// program returns a program without a build id.
func program() []byte {
	e := &fixture.ELF{Wide: true, Type: 3, Machine: 62}
	e.Segment(fixture.ELFSegment{Type: 1, Flags: 5, Filesz: 0x1000, Memsz: 0x10000})
	e.Add(fixture.ELFSection{Name: ".text", Type: 1, Flags: 6, Addr: 0x1000, Data: []byte("\x90\x90\x90\xe8\x00\x00\x00\x00\xc3")})
	return e.Bytes()
}

// seeds returns files of each kind, with what few of them have.
func seeds(t testing.TB) (list [][]byte) {
	side := crashed(newDump(0x60001000, orchard+0x1009, orchard+0x2008))
	addSideStreams(side)
	side.Names(11, "picker")
	side.Unloaded(fixture.DumpModule{Base: 0x60000000, Size: 0x8000, Name: "gone.so"}, fixture.DumpModule{Base: 0x60001000, Size: 0x8000, Name: "gone.so"})
	asked := newDump(press+0x1004, orchard+0x1009)
	asked.Stream(fixture.DumpBreakpad, uint32(3), uint32(11), uint32(12))
	flipped := crashed(newDump(press, orchard+0x1009))
	flipped.Memory(fixture.DumpRange{Addr: press, Data: append([]byte{0x8b, 0x40, 0x10}, make([]byte, 29)...)}) // mov eax, [rax+0x10]
	list = [][]byte{
		crashed(newDump(press+0x1004, orchard+0x1009, orchard+0x2008)).Bytes(), newDump(0, 0).Bytes(), side.Bytes(), asked.Bytes(), flipped.Bytes(),
		newCore("/srv/orchard"), newCore("/srv/orchard")[:800], []byte(appleReport), []byte(strings.Repeat("text\n", 20)),
		[]byte(`{"app_name":"orchard","incident_id":"1"}` + "\n" + `{"procName":"orchard","threads":[{"triggered":true,"frames":[{"imageOffset":4100,"imageIndex":0}]}],` +
			`"usedImages":[{"base":1073741824,"size":65536,"uuid":"0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0","name":"orchard","arch":"x86_64"}]}`),
	}
	for _, files := range []bool{true, false} {
		e := &fixture.ELF{Wide: true, Type: 4, Machine: 62, Bare: true}
		registers := make([]uint64, 27)
		registers[16], registers[19] = orchard+0x1004, stack
		e.Notes(e.CoreThread(11, 11, registers...), e.CoreProcess(11, "orchard", "orchard", false), e.CoreSignal(11, 1, 0x10),
			e.CoreFiles(fixture.CoreMapping{Start: orchard, End: orchard + 0x10000, Path: "/srv/orchard"}), e.CoreThread(12, 0))
		if files {
			e.Load(orchard, 0x10000, 5, append(program(), make([]byte, 0x1000)...)[:0x1000])
		}
		e.Load(stack, 0x1000, 6, e.Pack(uint64(orchard+0x2008), uint64(orchard+0x1009), make([]byte, 0x200)))
		list = append(list, e.Bytes())
	}
	odd := &fixture.ELF{Type: 4, Machine: 22, Wide: true, Big: true} // an unknown processor, and no thread
	list = append(list, odd.Bytes())
	odd.Notes(odd.CoreThread(11, 0, 1, 2))
	return append(append(list, odd.Bytes()), systemSeeds()...)
}

// systemSeeds returns crashes of the systems and processors that minidumps have.
func systemSeeds() (list [][]byte) {
	for _, x := range []struct {
		os, cpu     uint16
		code, flags uint32
		parameters  []uint64
	}{
		{fixture.DumpWindows, fixture.DumpAMD64, 0xc0000005, 0, []uint64{1, 8}}, {fixture.DumpWindows, fixture.DumpX86, 0xc00000fd, 0, nil},
		{fixture.DumpWindows, fixture.DumpARM64, 0xc0000409, 0, []uint64{5}}, {fixture.DumpMacOS, fixture.DumpAMD64, 1, 13, []uint64{1, 0}},
		{fixture.DumpMacOS, fixture.DumpARM64, 1, 1, nil}, {fixture.DumpIOS, fixture.DumpARM, 6, 1, nil}, {fixture.DumpAndroid, fixture.DumpARM, 6, 0, nil},
		{fixture.DumpAndroid, fixture.DumpARM64Old, 7, 2, nil}, {fixture.DumpLinux, fixture.DumpMIPS, 11, 1, nil},
		{fixture.DumpLinux, fixture.DumpMIPS64, 8, 1, nil}, {fixture.DumpLinux, fixture.DumpRISCV64, 4, 1, nil},
		{fixture.DumpLinux, fixture.DumpPPC64, 5, 1, nil}, {fixture.DumpLinux, fixture.DumpSPARC, 11, 1, nil}, {77, 77, 11, 1, nil},
	} {
		d := &fixture.Minidump{Order: binary.LittleEndian, CPU: x.cpu, OS: uint32(x.os), Version: [3]uint32{10, 0, 22000}}
		d.System()
		block := make([]byte, 0x200)
		block[13*8] = 5
		waiting := fixture.DumpThread{ID: 13, TEB: stack, StackAddr: stack, Stack: block}
		switch x.cpu {
		case 77:
		case fixture.DumpAMD64:
			waiting.Context = d.Context(map[string]uint64{"rip": orchard + 0x1004, "rsp": stack})
		case fixture.DumpX86:
			waiting.Context = d.Context(map[string]uint64{"eip": orchard + 0x1004, "esp": stack})
		case fixture.DumpPPC64:
			waiting.Context = d.Context(map[string]uint64{"srr0": orchard + 0x1004, "r1": stack})
		case fixture.DumpSPARC:
			waiting.Context = d.Context(map[string]uint64{"pc": orchard + 0x1004})
		default:
			waiting.Context = d.Context(map[string]uint64{"pc": orchard + 0x1004, "sp": stack})
		}
		d.Threads(waiting, fixture.DumpThread{ID: 11, TEB: stack + 1<<20})
		d.Modules(fixture.DumpModule{Base: orchard, Size: 0x10000, Name: `C:\srv\orchard`, Version: []uint32{0x10002, 0x30004}})
		d.Exception(fixture.DumpCrash{Thread: 13, Code: x.code, Flags: x.flags, Addr: 0x800000001234, Params: x.parameters, Context: waiting.Context})
		list = append(list, d.Bytes())
	}
	return list
}
