package unwind_test

import (
	"testing"

	"symbolon/internal/ident"
)

// start has the unwind information of a stripped program: that of its first
// instructions.
const start = "STACK CFI INIT 1000 26 .cfa: $rsp 8 + .ra: .undef\n"

func TestFewRulesDoNotDisownTheOtherCode(t *testing.T) {
	scene{arch: ident.ArchX86_64, regs: "rip=40002010 rsp=80000000 rbp=80000010", first: start, exec: 0x8000,
		stack: at(16, 2, slot64(8), 3, 0x40003010, 8, slot64(12), 9, 0x40003020)}.
		expect(t, "40002010 context, 40003010 frame_pointer, 40003020 frame_pointer")
}

func TestFewRulesDoNotMakeDataCode(t *testing.T) {
	scene{arch: ident.ArchX86_64, regs: "rip=40002010 rsp=80000000 rbp=1", first: start, exec: 0x8000,
		stack: at(16, 1, 0x40009010, 3, 0x40003010)}.
		expect(t, "40002010 context, 40003010 scan")
}

func TestRulesOfMostCodeDisownTheRest(t *testing.T) {
	const most = "STACK CFI INIT 1000 6000 .cfa: $rsp 16 + .ra: .cfa -8 + ^\n"
	s := scene{arch: ident.ArchX86_64, regs: "rip=40000010 rsp=80000000 rbp=1", first: most, exec: 0x8000, stack: at(4, 1, 0x40007810)}
	s.expect(t, "40000010 context")
	t.Run("without a call before", func(t *testing.T) {
		s.code = map[uint64]string{0x40007800: nops}
		s.expect(t, "40000010 context")
	})
	t.Run("after a call", func(t *testing.T) {
		s.code = map[uint64]string{0x40007800: nops[:11] + "\xe8\x00\x01\x00\x00"}
		s.expect(t, "40000010 context, 40007810 scan")
	})
}

func TestScanWithoutCodeSkipsStartsOfFunctions(t *testing.T) {
	const rules = "STACK CFI INIT 4000 100 .cfa: $rsp 16 + .ra: .cfa -8 + ^\n"
	scene{arch: ident.ArchX86_64, regs: "rip=40002010 rsp=80000000 rbp=1", first: rules, exec: 0x8000,
		stack: at(16, 1, 0x40004000, 3, 0x40003010)}.
		expect(t, "40002010 context, 40003010 scan")
}

// nops are instructions that do not call.
const nops = "\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90"
