package minidump_test

import (
	"encoding/binary"
	"reflect"
	"slices"
	"strings"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/fixture"
	"symbolon/internal/format/minidump"
)

func TestTextsOfLinux(t *testing.T) {
	d := begin(newDump())
	d.Stream(fixture.DumpLSB, "ID=other\r\nDISTRIB_ID=\"Forge OS\"\nDISTRIB_RELEASE=12\nVERSION_CODENAME = anvil \nno separator\nPRETTY_NAME=\"Forge\xff\"")
	d.Stream(fixture.DumpCPUInfo, "processor\t: 0\nmicrocode\t: unknown\nmicrocode\t: 0x2006e05\n\nmicrocode\t: 0x1\n")
	d.Stream(fixture.DumpStatus, "Name:\tanvil\nPid:\t31337\nPPid:\t1\n")
	d.Stream(fixture.DumpSoftErrors, `["error", {"code": 7}]`)
	f := intact(t, d)
	if got, want := *f.LSB(), (minidump.LSB{ID: "Forge OS", Release: "12", Codename: "anvil", Description: "Forge\ufffd"}); got != want {
		t.Errorf("distribution %+v, must be %+v", got, want)
	}
	if v, ok := f.Microcode(); v != 0x2006e05 || !ok {
		t.Errorf("microcode %#x, %t", v, ok)
	}
	if pid, ok := f.PID(); pid != 31337 || !ok {
		t.Errorf("process %d, %t", pid, ok)
	}
	if got := string(f.SoftErrors()); got != `["error", {"code": 7}]` {
		t.Errorf("soft errors %s", got)
	}
}

func TestMissingTextsHaveNoValues(t *testing.T) {
	d := begin(newDump())
	d.Stream(fixture.DumpSoftErrors, "[1")
	d.StreamAt(fixture.DumpLimits, fixture.DumpLocation{Size: 10, Off: 1 << 30})
	f := intact(t, d)
	if _, ok := f.Microcode(); ok || f.LSB() != nil || f.Limits() != nil || f.SoftErrors() != nil {
		t.Error("values of missing texts")
	}
	if _, ok := f.PID(); ok {
		t.Error("id of a process")
	}
}

func TestLimits(t *testing.T) {
	d := begin(newDump())
	d.Stream(fixture.DumpLimits, strings.Join([]string{
		"", "Limit                     Soft Limit           Hard Limit           Units     ",
		"Max cpu time              unlimited            unlimited            seconds   ",
		"", "Max nice priority         0                    0                    ", "Max short  1",
	}, "\n"))
	want := []minidump.Limit{{Name: "Max cpu time", Soft: "unlimited", Hard: "unlimited", Unit: "seconds"}, {Name: "Max nice priority", Soft: "0", Hard: "0"}}
	if got := intact(t, d).Limits(); !slices.Equal(got, want) {
		t.Errorf("%+v, must be %+v", got, want)
	}
	d = begin(newDump())
	d.Stream(fixture.DumpLimits, strings.Repeat("a  b  c\n", 1000))
	if n := len(intact(t, d).Limits()); n != 100 {
		t.Errorf("%d limits", n)
	}
}

func TestMapsOfLinux(t *testing.T) {
	d := begin(newDump())
	d.Stream(fixture.DumpMaps, "7000-8000 rw-p 00000000 00:00 0 [stack]\n1000-2000 r-xp 00000000 08:01 12 /opt/anvil\n2000-3000 ---p 0 0 0\n\nnonsense\n5000-4000 r--p\n")
	f := open(t, d)
	want := []minidump.Mapping{
		{Addr: 0x1000, Size: 0x1000, Protection: bin.Readable | bin.Executable, IsMapped: true},
		{Addr: 0x2000, Size: 0x1000, IsMapped: true},
		{Addr: 0x7000, Size: 0x1000, Protection: bin.Readable | bin.Writable, IsMapped: true},
	}
	if !slices.Equal(f.LinuxMaps, want) || !slices.Equal(f.Mappings, want) {
		t.Errorf("%+v, must be %+v", f.LinuxMaps, want)
	}
	if len(f.Problems) != 2 {
		t.Errorf("problems %v, must be two", f.Problems)
	}
}

func TestAnnotationsOfCrashpad(t *testing.T) {
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		d := newDump()
		d.Order = order
		begin(d)
		text := func(s string) uint32 { return d.Put(d.Words(uint32(len(s)), s, uint8(0))).Off }
		simple := d.Put(d.Words(uint32(2), text("key"), text("value"), text("bad"), uint32(1<<30)))
		list := d.Put(d.Words(uint32(1), text("listed")))
		objects := d.Put(d.Words(uint32(2), text("text"), uint16(1), uint16(0), text("abc"), text("own"), uint16(0x8001), uint16(0), text("xyz")))
		module := d.Put(d.Words(uint32(1), list, simple, objects))
		modules := d.Put(d.Words(uint32(3), uint32(5), module, uint32(6), fixture.DumpLocation{Size: 8, Off: module.Off}, uint32(7), fixture.DumpLocation{Size: 28, Off: 1 << 31}))
		id := d.PDB70(moduleID, 0, "")[4:20]
		d.Stream(fixture.DumpCrashpad, uint32(1), id, [16]byte{}, simple, modules)
		f := open(t, d)
		annotations := []minidump.Annotation{{Key: "key", Value: "value"}, {Key: "bad"}}
		want := &minidump.Crashpad{
			ReportID: "01020304-0506-0708-090a-0b0c0d0e0f10", Annotations: annotations,
			Modules: []minidump.CrashpadModule{{
				Index: 5, List: []string{"listed"}, Annotations: annotations,
				Objects: []minidump.Annotation{{Key: "text", Type: 1, Value: "abc"}, {Key: "own", Type: 0x8001, Value: "xyz"}},
			}},
		}
		if !reflect.DeepEqual(f.Crashpad, want) {
			t.Errorf("%v: %+v, must be %+v", order, f.Crashpad, want)
		}
		if len(f.Problems) != 4 {
			t.Errorf("%v: problems %v, must be of two values and two modules", order, f.Problems)
		}
	}
}

func TestSharedAnnotationsAreLimited(t *testing.T) {
	d := begin(newDump())
	n := uint32(1 << 16)
	list := d.Put(append(d.Words(n), make([]byte, 4*n)...))
	module := d.Put(d.Words(uint32(1), list, list, list))
	entries := make([]any, 0, 2*n)
	for i := range n {
		entries = append(entries, i, module)
	}
	modules := d.Put(d.Words(append([]any{n}, entries...)...))
	d.Stream(fixture.DumpCrashpad, uint32(1), [32]byte{}, fixture.DumpLocation{}, modules)
	f := open(t, d)
	total := 0
	for _, m := range f.Crashpad.Modules {
		total += len(m.List) + len(m.Annotations) + len(m.Objects)
	}
	if total > 1<<20 {
		t.Errorf("%d annotations", total)
	}
}

func TestCrashInformationOfMacOS(t *testing.T) {
	d := begin(newDump())
	five := d.Put(d.Words(uint64(0), uint64(5), uint64(1), uint64(0), uint64(3), "/usr/lib/a.dylib\x00too hot\x00sig\x00bt\x00msg2\x00"))
	also := d.Put(d.Words(uint64(0), uint64(5), uint64(2), uint64(1), uint64(0), "b\x00\x00\x00\x00"+strings.Repeat("x", 9000)+"\x00"))
	d.Stream(fixture.DumpMacCrash, uint32(0x4d7a0001), uint32(2), uint32(40), five, also, [36]uint32{})
	d.Stream(fixture.DumpMacBoot, uint32(0x4d7a0002), uint64(d.Text("-v keepsyms=1")))
	f := intact(t, d)
	want := []minidump.MacRecord{
		{Thread: 1, AbortCause: 3, Module: "/usr/lib/a.dylib", Message: "too hot", Signature: "sig", Backtrace: "bt", Message2: "msg2"},
		{Thread: 2, DialogMode: 1, Module: "b", Message2: strings.Repeat("x", 8192)},
	}
	if !slices.Equal(f.MacCrash, want) {
		t.Errorf("%+v, must be %+v", f.MacCrash, want)
	}
	if *f.BootArgs != "-v keepsyms=1" {
		t.Errorf("arguments %q", *f.BootArgs)
	}
}

func TestInvalidCrashInformationOfMacOS(t *testing.T) {
	record := func(d *fixture.Minidump, version uint64, text string) fixture.DumpLocation {
		return d.Put(d.Words(uint64(0), version, uint64(1), uint64(0), text))
	}
	for _, c := range []struct {
		name, reason string
		write        func(d *fixture.Minidump)
	}{
		{"versions", "record 1: records of versions 4 and 1", func(d *fixture.Minidump) {
			d.Stream(fixture.DumpMacCrash, uint32(0), uint32(2), uint32(32), record(d, 4, "a\x00"), record(d, 1, "a\x00"))
		}},
		{"texts", "record 0: 34 bytes are too few, with texts at 35", func(d *fixture.Minidump) {
			d.Stream(fixture.DumpMacCrash, uint32(0), uint32(1), uint32(35), record(d, 4, "a\x00"))
		}},
		{"end of a text", "record 0: data ends early", func(d *fixture.Minidump) {
			d.Stream(fixture.DumpMacCrash, uint32(0), uint32(1), uint32(32), record(d, 4, "a"))
		}},
		{"record", "record 0: 8 bytes at offset 1073741824", func(d *fixture.Minidump) {
			d.Stream(fixture.DumpMacCrash, uint32(0), uint32(1), uint32(35), uint32(8), uint32(1<<30))
		}},
		{"count", "too few for 20 records", func(d *fixture.Minidump) {
			d.Stream(fixture.DumpMacCrash, uint32(0), uint32(21), uint32(32), record(d, 4, "a\x00"))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := begin(newDump())
			c.write(d)
			f := open(t, d)
			if f.MacCrash != nil {
				t.Errorf("records %+v", f.MacCrash)
			}
			checkProblem(t, f, "MozMacosCrashInfoStream", c.reason)
		})
	}
}

func TestStacksOfSentrysClient(t *testing.T) {
	d := begin(newDump())
	const text = "main.app"
	d.Stream(fixture.DumpClientStacks, uint32(1), uint32(3), uint32(3), uint32(len(text)),
		[9]uint32{7, 0, 2, 8, 2, 1, 9, 2, 2}, uint32(0),
		uint64(0x1001), [2]uint32{0, 4}, uint64(0x1002), [2]uint32{5, 4}, uint64(0x1003), [2]uint32{5, 3}, text)
	f := open(t, d)
	want := []minidump.ClientStack{
		{ThreadID: 7, Frames: []minidump.ClientFrame{{Addr: 0x1001, Function: "main"}, {Addr: 0x1002}}},
		{ThreadID: 8, Frames: []minidump.ClientFrame{{Addr: 0x1003, Function: "app"}}},
	}
	if !reflect.DeepEqual(f.Client, want) {
		t.Errorf("%+v, must be %+v", f.Client, want)
	}
	checkProblem(t, f, "client stack", "frames 2 to 4 of thread 9 are missing")
}

func TestStacksOfSentrysClientHaveAnExactSize(t *testing.T) {
	d := begin(newDump())
	d.Stream(fixture.DumpClientStacks, uint32(1), uint32(0), uint32(0), uint32(3), "ab")
	f := open(t, d)
	checkProblem(t, f, "SentryClientStacks", "18 bytes do not fit")
}
