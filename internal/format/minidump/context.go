package minidump

import (
	"fmt"
	"strings"

	"symbolon/internal/bin"
)

// A Context has the registers of a thread, in the order in which the peers print
// them.
type Context struct {
	Registers []Register
	Size      int // bytes of a register
}

// A Register is a named register and its value.
type Register struct {
	Name  string
	Value uint64
}

// A layout describes the registers of a CPU.
type layout struct {
	cpu  uint16 // number in the system information
	at   int    // offset of the flags
	flag uint32 // bit of the CPU in the flags
	size int    // bytes of a register
	runs []run
}

// A run is a sequence of adjacent registers.
type run struct {
	off   int
	names string // separated by spaces
}

// Names of registers with consecutive numbers.
const (
	namesARM64 = "x0 x1 x2 x3 x4 x5 x6 x7 x8 x9 x10 x11 x12 x13 x14 x15 x16 x17 x18 x19 x20 x21 x22 x23 x24 x25 x26 x27 x28 fp lr sp pc"
	namesPPC   = "srr0 srr1 r0 r1 r2 r3 r4 r5 r6 r7 r8 r9 r10 r11 r12 r13 r14 r15 r16 r17 r18 r19 r20 r21 r22 r23 r24 r25 r26 r27 r28 r29" +
		" r30 r31 cr xer lr ctr"
	namesSPARC = "g_r0 g_r1 g_r2 g_r3 g_r4 g_r5 g_r6 g_r7 g_r8 g_r9 g_r10 g_r11 g_r12 g_r13 g_r14 g_r15 g_r16 g_r17 g_r18 g_r19 g_r20" +
		" g_r21 g_r22 g_r23 g_r24 g_r25 g_r26 g_r27 g_r28 g_r29 g_r30 g_r31 ccr pc npc y asi fprs"
	namesRISCV = "pc ra sp gp tp t0 t1 t2 s0 s1 a0 a1 a2 a3 a4 a5 a6 a7 s2 s3 s4 s5 s6 s7 s8 s9 s10 s11 t3 t4 t5 t6"
)

var (
	runsX86 = []run{{0xb8, "eip"}, {0xc4, "esp"}, {0xb4, "ebp"}, {0xa4, "ebx"}, {0xa0, "esi"}, {0x9c, "edi"}, {0xb0, "eax"},
		{0xac, "ecx"}, {0xa8, "edx"}, {0xc0, "eflags"}}
	runsMIPS  = []run{{0xe8, "gp sp fp ra"}, {0x138, "pc"}, {0x88, "s0 s1 s2 s3 s4 s5 s6 s7"}}
	runsPPC64 = []run{{8, namesPPC + " vrsave"}}
	runsARM64 = []run{{8, namesARM64}}
)

// layouts lists the layouts of each CPU, of which the flags choose one.
var layouts = [...]layout{
	{cpuX86, 0, 0x00010000, 4, runsX86},
	{cpuX86Win64, 0, 0x00010000, 4, runsX86},
	{cpuAMD64, 0x30, 0x00100000, 8, []run{{0x78, "rax"}, {0x88, "rdx"}, {0x80, "rcx"}, {0x90, "rbx"}, {0xa8, "rsi"}, {0xb0, "rdi"},
		{0xa0, "rbp"}, {0x98, "rsp"}, {0xb8, "r8 r9 r10 r11 r12 r13 r14 r15 rip"}}},
	{cpuARM, 0, 0x40000000, 4, []run{{0x04, "r0 r1 r2 r3 r4 r5 r6 r7 r8 r9 r10"}, {0x34, "r12"}, {0x30, "fp"}, {0x38, "sp lr pc"}}},
	{cpuARM64, 0, 0x00400000, 8, runsARM64},
	{cpuARM64, 0, 0x80000000, 8, runsARM64},
	{cpuARM64Old, 0, 0x80000000, 8, runsARM64},
	{cpuARM64Old, 0, 0x00400000, 8, runsARM64},
	{cpuMIPS, 0, 0x00040000, 8, runsMIPS},
	{cpuMIPS64, 0, 0x00080000, 8, runsMIPS},
	{cpuPPC, 0, 0x20000000, 4, []run{{4, namesPPC + " mq vrsave"}}},
	{cpuPPC64, 0, 0x01000000, 8, runsPPC64},
	{cpuPPC64, 4, 0x01000000, 8, runsPPC64}, // big-endian flags of 64 bits
	{cpuSPARC, 0, 0x10000000, 8, []run{{8, namesSPARC}}},
	{cpuRISCV64, 0, 0x08000000, 8, []run{{8, namesRISCV}}},
}

// maxRegisters is the number of registers of the CPU that has the most.
const maxRegisters = 40

// stateFlags are set by Windows in the registers of an exception, and describe
// the state of the processor. The lower eight bits list the groups of registers.
const stateFlags = 0xf8000000

// context reads the registers at l.
func (r *reader) context(l Location) (*Context, error) {
	b, err := r.bytes(l)
	if err != nil {
		return nil, err
	}
	var flags uint32
	ignored := uint32(0xff)
	if r.sys.OS == Windows {
		ignored |= stateFlags
	}
	for i := range layouts {
		x := &layouts[i]
		if x.cpu != r.sys.cpu {
			continue
		}
		c := bin.NewCursor(b, r.order)
		c.Skip(x.at)
		flags = c.U32()
		if flags&x.flag != 0 && flags&^(ignored|x.flag) == 0 {
			return r.registers(b, x)
		}
	}
	return nil, fmt.Errorf("invalid flags %#x of %d bytes of registers of %s", flags, len(b), r.sys.CPU())
}

// registers reads the registers of a layout. The registers of 64 bits of a CPU
// with addresses of 32 bits are sign-extended.
func (r *reader) registers(b []byte, x *layout) (*Context, error) {
	t := &Context{Size: x.size, Registers: make([]Register, 0, maxRegisters)}
	for _, run := range x.runs {
		c := bin.NewCursor(b, r.order)
		c.Skip(run.off)
		for name := range strings.FieldsSeq(run.names) {
			if x.size == 8 {
				t.Registers = append(t.Registers, Register{name, r.sys.address(c.U64())})
			} else {
				t.Registers = append(t.Registers, Register{name, uint64(c.U32())})
			}
		}
		if c.Err() != nil {
			return nil, fmt.Errorf("%d bytes are too few for registers", len(b))
		}
	}
	return t, nil
}
