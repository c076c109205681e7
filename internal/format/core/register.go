package core

import (
	"symbolon/internal/bin"
	"symbolon/internal/ident"
)

// A layout has the registers of a processor in a note, in its order. Those that are
// named - are not needed.
type layout struct {
	size  int // bytes of a register
	skip  int // registers before the first one
	names []string
}

var (
	namesPPC  = bin.RegisterNames("r0-31 srr0 srr1 - ctr lr xer cr")
	namesMIPS = bin.RegisterNames("s0-7 - - - - gp sp fp ra - - pc")
)

var layouts = map[ident.Arch]layout{ // by Family
	ident.ArchX86:     {4, 0, bin.RegisterNames("ebx ecx edx esi edi ebp eax - - - - - eip - eflags esp")},
	ident.ArchX86_64:  {8, 0, bin.RegisterNames("r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi - rip - - rsp")},
	ident.ArchARM:     {4, 0, bin.RegisterNames("r0-10 fp r12 sp lr pc")},
	ident.ArchARM64:   {8, 0, bin.RegisterNames("x0-28 fp lr sp pc")},
	ident.ArchRISCV64: {8, 0, bin.RegisterNames("pc ra sp gp tp t0-2 s0-1 a0-7 s2-11 t3-6")},
	ident.ArchPPC:     {4, 0, namesPPC},
	ident.ArchPPC64:   {8, 0, namesPPC},
	ident.ArchMIPS:    {4, 22, namesMIPS},
	ident.ArchMIPS64:  {8, 16, namesMIPS},
}

// registers reads the registers of a thread, nil if they are truncated or the
// processor is unknown.
func (f *File) registers(b []byte) []bin.Register {
	l, ok := layouts[f.Arch.Family()]
	c := bin.NewCursor(b, f.order)
	c.Skip(l.skip * l.size)
	found := c.Registers(l.size, l.names)
	if !ok || c.Err() != nil {
		return nil
	}
	return found
}
