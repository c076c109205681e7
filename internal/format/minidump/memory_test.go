package minidump_test

import (
	"bytes"
	"math"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/fixture"
	"symbolon/internal/format/minidump"
)

// onDisk is a source that is not in memory.
type onDisk struct{ bin.Source }

// checkMemory checks that n bytes of memory are wanted, in a file in memory and
// on disk.
func checkMemory(t *testing.T, d *fixture.Minidump, addr uint64, n int, want string) {
	t.Helper()
	for _, src := range []bin.Source{bin.Bytes(d.Bytes()), onDisk{bin.Bytes(d.Bytes())}} {
		f, err := minidump.Open(src)
		if err != nil {
			t.Fatal(err)
		}
		b := make([]byte, n)
		if got := f.Memory.ReadAt(b, addr); string(b[:got]) != want {
			t.Errorf("%T: %q at %#x, must be %q", src, b[:got], addr, want)
		}
	}
}

func TestMemoryIsReadAcrossAdjacentRanges(t *testing.T) {
	d := begin(newDump())
	d.Memory(fixture.DumpRange{Addr: 0x2004, Data: []byte("efgh")}, fixture.DumpRange{Addr: 0x2000, Data: []byte("abcd")},
		fixture.DumpRange{Addr: 0x2010, Data: []byte("xyz")})
	checkMemory(t, d, 0x2002, 4, "cdef")
	checkMemory(t, d, 0x2006, 16, "gh")
	checkMemory(t, d, 0x1fff, 4, "")
	checkMemory(t, d, 0x2008, 4, "")
	checkMemory(t, d, 0x2012, 4, "z")
	checkMemory(t, d, math.MaxUint64, 4, "")
}

func TestOverlappingRangesAreJoined(t *testing.T) {
	d := begin(newDump())
	d.Memory(fixture.DumpRange{Addr: 0x1006, Data: []byte("ghij")}, fixture.DumpRange{Addr: 0x1000, Data: []byte("abcdef")},
		fixture.DumpRange{Addr: 0x1002, Data: []byte("CDEFGH")}, fixture.DumpRange{Addr: 0x1001, Data: []byte("B")})
	checkMemory(t, d, 0x1000, 20, "abcdefGHij")
	f := intact(t, d)
	for i, want := range []uint64{0x1000, 0x1006, 0x1008} {
		if got := f.Memory.Ranges()[i].Addr; got != want {
			t.Errorf("range %d begins at %#x, must be %#x", i, got, want)
		}
	}
}

func TestRegionIsTheRangeThatContainsAnAddress(t *testing.T) {
	d := begin(newDump())
	d.Memory(fixture.DumpRange{Addr: 0x1000, Data: make([]byte, 16)}, fixture.DumpRange{Addr: 0x1010, Data: make([]byte, 8)})
	f := intact(t, d)
	if r, ok := f.Memory.Find(0x100f); !ok || r.Addr != 0x1000 || r.Size != 16 {
		t.Errorf("%v, %t", r, ok)
	}
	if r, ok := f.Memory.Find(0x1018); ok {
		t.Errorf("%v for an address after it", r)
	}
}

func TestMemoryMayEndAtTheLastAddress(t *testing.T) {
	d := begin(newDump())
	d.Memory(fixture.DumpRange{Addr: math.MaxUint64 - 3, Data: []byte("last")})
	checkMemory(t, d, math.MaxUint64-1, 8, "st")
}

func TestInvalidRangesAreSkipped(t *testing.T) {
	d := begin(newDump())
	valid := d.Put([]byte("data"))
	d.List(fixture.DumpMemory,
		d.Words(uint64(0x1000), uint32(0), valid.Off),
		d.Words(uint64(0x2000), valid.Size, uint32(0)),
		d.Words(uint64(0x3000), uint32(math.MaxInt32), valid.Off),
		d.Words(uint64(math.MaxUint64-1), valid),
		d.Words(uint64(0x5000), valid))
	f := open(t, d)
	if r := f.Memory.Ranges(); len(r) != 1 || r[0].Addr != 0x5000 {
		t.Errorf("ranges %v", r)
	}
	if len(f.Problems) != 2 {
		t.Errorf("problems %v, must be those of two ranges that have content", f.Problems)
	}
}

func TestListOfFullDumpHasConsecutiveContent(t *testing.T) {
	d := begin(newDump())
	d.Memory(fixture.DumpRange{Addr: 0x3000, Data: []byte("list")})
	d.Memory64(fixture.DumpRange{Addr: 0x2000, Data: []byte("two")}, fixture.DumpRange{Addr: 0x1000, Data: []byte("one")})
	checkMemory(t, d, 0x1000, 8, "one")
	checkMemory(t, d, 0x2000, 8, "two")
	checkMemory(t, d, 0x3000, 8, "list")
}

func TestTruncatedFullDumpKeepsItsBeginning(t *testing.T) {
	d := begin(newDump())
	d.Stream(fixture.DumpMemory64, uint64(3), uint64(32), uint64(0x1000), uint64(16), uint64(0x2000), uint64(math.MaxUint64), uint64(0x3000), uint64(8))
	f := open(t, d)
	r := f.Memory.Ranges()
	if len(r) != 2 || r[0].Size != 16 || r[1].Off+int64(r[1].Size) != int64(len(d.Bytes())) {
		t.Errorf("ranges %v", r)
	}
}

func TestFullDumpWithTooManyRangesIsRefused(t *testing.T) {
	d := begin(newDump())
	d.Stream(fixture.DumpMemory64, uint64(math.MaxUint64), uint64(32), uint64(0x1000), uint64(16))
	checkProblem(t, open(t, d), "Memory64ListStream", "18446744073709551615 ranges")
}

func TestStackIsFoundInTheListOfMemory(t *testing.T) {
	d := newDump()
	d.System()
	d.Threads(fixture.DumpThread{ID: 1, StackAddr: 0x7000}, fixture.DumpThread{ID: 2, StackAddr: 0x8000, Stack: []byte("own stack")},
		fixture.DumpThread{ID: 3, StackAddr: 0x9000})
	d.Memory(fixture.DumpRange{Addr: 0x7000, Data: []byte("stack")})
	f := intact(t, d)
	for i, want := range []string{"stack", "own stack", ""} {
		s := f.Threads[i].Stack
		b := make([]byte, s.Size)
		if n := f.Memory.ReadAt(b, s.Addr); string(b[:n]) != want {
			t.Errorf("thread %d has the stack %q, must be %q", i, b[:n], want)
		}
	}
}

func TestAddressesOfNarrowSystemsAreNotSignExtended(t *testing.T) {
	d := newDump()
	d.CPU = fixture.DumpX86
	d.System()
	d.Threads(fixture.DumpThread{ID: 1, TEB: 0xffffffff_fffde000})
	d.Memory(fixture.DumpRange{Addr: 0xffffffff_80001000, Data: []byte("data")})
	checkMemory(t, d, 0x80001000, 4, "data")
	if f := intact(t, d); f.Threads[0].TEB != 0xfffde000 {
		t.Errorf("TEB %#x", f.Threads[0].TEB)
	}
}

func TestReadingMemoryDoesNotAllocate(t *testing.T) {
	d := begin(newDump())
	d.Memory(fixture.DumpRange{Addr: 0x1000, Data: bytes.Repeat([]byte("x"), 64)})
	f := intact(t, d)
	b := make([]byte, 8)
	if n := testing.AllocsPerRun(100, func() { f.Memory.ReadAt(b, 0x1010) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
