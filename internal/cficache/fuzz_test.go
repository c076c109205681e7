package cficache_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/cficache"
	"symbolon/internal/format/breakpad"
	"symbolon/internal/ident"
	"symbolon/internal/sym"
	"symbolon/internal/unwind/rule"
)

// seal sets the checksums of a table, and the size of its body.
func seal(b []byte) {
	le := binary.LittleEndian
	if len(b) < 124 {
		return
	}
	size := int(le.Uint32(b[12:]))
	if size < 124 || size > len(b) {
		return
	}
	le.PutUint64(b[16:], uint64(len(b)-size))
	le.PutUint32(b[24:], crc32.Checksum(b[size:], bin.Castagnoli))
	le.PutUint32(b[size-4:], crc32.Checksum(b[:size-4], bin.Castagnoli))
}

var seeds = []string{
	"CFI INIT 1000 100 .cfa: $rsp 8 + .ra: .cfa -8 + ^\nCFI 1001 .cfa: $rsp 16 +\nCFI INIT 9000 100 .cfa: 1 .ra: 1",
	"WIN 4 1000 80 3 0 c 4 8 0 1 $eip 4 ^ = $esp 4 =\nCFI INIT 1010 10000 .cfa: 1 .ra: 2\nCFI 1020 .cfa: 2\nWIN 0 1000 200 0 0 8 0 0 0 0 1",
	"CFI INIT 1000 100 .cfa: 1 .ra: 1\nCFI INIT 1080 100 .cfa: 2 .ra: 2\nCFI 1100 .cfa: 3\nCFI INIT 1000 200 .cfa: 4 .ra: 4\nCFI 1000 .cfa:",
	"CFI INIT fffffffffffffff0 10 .cfa: 1 .ra: 1\nCFI INIT 0 10 x\nWIN 0 10 8 0 0 0 0 0 0 0 0\nWIN 0 10 9 0 0 0 0 0 0 0 0\nWIN 0 12 9 0 0 0 0 0 0 0 0",
}

func FuzzOpen(f *testing.F) {
	for _, arch := range []ident.Arch{ident.ArchX86, ident.ArchX86_64} {
		for _, text := range seeds {
			var b bytes.Buffer
			if err := cficache.Build(&b, arch, lines([]byte(text)), cficache.Options{}); err != nil {
				f.Fatal(err)
			}
			f.Add(b.Bytes(), uint64(0x1001))
			f.Add(b.Bytes()[:b.Len()-1], uint64(0))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte, addr uint64) {
		if addr%7 != 0 { // the rest has invalid checksums
			b = bytes.Clone(b)
			seal(b)
		}
		table, err := cficache.Open(b)
		if err != nil {
			return
		}
		cpu := rule.For(table.Info().Module.Arch)
		var callee rule.Registers
		for _, a := range []uint64{addr, 0, math.MaxUint64, addr - 1, addr + 0x1000} {
			row := table.Row(a)
			if cpu != nil {
				row.Eval(cpu, &callee, nothing{}, false, rule.Windows{})
			}
		}
		last, count := uint64(0), 0
		_ = table.Ranges(func(start, end uint64, row rule.Row) error {
			if start >= end || start < last {
				t.Fatalf("range from %#x to %#x after %#x", start, end, last)
			}
			last = end
			count++
			return nil
		})
		if ranges, _ := table.Counts(); count > ranges {
			t.Errorf("%d ranges of %d", count, ranges)
		}
		_ = table.Verify()
	})
}

// nothing is memory that cannot be read.
type nothing struct{}

func (nothing) ReadAt([]byte, uint64) int { return 0 }

// lines returns a function that yields the records of a text.
func lines(text []byte) func(func(*sym.Unwind) error) error {
	var all []sym.Unwind
	for line := range bytes.Lines(text) {
		if u, ok := breakpad.ParseStack(append([]byte("STACK "), line...)); ok {
			all = append(all, u)
		}
	}
	return each(all)
}

func FuzzBuild(f *testing.F) {
	for _, text := range seeds {
		f.Add([]byte(text), true)
		f.Add([]byte(text), false)
	}
	f.Fuzz(func(t *testing.T, text []byte, wide bool) {
		arch := ident.ArchX86
		if wide {
			arch = ident.ArchX86_64
		}
		var all []sym.Unwind
		_ = lines(text)(func(u *sym.Unwind) error { all = append(all, *u); return nil })
		if len(all) < 100 {
			checkTable(t, arch, all)
		}
	})
}
