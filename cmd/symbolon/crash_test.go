package main

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"symbolon/internal/cache/disk"
	"symbolon/internal/fixture"
)

// writeDumps writes three dumps to a folder: linux.dmp is a null pointer read in a call
// that is inlined, windows.dmp a jump to an unloaded module, mac.dmp of a process that
// did not crash.
func writeDumps(dir string) error {
	le := binary.LittleEndian
	id, _ := hex.DecodeString("0102030405060708090a0b0c0d0e0f10")
	linux := &fixture.Minidump{Order: le, CPU: fixture.DumpAMD64, OS: fixture.DumpLinux, Pack: "Linux 6.1.0 #1 SMP x86_64"}
	linux.System()
	linux.Stream(fixture.DumpLSB, "DISTRIB_ID=Forge\nDISTRIB_RELEASE=12\nDISTRIB_CODENAME=anvil\nDISTRIB_DESCRIPTION=\"Forge 12\"\n")
	linux.Stream(fixture.DumpMaps, "00400000-00402000 r-xp 00000000 08:01 1 /opt/app\n")
	linux.Stream(fixture.DumpSoftErrors, `["no memory of thread 9"]`)
	linux.Stream(0x12345678, uint32(1))
	crashed := linux.Context(map[string]uint64{"rip": 0x401012, "rsp": 0x7000, "rbx": 3})
	waiting := linux.Context(map[string]uint64{"rip": 0x500010, "rsp": 0x9000})
	linux.Threads(
		fixture.DumpThread{ID: 20, StackAddr: 0x9000, Stack: make([]byte, 16), Context: waiting},
		fixture.DumpThread{ID: 21, StackAddr: 0x7000, Stack: linux.Words(uint64(0x401105), uint64(0)), Context: crashed},
	)
	linux.Names(20, "io", "worker")
	linux.Modules(
		fixture.DumpModule{Base: 0x400000, Size: 0x2000, Name: "/opt/app", Record: linux.BuildID(id...)},
		fixture.DumpModule{Base: 0x500000, Size: 0x1000, Name: "/opt/lib.so", Record: linux.BuildID(id[:8]...), Version: []uint32{0x10002, 0x30004}},
	)
	linux.Memory(fixture.DumpRange{Addr: 0x401012, Data: []byte{0x8b, 0x10, 0x90, 0x90}}) // mov edx, [rax]
	linux.Exception(fixture.DumpCrash{Thread: 21, Code: 11, Flags: 1, Context: crashed})

	windows := &fixture.Minidump{Order: le, CPU: fixture.DumpX86, OS: fixture.DumpWindows, Version: [3]uint32{10, 0, 22000}}
	windows.System()
	lost := windows.Context(map[string]uint64{"eip": 0x70001000, "esp": 0x8000, "ebp": 0x8008})
	windows.Threads(fixture.DumpThread{ID: 1, StackAddr: 0x8000, Stack: make([]byte, 64), Context: lost})
	windows.Modules(fixture.DumpModule{Base: 0x400000, Size: 0x2000, Name: `C:\app\app.exe`, Record: windows.PDB70([16]byte(id), 1, "app.pdb")})
	windows.Unloaded(fixture.DumpModule{Base: 0x70000000, Size: 0x4000, Name: `C:\app\gone.dll`})
	windows.Exception(fixture.DumpCrash{Thread: 1, Code: 0xc0000005, Addr: 0x70001000, Params: []uint64{8, 0x70001000}, Context: lost})

	mac := &fixture.Minidump{Order: le, CPU: fixture.DumpARM64, OS: fixture.DumpMacOS, Version: [3]uint32{14, 1, 0}}
	mac.System()
	mac.Threads(fixture.DumpThread{ID: 5})
	mac.Modules(fixture.DumpModule{Base: 0x100000000, Size: 0x2000, Name: "/usr/bin/tool\x1b[31m", Record: mac.PDB70([16]byte(id), 0, "tool")})
	return errors.Join(
		os.WriteFile(dir+"/linux.dmp", linux.Bytes(), 0o600), os.WriteFile(dir+"/windows.dmp", windows.Bytes(), 0o600),
		os.WriteFile(dir+"/mac.dmp", mac.Bytes(), 0o600), os.WriteFile(dir+"/cut.dmp", linux.Bytes()[:20], 0o600),
	)
}

func TestCrashWhileTheDataDirectoryIsInUse(t *testing.T) {
	dir := t.TempDir()
	store, err := disk.Open(disk.Config{}, dir+"/data", time.Now, slog.New(slog.DiscardHandler))
	if err = errors.Join(err, writeDumps(dir)); err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	var out, errs bytes.Buffer
	line := []string{"crash", "--data", dir + "/data", dir + "/linux.dmp"}
	code := run(t.Context(), line, &env{stdin: strings.NewReader(""), stdout: &out, stderr: &errs})
	if code != exitDone || !strings.Contains(out.String(), "Crash reason:") {
		t.Errorf("exit %d: %s", code, &errs)
	}
}
