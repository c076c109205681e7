package core

import (
	"strings"

	"symbolon/internal/bin"
	"symbolon/internal/ident"
)

// A Register is a named register and its value.
type Register struct {
	Name  string
	Value uint64
}

// A layout is the order of the registers of a processor in a note.
type layout struct {
	size int // bytes of a register
	runs []run
}

// A run is a sequence of adjacent registers.
type run struct {
	index int
	names string // separated by spaces
}

const (
	namesARM64 = "x0 x1 x2 x3 x4 x5 x6 x7 x8 x9 x10 x11 x12 x13 x14 x15 x16 x17 x18 x19 x20 x21 x22 x23 x24 x25 x26 x27 x28 fp lr sp pc"
	namesPPC   = "r0 r1 r2 r3 r4 r5 r6 r7 r8 r9 r10 r11 r12 r13 r14 r15 r16 r17 r18 r19 r20 r21 r22 r23 r24 r25 r26 r27 r28 r29 r30 r31"
	namesRISCV = "pc ra sp gp tp t0 t1 t2 s0 s1 a0 a1 a2 a3 a4 a5 a6 a7 s2 s3 s4 s5 s6 s7 s8 s9 s10 s11 t3 t4 t5 t6"
)

var (
	runsPPC = []run{{32, "srr0 srr1"}, {0, namesPPC}, {38, "cr"}, {37, "xer"}, {36, "lr"}, {35, "ctr"}}
	mips    = layout{4, []run{{34, "gp sp fp ra"}, {40, "pc"}, {22, "s0 s1 s2 s3 s4 s5 s6 s7"}}}
	mips64  = layout{8, []run{{28, "gp sp fp ra"}, {34, "pc"}, {16, "s0 s1 s2 s3 s4 s5 s6 s7"}}}
	ppc64   = layout{8, runsPPC}
	layouts = map[ident.Arch]layout{
		ident.ArchX86: {4, []run{{12, "eip"}, {15, "esp"}, {5, "ebp"}, {0, "ebx"}, {3, "esi edi"}, {6, "eax"}, {1, "ecx edx"}, {14, "eflags"}}},
		ident.ArchX86_64: {8, []run{{10, "rax"}, {12, "rdx"}, {11, "rcx"}, {5, "rbx"}, {13, "rsi rdi"}, {4, "rbp"}, {19, "rsp"},
			{9, "r8"}, {8, "r9"}, {7, "r10"}, {6, "r11"}, {3, "r12"}, {2, "r13"}, {1, "r14"}, {0, "r15"}, {16, "rip"}}},
		ident.ArchARM:      {4, []run{{0, "r0 r1 r2 r3 r4 r5 r6 r7 r8 r9 r10"}, {12, "r12"}, {11, "fp"}, {13, "sp lr pc"}}},
		ident.ArchARM64:    {8, []run{{0, namesARM64}}},
		ident.ArchRISCV64:  {8, []run{{0, namesRISCV}}},
		ident.ArchPPC:      {4, runsPPC},
		ident.ArchPPC64:    ppc64,
		ident.ArchPPC64le:  ppc64,
		ident.ArchMIPS:     mips,
		ident.ArchMIPSel:   mips,
		ident.ArchMIPS64:   mips64,
		ident.ArchMIPS64el: mips64,
	}
)

// registers reads the registers of a thread, nil if they are truncated or the
// processor is unknown.
func (f *File) registers(b []byte) (found []Register) {
	l := layouts[f.Arch]
	for _, run := range l.runs {
		c := bin.NewCursor(b, f.order)
		c.Skip(run.index * l.size)
		for name := range strings.FieldsSeq(run.names) {
			v := uint64(0)
			if l.size == 8 {
				v = c.U64()
			} else {
				v = uint64(c.U32())
			}
			found = append(found, Register{name, v})
		}
		if c.Err() != nil {
			return nil
		}
	}
	return found
}
