package unwind_test

import (
	"encoding/binary"
	"testing"

	"symbolon/internal/ident"
	"symbolon/internal/unwind"
	"symbolon/internal/unwind/rule"
)

var fuzzed = []ident.Arch{
	ident.ArchX86_64, ident.ArchX86, ident.ArchARM64, ident.ArchARM, ident.ArchMIPS, ident.ArchMIPS64, ident.ArchRISCV64, ident.ArchPPC, ident.ArchSPARC,
}

// anyRules returns rows made of bytes, and names at multiples of 256.
type anyRules []byte

func (r anyRules) HasRules() bool { return len(r) > 0 }
func (r anyRules) HasNames() bool { return len(r)&1 != 0 }

func (r anyRules) Row(addr uint64) rule.Row {
	if n := uint64(len(r)); n > 0 && addr&0x100 != 0 {
		return rule.Row(r[addr%n:])
	}
	return nil
}

func (r anyRules) Function(addr uint64) (start uint64, name string, ok bool) {
	names := [...]string{"one", "__restore_rt", "two.cold", "start_thread", "__kernel_sigreturn", "__start_context", "three", "four"}
	return addr &^ 0xff, names[addr>>8&7], addr&0x1000 == 0
}

// FuzzWalk checks that a walk with any registers, memory and rules ends, stays
// within its bounds and does not panic.
func FuzzWalk(f *testing.F) {
	f.Add(byte(0), []byte{0x10, 0x10, 0, 0x40, 0, 0, 0, 0}, []byte{}, []byte{1, 0, 2, 7, 32, 0, 1, 3, 1, 6, 0}, []byte("\x55\x48\x89\xe5\x53\x48\x83\xec\x18\xe8\x00\x00\x00\x00"))
	f.Add(byte(2), []byte{0, 0, 0, 0x80}, make([]byte, 900), []byte{1, 0, 3, 0}, []byte("\x68\x11\x80\xd2\x01\x00\x00\xd4"))
	f.Add(byte(0x13), []byte{9, 9, 9}, []byte{1, 2, 3}, []byte{3, 1, 1, 1, 0, 5, 0}, []byte{})
	f.Fuzz(func(t *testing.T, kind byte, registers, stack, rules, code []byte) {
		cpu := rule.For(fuzzed[int(kind&0xf)%len(fuzzed)])
		for len(stack) < 64 {
			stack = append(stack, registers...)
			stack = append(stack, 0x10, 0x10, 0x00, 0x40, 0, 0, 0, 0)
		}
		mem := memory{stackBase: stack, otherStack: code, first + 0x1000: code}
		module := &unwind.Module{Name: "libc.so", Base: first, Size: moduleBytes, Rules: anyRules(rules), Names: anyRules(rules)}
		p := &unwind.Process{
			CPU: cpu, Memory: mem, BigEndian: kind&0x20 != 0, IsWindows: kind&0x40 != 0, IsApple: kind&0x80 != 0,
			Stack: func(addr uint64) (start, end uint64) {
				for base, b := range mem {
					if addr >= base && addr-base < uint64(len(b)) {
						return base, base + uint64(len(b))
					}
				}
				return 0, 0
			},
			Module: func(addr uint64) *unwind.Module {
				if addr-first < moduleBytes {
					return module
				}
				return nil
			},
		}
		if kind&0x10 != 0 {
			p.IsCode = func(addr uint64) (is, known bool) { return addr&1 == 0, true }
		}
		var regs rule.Registers
		for i := range cpu.Count() {
			regs.Set(rule.Reg(i), stackBase+uint64(i))
		}
		regs.Set(cpu.SP, stackBase)
		regs.Set(cpu.PC, first+0x1010)
		for i := 0; len(registers) >= 9; i++ {
			if r := rule.Reg(registers[0]); int(r) < cpu.Count() {
				v := binary.LittleEndian.Uint64(registers[1:])
				if cpu.Word == 4 {
					v &= 1<<32 - 1
				}
				regs.Set(r, v)
			}
			registers = registers[9:]
		}
		frames := p.Walk(regs, unwind.Options{Frames: 300, Explain: kind&1 != 0})
		if len(frames) == 0 || len(frames) > 300 {
			t.Fatalf("%d frames, want 1 to 300", len(frames))
		}
		for _, f := range frames {
			if f.Registers.Known>>cpu.Count() != 0 {
				t.Fatalf("registers %b that the CPU lacks", f.Registers.Known)
			}
		}
	})
}
