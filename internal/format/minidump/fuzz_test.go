package minidump_test

import (
	"encoding/binary"
	"reflect"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/fixture"
	"symbolon/internal/format/minidump"
)

// complete returns a dump with all streams.
func complete(order binary.ByteOrder, cpu uint16, os uint32) []byte {
	d := &fixture.Minidump{Order: order, CPU: cpu, OS: os, Pack: "Linux 5.4.0 #1 SMP x86_64", Level: 7, Model: 0x3a09}
	order.PutUint32(d.Details[:], 0x410fc0f1)
	order.PutUint32(d.Details[4:], 0xff)
	text := func(s string) uint32 { return d.Put(d.Words(uint32(len(s)), s, uint8(0))).Off }
	d.System()
	context := d.Context(nil)
	d.Threads(fixture.DumpThread{ID: 1, StackAddr: 0x7000, Stack: []byte("stack"), Context: context}, fixture.DumpThread{ID: 2, StackAddr: 0x8000})
	d.Names(1, "main", "wörker 😀")
	d.Exception(fixture.DumpCrash{Thread: 1, Code: 11, Flags: 1, Addr: 0x10, Context: context, Params: []uint64{1, 2}})
	d.Stream(fixture.DumpBreakpad, uint32(3), uint32(1), uint32(2))
	d.Modules(fixture.DumpModule{Base: 0x400000, Size: 0x1000, Name: "/bin/app", Version: []uint32{1, 2, 3, 4}, Record: d.BuildID(moduleID[:]...)},
		fixture.DumpModule{Base: 0x500000, Size: 0x1000, Name: `C:\a.dll`, Record: d.PDB70(moduleID, 1, "a.pdb")},
		fixture.DumpModule{Base: 0x600000, Size: 0x1000, Name: "b", Record: d.PDB20(5, 1, "b.pdb")}, fixture.DumpModule{Base: 0x700000, Size: 1, Name: "c"})
	d.Unloaded(fixture.DumpModule{Base: 0x800000, Size: 0x1000, Name: "gone"})
	d.Memory(fixture.DumpRange{Addr: 0x8000, Data: []byte("list")}, fixture.DumpRange{Addr: 0x8002, Data: []byte("overlap")})
	d.Memory64(fixture.DumpRange{Addr: 0x9000, Data: []byte("one")}, fixture.DumpRange{Addr: 0x9003, Data: []byte("two")})
	d.Table(fixture.DumpMemoryInfo, d.Words(uint64(0x1000), uint64(0), [2]uint32{}, uint64(0x1000), uint32(0x1000), uint32(0x104), [2]uint32{}))
	d.Stream(fixture.DumpMisc, uint32(24), uint32(3), uint32(4711), uint32(1), uint64(0))
	info := d.Put(d.Words(uint32(0), uint32(5), uint32(4), "data"))
	d.Table(fixture.DumpHandles, d.Words(uint64(64), d.Text("Event"), d.Text("name"), [4]uint32{}, info.Off, uint32(0)))
	d.Stream(fixture.DumpAssertion, [128]uint16{'x'}, [128]uint16{'f'}, [128]uint16{'a'}, uint32(1), uint32(1))
	d.Stream(fixture.DumpLSB, "DISTRIB_ID=\"Forge OS\"\nVERSION_ID=12\n")
	d.Stream(fixture.DumpCPUInfo, "microcode\t: 0x2006e05\n")
	d.Stream(fixture.DumpStatus, "Pid:\t31337\n")
	d.Stream(fixture.DumpMaps, "7000-8000 rw-p 00000000 00:00 0 [stack]\n")
	d.Stream(fixture.DumpLimits, "Limit  Soft\nMax cpu time  unlimited  5  seconds\n")
	d.Stream(fixture.DumpSoftErrors, "[1]")
	simple := d.Put(d.Words(uint32(1), text("key"), text("value")))
	objects := d.Put(d.Words(uint32(1), text("name"), uint16(1), uint16(0), text("abc")))
	module := d.Put(d.Words(uint32(1), d.Put(d.Words(uint32(1), text("listed"))), simple, objects))
	d.Stream(fixture.DumpCrashpad, uint32(1), [32]byte{1}, simple, d.Put(d.Words(uint32(1), uint32(0), module)))
	record := d.Put(d.Words(uint64(0), uint64(5), uint64(1), uint64(0), uint64(3), "a\x00b\x00c\x00d\x00e\x00"))
	d.Stream(fixture.DumpMacCrash, uint32(0), uint32(1), uint32(40), record)
	d.Stream(fixture.DumpMacBoot, uint32(0), uint64(d.Text("-v")))
	d.Stream(fixture.DumpClientStacks, uint32(1), uint32(1), uint32(1), uint32(2), [4]uint32{1, 0, 1}, uint64(0x1001), [2]uint32{0, 2}, "ab")
	return d.Bytes()
}

// FuzzOpen checks that a file has the same content in memory and on disk, and
// that ranges of memory are sorted and inside of the file.
func FuzzOpen(f *testing.F) {
	for _, s := range []struct {
		cpu uint16
		os  uint32
	}{
		{fixture.DumpX86, fixture.DumpWindows}, {fixture.DumpAMD64, fixture.DumpLinux}, {fixture.DumpARM, fixture.DumpAndroid},
		{fixture.DumpARM64, fixture.DumpMacOS}, {fixture.DumpMIPS, 0x8204}, {fixture.DumpPPC64, fixture.DumpIOS},
	} {
		f.Add(complete(binary.LittleEndian, s.cpu, s.os))
		f.Add(complete(binary.BigEndian, s.cpu, s.os))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := minidump.Open(bin.Bytes(b))
		same, sameErr := minidump.Open(onDisk{bin.Bytes(b)})
		if err != nil || sameErr != nil {
			if err == nil || sameErr == nil || err.Error() != sameErr.Error() {
				t.Fatalf("%v and %v", err, sameErr)
			}
			return
		}
		if a, b := content(file), content(same); !reflect.DeepEqual(a, b) {
			t.Fatalf("in memory %v, on disk %v", a, b)
		}
		ranges := file.Memory.Ranges()
		for i, r := range ranges {
			if r.Size == 0 || r.Off < 0 || r.Off+int64(r.Size) > int64(len(b)) || i > 0 && r.Addr-ranges[i-1].Addr < ranges[i-1].Size {
				t.Fatalf("range %d is %+v", i, r)
			}
		}
	})
}

// content returns the values that a file has.
func content(f *minidump.File) []any {
	list := []any{
		f.Time, f.Streams, *f.System, f.System.CPUInfo(), f.Threads, f.Modules, f.Unloaded, f.Memory.Ranges(), f.Mappings,
		f.LinuxMaps, f.Handles, f.MacCrash, f.BootArgs, f.Client, f.Problems, f.Exception, f.Breakpad, f.Assertion, f.Crashpad, f.Misc,
		f.LSB(), f.Limits(), string(f.SoftErrors()), f.BigEndian(),
	}
	add := func(values ...any) { list = append(list, values...) }
	version, build := f.System.Version()
	pid, hasPID := f.PID()
	uptime, hasUptime := f.Uptime()
	microcode, hasMicrocode := f.Microcode()
	add(version, build, pid, hasPID, uptime, hasUptime, microcode, hasMicrocode)
	for _, s := range f.Streams {
		add(s.Type.String(), s.Type.IsKnown())
	}
	for _, t := range f.Threads {
		c, err := f.Context(t.Context)
		region, ok := f.Memory.Find(t.Stack.Addr)
		memory := make([]byte, 32)
		n := f.Memory.ReadAt(memory, t.Stack.Addr+1)
		add(c, err, region, ok, memory[:n])
	}
	return list
}
