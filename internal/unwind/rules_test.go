package unwind_test

import (
	"fmt"
	"strings"
	"testing"

	"symbolon/internal/ident"
	"symbolon/internal/unwind"
)

// growing returns unwind information of a function at 4000 whose frame grows
// with each instruction: it saves the registers of a list, one after the other.
// The first rules hold before that.
func growing(begin string, word int, cfa string, registers ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "STACK CFI INIT 4000 100 %s\n", begin)
	size := word
	if strings.Contains(begin, "sp 0 +") {
		size = 0
	}
	for i, r := range registers {
		size += word
		fmt.Fprintf(&b, "STACK CFI %x .cfa: %s %d + %s: .cfa %d - ^\n", 0x4001+i, cfa, size, r, size)
	}
	return b.String()
}

func TestUnwindInformationOfEachInstructionIsUsed(t *testing.T) {
	amd64 := growing(".cfa: $rsp 8 + .ra: .cfa 8 - ^", 8, "$rsp", "$rbx", "$r12", "$r13", "$r14", "$r15", "$rbp")
	x86 := growing(".cfa: $esp 4 + .ra: .cfa 4 - ^", 4, "$esp", "$ebx", "$esi", "$edi", "$ebp")
	saved := []uint64{0xb1, 0xb2, 0xb3, 0xb4, 0xb5, 0xb6}
	for _, c := range []struct {
		arch      ident.Arch
		text      string
		registers []string
		regs      string
	}{
		{ident.ArchX86_64, amd64, []string{"rbx", "r12", "r13", "r14", "r15", "rbp"}, "rip=%x rsp=80000000 rbx=c1 r12=c2 r13=c3 r14=c4 r15=c5 rbp=c6 rax=99"},
		{ident.ArchX86, x86, []string{"ebx", "esi", "edi", "ebp"}, "eip=%x esp=80000000 ebx=c1 esi=c2 edi=c3 ebp=c4 eax=99"},
	} {
		for n := 0; n <= len(c.registers); n++ {
			// The stack has the saved registers, the last one first.
			stack := make([]uint64, 16)
			for i := range n {
				stack[n-1-i] = saved[i]
			}
			stack[n] = 0x40002010
			s := scene{arch: c.arch, regs: fmt.Sprintf(c.regs, 0x40004000+n), first: named + c.text, stack: stack}
			p, regs := s.process(t)
			frames := p.Walk(regs, unwind.Options{Frames: 2})
			if len(frames) != 2 || frames[1].PC != 0x40002010 || frames[1].Trust != unwind.CFI {
				t.Fatalf("%v after %d instructions: frames %v, want the return address by unwind information", c.arch, n, frames)
			}
			for i, name := range c.registers {
				reg, _ := p.CPU.Reg(name)
				want := 0xc1 + uint64(i)
				if i < n {
					want = saved[i]
				}
				if v, ok := frames[1].Registers.Get(reg); !ok || v != want {
					t.Errorf("%v after %d instructions: %s is %#x, %v; want %#x", c.arch, n, name, v, ok, want)
				}
			}
			if reg, _ := p.CPU.Reg(strings.Fields(c.regs)[len(strings.Fields(c.regs))-1][:3]); true {
				if _, ok := frames[1].Registers.Get(reg); ok {
					t.Errorf("%v: a register that calls do not preserve is known", c.arch)
				}
			}
		}
	}
}

func TestResultThatMovesTheStackInwardsIsRefused(t *testing.T) {
	for _, c := range []struct {
		arch       ident.Arch
		regs, text string
	}{
		{ident.ArchX86_64, "rip=40004010 rsp=80000010", ".cfa: $rsp 16 - .ra: .cfa 8 + ^"},
		{ident.ArchX86, "eip=40004010 esp=80000008", ".cfa: $esp 8 - .ra: .cfa 4 + ^"},
		{ident.ArchARM, "pc=40004010 sp=80000008", ".cfa: sp 8 - .ra: .cfa 4 + ^"},
		{ident.ArchARM64, "pc=40004010 sp=80000010", ".cfa: sp 16 - .ra: .cfa 8 + ^"},
	} {
		scene{arch: c.arch, regs: c.regs, first: named + "STACK CFI INIT 4000 100 " + c.text + "\n", stack: at(16, 1, 0x40002010, 6, 0x40003010)}.
			expect(t, "40004010 context, 40003010 scan")
	}
}

func TestInvalidUnwindInformationCostsOnlyItself(t *testing.T) {
	for _, rule := range []string{".cfa: $rsp 16 .ra: .cfa 8 - ^", ".cfa: $rsp 16 + .ra: $nothing", ".cfa: 0 0 / .ra: 1", ".cfa: $rsp ^ 8 + .ra: .cfa 8 - ^"} {
		scene{arch: ident.ArchX86_64, regs: "rip=40004010 rsp=80000000", first: named + "STACK CFI INIT 4000 100 " + rule + "\n", stack: at(16, 3, 0x40002010)}.
			expect(t, "40004010 context, 40002010 scan")
	}
}

func TestLeafOfLinkRegisterIsBelievedOnlyWhereItIsKnown(t *testing.T) {
	leaf := "STACK CFI INIT 4000 100 .cfa: sp 0 + .ra: x30\n"
	// The innermost frame's register is known, that of a frame found by its frame
	// pointer is not.
	scene{arch: ident.ArchARM64, regs: "pc=40004010 sp=80000000 fp=80000010 lr=40002010", first: named + leaf, stack: at(16, 2, 0, 3, 0x40003010)}.
		expect(t, "40004010 context, 40002010 cfi, 40003010 frame_pointer")
	scene{arch: ident.ArchARM64, regs: "pc=40001010 sp=80000000 fp=80000010 lr=40001008", first: named + leaf,
		stack: at(16, 2, slot64(8), 3, 0x40004010, 8, 0, 9, 0x40003010)}.
		expect(t, "40001010 context, 40004010 frame_pointer, 40003010 frame_pointer")
	arm := "STACK CFI INIT 4000 100 .cfa: sp 0 + .ra: lr\n"
	scene{arch: ident.ArchARM, regs: "pc=40004010 sp=80000000 lr=40002010", first: named + arm, stack: at(16, 3, 0x40003010)}.
		expect(t, "40004010 context, 40002010 cfi, 40003010 scan")
}

func TestEpilogueAndPrologueOfARM64AreCorrected(t *testing.T) {
	framed := "STACK CFI INIT 4000 100 .cfa: x29 16 + x29: .cfa -16 + ^ .ra: .cfa -8 + ^\n"
	// The frame has been removed: the link register has the return address again.
	scene{arch: ident.ArchARM64, regs: "pc=400040f8 sp=80000020 fp=80000030 lr=40002010", first: named + "FUNC 4000 100 0 four\n" + framed,
		stack: at(16, 6, 0, 7, 0x40003010)}.
		expect(t, "400040f8 context, 40002010 frame_pointer, 40003010 frame_pointer")
	// The frame pointer has been set, and the rules are those of the first instruction.
	first := "STACK CFI INIT 4000 100 .cfa: sp 0 + .ra: x30\n"
	scene{arch: ident.ArchARM64, regs: "pc=40004008 sp=80000000 fp=80000010 lr=40002010", first: named + "FUNC 4000 100 0 four\n" + first,
		stack: at(16, 2, slot64(6), 3, 0x40002010, 6, 0, 7, 0x40003010)}.
		expect(t, "40004008 context, 40002010 frame_pointer, 40003010 frame_pointer")
}

func TestStackMayChangeByUnwindInformation(t *testing.T) {
	// The frame address is read from the stack: a coroutine, or a signal handler's stack.
	rules := "STACK CFI INIT 4000 100 .cfa: $rsp ^ 16 + .ra: .cfa 8 - ^\n"
	scene{arch: ident.ArchX86_64, regs: "rip=40004010 rsp=90000000", first: named + rules,
		other: []uint64{stackBase}, stack: at(16, 1, 0x40002010, 4, 0x40003010)}.
		expect(t, "40004010 context, 40002010 cfi, 40003010 scan")
}

func TestStacksThatLeadToEachOtherEnd(t *testing.T) {
	rules := "STACK CFI INIT 4000 100 .cfa: $rsp ^ .ra: .cfa 8 + ^\n"
	s := scene{arch: ident.ArchX86_64, regs: "rip=40004010 rsp=80000000", first: rules,
		stack: []uint64{otherStack, 0x40004010}, other: []uint64{stackBase, 0x40004010}}
	if n := strings.Count(s.walk(t), "\n"); n < 2 || n > 100 {
		t.Errorf("%d frames, want an end", n)
	}
}

func TestParametersOfTheFrameBelowAreCounted(t *testing.T) {
	// Type, address, size, prologue, epilogue, parameters, saved, locals, most, program, base pointer.
	rules := "STACK WIN 0 1000 100 0 0 8 0 4 0 0 0\nSTACK WIN 0 2000 100 0 0 0 0 4 0 0 0\nSTACK WIN 0 3000 100 0 0 0 0 4 0 0 0\n"
	scene{arch: ident.ArchX86, system: "windows", regs: "eip=40001010 esp=80000000 ebp=0", first: named + rules,
		stack: at(16, 1, 0x40002010, 5, 0x40003010, 7, 0x40001020)}.
		expect(t, "40001010 context, 40002010 cfi, 40003010 cfi, 40001020 cfi")
}

func TestReturnAddressThatASystemCallLeavesIsSkipped(t *testing.T) {
	rules := "STACK WIN 0 1000 100 0 0 0 0 4 0 0 0\n"
	scene{arch: ident.ArchX86, system: "windows", regs: "eip=40001010 esp=80000000 ebp=0", first: named + rules,
		stack: at(16, 1, 0x40001010, 2, 0x40003010)}.
		expect(t, "40001010 context, 40003010 cfi")
}
