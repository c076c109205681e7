//go:build unix

package debuggers_test

import (
	"encoding/binary"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"

	"symbolon/internal/fixture"
	"symbolon/internal/proctest"
)

// minidump-stackwalk reads .sym files only: the server makes one of the ELF files.
func TestMinidumpStackwalk(t *testing.T) {
	proctest.Program(t, "minidump-stackwalk")
	inFolder(t, withMinidumpStackwalk)
	inProject(t, withMinidumpStackwalk)
}

func withMinidumpStackwalk(t *testing.T, b *build) {
	id, err := hex.DecodeString(b.id)
	if err != nil {
		t.Fatal(err)
	}
	const base, stack = 0x400000, 0x7ffd00000000
	d := &fixture.Minidump{Order: binary.LittleEndian, CPU: fixture.DumpAMD64, OS: fixture.DumpLinux, Pack: "Linux 6.1.0 #1 SMP x86_64"}
	d.System()
	d.Threads(fixture.DumpThread{ID: 71, StackAddr: stack, Stack: make([]byte, 0x100),
		Context: d.Context(map[string]uint64{"rip": b.boil, "rsp": stack})})
	d.Modules(fixture.DumpModule{Base: base, Size: 0x10000, Name: "/opt/kiln", Record: d.BuildID(id...)})
	d.Exception(fixture.DumpCrash{Thread: 71, Code: 11, Addr: 0})
	dump := filepath.Join(b.dir, "kiln.dmp")
	if err := os.WriteFile(dump, d.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	out := b.run(nil, "minidump-stackwalk", "--symbols-url", b.url, "--symbols-cache", filepath.Join(b.dir, "symbols"),
		"--symbols-tmp", b.dir, dump)
	b.expect(out, "kiln!boil [kiln.c : 4")
}
