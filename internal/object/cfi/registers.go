package cfi

import (
	"strconv"
	"strings"

	"symbolon/internal/ident"
)

// Registers has Breakpad's names of DWARF registers.
type Registers struct {
	names []string // by number
	link  bool     // a call stores the return address in a register
}

// The names of registers: a number sets the register number of the next name,
// and "$st*8" is $st0 to $st7.
const (
	namesX86   = "0 $eax $ecx $edx $ebx $esp $ebp $esi $edi $eip $eflags 11 $st*8 21 $xmm*8 29 $mm*8"
	namesX8664 = "0 $rax $rdx $rcx $rbx $rsi $rdi $rbp $rsp 8 $r8 $r9 $r10 $r11 $r12 $r13 $r14 $r15 $rip $xmm*16 $st*8 $mm*8"
	namesARM   = "0 r*13 sp lr pc 64 s*32 256 d*32"
	namesARM64 = "0 x*31 sp pc 64 v*32"
	namesMIPS  = "0 $zero $at $v0 $v1 $a*4 $t*8 $s*8 $t8 $t9 $k0 $k1 $gp $sp $fp $ra $f*32"
	namesPPC   = "0 r*32 f*32 65 lr ctr 68 cr*8"
	namesRISCV = "0 zero ra sp gp tp t*3 s0 s1 a*8 s2 s3 s4 s5 s6 s7 s8 s9 s10 s11 t3 t4 t5 t6 f*32"
	namesS390x = "0 r*16 f0 f2 f4 f6 f1 f3 f5 f7 f8 f10 f12 f14 f9 f11 f13 f15"
)

// RegistersOf returns the names for an architecture, none if Breakpad has none.
func RegistersOf(a ident.Arch) Registers {
	switch {
	case a == ident.ArchX86:
		return registers(namesX86, false)
	case a == ident.ArchX86_64 || a == ident.ArchX86_64h:
		return registers(namesX8664, false)
	case a >= ident.ArchARM && a <= ident.ArchARMv7em:
		return registers(namesARM, true)
	case a >= ident.ArchARM64 && a <= ident.ArchARM64_32v8:
		return registers(namesARM64, true)
	case a >= ident.ArchMIPS && a <= ident.ArchMIPS64el:
		return registers(namesMIPS, true)
	case a >= ident.ArchPPC && a <= ident.ArchPPC64le:
		return registers(namesPPC, true)
	case a == ident.ArchRISCV32 || a == ident.ArchRISCV64:
		return registers(namesRISCV, true)
	case a == ident.ArchS390x:
		return registers(namesS390x, true)
	}
	return Registers{}
}

func registers(list string, link bool) Registers {
	r := Registers{link: link}
	for word := range strings.FieldsSeq(list) {
		if n, err := strconv.Atoi(word); err == nil {
			r.names = append(r.names, make([]string, n-len(r.names))...)
		} else if prefix, count, ok := strings.Cut(word, "*"); ok {
			n, _ := strconv.Atoi(count)
			for i := range n {
				r.names = append(r.names, prefix+strconv.Itoa(i))
			}
		} else {
			r.names = append(r.names, word)
		}
	}
	return r
}

// name returns the name of a register, "" without one.
func (r *Registers) name(reg uint16) string {
	if int(reg) < len(r.names) {
		return r.names[reg]
	}
	return ""
}
