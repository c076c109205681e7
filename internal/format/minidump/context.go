package minidump

import (
	"fmt"

	"symbolon/internal/bin"
)

// A layout has the registers of a CPU, in their order. Those that are named - are not
// needed.
type layout struct {
	cpu   string // name of the CPU
	at    int    // offset of the flags
	flag  uint32 // bit of the CPU in the flags
	size  int    // bytes of a register
	off   int    // of the first register
	names []string
}

var (
	namesARM64 = bin.RegisterNames("x0-28 fp lr sp pc")
	namesMIPS  = bin.RegisterNames("s0-7 - - - - gp sp fp ra - - - - - - pc")
	namesPPC64 = bin.RegisterNames("srr0 srr1 r0-31 cr xer lr ctr vrsave")
)

// layouts lists the layouts of each CPU; the flags select one.
var layouts = [...]layout{
	{"x86", 0, 0x00010000, 4, 0x9c, bin.RegisterNames("edi esi ebx edx ecx eax ebp eip - eflags esp")},
	{"amd64", 0x30, 0x00100000, 8, 0x78, bin.RegisterNames("rax rcx rdx rbx rsp rbp rsi rdi r8-15 rip")},
	{"arm", 0, 0x40000000, 4, 4, bin.RegisterNames("r0-10 fp r12 sp lr pc")},
	{"arm64", 0, 0x00400000, 8, 8, namesARM64},
	{"arm64", 0, 0x80000000, 8, 8, namesARM64}, // Breakpad's
	{"mips", 0, 0x00040000, 8, 0x88, namesMIPS},
	{"mips64", 0, 0x00080000, 8, 0x88, namesMIPS},
	{"ppc", 0, 0x20000000, 4, 4, bin.RegisterNames("srr0 srr1 r0-31 cr xer lr ctr mq vrsave")},
	{"ppc64", 0, 0x01000000, 8, 8, namesPPC64},
	{"ppc64", 4, 0x01000000, 8, 8, namesPPC64}, // big-endian flags of 64 bits
	{"sparc", 0, 0x10000000, 8, 8, bin.RegisterNames("g_r0-31 ccr pc npc y asi fprs")},
	{"riscv64", 0, 0x08000000, 8, 8, bin.RegisterNames("pc ra sp gp tp t0-2 s0-1 a0-7 s2-11 t3-6")},
}

// stateFlags are set by Windows in the registers of an exception, and describe
// the state of the processor. The lower eight bits list the groups of registers.
const stateFlags = 0xf8000000

// Context reads the registers of a thread or exception. Those of 64 bits of a CPU with
// addresses of 32 bits are sign-extended in the file.
func (f *File) Context(l Location) ([]bin.Register, error) {
	b, err := f.reader.bytes(l)
	if err != nil {
		return nil, err
	}
	var flags uint32
	ignored := uint32(0xff)
	if f.System.OS == Windows {
		ignored |= stateFlags
	}
	for i := range layouts {
		x := &layouts[i]
		if x.cpu != f.System.CPU {
			continue
		}
		c := bin.NewCursor(b, f.reader.order)
		c.Skip(x.at)
		if flags = c.U32(); flags&x.flag == 0 || flags&^(ignored|x.flag) != 0 {
			continue
		}
		c = bin.NewCursor(b, f.reader.order)
		c.Skip(x.off)
		list := c.Registers(x.size, x.names)
		if c.Err() != nil {
			return nil, fmt.Errorf("%d bytes are too few for registers", len(b))
		}
		for k := range list {
			list[k].Value = f.System.address(list[k].Value)
		}
		return list, nil
	}
	return nil, fmt.Errorf("invalid flags %#x of %d bytes of registers of %s", flags, len(b), f.System.CPU)
}
