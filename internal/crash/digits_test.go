package crash_test

import (
	"encoding/binary"
	"testing"

	"symbolon/internal/crash"
	"symbolon/internal/fixture"
)

func TestRegistersHaveTheirOwnWidth(t *testing.T) {
	for _, cpu := range []uint16{fixture.DumpMIPS, fixture.DumpMIPS64, fixture.DumpSPARC} {
		d := &fixture.Minidump{Order: binary.LittleEndian, CPU: cpu, OS: fixture.DumpLinux}
		d.System()
		d.Threads(fixture.DumpThread{ID: 11, Context: d.Context(map[string]uint64{"pc": press})})
		x := document(t, newBench(t, nil).process(t, crashed(d).Bytes(), crash.Options{}))
		if got, want := at(x, "crashing_thread", "frames", 0, "registers", "pc"), "0x0000000050000000"; got != want {
			t.Errorf("CPU %#x: got %s, want %s", cpu, got, want)
		}
	}
}
