package minidump_test

import (
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/fixture"
	"symbolon/internal/format/minidump"
)

// newDump returns a dump of Linux on amd64 with system information and one
// thread, unless the CPU is set before begin is called.
func newDump() *fixture.Minidump {
	return &fixture.Minidump{Order: binary.LittleEndian, CPU: fixture.DumpAMD64, OS: fixture.DumpLinux}
}

// begin adds the required streams.
func begin(d *fixture.Minidump) *fixture.Minidump {
	d.System()
	d.Threads(fixture.DumpThread{ID: 1})
	return d
}

func open(t testing.TB, d *fixture.Minidump) *minidump.File {
	t.Helper()
	f, err := minidump.Open(bin.Bytes(d.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// intact opens a dump that must not have problems.
func intact(t testing.TB, d *fixture.Minidump) *minidump.File {
	t.Helper()
	f := open(t, d)
	if len(f.Problems) > 0 {
		t.Errorf("problems %v", f.Problems)
	}
	return f
}

// checkProblem checks that there is one problem, at a place and with a reason.
func checkProblem(t testing.TB, f *minidump.File, place, reason string) {
	t.Helper()
	if len(f.Problems) != 1 || f.Problems[0].Place != place || !strings.Contains(f.Problems[0].Reason, reason) {
		t.Errorf("problems %v, must be one of %s with %q", f.Problems, place, reason)
	}
}

// header returns a header for a directory of count streams after it.
func header(signature, version, count uint32) []byte {
	b := make([]byte, 0, 32)
	for _, v := range []uint32{signature, version, count, 32, 0, 1700000000, 0, 0} {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}

func TestUnusableFilesAreRefusedByName(t *testing.T) {
	noThreads := newDump()
	noThreads.System()
	badThreads := newDump()
	badThreads.System()
	badThreads.Stream(fixture.DumpThreads, uint32(3))
	for _, c := range []struct {
		name string
		file []byte
		want error
	}{
		{"empty", nil, minidump.ErrMissingHeader},
		{"cut header", header(0x504d444d, 0xa793, 0)[:31], minidump.ErrMissingHeader},
		{"magic", header(0x504d444e, 0xa793, 0), minidump.ErrHeaderMismatch},
		{"version", header(0x504d444d, 0xa794, 0), minidump.ErrVersionMismatch},
		{"cut directory", header(0x504d444d, 0xa793, 1), minidump.ErrMissingDirectory},
		{"huge directory", header(0x504d444d, 0xa793, math.MaxUint32), minidump.ErrMissingDirectory},
		{"no streams", header(0x504d444d, 0xabcda793, 0), minidump.ErrMissingSystemInfo},
		{"no threads", noThreads.Bytes(), minidump.ErrMissingThreadList},
		{"bad threads", badThreads.Bytes(), minidump.ErrMissingThreadList},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := minidump.Open(bin.Bytes(c.file)); !errors.Is(err, c.want) {
				t.Errorf("%v, must be %v", err, c.want)
			}
		})
	}
}

func TestErrorOfARequiredStreamHasItsPlaceAndReason(t *testing.T) {
	d := newDump()
	d.System()
	d.Stream(fixture.DumpThreads, uint32(3))
	_, err := minidump.Open(bin.Bytes(d.Bytes()))
	const want = "minidump, ThreadListStream: malformed: MissingThreadList: offset 0x58: 4 bytes do not fit a list of 3 entries"
	if err == nil || err.Error() != want {
		t.Errorf("%v, must be %s", err, want)
	}
}

func TestLastUndamagedStreamOfATypeCounts(t *testing.T) {
	d := begin(newDump())
	d.Threads(fixture.DumpThread{ID: 2}, fixture.DumpThread{ID: 3})
	d.Stream(fixture.DumpThreads, uint32(7))
	f := open(t, d)
	if len(f.Threads) != 2 || f.Threads[0].ID != 2 {
		t.Errorf("threads %v", f.Threads)
	}
	checkProblem(t, f, "ThreadListStream", "do not fit a list of 7 entries")
}

func TestListsMayHavePadding(t *testing.T) {
	d := newDump()
	d.System()
	d.Stream(fixture.DumpThreads, uint32(1), uint32(0), uint32(42), [44]byte{})
	if f := intact(t, d); len(f.Threads) != 1 || f.Threads[0].ID != 42 {
		t.Errorf("threads %v", f.Threads)
	}
}

func TestStreamsHaveNames(t *testing.T) {
	for _, c := range []struct {
		kind            minidump.StreamType
		name            string
		isRead, isKnown bool
	}{
		{minidump.ThreadList, "ThreadListStream", true, true},
		{minidump.ClientStacks, "SentryClientStacks", true, true},
		{0x4767000a, "LinuxDsoDebug", false, true},
		{0x12345678, "stream 0x12345678", false, false},
	} {
		if c.kind.String() != c.name || c.kind.IsRead() != c.isRead || c.kind.IsKnown() != c.isKnown {
			t.Errorf("%v is read: %t, is known: %t; must be %v", c.kind, c.kind.IsRead(), c.kind.IsKnown(), c)
		}
	}
}

func TestProblemsAreLimited(t *testing.T) {
	d := begin(newDump())
	var names [][]byte
	for range 100 {
		names = append(names, d.Words(uint32(1), uint64(math.MaxUint64)))
	}
	d.List(fixture.DumpThreadNames, names...)
	if f := open(t, d); len(f.Problems) != 64 {
		t.Errorf("%d problems, must be 64", len(f.Problems))
	}
}

func TestRegistersOfEachCPU(t *testing.T) {
	both := []binary.ByteOrder{binary.LittleEndian, binary.BigEndian}
	for _, c := range []struct {
		cpu    uint16
		flags  uint32 // other than zero: those of another layout
		count  int
		chosen []string
	}{
		{fixture.DumpX86, 0, 10, []string{"eip", "esp", "ebp", "ebx", "esi", "edi", "eax", "ecx", "edx", "eflags"}},
		{fixture.DumpAMD64, 0, 17, []string{"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r15", "rip"}},
		{fixture.DumpARM, 0, 16, []string{"r0", "r10", "r12", "fp", "sp", "lr", "pc"}},
		{fixture.DumpARM64, 0, 33, []string{"x0", "x28", "fp", "lr", "sp", "pc"}},
		{fixture.DumpARM64, 0x80000006, 33, []string{"x0", "x28", "fp", "lr", "sp", "pc"}},
		{fixture.DumpARM64Old, 0, 33, []string{"x0", "x28", "fp", "lr", "sp", "pc"}},
		{fixture.DumpMIPS, 0, 13, []string{"gp", "sp", "fp", "ra", "pc", "s0", "s7"}},
		{fixture.DumpMIPS64, 0, 13, []string{"gp", "sp", "fp", "ra", "pc", "s0", "s7"}},
		{fixture.DumpPPC, 0, 40, []string{"srr0", "srr1", "r0", "r1", "r31", "cr", "xer", "lr", "ctr", "mq", "vrsave"}},
		{fixture.DumpPPC64, 0, 39, []string{"srr0", "srr1", "r0", "r1", "r31", "cr", "xer", "lr", "ctr", "vrsave"}},
		{fixture.DumpSPARC, 0, 38, []string{"g_r0", "g_r14", "g_r31", "ccr", "pc", "npc", "y", "asi", "fprs"}},
		{fixture.DumpRISCV64, 0, 32, []string{"pc", "ra", "sp", "s0", "s1", "a7", "s11", "t6"}},
	} {
		for _, order := range both {
			d := newDump()
			d.Order, d.CPU, d.Flags = order, c.cpu, c.flags
			values := map[string]uint64{}
			for i, name := range c.chosen {
				values[name] = 0x1000 + uint64(i)
			}
			d.System()
			d.Threads(fixture.DumpThread{ID: 1, Context: d.Context(values)})
			f := intact(t, d)
			x, err := f.Context(f.Threads[0].Context)
			if err != nil {
				t.Errorf("%s, %v: %v", f.System.CPU, order, err)
				continue
			}
			if len(x) != c.count {
				t.Errorf("%s, %v: %d registers, must be %d", f.System.CPU, order, len(x), c.count)
			}
			found := 0
			for _, r := range x {
				want, isChosen := values[r.Name]
				if isChosen {
					found++
				}
				if r.Value != want {
					t.Errorf("%s, %v: %s is %#x, must be %#x", f.System.CPU, order, r.Name, r.Value, want)
				}
			}
			if found != len(c.chosen) {
				t.Errorf("%s, %v: %d of the registers %v", f.System.CPU, order, found, c.chosen)
			}
		}
	}
}

func TestRegistersWithFlagsOfAnotherCPUAreRefused(t *testing.T) {
	for _, c := range []struct {
		os, flags uint32
		isValid   bool
	}{
		{fixture.DumpLinux, 0x00010007, false}, // x86
		{fixture.DumpLinux, 0x00110007, false}, // two CPUs
		{fixture.DumpLinux, 0x0010005f, true},  // XSTATE
		{fixture.DumpLinux, 0x4810001f, false},
		{fixture.DumpWindows, 0x4810001f, true}, // CONTEXT_EXCEPTION_REQUEST and _ACTIVE
	} {
		d := newDump()
		d.OS, d.Flags = c.os, c.flags
		d.System()
		d.Threads(fixture.DumpThread{ID: 1, Context: d.Context(nil)})
		f := intact(t, d)
		if _, err := f.Context(f.Threads[0].Context); (err == nil) != c.isValid {
			t.Errorf("system %#x, flags %#x: %v", c.os, c.flags, err)
		}
	}
}

func TestShortRegistersAreRefused(t *testing.T) {
	d := newDump()
	d.System()
	d.Threads(fixture.DumpThread{ID: 1, Context: d.Context(nil)[:0xff]})
	f := intact(t, d)
	_, err := f.Context(f.Threads[0].Context)
	if err == nil || !strings.Contains(err.Error(), "255 bytes are too few for registers") {
		t.Errorf("error %v", err)
	}
}

func TestRegistersOfNarrowMIPSAreNotSignExtended(t *testing.T) {
	d := newDump()
	d.CPU = fixture.DumpMIPS
	d.System()
	d.Threads(fixture.DumpThread{ID: 1, Context: d.Context(map[string]uint64{"sp": 0xffffffff_fff01000})})
	f := intact(t, d)
	x, err := f.Context(f.Threads[0].Context)
	if err != nil || x[9] != (bin.Register{Name: "sp", Value: 0xfff01000}) {
		t.Errorf("%v, %v", x, err)
	}
}
