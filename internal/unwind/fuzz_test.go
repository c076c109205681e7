package unwind_test

import (
	"math/rand/v2"
	"testing"

	"symbolon/internal/ident"
	"symbolon/internal/unwind"
	"symbolon/internal/unwind/rule"
)

var fuzzed = []ident.Arch{
	ident.ArchX86_64, ident.ArchX86, ident.ArchARM64, ident.ArchARM, ident.ArchMIPS, ident.ArchMIPS64, ident.ArchRISCV64, ident.ArchPPC, ident.ArchSPARC,
}

// anyRules returns rows made of bytes, or those of a symbol file, and names at
// multiples of 256.
type anyRules struct {
	bytes []byte
	rows  *symbols
}

func (r anyRules) HasRules() bool { return len(r.bytes) > 0 }

func (r anyRules) Row(addr uint64) rule.Row {
	switch n := uint64(len(r.bytes)); {
	case n == 0 || r.bytes[addr>>8%n]&3 == 0:
		return nil
	case r.bytes[addr>>8%n]&3 == 1:
		return rule.Row(r.bytes[addr%n:])
	}
	return r.rows.Row(addr)
}

func (r anyRules) Function(addr uint64) (start uint64, name string, ok bool) {
	names := [...]string{"one", "__restore_rt", "two.cold", "start_thread", "__kernel_sigreturn", "__start_context", "three", "clone",
		"start", "_pthread_start"}
	return addr &^ 0xff, names[addr>>8%uint64(len(names))], addr&0x2000 == 0
}

// fuzzRules are rules for the CPUs of the fuzz target, by its number. Each holds
// for a quarter of the module.
var fuzzRules = map[ident.Arch][4]string{
	ident.ArchX86_64: {".cfa: $rsp 16 + .ra: .cfa 8 - ^", ".cfa: $rbp 16 + $rbp: .cfa 16 - ^ .ra: .cfa 8 - ^",
		".cfa: $rsp ^ .ra: .undef", ".cfa: $rsp ^ 8 + .ra: .cfa 8 - ^"},
	ident.ArchX86: {".cfa: $esp 8 + .ra: .cfa 4 - ^", ".cfa: $ebp 8 + $ebp: .cfa 8 - ^ .ra: .cfa 4 - ^", ".cfa: $esp ^",
		".cfa: $esp ^ 4 + .ra: .cfa 4 - ^"},
	ident.ArchARM64: {".cfa: sp 16 + .ra: .cfa 8 - ^", ".cfa: x29 16 + x29: .cfa 16 - ^ .ra: .cfa 8 - ^", ".cfa: sp 0 + .ra: x30",
		".cfa: sp ^ 8 + .ra: .cfa 8 - ^"},
	ident.ArchARM: {".cfa: sp 8 + .ra: .cfa 4 - ^", ".cfa: r11 8 + r11: .cfa 8 - ^ .ra: .cfa 4 - ^", ".cfa: sp 0 + .ra: lr",
		".cfa: sp ^ 4 + .ra: .cfa 4 - ^"},
}

// fuzzWords returns words of the kinds that stacks have: numbers, and addresses
// of the stacks and of code.
func fuzzWords(kinds []byte) []uint64 {
	words := make([]uint64, len(kinds))
	for i, b := range kinds {
		n := uint64(b & 31)
		words[i] = [...]uint64{0, n, stackBase + n*8, otherStack + n*8, first + 0x1000 + n, first + n*0x100, first + 0x1000 + n*8,
			anonymous + n}[b>>5]
	}
	return words
}

// fuzzCode are instructions of CPUs: of frames, calls and signal trampolines.
var fuzzCode = []string{
	"\x55\x48\x89\xe5", "\x53", "\x5b", "\x41\x54", "\x41\x5c", "\x48\x83\xec\x18", "\x48\x83\xc4\x18", "\x48\x81\xec\x00\x01\x00\x00",
	"\xc9", "\xc3", "\x5d", "\x6a\x05", "\x74\x03", "\xeb\x01", "\x0f\x84\x04\x00\x00\x00", "\x48\x8d\x65\xf8", "\x48\x8d\x6c\x24\x08",
	"\x48\x89\xec", "\x48\x83\xe4\xf0", "\x48\x8d\x64\x24\x08", "\xff\xf0", "\xff\xe0", "\x90", "\x31\xc0", "\x83\xec\x10", "\x89\xe5",
	"\xe8\x00\x00\x00\x00", "\xe8\xf0\xff\xff\xff", "\xff\xd0", "\xff\x15\x00\x00\x00\x00", "\x0f\x05",
	"\xfc\xff\xff\x97", "\xf8\xff\xff\xeb", "\x33\xff\x2f\xe1", "\x00\xbf\x98\x47", "\xe7\x80\x07\x00",
	"\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05", "\x68\x11\x80\xd2\x01\x00\x00\xd4", "\xb8\xad\x00\x00\x00\xcd\x80", "\x77\x27\x00\xdf",
}

// FuzzWalk checks that a walk with any registers, memory, rules and code ends,
// stays within its bounds and does not panic.
func FuzzWalk(f *testing.F) {
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 0))
		var code []byte
		for range 12 {
			code = append(code, fuzzCode[r.IntN(len(fuzzCode))]...)
		}
		bytes := func(n int) []byte {
			b := make([]byte, n)
			for i := range b {
				b[i] = byte(r.Uint32())
			}
			return b
		}
		f.Add(byte(seed), uint16(0x1000+r.IntN(48)), bytes(34), bytes(r.IntN(120)), bytes(r.IntN(9)), code)
	}
	rows := map[ident.Arch]*symbols{}
	for arch, rules := range fuzzRules {
		text := ""
		for i, r := range rules {
			text += "STACK CFI INIT " + hex(uint64(i)*0x4000) + " 4000 " + r + "\n"
		}
		rows[arch] = openSymbols(f, rule.For(arch), text)
	}
	f.Fuzz(func(t *testing.T, kind byte, at uint16, registers, stack, rules, code []byte) {
		arch := fuzzed[int(kind&0xf)%len(fuzzed)]
		cpu := rule.For(arch)
		info := anyRules{rules, rows[arch]}
		if info.rows == nil {
			info.rows = &symbols{}
		}
		stack = stack[:min(len(stack), 2000)]
		mem := memory{stackBase: words(cpu, fuzzWords(stack)), otherStack: words(cpu, fuzzWords(registers)), first + 0x1000: code}
		names := [...]string{"libc.so.6", "linux-gate.so", "libsystem_pthread.dylib", "dyld"}
		module := &unwind.Module{Name: names[at>>14], Base: first, Size: moduleBytes, Rules: info}
		if len(rules)&2 == 0 {
			module.Names = info
		}
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
			IsCode: func(addr uint64) (is, known bool) { return addr&1 == 0 && kind&0x10 != 0, kind&0x10 != 0 },
		}
		var regs rule.Registers
		for i, v := range fuzzWords(registers[:min(len(registers), cpu.Count())]) {
			regs.Set(rule.Reg(i), v)
		}
		regs.Set(cpu.SP, stackBase)
		regs.Set(cpu.PC, first+uint64(at))
		if cpu.FP != rule.None && len(registers) > 0 {
			regs.Set(cpu.FP, fuzzWords(registers[:1])[0])
		}
		if cpu.LR != rule.None && len(registers) > 1 {
			regs.Set(cpu.LR, fuzzWords(registers[1:2])[0])
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
