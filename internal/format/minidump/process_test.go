package minidump_test

import (
	"encoding/binary"
	"math"
	"reflect"
	"slices"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/fixture"
	"symbolon/internal/format/minidump"
	"symbolon/internal/ident"
)

func TestVersionOfASystem(t *testing.T) {
	for _, c := range []struct {
		os                          uint32
		version                     [3]uint32
		pack, name, expected, build string
	}{
		{2, [3]uint32{10, 0, 22000}, " Service Pack 1 ", "Windows NT", "10.0.22000", "Service Pack 1"},
		{1, [3]uint32{5, 1, 2600}, "", "Windows NT", "5.1.2600", ""},
		{fixture.DumpMacOS, [3]uint32{13, 0, 0}, "22A380", "Mac OS X", "13.0.0", "22A380"},
		{fixture.DumpLinux, [3]uint32{}, "Linux 4.9.60-linuxkit-aufs #1 SMP Mon Nov 6 16:00:12 UTC 2017 x86_64", "Linux",
			"4.9.60-linuxkit-aufs", "#1 SMP Mon Nov 6 16:00:12 UTC 2017"},
		{fixture.DumpLinux, [3]uint32{}, "Linux 5.4.0 #1 SMP x86_64 Linux/GNU", "Linux", "5.4.0", "#1 SMP"},
		{fixture.DumpLinux, [3]uint32{}, "Linux 5.4.0", "Linux", "5.4.0", ""},
		{fixture.DumpLinux, [3]uint32{}, "Linux", "Linux", "0.0.0", "Linux"},
		{fixture.DumpLinux, [3]uint32{5, 4, 0}, "Linux 5.4.0 x", "Linux", "5.4.0", "Linux 5.4.0 x"},
		{0x8299, [3]uint32{1, 2, 3}, "", "0x8299", "1.2.3", ""},
	} {
		d := newDump()
		d.OS, d.Version, d.Pack = c.os, c.version, c.pack
		s := intact(t, begin(d)).System
		if version, build := s.Version(); s.OSName != c.name || version != c.expected || build != c.build {
			t.Errorf("%s, %q, %q; must be %s, %q, %q", s.OSName, version, build, c.name, c.expected, c.build)
		}
	}
}

func TestCPUOfASystem(t *testing.T) {
	details := func(order binary.ByteOrder, words ...uint32) (b [24]byte) {
		for i, w := range words {
			order.PutUint32(b[4*i:], w)
		}
		return b
	}
	le := binary.LittleEndian
	for _, c := range []struct {
		cpu, level, model uint16
		details           [24]byte
		order             binary.ByteOrder
		name, info        string
		arch              ident.Arch
	}{
		{fixture.DumpX86, 6, 58<<8 | 9, details(le, 0x756e6547, 0x49656e69, 0x6c65746e), le, "x86", "GenuineIntel family 6 model 58 stepping 9", ident.ArchX86},
		{10, 6, 1, details(le), le, "x86", "family 6 model 0 stepping 1", ident.ArchX86},
		{fixture.DumpAMD64, 6, 58<<8 | 9, details(le, 1, 2, 3), le, "amd64", "family 6 model 58 stepping 9", ident.ArchX86_64},
		{fixture.DumpARM, 7, 0, details(le, 0x410fc0f1, 0x5), le, "arm", "ARMv7 ARM Cortex-A15 features: swp,thumb", ident.ArchARM},
		{fixture.DumpARM, 7, 0, details(binary.BigEndian, 0x99001110), binary.BigEndian, "arm", "ARMv7 vendor(0x99) part(0x99001110)", ident.ArchARM},
		{fixture.DumpARM, 5, 0, details(le), le, "arm", "ARMv5", ident.ArchARM},
		{fixture.DumpMIPS, 0, 0, details(le), le, "mips", "", ident.ArchMIPSel},
		{fixture.DumpMIPS, 0, 0, details(le), binary.BigEndian, "mips", "", ident.ArchMIPS},
		{0x7777, 0, 0, details(le), le, "unknown", "", ident.ArchUnknown},
	} {
		d := newDump()
		d.Order, d.CPU, d.Level, d.Model, d.Details = c.order, c.cpu, c.level, c.model, c.details
		s := intact(t, begin(d)).System
		if s.CPU != c.name || s.CPUInfo() != c.info || s.Arch != c.arch || s.CPUs != 4 {
			t.Errorf("%s, %q, %v; must be %s, %q, %v", s.CPU, s.CPUInfo(), s.Arch, c.name, c.info, c.arch)
		}
	}
}

func TestThreadNames(t *testing.T) {
	d := newDump()
	d.System()
	d.Threads(fixture.DumpThread{ID: 7}, fixture.DumpThread{ID: 8}, fixture.DumpThread{ID: 9}, fixture.DumpThread{ID: 7})
	d.Names(7, "wörker ✓", "")
	f := intact(t, d)
	for i, want := range []string{"wörker ✓", "", "", "wörker ✓"} {
		if th := f.Threads[i]; th.Name != want || th.IsNamed != (i != 2) {
			t.Errorf("thread %d: %q, %t; must be %q", i, th.Name, th.IsNamed, want)
		}
	}
}

func TestException(t *testing.T) {
	d := begin(newDump())
	d.Exception(fixture.DumpCrash{
		Thread: 1, Code: 0xc0000005, Flags: 2, Addr: 0x401234, Params: []uint64{1, 0x10},
		Context: d.Context(map[string]uint64{"rip": 0x401234}),
	})
	f := intact(t, d)
	e := f.Exception
	if e == nil || e.ThreadID != 1 || e.Code != 0xc0000005 || e.Flags != 2 || e.Address != 0x401234 || !slices.Equal(e.Parameters, []uint64{1, 0x10}) {
		t.Fatalf("exception %+v", e)
	}
	c, err := f.Context(e.Context)
	if err != nil || c[16] != (bin.Register{Name: "rip", Value: 0x401234}) {
		t.Errorf("registers %v, %v", c, err)
	}
}

func TestExceptionHasAtMostFifteenParameters(t *testing.T) {
	d := begin(newDump())
	d.Stream(fixture.DumpException, [8]uint32{}, uint32(math.MaxUint32), uint32(0), [15]uint64{14: 5}, [2]uint32{})
	if f := intact(t, d); len(f.Exception.Parameters) != 15 || f.Exception.Parameters[14] != 5 {
		t.Errorf("parameters %v", f.Exception.Parameters)
	}
}

func TestThreadsOfTheWriter(t *testing.T) {
	d := begin(newDump())
	d.Stream(fixture.DumpBreakpad, uint32(2), uint32(5), uint32(6))
	want := minidump.Breakpad{DumpThread: 5, RequestingThread: 6, HasRequestingThread: true}
	if f := intact(t, d); *f.Breakpad != want {
		t.Errorf("%+v, must be %+v", f.Breakpad, want)
	}
}

func TestMiscOfEachSize(t *testing.T) {
	for _, size := range []int{24, 44, 232, 832, 1364, 2000} {
		d := begin(newDump())
		b := d.Words(uint32(size), uint32(3), uint32(4711), uint32(fixture.DumpTime-60))
		d.Stream(fixture.DumpMisc, append(b, make([]byte, size-len(b))...))
		f := intact(t, d)
		if pid, ok := f.PID(); pid != 4711 || !ok {
			t.Errorf("size %d: process %d, %t", size, pid, ok)
		}
		if seconds, ok := f.Uptime(); seconds != 60 || !ok {
			t.Errorf("size %d: uptime %d, %t", size, seconds, ok)
		}
	}
}

func TestMiscWithoutFlagsHasNeitherIDNorTimes(t *testing.T) {
	d := begin(newDump())
	d.Stream(fixture.DumpMisc, uint32(24), uint32(0), uint32(4711), uint32(1), uint64(0))
	f := intact(t, d)
	if _, ok := f.PID(); ok {
		t.Error("an id")
	}
	if _, ok := f.Uptime(); ok {
		t.Error("an uptime")
	}
}

func TestUptimeIsNotNegative(t *testing.T) {
	d := begin(newDump())
	d.Stream(fixture.DumpMisc, uint32(24), uint32(2), uint32(0), uint32(fixture.DumpTime+60), uint64(0))
	if seconds, ok := intact(t, d).Uptime(); seconds != 0 || !ok {
		t.Errorf("uptime %d, %t", seconds, ok)
	}
}

func TestShortStreamsCostOnlyThemselves(t *testing.T) {
	d := begin(newDump())
	for _, kind := range []uint32{fixture.DumpException, fixture.DumpMemory64, fixture.DumpHandles, fixture.DumpUnloaded, fixture.DumpMisc,
		fixture.DumpMemoryInfo, fixture.DumpBreakpad, fixture.DumpAssertion,
		fixture.DumpMacCrash, fixture.DumpMacBoot, fixture.DumpClientStacks, fixture.DumpModules, fixture.DumpMemory, fixture.DumpSystem} {
		d.Stream(kind, uint32(1), uint16(0))
		d.StreamAt(kind, fixture.DumpLocation{Size: 100, Off: math.MaxUint32})
	}
	f := open(t, d)
	if len(f.Problems) != 28 {
		t.Errorf("%d problems, must be 28: %v", len(f.Problems), f.Problems)
	}
	if f.System == nil || len(f.Threads) != 1 {
		t.Errorf("system %v, threads %v", f.System, f.Threads)
	}
}

func TestAssertion(t *testing.T) {
	for kind, name := range []string{"", "invalid parameter", "pure virtual call"} {
		text := func(s string) (b [128]uint16) {
			for i, x := range s {
				b[i] = uint16(x)
			}
			return b
		}
		d := begin(newDump())
		d.Stream(fixture.DumpAssertion, text("x != ∅"), text("f"), text("a.cpp"), uint32(12), uint32(kind))
		want := minidump.Assertion{Expression: "x != ∅", Function: "f", File: "a.cpp", Line: 12, Kind: name}
		if f := intact(t, d); *f.Assertion != want {
			t.Errorf("%+v, must be %+v", f.Assertion, want)
		}
	}
}

func TestHandlesOfBothVersions(t *testing.T) {
	d := begin(newDump())
	kind, name := d.Text("Event"), d.Text(`\BaseNamedObjects\forge`)
	d.Table(fixture.DumpHandles, d.Words(uint64(64), kind, name, [6]uint32{1, 2, 3, 4, 5}))
	f := intact(t, d)
	h := f.Handles[0]
	if h.Value != 64 || *h.TypeName != "Event" || *h.ObjectName != `\BaseNamedObjects\forge` {
		t.Errorf("handle %+v", h)
	}

	d = begin(newDump())
	d.Table(fixture.DumpHandles, d.Words(uint64(68), uint32(0), uint32(math.MaxUint32), [4]uint32{}))
	f = open(t, d)
	if h := f.Handles[0]; h.Value != 68 || h.TypeName != nil || h.ObjectName != nil {
		t.Errorf("handle %+v", h)
	}
	checkProblem(t, f, "handle name", "4 bytes at offset 4294967295")
}

func TestProtections(t *testing.T) {
	row := func(d *fixture.Minidump, base uint64, state, protect uint32) []byte {
		return d.Words(base, uint64(0), [2]uint32{}, uint64(0x1000), state, protect, [2]uint32{})
	}
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		d := newDump()
		d.Order = order
		begin(d)
		d.Stream(fixture.DumpMaps, "1000-2000 rwxp 00000000 00:00 0\n")
		d.Table(fixture.DumpMemoryInfo, row(d, 0x5000, 0x1000, 0x20), row(d, 0x1000, 0x1000, 0x104), row(d, 0x2000, 0x1000, 0x01), row(d, 0x3000, 0x10000, 0))
		f := intact(t, d)
		want := []minidump.Mapping{
			{Addr: 0x1000, Size: 0x1000, IsMapped: true},
			{Addr: 0x2000, Size: 0x1000, IsMapped: true},
			{Addr: 0x3000, Size: 0x1000},
			{Addr: 0x5000, Size: 0x1000, Protection: bin.Readable | bin.Executable, IsMapped: true},
		}
		if !reflect.DeepEqual(f.Mappings, want) {
			t.Errorf("%v: %+v, must be %+v", order, f.Mappings, want)
		}
		if len(f.LinuxMaps) != 1 {
			t.Errorf("%v: maps of Linux %v", order, f.LinuxMaps)
		}
	}
}
