package core_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/fixture"
	"symbolon/internal/format/core"
)

// open opens a core file that must be readable.
func open(t *testing.T, b []byte) *core.File {
	t.Helper()
	f, err := core.Open(bin.Bytes(b))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// numbered returns n registers whose values are their places in a note.
func numbered(n int) []uint64 {
	values := make([]uint64, n)
	for i := range values {
		values[i] = uint64(i)
	}
	return values
}

// processors are the registers of the processors, and their places in a note.
var processors = []struct {
	machine   uint16
	wide, big bool
	count     int
	arch      string
	want      string
}{
	{62, true, false, 27, "x86_64", "rax=10 rdx=12 rcx=11 rbx=5 rsi=13 rdi=14 rbp=4 rsp=19 r8=9 r9=8 r10=7 r11=6 r12=3 r13=2 r14=1 r15=0 rip=16"},
	{3, false, false, 17, "x86", "eip=12 esp=15 ebp=5 ebx=0 esi=3 edi=4 eax=6 ecx=1 edx=2 eflags=14"},
	{40, false, false, 18, "arm", "r0=0 r1=1 r2=2 r3=3 r4=4 r5=5 r6=6 r7=7 r8=8 r9=9 r10=10 r12=12 fp=11 sp=13 lr=14 pc=15"},
	{183, true, true, 34, "arm64", "x0=0 x1=1 x2=2 x3=3 x4=4 x5=5 x6=6 x7=7 x8=8 x9=9 x10=10 x11=11 x12=12 x13=13 x14=14 x15=15 x16=16 x17=17 " +
		"x18=18 x19=19 x20=20 x21=21 x22=22 x23=23 x24=24 x25=25 x26=26 x27=27 x28=28 fp=29 lr=30 sp=31 pc=32"},
	{243, true, false, 32, "riscv64", "pc=0 ra=1 sp=2 gp=3 tp=4 t0=5 t1=6 t2=7 s0=8 s1=9 a0=10 a1=11 a2=12 a3=13 a4=14 a5=15 a6=16 a7=17 " +
		"s2=18 s3=19 s4=20 s5=21 s6=22 s7=23 s8=24 s9=25 s10=26 s11=27 t3=28 t4=29 t5=30 t6=31"},
	{21, true, true, 48, "ppc64", powerPC},
	{20, false, true, 48, "ppc", powerPC},
	{8, false, true, 45, "mips", "gp=34 sp=35 fp=36 ra=37 pc=40 s0=22 s1=23 s2=24 s3=25 s4=26 s5=27 s6=28 s7=29"},
	{8, true, false, 45, "mips64el", "gp=28 sp=29 fp=30 ra=31 pc=34 s0=16 s1=17 s2=18 s3=19 s4=20 s5=21 s6=22 s7=23"},
	{22, true, true, 27, "s390x", ""},
}

const powerPC = "srr0=32 srr1=33 r0=0 r1=1 r2=2 r3=3 r4=4 r5=5 r6=6 r7=7 r8=8 r9=9 r10=10 r11=11 r12=12 r13=13 r14=14 r15=15 r16=16 " +
	"r17=17 r18=18 r19=19 r20=20 r21=21 r22=22 r23=23 r24=24 r25=25 r26=26 r27=27 r28=28 r29=29 r30=30 r31=31 cr=38 xer=37 lr=36 ctr=35"

func TestThreadsOfEachProcessor(t *testing.T) {
	for _, p := range processors {
		e := &fixture.ELF{Wide: p.wide, Big: p.big, Type: 4, Machine: p.machine, Bare: true}
		e.Notes(e.CoreThread(71, 11, numbered(p.count)...), e.CoreProcess(70, "orchard", "orchard  -x ", p.machine == 3 || p.machine == 40),
			e.CoreSignal(11, 2, 0x5678), e.CoreThread(72, 12, numbered(3)...), e.CoreSignal(12, 3, 9))
		f := open(t, e.Bytes())
		var got []string
		for _, r := range f.Threads[0].Registers {
			got = append(got, fmt.Sprintf("%s=%d", r.Name, r.Value))
		}
		want := strings.Fields(p.want)
		slices.Sort(got)
		if slices.Sort(want); !slices.Equal(got, want) {
			t.Errorf("%s: registers\n%s\nwant\n%s", p.arch, got, want)
		}
		if f.Arch.String() != p.arch || f.BigEndian != p.big {
			t.Errorf("%s: arch %v, big endian %v", p.arch, f.Arch, f.BigEndian)
		}
		if len(f.Threads) != 2 || f.Threads[0].ID != 71 || f.Threads[1].ID != 72 || f.Threads[1].Registers != nil {
			t.Errorf("%s: threads %v", p.arch, f.Threads)
		}
		if want := (core.Signal{Number: 11, Code: 2, Address: 0x5678}); f.Signal != want {
			t.Errorf("%s: signal %+v", p.arch, f.Signal)
		}
		if f.PID != 70 || f.Name != "orchard" {
			t.Errorf("%s: process %d %q", p.arch, f.PID, f.Name)
		}
	}
}

func TestSignalOfProcessHasNoAddress(t *testing.T) {
	e := &fixture.ELF{Wide: true, Type: 4, Machine: 62, Bare: true}
	e.Notes(e.CoreThread(1, 11, numbered(27)...), e.CoreSignal(11, 0, 0x1234))
	if f := open(t, e.Bytes()); f.Signal != (core.Signal{Number: 11}) {
		t.Errorf("signal %+v", f.Signal)
	}
}

func TestProcessStoppedForItsCoreHasNoSignal(t *testing.T) {
	e := &fixture.ELF{Wide: true, Type: 4, Machine: 62, Bare: true}
	e.Notes(e.CoreThread(1, 0, numbered(27)...), e.CoreSignal(19, 128, 0))
	if f := open(t, e.Bytes()); f.Signal != (core.Signal{}) {
		t.Errorf("signal %+v", f.Signal)
	}
}

// library returns the first bytes of a library whose segments reach to size.
func library(size uint64, id string) []byte {
	e := &fixture.ELF{Wide: true, Type: 3, Machine: 183, Bare: true}
	e.Segment(fixture.ELFSegment{Type: 1, Filesz: 0x1000, Memsz: 0x1000, Flags: 4})
	e.Segment(fixture.ELFSegment{Type: 1, Off: 0x1000, Vaddr: 0x3000, Filesz: 0x10, Memsz: size - 0x3000, Flags: 5})
	e.Notes(e.Note("GNU", 3, []byte(id), 4))
	return e.Bytes()
}

// process returns a core file of a process with modules of all kinds.
func process(files bool) []byte {
	e := &fixture.ELF{Wide: true, Type: 4, Machine: 183}
	lib := fixture.CoreMapping{Start: 0x10000, End: 0x11000, Path: "/lib/libplum.so"}
	notes := [][]byte{e.CoreThread(1, 0, numbered(34)...), e.CoreAux(33, 0x70000, 3, 0x40040, 1<<40, 7), e.Note("LINUX", 0x406, e.Pack(uint64(1), uint64(2)<<48), 4),
		e.Note("GDB", 1, []byte("tdesc"), 4), e.Note("LINUX", 2, nil, 4)}
	if !files {
		notes = append(notes, e.CoreProcess(1, "plum", "plum", false))
	} else {
		notes = append(notes, e.CoreFiles(
			lib, fixture.CoreMapping{Start: 0x13000, End: 0x14000, Path: lib.Path}, // also with its header
			fixture.CoreMapping{Start: 0x1f000, End: 0x20000, Page: 9, Path: lib.Path},
			fixture.CoreMapping{Start: 0x20000, End: 0x21000, Path: "/usr/share/font"},
			fixture.CoreMapping{Start: 0x30000, End: 0x31000, Path: "/lib/libold.so"}, // without its header, in pieces
			fixture.CoreMapping{Start: 0x31000, End: 0x32000, Page: 1, Path: "/lib/libold.so"},
			fixture.CoreMapping{Start: 0x38000, End: 0x39000, Path: "/lib/libcode.so"}, // without its header, as code
			fixture.CoreMapping{Start: 0x40000, End: 0x41000, Path: "/bin/plum (deleted)"},
			fixture.CoreMapping{Start: 0x50000, End: 0x51000, Path: "/core"},
			fixture.CoreMapping{Start: 0x60000, End: 0x61000, Path: "/vmlinux"}))
	}
	e.Notes(notes...)
	e.Load(0x10000, 0x1000, 4, library(0x4000, "plum-id!"))
	e.Load(0x13000, 0x1000, 6, library(0x4000, "plum-id!"))
	e.Load(0x38000, 0x1000, 5, nil)
	e.Load(0x40000, 0x10000, 5, library(0x20000, "program!"))
	e.Load(0x50000, 0x1000, 4, (&fixture.ELF{Type: 4, Bare: true}).Bytes())
	e.Load(0x60000, 0x1000, 4, library(1<<40, "data-id!"))
	e.Load(0x70000, 0x1000, 5, library(0x1000, strings.Repeat("\x00", 8)))
	return e.Bytes()
}

func modules(f *core.File) string {
	var lines []string
	for _, m := range f.Modules {
		lines = append(lines, fmt.Sprintf("%#x+%#x %s %s", m.Base, m.Size, m.CodeFile, m.CodeID))
	}
	return strings.Join(lines, "\n")
}

func TestModulesAreFilesWithHeaderOrCode(t *testing.T) {
	f := open(t, process(true))
	const want = "0x40000+0x20000 /bin/plum 70726f6772616d21\n0x10000+0x4000 /lib/libplum.so 706c756d2d696421\n0x30000+0x2000 /lib/libold.so \n" +
		"0x38000+0x1000 /lib/libcode.so \n0x60000+0x10000 /vmlinux 646174612d696421\n0x70000+0x1000 [vdso] "
	if got := modules(f); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if m := f.Modules[1]; m.DebugFile != m.CodeFile || m.Type.String() != "elf" || m.Arch != f.Arch || m.DebugID.String() != "6d756c70-692d-2164-0000-000000000000" {
		t.Errorf("module %+v", m.Module)
	}
	if m := f.Modules[5]; m.DebugFile != "linux-gate.so" {
		t.Errorf("the debug file of the vdso is %q", m.DebugFile)
	}
	if len(f.Problems) != 0 {
		t.Errorf("problems %v", f.Problems)
	}
}

func TestWithoutNoteOfFilesOnlyTheProgramAndTheVDSOHaveNames(t *testing.T) {
	const want = "0x40000+0x20000 plum 70726f6772616d21\n0x10000+0x4000  706c756d2d696421\n0x60000+0x10000  646174612d696421\n0x70000+0x1000 [vdso] "
	if got := modules(open(t, process(false))); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestMemoryIsReadAcrossRanges(t *testing.T) {
	e := &fixture.ELF{Wide: true, Type: 4, Machine: 62}
	e.Load(0x2000, 0x1000, 6, []byte("third"))
	e.Load(0x1000, 4, 6, []byte("one."))
	e.Load(0x1004, 4, 4, []byte("two."))
	e.Load(0x1006, 4, 4, []byte("..dd"))
	e.Load(1<<64-2, 2, 4, []byte("ab"))
	e.Load(1<<64-4, 8, 4, []byte("past end"))
	b := e.Bytes()
	for _, src := range []bin.Source{bin.Bytes(b), bin.Source(struct{ bin.Source }{bin.Bytes(b)})} { // in memory, and not
		f, err := core.Open(src)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			addr uint64
			want string
		}{
			{0x1000, "one.two.d"}, {0x1003, ".two.dd"}, {0x1007, ".dd"}, {0x100a, ""}, {0xfff, ""}, {0x2004, "d"}, {0x2005, ""},
			{1<<64 - 2, "ab"}, {1<<64 - 3, ""}, {0, ""},
		} {
			dst := make([]byte, 9)
			if got := string(dst[:f.Memory.ReadAt(dst, c.addr)]); got != c.want {
				t.Errorf("%#x: %q, want %q", c.addr, got, c.want)
			}
		}
		if r, ok := f.Memory.Find(0x2fff); !ok || r.Addr != 0x2000 || r.Size != 0x1000 || r.Stored != 5 ||
			r.Protection != bin.Readable|bin.Writable {
			t.Errorf("region %+v, %v", r, ok)
		}
		if _, ok := f.Memory.Find(0x3000); ok {
			t.Error("0x3000 is in a region")
		}
		if got := fmt.Sprint(f.Problems); !strings.Contains(got, "2 segments overlap others or exceed the addresses") || !strings.Contains(got, "no threads") {
			t.Errorf("problems %v", got)
		}
		if len(f.Memory.Ranges()) != 5 {
			t.Errorf("ranges %v", f.Memory.Ranges())
		}
	}
}

func TestTruncatedFileIsReadUpToItsEnd(t *testing.T) {
	b := process(true)
	whole := open(t, b)
	last := whole.Memory.Ranges()[0].Off + 16
	f := open(t, b[:last])
	if len(f.Threads) != 1 || len(f.Threads[0].Registers) != 33 {
		t.Errorf("threads %v", f.Threads)
	}
	if n := f.Memory.ReadAt(make([]byte, 64), 0x10000); n != 16 {
		t.Errorf("read %d bytes, want 16", n)
	}
	if got := fmt.Sprint(f.Problems); !strings.Contains(got, "the file is truncated") {
		t.Errorf("problems %v", got)
	}
}

func TestUnusableFilesAreRefused(t *testing.T) {
	for _, c := range []struct {
		b    []byte
		want string
	}{
		{[]byte("MDMP"), "elf, header: malformed: invalid magic"},
		{(&fixture.ELF{Type: 3}).Bytes(), "core file, header: malformed: invalid type 3: must be 4"},
	} {
		_, err := core.Open(bin.Bytes(c.b))
		if err == nil || err.Error() != c.want || fault.KindOf(err) != fault.Malformed {
			t.Errorf("error %v, want %s", err, c.want)
		}
	}
}

func TestDamagedNotesCostOnlyThemselves(t *testing.T) {
	e := &fixture.ELF{Wide: true, Type: 4, Machine: 62, Bare: true}
	e.Notes(e.Note("CORE", 1, make([]byte, 100), 4), e.Note("CORE", 3, make([]byte, 100), 4), e.Note("CORE", 0x46494c45, e.Pack(uint64(1)<<60, uint64(1)), 4),
		e.Note("CORE", 6, make([]byte, 12), 4), e.CoreFiles(fixture.CoreMapping{Start: 2, End: 1, Path: "/a"}), e.CoreThread(1, 11, numbered(27)...), e.Note("CORE", 0x53494749, make([]byte, 9), 4))
	f := open(t, e.Bytes())
	if len(f.Threads) != 1 || f.Threads[0].ID != 1 {
		t.Errorf("threads %v", f.Threads)
	}
	for _, want := range []string{"16 bytes of type 0x46494c45 are too few", "9 bytes of type 0x53494749 are too few", "12 bytes of type 0x6 are too few"} {
		if got := fmt.Sprint(f.Problems); !strings.Contains(got, want) {
			t.Errorf("problems %v, want %q", got, want)
		}
	}
}

func TestMemoryOfMappedFiles(t *testing.T) {
	file := make([]byte, 0x3000)
	for i := range file {
		file[i] = byte(i >> 4)
	}
	e := &fixture.ELF{Wide: true, Type: 4, Machine: 62, Bare: true}
	var maps []fixture.CoreMapping
	for i := range uint64(3) {
		maps = append(maps, fixture.CoreMapping{Start: 0x10000 + i<<12, End: 0x11000 + i<<12, Page: i, Path: "/lib/libplum.so"})
	}
	e.Notes(e.CoreThread(1, 11, numbered(27)...), e.CoreFiles(maps...))
	e.Load(0x10000, 0x1000, 4, file[:0x1000])
	e.Load(0x11000, 0x1000, 5, nil)
	e.Load(0x12000, 0x1000, 6, nil) // the process may have written to it
	other := bytes.Clone(file)
	other[0xfff]++
	for name, x := range map[string]struct {
		files map[string]bin.Source
		want  int
	}{
		"the file":         {map[string]bin.Source{"/lib/libplum.so": bin.Bytes(file)}, 0x2000},
		"a short file":     {map[string]bin.Source{"/lib/libplum.so": bin.Bytes(file[:0x1800])}, 0x1800},
		"another build":    {map[string]bin.Source{"/lib/libplum.so": bin.Bytes(other)}, 0x1000},
		"at another path":  {map[string]bin.Source{"/lib/libpear.so": bin.Bytes(file)}, 0x1000},
		"an empty file":    {map[string]bin.Source{"/lib/libplum.so": bin.Bytes(nil)}, 0x1000},
		"without any file": {nil, 0x1000},
	} {
		f := open(t, e.Bytes())
		f.MapFiles(x.files)
		got := make([]byte, 0x3000)
		if n := f.Memory.ReadAt(got, 0x10000); n != x.want || !bytes.Equal(got[:n], file[:n]) {
			t.Errorf("%s: got %#x bytes, want %#x", name, n, x.want)
		}
	}
}

// FuzzCore reads a core file and its memory.
func FuzzCore(f *testing.F) {
	f.Add(process(true))
	f.Add(process(false))
	for _, p := range processors {
		e := &fixture.ELF{Wide: p.wide, Big: p.big, Type: 4, Machine: p.machine, Bare: true}
		e.Notes(e.CoreThread(71, 11, numbered(p.count)...), e.CoreProcess(70, "orchard", "orchard -x", false), e.CoreSignal(11, 2, 0x5678),
			e.CoreFiles(fixture.CoreMapping{Start: 0x1000, End: 0x2000, Path: "/a"}, fixture.CoreMapping{Start: 0x2000, End: 0x3000, Path: "/a"}))
		e.Load(0x1000, 0x2000, 5, make([]byte, 32))
		f.Add(e.Bytes())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := core.Open(bin.Bytes(b))
		if err != nil {
			return
		}
		if len(file.Threads) > len(b)/72 || len(file.Modules) > len(b)/12+1 || len(file.Problems) > 64 {
			t.Fatalf("%d threads, %d modules, %d problems of %d bytes", len(file.Threads), len(file.Modules), len(file.Problems), len(b))
		}
		file.MapFiles(map[string]bin.Source{"/a": bin.Bytes(make([]byte, 32)), "/lib/libplum.so": bin.Bytes(library(0x4000, "plum-id!"))})
		dst := make([]byte, 64)
		for i, r := range file.Memory.Ranges() {
			if i > 0 && file.Memory.Ranges()[i-1].Addr >= r.Addr {
				t.Fatalf("range %#x is not in order", r.Addr)
			}
			if n := file.Memory.ReadAt(dst, r.Addr); uint64(n) < min(r.Stored, 64) {
				t.Fatalf("read %d bytes of %+v", n, r)
			}
			if got, ok := file.Memory.Find(r.Addr + r.Size - 1); !ok || got != r {
				t.Fatalf("the last address of %+v is in %+v", r, got)
			}
		}
		for i, m := range file.Modules {
			if i < 16 {
				file.IDFrom(i, bin.Bytes(b))
			}
			if m.Size == 0 {
				t.Fatalf("empty module %+v", m)
			}
		}
	})
}
