package unwind_test

import (
	"strings"
	"testing"

	"symbolon/internal/ident"
)

func TestInstructionsOfAFunctionGiveItsFrame(t *testing.T) {
	const (
		pushRBP = "\x55"
		movRBP  = "\x48\x89\xe5"
		pushRBX = "\x53"
		popRBX  = "\x5b"
		sub24   = "\x48\x83\xec\x18"
		add24   = "\x48\x83\xc4\x18"
		ret     = "\xc3"
		test    = "\x85\xff"
		nop     = "\x90"
		endbr   = "\xf3\x0f\x1e\xfa"
		pushArg = "\x6a\x05"
		popRSI  = "\x5e"
		leave   = "\xc9"
		realign = "\x48\x83\xe4\xe0"             // AND RSP, -32
		probe   = "\x48\x81\xec\x00\x00\x00\x10" // SUB RSP, 0x10000000
	)
	for _, c := range []struct {
		name, code string
		words      uint64 // from the stack pointer to the return address
	}{
		{"nothing", "\x90", 0},
		{"a push", endbr + pushRBX + test, 1},
		{"a frame", pushRBX + sub24 + nop, 4},
		{"an epilogue", pushRBX + sub24 + nop + add24, 1},
		{"the end of an epilogue", pushRBX + sub24 + nop + add24 + popRBX, 0},
		{"code after an epilogue", pushRBX + sub24 + "\x74\x06" + add24 + popRBX + ret + nop, 4},
		{"code after an epilogue that no branch was seen to", pushRBX + sub24 + nop + add24 + popRBX + ret + nop, 4},
		{"a constant by the stack", pushRBX + pushArg + popRSI + nop, 1},
		{"arguments", pushRBX + pushArg + pushArg + nop, 3},
		{"code that a branch skips", pushRBX + "\x74\x05" + sub24 + ret + nop, 1},
		{"a large frame", pushRBX + "\x48\x81\xec\x28\x00\x00\x00", 6},
		{"LEA", pushRBX + sub24 + "\x48\x8d\x64\x24\x18" + nop, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			// Each word is a return address; only the instructions tell which one is right.
			stack := make([]uint64, 12)
			for i := range stack {
				stack[i] = 0x40003010 + uint64(i)
			}
			end := first + 0x1000 + uint64(len(c.code))
			s := scene{arch: ident.ArchX86_64, regs: "rip=" + hex(end) + " rsp=80000000", stack: stack, first: named,
				code: map[uint64]string{first + 0x1000: c.code + strings.Repeat("\x90", 16)}}
			s.options.Frames = 2
			s.expect(t, hex(end)+" context, "+hex(0x40003010+c.words)+" frame_pointer")
		})
	}
	t.Run("frame pointer", func(t *testing.T) {
		code := pushRBP + movRBP + realign + probe
		s := scene{arch: ident.ArchX86_64, regs: "rip=" + hex(first+0x1000+uint64(len(code))) + " rsp=80000000 rbp=80000020", first: named,
			code: map[uint64]string{first + 0x1000: code + leave}, stack: at(16, 4, 0x77, 5, 0x40003010)}
		s.options.Frames = 2
		p, regs := s.process(t)
		frames := p.Walk(regs, s.options)
		if len(frames) != 2 {
			t.Fatalf("frames %v, want 2", frames)
		}
		if fp, _ := frames[1].Registers.Get(p.CPU.FP); frames[1].PC != 0x40003010 || fp != 0x77 {
			t.Errorf("frames %v, want the return address and the saved register next to the frame pointer", frames)
		}
	})
	t.Run("epilogue of a frame pointer", func(t *testing.T) {
		// LEA RSP, [RBP-8]; POP RBX
		code := pushRBP + movRBP + pushRBX + realign + probe + "\x48\x8d\x65\xf8" + popRBX
		s := scene{arch: ident.ArchX86_64, regs: "rip=" + hex(first+0x1000+uint64(len(code))) + " rsp=80000020 rbp=80000020 rbx=5", first: named,
			code: map[uint64]string{first + 0x1000: code + "\x5d"}, stack: at(16, 4, 0x77, 5, 0x40003010)}
		s.options.Frames = 2
		p, regs := s.process(t)
		frames := p.Walk(regs, s.options)
		if len(frames) != 2 || frames[1].PC != 0x40003010 {
			t.Fatalf("frames %v, want the return address next to the frame pointer", frames)
		}
		rbx, _ := p.CPU.Reg("rbx")
		if v, _ := frames[1].Registers.Get(rbx); v != 5 {
			t.Errorf("RBX is %#x, want 5, which has been restored", v)
		}
	})
	t.Run("32 bits", func(t *testing.T) {
		// PUSH EBX; CALL to the next instruction; POP EBX; SUB ESP, 8; PUSH 5
		code := "\x53\xe8\x00\x00\x00\x00\x5b\x83\xec\x08\x6a\x05"
		stack := make([]uint64, 12)
		for i := range stack {
			stack[i] = 0x40003010 + uint64(i)
		}
		s := scene{arch: ident.ArchX86, regs: "eip=" + hex(first+0x1000+uint64(len(code))) + " esp=80000000", first: named,
			code: map[uint64]string{first + 0x1000: code + "\x90"}, stack: stack}
		s.options.Frames = 2
		s.expect(t, hex(first+0x1000+uint64(len(code)))+" context, 40003014 frame_pointer")
	})
	t.Run("unknown stack pointer", func(t *testing.T) {
		code := pushRBX + realign + nop
		scene{arch: ident.ArchX86_64, regs: "rip=" + hex(first+0x1000+uint64(len(code))) + " rsp=80000000", first: named,
			code: map[uint64]string{first + 0x1000: code}, stack: at(16, 5, 0x40003010)}.
			expect(t, hex(first+0x1000+uint64(len(code)))+" context, 40003010 scan")
	})
}

func TestEpilogueOfWindowsIsExecuted(t *testing.T) {
	rules := "STACK CFI INIT 1000 100 .cfa: $rsp 48 + .ra: .cfa 8 - ^\n"
	for _, c := range []struct {
		name, code string
		words      uint64 // from the stack pointer to the return address
	}{
		{"all", "\x48\x83\xc4\x18\x5b\x41\x5c\xc3", 5},
		{"pops", "\x5b\x41\x5c\xc3", 2},
		{"return", "\xc3", 0},
		{"tail call", "\x48\x83\xc4\x18\xe9\x00\x10\x00\x00", 3},
		{"frame pointer", "\x48\x8d\x65\x08\x5d\xc3", 6},
		{"a jump of the body", "\xe9\x00\x00\x00\x00", 5},
		{"the body", "\x90\x5b\xc3", 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			stack := make([]uint64, 16)
			for i := range stack {
				stack[i] = 0x40003010 + uint64(i)
			}
			s := scene{arch: ident.ArchX86_64, system: "windows", regs: "rip=40001010 rsp=80000000 rbp=80000020", stack: stack, first: named + rules,
				code: map[uint64]string{first + 0x1010: c.code + strings.Repeat("\xcc", 32)}}
			s.options.Frames = 2
			s.expect(t, "40001010 context, "+hex(0x40003010+c.words)+" cfi")
		})
	}
}

// unnamed is code of a program without symbols and unwind information: a function at
// 0x40002000 with a frame of 24 bytes, and calls of it and of another one.
var unnamed = map[uint64]string{
	0x40002000: "\x48\x83\xec\x18" + nops,                // sub rsp, 24
	0x40003008: nops[:3] + "\xe8\xf0\xef\xff\xff" + nops, // call 0x40002000
	0x40004008: nops[:3] + "\xe8\xf0\x00\x00\x00" + nops, // call 0x40004100
}

func TestTargetOfACallIsTheStartOfAFunctionWithoutSymbols(t *testing.T) {
	scene{arch: ident.ArchX86_64, regs: "rip=40002008 rsp=80000000 rbp=1", code: unnamed, exec: 0x8000,
		stack: at(16, 1, 0x40004010, 2, 0x40003010, 3, 0x40003010, 6, 0x40004010)}.
		expect(t, "40002008 context, 40003010 frame_pointer, 40004010 scan")
}
