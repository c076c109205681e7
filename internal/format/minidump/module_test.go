package minidump_test

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/fixture"
	"symbolon/internal/format/minidump"
	"symbolon/internal/ident"
)

var moduleID = [16]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}

func TestModuleIDsBySystem(t *testing.T) {
	const (
		uuid  = "0102030405060708090A0B0C0D0E0F10"
		lower = "0102030405060708090a0b0c0d0e0f10"
		pe    = "5e6f7a8b3000"
		file  = "/dir/module"
	)
	pdb70 := func(d *fixture.Minidump) []byte { return d.PDB70(moduleID, 0x1f, "app.pdb") }
	buildID := func(d *fixture.Minidump) []byte { return d.BuildID(append(moduleID[:], 0xaa, 0xbb)...) }
	for _, c := range []struct {
		name                    string
		os                      uint32
		record                  func(d *fixture.Minidump) []byte
		kind                    ident.Type
		debugID, code, debugged string
	}{
		{"Windows", fixture.DumpWindows, pdb70, ident.TypePE, uuid + "1f", pe, "app.pdb"},
		{"Windows without a record", fixture.DumpWindows, nil, ident.TypePE, "", pe, ""},
		{"Windows, PDB 2.0", fixture.DumpWindows, func(d *fixture.Minidump) []byte { return d.PDB20(0x4a5b6c7d, 3, "old.pdb") },
			ident.TypePE, "4A5B6C7D3", pe, "old.pdb"},
		{"Windows, nil id", fixture.DumpWindows, func(d *fixture.Minidump) []byte { return d.PDB70([16]byte{}, 1, "nil.pdb") },
			ident.TypePE, "", pe, "nil.pdb"},
		{"Windows, ELF", fixture.DumpWindows, buildID, ident.TypePE, "", lower + "aabb", file},
		{"macOS", fixture.DumpMacOS, func(d *fixture.Minidump) []byte { return d.PDB70(moduleID, 0, "lib.dylib") },
			ident.TypeMachO, uuid + "0", lower, "lib.dylib"},
		{"iOS", fixture.DumpIOS, pdb70, ident.TypeMachO, uuid + "1f", lower, "app.pdb"},
		{"Linux", fixture.DumpLinux, buildID, ident.TypeELF, "", lower + "aabb", file},
		{"Linux, PDB 7.0", fixture.DumpLinux, pdb70, ident.TypeELF, uuid + "1f", pe, "app.pdb"},
		{"Linux without a record", fixture.DumpLinux, nil, ident.TypeELF, "", "", ""},
		{"Linux, zeros", fixture.DumpLinux, func(d *fixture.Minidump) []byte { return d.BuildID(make([]byte, 20)...) },
			ident.TypeELF, "", "", file},
		{"PS3", 0x8204, buildID, ident.TypeUnknown, "", lower + "aabb", file},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
				d := newDump()
				d.Order, d.OS = order, c.os
				begin(d)
				m := fixture.DumpModule{Base: 0x1000, Size: 0x3000, Timestamp: 0x5e6f7a8b, Name: file}
				if c.record != nil {
					m.Record = c.record(d)
				}
				d.Modules(m)
				got := intact(t, d).Modules[0]
				want := c.debugID
				if len(c.code) > 32 { // of the build id, in the order of the file
					want = ident.BuildID(c.code).DebugID(order == binary.BigEndian).Breakpad()
				}
				id := ""
				if !got.DebugID.IsZero() {
					id = got.DebugID.Breakpad()
				}
				if id != want || string(got.CodeID) != c.code || got.DebugFile != c.debugged || got.Type != c.kind || got.CodeFile != file {
					t.Errorf("%v: %+v", order, got)
				}
			}
		})
	}
}

func TestDamagedRecordCostsOnlyTheIDs(t *testing.T) {
	long := make([]byte, 65)
	for _, c := range []struct{ name, reason, record string }{
		{"short PDB 7.0", "too few", "RSDS\x01\x02"},
		{"short PDB 2.0", "too few", "NB10\x01\x02"},
		{"unknown", "unknown signature 0x3930424e", "NB09 something"},
		{"long build id", "65 bytes", "LEpB" + string(long)},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := begin(newDump())
			d.Modules(fixture.DumpModule{Base: 0x1000, Size: 1, Name: "a", Record: []byte(c.record)}, fixture.DumpModule{Base: 0x2000, Size: 1, Name: "b"})
			f := open(t, d)
			if len(f.Modules) != 2 || f.Modules[0].CodeFile != "a" || !f.Modules[0].DebugID.IsZero() || f.Modules[0].CodeID != "" {
				t.Errorf("modules %+v", f.Modules)
			}
			checkProblem(t, f, "CodeView record", c.reason)
		})
	}
}

func TestRecordBeyondTheFileCostsOnlyTheIDs(t *testing.T) {
	d := begin(newDump())
	name := d.Text("a")
	d.List(fixture.DumpModules, d.Words(uint64(0x1000), uint32(1), uint32(0), uint32(0), name, [13]uint32{}, uint32(24), uint32(math.MaxUint32), [6]uint32{}))
	f := open(t, d)
	if len(f.Modules) != 1 || f.Modules[0].CodeFile != "a" {
		t.Errorf("modules %+v", f.Modules)
	}
	checkProblem(t, f, "CodeView record", "24 bytes at offset 4294967295")
}

func TestDamagedNameCostsOnlyItself(t *testing.T) {
	for _, c := range []struct {
		name, reason string
		text         []byte
	}{
		{"odd", "invalid length 3", []byte{3, 0, 0, 0, 'a', 0, 0, 0}},
		{"surrogate", "unpaired surrogate", []byte{4, 0, 0, 0, 0, 0xd8, 'a', 0}},
		{"surrogate at the end", "unpaired surrogate", []byte{2, 0, 0, 0, 0, 0xd8}},
		{"long", "2147483640 bytes at offset", []byte{0xf8, 0xff, 0xff, 0x7f, 'a', 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := begin(newDump())
			bad := d.Put(c.text).Off
			d.Modules(fixture.DumpModule{Base: 0x1000, Size: 1, NameOff: bad}, fixture.DumpModule{Base: 0x2000, Size: 1, Name: "b😀"})
			f := open(t, d)
			if len(f.Modules) != 2 || f.Modules[0].CodeFile != "" || f.Modules[1].CodeFile != "b😀" {
				t.Errorf("modules %+v", f.Modules)
			}
			checkProblem(t, f, "module name", c.reason)
		})
	}
}

func TestModulesWithoutARangeAreSkipped(t *testing.T) {
	d := begin(newDump())
	d.Modules(fixture.DumpModule{Base: 0x1000, Name: "empty"}, fixture.DumpModule{Base: math.MaxUint64 - 1, Size: 16, Name: "end"},
		fixture.DumpModule{Base: 0x2000, Size: 1, Name: "kept"})
	d.Unloaded(fixture.DumpModule{Base: 0x1000, Name: "empty"}, fixture.DumpModule{Base: 0x2000, Size: 0x5000, Timestamp: 0x1234, Name: "gone.dll"},
		fixture.DumpModule{Base: 0x2000, Size: 0x5000, Timestamp: 0x1234, Name: "gone.dll"})
	f := open(t, d)
	if len(f.Modules) != 1 || f.Modules[0].CodeFile != "kept" {
		t.Errorf("modules %+v", f.Modules)
	}
	want := minidump.Unloaded{Name: "gone.dll", CodeID: "000012345000", Base: 0x2000, Size: 0x5000}
	if len(f.Unloaded) != 2 || f.Unloaded[0] != want || f.Unloaded[1] != want {
		t.Errorf("unloaded modules %+v, must be two of %+v", f.Unloaded, want)
	}
	if len(f.Problems) != 3 {
		t.Errorf("problems %v", f.Problems)
	}
}

func TestVersionOfAModule(t *testing.T) {
	for _, c := range []struct {
		os   uint32
		want string
	}{
		{fixture.DumpWindows, "5.1.2.3"},
		{fixture.DumpMacOS, "5.1.2.3"},
		{fixture.DumpLinux, "327681.131075.7.8"},
	} {
		d := newDump()
		d.OS = c.os
		begin(d)
		d.Modules(fixture.DumpModule{Base: 1, Size: 1, Name: "a", Version: []uint32{5<<16 | 1, 2<<16 | 3, 7, 8}}, fixture.DumpModule{Base: 2, Size: 1, Name: "b"})
		f := intact(t, d)
		if f.Modules[0].Version != c.want || f.Modules[1].Version != "" {
			t.Errorf("versions %q and %q, must be %q and none", f.Modules[0].Version, f.Modules[1].Version, c.want)
		}
	}
}

func TestTextsThatModulesShareAreBounded(t *testing.T) {
	d := &fixture.Minidump{Order: binary.LittleEndian, CPU: fixture.DumpAMD64, OS: fixture.DumpLinux}
	d.System()
	d.Threads()
	name := d.Text(strings.Repeat("x", 1<<20))
	modules := make([]fixture.DumpModule, 40)
	for i := range modules {
		modules[i] = fixture.DumpModule{Base: uint64(i) << 20, Size: 1, NameOff: name}
	}
	d.Modules(modules...)
	f, err := minidump.Open(bin.Bytes(d.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	size := 0
	for _, m := range f.Modules {
		size += len(m.CodeFile)
	}
	if size == 0 || size > 16<<20 {
		t.Errorf("got %d bytes of names, want at most 16 MiB", size)
	}
}
