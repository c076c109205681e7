package unwind_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"symbolon/internal/ident"
	"symbolon/internal/unwind"
)

const frame16 = ".cfa: $rsp 16 + .ra: .cfa -8 + ^\n"

func TestOutermostFunctionsEndTheStack(t *testing.T) {
	for _, name := range []string{"_start", "__clone", "clone", "clone3", "__clone3", "RtlUserThreadStart", "__start_context", "runtime.goexit.abi0", "__clone@GLIBC_2.2.5"} {
		scene{arch: ident.ArchX86_64, regs: "rip=40001010 rsp=80000000", first: "FUNC 1000 100 0 one\nFUNC 2000 100 0 " + name + "\nFUNC 3000 100 0 three\n" +
			"STACK CFI INIT 1000 2000 " + frame16, stack: at(16, 1, 0x40002010, 3, 0x40003010)}.
			expect(t, "40001010 context, 40002010 cfi")
	}
}

func TestNamesOfOutermostFunctionsAreCommonElsewhere(t *testing.T) {
	for _, c := range []struct{ system, module, name, want string }{
		{"apple", "libsystem_pthread.dylib", "thread_start", "40001010 context, 50002010 cfi"},
		{"apple", "libsystem_pthread.dylib", "_thread_start", "40001010 context, 50002010 cfi"},
		{"apple", "libfarm.dylib", "thread_start", "40001010 context, 50002010 cfi, 40003010 cfi"},
		{"apple", "dyld", "start", "40001010 context, 50002010 cfi"},
		{"apple", "farm", "start", "40001010 context, 50002010 cfi, 40003010 cfi"},
		{"windows", "farm.dll", "clone", "40001010 context, 50002010 cfi, 40003010 cfi"},
		{"windows", "ntdll.dll", "RtlUserThreadStart", "40001010 context, 50002010 cfi"},
	} {
		rules := "STACK CFI INIT 1000 2100 " + frame16
		scene{arch: ident.ArchX86_64, system: c.system, regs: "rip=40001010 rsp=80000000", first: named + rules,
			second: "FUNC 2000 100 0 " + c.name + "\n" + rules, name: c.module, stack: at(16, 1, 0x50002010, 3, 0x40003010)}.
			expect(t, c.want)
	}
}

func TestThreadInCloneHasACaller(t *testing.T) {
	scene{arch: ident.ArchX86_64, regs: "rip=40002010 rsp=80000000", first: "FUNC 2000 100 0 clone\nFUNC 3000 100 0 three\nSTACK CFI INIT 2000 100 " + frame16,
		stack: at(16, 1, 0x40003010)}.
		expect(t, "40002010 context, 40003010 cfi")
}

func TestCallersOfStartFunctionsEndTheStack(t *testing.T) {
	// The caller has no name: the program is stripped.
	for _, name := range []string{"__libc_start_main", "__libc_start_main_impl", "start_thread"} {
		scene{arch: ident.ArchX86_64, regs: "rip=50001010 rsp=80000000", first: "STACK CFI INIT 2000 100 " + frame16,
			second: "FUNC 1000 100 0 " + name + "\nSTACK CFI INIT 1000 100 " + frame16, stack: at(16, 1, 0x40002010, 3, 0x40002020)}.
			expect(t, "50001010 context, 40002010 cfi")
	}
	// Outside of the C library, start_thread may be any function.
	scene{arch: ident.ArchX86_64, regs: "rip=40001010 rsp=80000000", first: "FUNC 1000 100 0 __pthread_start\nSTACK CFI INIT 1000 2000 " + frame16,
		stack: at(16, 1, 0x40002010, 3, 0x40002020)}.
		expect(t, "40001010 context, 40002010 cfi, 40002020 cfi")
}

func TestUndefinedReturnAddressEndsTheStack(t *testing.T) {
	for _, rules := range []string{".cfa: $rsp 16 + .ra: .undef\n", ".cfa: $rsp 16 +\n"} {
		scene{arch: ident.ArchX86_64, regs: "rip=40001010 rsp=80000000", first: named + "STACK CFI INIT 1000 100 " + rules, stack: at(16, 1, 0x40002010)}.
			expect(t, "40001010 context")
	}
}

func TestNullReturnAddressEndsTheStack(t *testing.T) {
	scene{arch: ident.ArchX86_64, regs: "rip=40001010 rsp=80000000", first: named + "STACK CFI INIT 1000 2000 " + frame16, stack: at(16, 1, 0x40002010, 3, 0, 5, 0x40003010)}.
		expect(t, "40001010 context, 40002010 cfi")
}

func TestNullFramePointerEndsTheStack(t *testing.T) {
	scene{arch: ident.ArchARM64, regs: "pc=40001010 sp=80000000 fp=80000010 lr=40001004", first: named, stack: at(16, 2, 0, 3, 0x40002010, 6, 0x40003010)}.
		expect(t, "40001010 context, 40002010 frame_pointer")
	scene{arch: ident.ArchX86_64, system: "apple", regs: "rip=40001010 rsp=80000000 rbp=80000010", first: named, stack: at(16, 2, 0, 3, 0x40002010, 6, 0x40003010)}.
		expect(t, "40001010 context, 40002010 frame_pointer")
	// The new thread of a stripped C library: no unwind information, after a frame that has some.
	scene{arch: ident.ArchX86_64, regs: "rip=40001010 rsp=80000000 rbp=0", first: named + "STACK CFI INIT 1000 100 " + frame16, stack: at(16, 1, 0x40002010, 6, 0x40003010)}.
		expect(t, "40001010 context, 40002010 cfi")
}

func TestEndOfTheChainOfFramePointersEndsTheStack(t *testing.T) {
	// The last link has no return address, as that of thread_start on macOS.
	scene{arch: ident.ArchX86_64, system: "apple", regs: "rip=40001010 rsp=80000000 rbp=80000010", first: named,
		stack: at(16, 2, slot64(6), 3, 0x40002010, 6, 0, 7, 0, 10, 0x40003010)}.
		expect(t, "40001010 context, 40002010 frame_pointer")
	// The frame that the chain led to has a null frame pointer.
	scene{arch: ident.ArchX86, system: "windows", regs: "eip=40001010 esp=80000000 ebp=80000008", first: named,
		stack: at(16, 2, slot32(4), 3, 0x40001020, 4, 0, 5, 0x40002010, 8, 0x40003010)}.
		expect(t, "40001010 context, 40001020 frame_pointer, 40002010 frame_pointer")
}

func TestCodeThatWasEnteredByAReturnEndsTheStack(t *testing.T) {
	rules := "STACK CFI INIT 1000 100 " + frame16 + "STACK CFI INIT 5000 10 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n"
	s := scene{arch: ident.ArchX86_64, regs: "rip=40001010 rsp=80000000", first: "FUNC 1000 100 0 one\nFUNC 3000 100 0 three\n" + rules,
		stack: at(16, 1, 0x40005000, 2, 0x40003010)}
	s.expect(t, "40001010 context, 40005000 cfi")
	p, regs := s.process(t)
	if f := p.Walk(regs, unwind.Options{})[1]; f.Lookup != f.PC {
		t.Errorf("looked up at %#x, want %#x itself", f.Lookup, f.PC)
	}
}

// signalFrame returns the words of the stack from a trampoline on, with the
// registers pc and sp at offsets in bytes.
func signalFrame(word int, pcAt, pc, spAt, sp uint64) []uint64 {
	stack := make([]uint64, 200)
	stack[pcAt/uint64(word)], stack[spAt/uint64(word)] = pc, sp
	return stack
}

func TestSignalFrameIsLeftByTheSavedRegisters(t *testing.T) {
	const mainStack = otherStack
	for _, c := range []struct {
		name       string
		arch       ident.Arch
		regs       string
		trampoline string
		bytes      string
		stack      []uint64
	}{
		{"amd64", ident.ArchX86_64, "rip=40003010 rsp=80000000", "__restore_rt", "\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05", signalFrame(8, 8+168, 0x40002000, 8+160, mainStack)},
		{"x86", ident.ArchX86, "eip=40003010 esp=80000000", "__kernel_rt_sigreturn", "\xb8\xad\x00\x00\x00\xcd\x80", signalFrame(4, 4+216, 0x40002000, 4+188, mainStack)},
		{"old x86", ident.ArchX86, "eip=40003010 esp=80000000", "__kernel_sigreturn", "\x58\xb8\x77\x00\x00\x00\xcd\x80", signalFrame(4, 4+60, 0x40002000, 4+32, mainStack)},
		{"arm64", ident.ArchARM64, "pc=40003010 sp=80000000 fp=1", "__kernel_rt_sigreturn", "\x68\x11\x80\xd2\x01\x00\x00\xd4", signalFrame(8, 8+568, 0x40002000, 8+560, mainStack)},
		{"arm", ident.ArchARM, "pc=40003010 sp=80000000 fp=1", "__default_rt_sa_restorer", "\xad\x70\xa0\xe3\x00\x00\x00\xef", signalFrame(4, 4+220, 0x40002000, 4+212, mainStack)},
		{"old arm", ident.ArchARM, "pc=40003010 sp=80000000 fp=1", "__default_sa_restorer", "\x77\x27\x00\xdf", signalFrame(4, 4+92, 0x40002000, 4+84, mainStack)},
	} {
		c.stack[0] = 0x40005000 // return address of the handler
		s := scene{arch: c.arch, regs: c.regs, stack: c.stack, other: at(16, 2, 0x40001010)}
		want := "40003010 context, 40005000 scan, 40002000 cfi, 40001010 scan"
		t.Run(c.name+" by name", func(t *testing.T) {
			s.first = named + "PUBLIC 5000 0 " + c.trampoline + "\nPUBLIC 5020 0 next\n"
			s.expect(t, want)
		})
		t.Run(c.name+" by code", func(t *testing.T) {
			s.first = named + "PUBLIC 4ff0 0 before\n"
			s.code = map[uint64]string{first + 0x5000: c.bytes + strings.Repeat("\x00", 16)}
			s.expect(t, want)
		})
	}
}

func TestSignalFrameIsFoundInTheModuleOfTheKernel(t *testing.T) {
	for _, c := range []struct {
		arch  ident.Arch
		regs  string
		stack []uint64
	}{
		{ident.ArchX86, "eip=40003010 esp=80000000", signalFrame(4, 4+216, 0x40002000, 4+188, otherStack)},
		{ident.ArchX86, "eip=40003010 esp=80000000", signalFrame(4, 4+60, 0x40002000, 4+32, otherStack)},
		{ident.ArchARM64, "pc=40003010 sp=80000000 fp=1", signalFrame(8, 8+568, 0x40002000, 8+560, otherStack)},
	} {
		c.stack[0] = 0x50000610
		scene{arch: c.arch, regs: c.regs, stack: c.stack, other: at(16, 2, 0x40001010), first: named, name: "linux-gate.so"}.
			expect(t, "40003010 context, 50000610 scan, 40002000 cfi, 40001010 scan")
	}
	// Other words of the stack are not registers of a signal.
	scene{arch: ident.ArchARM64, regs: "pc=40003010 sp=80000000 fp=1", stack: at(200, 0, 0x50000610, 2, 0x40001010), first: named, name: "linux-gate.so"}.
		expect(t, "40003010 context, 50000610 scan, 40001010 scan")
}

func TestInterruptedFrameIsExact(t *testing.T) {
	stack := signalFrame(8, 8+168, 0x40002000, 8+160, otherStack)
	stack[0] = 0x40005000
	p, regs := scene{arch: ident.ArchX86_64, regs: "rip=40003010 rsp=80000000", stack: stack, other: at(4, 0, 0x40001010), first: named + "PUBLIC 5000 0 __restore_rt\n"}.process(t)
	frames := p.Walk(regs, unwind.Options{})
	if len(frames) != 4 || !frames[1].IsSignal || frames[2].Lookup != frames[2].PC {
		t.Fatalf("frames %v, want the trampoline's and the interrupted one with its own address", frames)
	}
	// The signal came at the start of a function: its return address is at the stack pointer.
	if frames[3].PC != 0x40001010 || frames[3].Trust != unwind.FramePointer {
		t.Errorf("caller %#x by %v, want 0x40001010 at the stack pointer", frames[3].PC, frames[3].Trust)
	}
}

func TestSignalAfterACallOfANullPointerIsLeft(t *testing.T) {
	stack := signalFrame(8, 8+168, 0, 8+160, otherStack)
	stack[0] = 0x40005000
	scene{arch: ident.ArchX86_64, regs: "rip=40003010 rsp=80000000", stack: stack, other: at(4, 0, 0x40001010), first: named + "PUBLIC 5000 0 __restore_rt\n"}.
		expect(t, "40003010 context, 40005000 scan, 0 cfi, 40001010 frame_pointer")
}

func TestSavedRegistersOutsideOfMemoryAreNotUsed(t *testing.T) {
	scene{arch: ident.ArchX86_64, regs: "rip=40003010 rsp=80000000", stack: at(8, 0, 0x40005000), first: named + "PUBLIC 5000 0 __restore_rt\n"}.
		expect(t, "40003010 context, 40005000 scan")
}

// call5 is a direct call on x86 of a function, that ends at an address.
func call5(end, function uint64) string {
	b := []byte{0x90, 0x90, 0x90, 0xe8}
	return string(binary.LittleEndian.AppendUint32(b, uint32(function-end)))
}

func TestGuessMustFollowACall(t *testing.T) {
	s := scene{arch: ident.ArchX86_64, regs: "rip=40001010 rsp=80000000", first: named, stack: at(16, 1, 0x40002010, 3, 0x40003010),
		code: map[uint64]string{0x40002008: "\x90\x90\x90\x90\x90\x90\x90\x90"}}
	s.expect(t, "40001010 context, 40003010 scan")
	for _, call := range []string{call5(0x40002010, 0x40001000), "\x90\x90\x90\x90\x90\x90\xff\xd0", "\x90\x90\xff\x15\x00\x10\x00\x00", "\x90\x90\x90\x90\x90\x41\xff\xd3"} {
		s.code = map[uint64]string{0x40002008: call}
		s.expect(t, "40001010 context, 40002010 scan, 40003010 scan")
	}
}

func TestCallOfAnotherFunctionIsSkipped(t *testing.T) {
	s := scene{arch: ident.ArchX86_64, regs: "rip=40001010 rsp=80000000", first: named, stack: at(16, 1, 0x40002010, 3, 0x40003010),
		code: map[uint64]string{0x40002008: call5(0x40002010, 0x40003000), 0x40003008: call5(0x40003010, 0x40001000)}}
	s.expect(t, "40001010 context, 40003010 scan")
	// It is believed if there is nothing better: the other function may have jumped.
	s.stack[3] = 0
	s.expect(t, "40001010 context, 40002010 scan")
}

func TestCallsAreRecognizedOnEachCPU(t *testing.T) {
	for _, c := range []struct {
		arch       ident.Arch
		regs       string
		pc         uint64
		call, none string
	}{
		{ident.ArchARM64, "pc=40001010 sp=80000000 fp=1", 0x40002010, "\xfc\xff\xff\x97", "\x1f\x20\x03\xd5"},
		{ident.ArchARM, "pc=40001010 sp=80000000 fp=1", 0x40002010, "\x33\xff\x2f\xe1", "\x00\x00\xa0\xe1"},
		{ident.ArchARM, "pc=40001010 sp=80000000 fp=1", 0x40002011, "\x00\xbf\x98\x47", "\x00\xbf\x00\xbf"},
		{ident.ArchRISCV64, "pc=40001010 sp=80000000 s0=1", 0x40002010, "\xe7\x80\x07\x00", "\x13\x00\x00\x00"},
	} {
		s := scene{arch: c.arch, regs: c.regs, first: named, stack: at(16, 1, c.pc), code: map[uint64]string{0x4000200c: c.call}}
		s.expect(t, fmt.Sprintf("40001010 context, %x scan", c.pc))
		s.code[0x4000200c] = c.none
		s.expect(t, "40001010 context")
	}
}
