package rule

import (
	"encoding/binary"
	"strings"

	"symbolon/internal/bin"
	"symbolon/internal/ident"
)

// A Reg numbers a register of a CPU, in the order in which dumps print them.
type Reg uint8

// None is the absence of a register.
const None Reg = 0xff

// MaxRegisters is the most registers of a CPU.
const MaxRegisters = 40

// A CPU has the registers of an instruction set.
type CPU struct {
	Name  string // amd64, x86, arm, arm64, mips, mips64, ppc, ppc64, riscv64 or sparc
	Word  int    // bytes of an address: 4 or 8
	PC    Reg
	SP    Reg
	FP    Reg    // None if calls do not use one by convention
	LR    Reg    // has the return address after a call; None if the stack has it
	Saved uint64 // mask of the registers that calls preserve

	names   []string
	numbers map[string]Reg
}

// newCPU returns c with the registers in a list for [bin.RegisterNames]. Special has the
// names of PC, SP, FP and LR; aliases are given as alias=name.
func newCPU(c CPU, names string, special [4]string, saved, aliases string) *CPU {
	c.names, c.numbers = bin.RegisterNames(names), map[string]Reg{}
	for i, n := range c.names {
		c.numbers[n] = Reg(i)
	}
	for a := range strings.FieldsSeq(aliases) {
		alias, of, _ := strings.Cut(a, "=")
		c.numbers[alias] = c.numbers[of]
	}
	for i, r := range []*Reg{&c.PC, &c.SP, &c.FP, &c.LR} {
		*r = None
		if special[i] != "" {
			*r = c.numbers[special[i]]
		}
	}
	for _, n := range bin.RegisterNames(saved) {
		c.Saved |= 1 << c.numbers[n]
	}
	return &c
}

const (
	mipsNames = "gp sp fp ra pc s0-7"
	mipsSaved = "s0-7 gp sp fp"
)

var x86 = newCPU(CPU{Name: "x86", Word: 4}, "eip esp ebp ebx esi edi eax ecx edx eflags",
	[4]string{"eip", "esp", "ebp", ""}, "ebp ebx edi esi", "")

// cpus has a CPU for each family of instruction sets.
var cpus = map[ident.Arch]*CPU{
	ident.ArchX86: x86,
	ident.ArchX86_64: newCPU(CPU{Name: "amd64", Word: 8}, "rax rdx rcx rbx rsi rdi rbp rsp r8-15 rip",
		[4]string{"rip", "rsp", "rbp", ""}, "rbx rbp r12-15", ""),
	ident.ArchARM: newCPU(CPU{Name: "arm", Word: 4}, "r0-10 r12 fp sp lr pc",
		[4]string{"pc", "sp", "fp", "lr"}, "r4-10 fp", "r11=fp r13=sp r14=lr r15=pc"),
	ident.ArchARM64: newCPU(CPU{Name: "arm64", Word: 8}, "x0-28 fp lr sp pc",
		[4]string{"pc", "sp", "fp", "lr"}, "x19-28 fp", "x29=fp x30=lr"),
	ident.ArchMIPS:   newCPU(CPU{Name: "mips", Word: 4}, mipsNames, [4]string{"pc", "sp", "fp", "ra"}, mipsSaved, "s8=fp"),
	ident.ArchMIPS64: newCPU(CPU{Name: "mips64", Word: 8}, mipsNames, [4]string{"pc", "sp", "fp", "ra"}, mipsSaved, "s8=fp"),
	ident.ArchPPC: newCPU(CPU{Name: "ppc", Word: 4}, "srr0 srr1 r0-31 cr xer lr ctr mq vrsave",
		[4]string{"srr0", "r1", "", "lr"}, "r14-31", "pc=srr0 sp=r1"),
	ident.ArchPPC64: newCPU(CPU{Name: "ppc64", Word: 8}, "srr0 srr1 r0-31 cr xer lr ctr vrsave",
		[4]string{"srr0", "r1", "", "lr"}, "r14-31", "pc=srr0 sp=r1"),
	ident.ArchRISCV64: newCPU(CPU{Name: "riscv64", Word: 8}, "pc ra sp gp tp t0-2 s0-1 a0-7 s2-11 t3-6",
		[4]string{"pc", "sp", "s0", "ra"}, "s0-11", "fp=s0"),
	ident.ArchSPARC: newCPU(CPU{Name: "sparc", Word: 8}, "g_r0-31 ccr pc npc y asi fprs",
		[4]string{"pc", "g_r14", "g_r30", "g_r15"}, "", "sp=g_r14 fp=g_r30"),
}

// For returns the CPU of an instruction set, nil if it is unknown.
func For(a ident.Arch) *CPU {
	switch {
	case a == ident.ArchX86_64h:
		a = ident.ArchX86_64
	case a >= ident.ArchARM && a <= ident.ArchARMv7em:
		a = ident.ArchARM
	case a >= ident.ArchARM64 && a <= ident.ArchARM64_32v8:
		a = ident.ArchARM64
	case a == ident.ArchSPARC64:
		a = ident.ArchSPARC
	}
	return cpus[a.Family()]
}

// Reg returns the register with a name, which may begin with $.
func (c *CPU) Reg(name string) (Reg, bool) {
	r, ok := c.numbers[strings.TrimPrefix(name, "$")]
	return r, ok
}

// RegName returns the name of a register, which must be one of c.
func (c *CPU) RegName(r Reg) string { return c.names[r] }

// Count returns the number of registers.
func (c *CPU) Count() int { return len(c.names) }

// Uint returns the number in the first bytes of b, which has at least those of a word.
func (c *CPU) Uint(b []byte, isBig bool) uint64 {
	switch {
	case c.Word == 4 && isBig:
		return uint64(binary.BigEndian.Uint32(b))
	case c.Word == 4:
		return uint64(binary.LittleEndian.Uint32(b))
	case isBig:
		return binary.BigEndian.Uint64(b)
	}
	return binary.LittleEndian.Uint64(b)
}

// fits reports whether v is a value of a word.
func (c *CPU) fits(v uint64) bool { return c.Word == 8 || v>>32 == 0 }

// Registers are the values of registers that are known. The zero value has none.
type Registers struct {
	Values [MaxRegisters]uint64
	Known  uint64 // mask of registers
}

// Get returns the value of a register, if it is known.
func (r *Registers) Get(reg Reg) (uint64, bool) {
	if reg >= MaxRegisters || r.Known>>reg&1 == 0 {
		return 0, false
	}
	return r.Values[reg], true
}

// Set sets the value of a register, which must not be None.
func (r *Registers) Set(reg Reg, v uint64) {
	r.Values[reg] = v
	r.Known |= 1 << reg
}

// Forget makes a register unknown.
func (r *Registers) Forget(reg Reg) { r.Known &^= 1 << reg }
